"""The bands are the module's count, and the line through them says where the pairs overtake."""

import itertools
import re

import pytest
from traitlets import TraitError

from tests.helpers.node import in_node
from transformer.compared.flops import forward_flops
from transformer.config import TransformerConfig

from transformer_book.widgets import BudgetExplorer
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.budget_explorer import LONGEST, SHORTEST, WIDTHS

MATHS = (FRONT_ENDS / "budget_explorer/maths.js").as_uri()
STATES = f"""
import {{ forwardFlops, sharesOf }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const {{ constants, cases }} = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([width, length]) =>
  [forwardFlops(constants, width, length), sharesOf(constants, width, length)])));
"""


def test_the_page_counts_as_the_module():
    lengths = (SHORTEST, 25, 137, 1000, 2731, LONGEST)
    cases = [(width, length) for width in (*WIDTHS, 192, 1600) for length in lengths]
    written = in_node(STATES, {"constants": BudgetExplorer().constants, "cases": cases})
    for (width, length), (flops, shares) in zip(cases, written, strict=True):
        counted = BudgetExplorer(d_model=width, length=length).flops()
        assert flops == counted
        whole = sum(counted.values())
        assert shares == pytest.approx({part: n / whole for part, n in counted.items()})


@pytest.mark.parametrize("name", ["base", "big"])
@pytest.mark.parametrize("length", [25, 1000])
def test_the_papers_models_are_among_them(name, length):
    config = TransformerConfig.table3(name)
    widget = BudgetExplorer(d_model=config.d_model, length=length)
    assert widget.flops() == forward_flops(config, length, length)
    assert widget.constants["models"][name] == config.d_model


def overtaking(width):
    """The first length at which the pairs have the largest part."""
    widget = BudgetExplorer(d_model=width)
    counts = ((n, widget.flops(n)) for n in range(SHORTEST, LONGEST))
    return next(n for n, flops in counts if flops["pairs"] == max(flops.values()))


@pytest.mark.slow
def test_the_pairs_overtake_within_the_axis_and_twice_as_far_at_twice_the_width():
    found = {width: overtaking(width) for width in WIDTHS}
    # Below 384 the output is larger than the feed-forward networks, and does not know the width.
    assert found[64] == found[128] == found[256]
    for width in (512, 1024, 2048, 4096):
        assert found[width] == pytest.approx(8 / 3 * width, abs=1)


def largest(shown):
    return shown.widget.locator(".tfw-budget-largest").inner_text().split()[0]


def test_dragged_the_line_finds_where_the_pairs_become_the_largest_part(show):
    shown = show(BudgetExplorer())
    line = shown.page.get_by_role("slider", name="length of source and target")
    assert largest(shown) == "feed-forward"
    across = shown.widget.locator(".tfw-budget-plot").bounding_box()["width"]
    shown.drag(line, across / 2)
    assert shown.state("length") == pytest.approx(25 * (LONGEST / SHORTEST) ** 0.5, rel=0.05)
    shown.set("length", 1300)
    assert largest(shown) == "feed-forward"
    line.press("ArrowRight")
    shown.frame()
    assert (largest(shown), shown.state("length")) == ("pairs", 1400)
    assert "29\u00a0% of the operations go into the pairs of positions" in shown.readout()
    shown.page.get_by_label("width d_model").press("ArrowRight")
    shown.frame()
    assert largest(shown) == "feed-forward" and "a width of 1,024 (big)" in shown.readout()
    shown.set("length", 2800)
    assert largest(shown) == "pairs"


def test_held_beside_its_middle_the_line_does_not_jump(show):
    shown = show(BudgetExplorer(length=1000))
    line = shown.page.get_by_role("slider", name="length of source and target")
    shown.drag(line, 0, at=(0.9, 0.5))
    assert shown.state("length") == 1000


@pytest.mark.parametrize("length", [SHORTEST, 440, 450, LONGEST])
@pytest.mark.parametrize("d_model", [WIDTHS[0], 512, WIDTHS[-1]])
def test_no_label_lies_on_another_or_beside_the_picture(show, length, d_model):
    shown = show(BudgetExplorer(length=length, d_model=d_model), width=390)
    plot = shown.widget.locator(".tfw-budget-plot").bounding_box()
    boxes = [one.bounding_box() for one in shown.widget.locator(".tfw-plot-label").all()]
    assert len(boxes) == 4
    for below, above in itertools.pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]
    for box in boxes:
        assert plot["x"] <= box["x"] and plot["y"] <= box["y"]
        assert box["x"] + box["width"] <= plot["x"] + plot["width"]
        assert box["y"] + box["height"] <= plot["y"] + plot["height"]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"length": SHORTEST - 1}, "should not be less than 10"),
        ({"length": LONGEST + 1}, "should not be greater than 20000"),
        ({"d_model": 8192}, "should not be greater than 4096"),
        ({"d_model": 500}, r"d_model \(500\) must be a multiple of 64"),
    ],
)
def test_what_is_beside_the_axes_is_refused_with_a_sentence(state, said):
    with pytest.raises(TraitError, match=said):
        BudgetExplorer(**state)


def test_the_twin_has_the_bands_and_their_shares_at_the_line():
    figure = BudgetExplorer(length=1000, d_model=1024).twin()
    assert len(figure.axes[0].collections) == 4
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    flops = forward_flops(TransformerConfig.big(), 1000, 1000)
    for label in labels:
        part, share = re.fullmatch(r"([\w-]+), ([\d.]+)%", label).groups()
        assert float(share) == pytest.approx(100 * flops[part] / sum(flops.values()), abs=0.051)
    assert figure.axes[0].get_title() == "width 1,024, 1,000 tokens"
