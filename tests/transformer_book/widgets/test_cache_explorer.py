"""The lines are what a decoder's cache keeps, and the model's weights are Llama 3's."""

import itertools
import re

import pytest
import torch
from traitlets import TraitError

from tests.helpers.node import in_node
from transformer import Transformer, TransformerConfig
from transformer.decoding.steps import CachedSteps
from transformer.variants.grouped import in_groups

from transformer_book.widgets import CacheExplorer
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.cache_explorer import (
    BYTES,
    GIB,
    KEY_WIDTH,
    KINDS,
    LONGEST,
    N_HEADS,
    N_LAYERS,
    SHORTEST,
    weights_in_gib,
)

MATHS = (FRONT_ENDS / "cache_explorer/maths.js").as_uri()
STATES = f"""
import {{ cacheOf, stops }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const {{ constants, lengths }} = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify([stops(constants), lengths.map((length) =>
  Object.values(constants.kinds).map((sets) => cacheOf(constants, sets, length)))]));
"""


def test_the_page_counts_as_python():
    lengths = [SHORTEST, 1000, 8192, LONGEST]
    constants = CacheExplorer().constants
    stops, kept = in_node(STATES, {"constants": constants, "lengths": lengths})
    assert kept == [[*CacheExplorer(length=n).kept().values()] for n in lengths]
    assert stops == sorted({*stops}) and all(CacheExplorer(length=n) for n in stops)
    assert {SHORTEST, 8192, LONGEST} <= {*stops}


@pytest.mark.slow
@pytest.mark.parametrize("sets", [8, 2, 1])
def test_a_cache_of_the_module_is_as_large(sets):
    config = TransformerConfig(9, 9, d_model=64, n_heads=8, n_layers=2)
    model = Transformer(config).eval()
    in_groups(sets)(model)
    steps, n_tokens = CachedSteps(model, torch.ones(1, 1, dtype=torch.long)), 5
    with torch.inference_mode():
        for n in range(1, n_tokens + 1):
            steps(torch.ones(1, n, dtype=torch.long))
    numbers = sum(x.numel() for own, _ in steps.cache.layers for x in own.read())
    ours = CacheExplorer(length=SHORTEST).kept()["1 set"] * GIB / BYTES
    each = ours / SHORTEST / N_LAYERS / KEY_WIDTH  # of a token, in a layer, for a component
    assert numbers == each * sets * n_tokens * 2 * 8


def test_the_model_has_as_many_weights_as_its_name_says():
    # 8,030,261,248: what the shapes of the published weights sum up to.
    assert weights_in_gib() * GIB == 2 * 8_030_261_248
    assert [*KINDS.values()] == [N_HEADS, 8, 1]


def larger(shown):
    return shown.widget.locator(".tfw-cache-more").all_inner_texts()


def test_dragged_the_line_finds_where_the_cache_outgrows_the_weights(show):
    shown = show(CacheExplorer(length=8192))
    line = shown.page.get_by_role("slider", name="length of the text")
    assert (
        "take 4.0\u00a0GiB if each of the 32 heads has a set of its own, 1.0\u00a0GiB"
        in shown.readout()
    )
    assert larger(shown) == []
    across = shown.widget.locator(".tfw-cache-plot").bounding_box()["width"]
    shown.drag(line, across * 2 / 9)  # two of nine doublings
    assert shown.state("length") == 32_768
    assert larger(shown) == ["32 sets 16.0\u00a0GiB"]
    line.press("ArrowLeft")
    line.press("ArrowLeft")
    shown.frame()
    assert shown.state("length") == 28_672 and larger(shown) == []
    line.press("End")
    shown.frame()
    assert larger(shown) == ["32 sets 64.0\u00a0GiB", "8 sets 16.0\u00a0GiB"]
    shown.check()


def test_a_page_whose_file_has_sorted_the_kinds_says_the_same(show):
    """The file of a notebook that was executed has all names in the order of their letters."""
    widget = CacheExplorer(length=8192)
    said = show(widget).readout()
    kinds = dict(sorted(KINDS.items()))
    assert [*kinds] != [*KINDS]
    widget.set_trait("constants", widget.constants | {"kinds": kinds})
    assert show(widget).readout() == said


@pytest.mark.parametrize("length", [SHORTEST, 5632, 6144, LONGEST])
def test_no_label_lies_on_another_or_beside_the_picture(show, length):
    shown = show(CacheExplorer(length=length), width=390)
    plot = shown.widget.locator(".tfw-cache-plot").bounding_box()
    boxes = [one.bounding_box() for one in shown.widget.locator(".tfw-plot-label").all()]
    assert len(boxes) == 3
    weights = shown.widget.get_by_text("weights 15").bounding_box()
    assert weights["x"] >= 0 and weights["x"] + weights["width"] <= plot["x"]
    for above, below in itertools.pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]
    for box in boxes:
        assert plot["x"] <= box["x"] and plot["y"] <= box["y"]
        assert box["x"] + box["width"] <= plot["x"] + plot["width"]
        assert box["y"] + box["height"] <= plot["y"] + plot["height"]


def test_the_dot_stands_on_the_line_whatever_the_page_says_of_boxes(show):
    shown = show(CacheExplorer())
    style = "html, *, ::before, ::after { box-sizing: %s }"
    for sizing in ("border-box", "content-box"):
        shown.page.add_style_tag(content=style % sizing)
        middle, axis = shown.widget.locator(".tfw-plot-line").evaluate(
            """(line) => {
              const dot = getComputedStyle(line, "::after");
              const [left, bottom, width] = [dot.left, dot.bottom, dot.width].map(parseFloat);
              const size = dot.boxSizing === "border-box" ? width : width + 6;
              return [left + size / 2 - line.clientWidth / 2, bottom + size / 2];
            }"""
        )
        assert middle == pytest.approx(0, abs=0.1)
        assert axis == pytest.approx(0.8 * 16, abs=0.1)


@pytest.mark.parametrize("width", [620, 390])
def test_nothing_below_jumps(show, width):
    shown = show(CacheExplorer(), width=width)
    line, heights = shown.page.get_by_role("slider", name="length of the text"), set()
    for key in ("Home", "PageUp", "End"):
        line.press(key)
        shown.frame()
        heights.add(shown.height())
    assert len(heights) == 1


@pytest.mark.parametrize(
    ("length", "said"),
    [(SHORTEST - 1, "should not be less than 256"), (LONGEST + 1, "not be greater than 131072")],
)
def test_what_is_beside_the_axis_is_refused_with_a_sentence(length, said):
    with pytest.raises(TraitError, match=said):
        CacheExplorer(length=length)


def test_the_twin_has_the_lines_and_their_sizes_at_the_length():
    widget = CacheExplorer(length=8192)
    (ax,) = widget.twin().axes
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [re.sub(r", \d.*", "", label) for label in labels] == [*KINDS, "the model's weights"]
    assert [float(re.search(r"([\d.]+) GiB", label)[1]) for label in labels[:3]] == [4, 1, 0.125]
    assert ax.texts[0].get_text() == "8,192 tokens"
