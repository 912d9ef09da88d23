"""The bars are what the step keeps, and the turns those in which it fits the device."""

import json
import re

import pytest
from traitlets import TraitError

from tests.helpers.node import in_node

from transformer_book.widgets import MemoryExplorer
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.memory_explorer import LEAST, MOST

MATHS = (FRONT_ENDS / "memory_explorer/maths.js").as_uri()
STATES = f"""
import {{ keptIn, turnsFor }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const {{ constants, memories }} = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(memories.map((memory) => {{
  const turns = turnsFor(constants, memory);
  return [turns, keptIn(constants, turns)];
}})));
"""
BASE = {"n_parameters": 63_000_000, "kept_per_token": 480_000.0}
MEMORIES = range(LEAST, MOST + 1)


def explorer(**settings):
    return MemoryExplorer(**BASE, **settings)


def test_the_page_counts_as_python():
    written = in_node(STATES, {"constants": explorer().constants, "memories": [*MEMORIES]})
    for memory, (turns, kept) in zip(MEMORIES, written, strict=True):
        widget = explorer(memory=memory)
        assert turns == widget.turns()
        assert kept == pytest.approx(widget.kept())


@pytest.mark.parametrize("memory", MEMORIES)
def test_so_many_turns_fit_the_device_and_one_less_does_not(memory):
    widget = explorer(memory=memory)
    n = widget.turns()
    assert sum(widget.kept().values()) <= memory
    assert n == 1 or sum(widget.kept(n - 1).values()) > memory


def test_the_parts_are_bytes_of_float32():
    kept = MemoryExplorer(10**6, 100.0, tokens=1000, vocabulary=500).kept(1)
    # The weights, gradients and two averages; logits, logarithms and the gradients of both.
    assert kept == pytest.approx({"model": 0.016, "loss": 0.008, "layers": 0.0001})


def sizes(shown, bar):
    """Of a bar's parts, in pixels."""
    parts = shown.widget.locator(f".tfw-memory-{bar} span").all()
    return [part.bounding_box()["width"] for part in parts]


def test_dragged_the_line_says_in_how_many_turns_the_step_fits(show):
    shown = show(explorer(), width=390)
    line = shown.page.get_by_role("slider", name="memory of the device")
    height, before = shown.height(), sizes(shown, "turn")
    across = shown.widget.locator(".tfw-memory-bars").bounding_box()["width"]
    shown.drag(line, -across * 8 / MOST)
    assert shown.state("memory") == 8
    assert "With 8 GB the step takes 4 turns of 6,250 tokens." in shown.readout()
    model, loss, layers = sizes(shown, "turn")
    assert model == pytest.approx(before[0], abs=0.5)
    assert [loss, layers] == pytest.approx([size / 2 for size in before[1:]], abs=1)
    line.press("ArrowLeft")
    shown.frame()
    assert shown.state("memory") == 7 and "5 turns" in shown.readout()
    for key in ("Home", "End"):
        line.press(key)
        shown.frame()
        assert shown.height() == height
    assert "With 32 GB the step takes one turn of 25,000 tokens." in shown.readout()
    assert sizes(shown, "turn") == pytest.approx(sizes(shown, "whole"), abs=0.5)
    shown.check()


def test_what_has_no_room_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"take 3\.2 GB: a device of 2 GB has no room for a batch"):
        MemoryExplorer(200_000_000, 1.0)
    with pytest.raises(TraitError, match="should not be less than 2"):
        explorer(memory=1)


def test_the_twin_has_the_bars_of_the_state():
    widget = explorer(memory=8)
    figure = widget.twin()
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    shares = [float(re.search(r"([\d.]+) GB", label)[1]) for label in labels]
    assert shares == pytest.approx([*widget.kept().values()], abs=0.051)
    rows = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert rows == ["the step at once", "one of 4 turns"]
    assert json.dumps(widget.constants)  # a page takes it
