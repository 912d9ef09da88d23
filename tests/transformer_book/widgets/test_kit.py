"""The kit of the front ends: its numbers, colours and words; controls that keep the focus."""

import pytest
from matplotlib.colors import to_rgb

from tests.helpers.node import in_node
from tests.transformer_book.widgets.beam_examples import explorer
from tests.transformer_book.widgets.decoder_examples import decoder

from transformer_book.figures import style
from transformer_book.widgets import (
    AttentionStepper,
    MaskExplorer,
    MergeExplorer,
    PositionExplorer,
    ShapesExplorer,
)
from transformer_book.widgets.attentions import KINDS
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.shapes_explorer import PARTS

STEPPED = {  # a widget, what its stepper steps over, and the trait's values
    "AttentionStepper": (AttentionStepper, "step", range(1, 7)),
    "MergeExplorer": (lambda: MergeExplorer({"low": 5, "lower": 2}), "merge", range(7)),
    "BeamExplorer": (lambda: explorer(beam_size=1), "step", None),
    "DecoderAtWork": (decoder, "step", range(1, 8)),
    "ShapesExplorer": (lambda: ShapesExplorer(part="src"), "part", PARTS),
}
FOCUSED = "document.activeElement.textContent"


def of_module(file, expression):
    """The value of an expression over a module's exports, `m`."""
    address = (FRONT_ENDS / "kit" / file).as_uri()
    script = f'import * as m from "{address}";\nconsole.log(JSON.stringify({expression}));'
    return in_node(script)


def test_numbers_are_written_in_three_ways():
    assert of_module(
        "numbers.js",
        "[[0, 12345, 1e7, 37000.5, 0.00012345, -0.5, 2 / 3, -1e-9].map((x) => m.short(x)),"
        " [1 / 3, 1234.5, 0.0001234].map((x) => m.short(x, 2)),"
        " [[-0.0001, 3], [-2.5, 1], [1 / 3, 3], [-Infinity, 2], [Infinity, 2], [null, 2]]"
        ".map(([x, n]) => m.fixed(x, n)),"
        " [0, 999, 37000, -1234].map(m.grouped)]",
    ) == [
        ["0", "12,345", "1e7", "3.7e4", "1.23e−4", "−0.5", "0.6667", "−1e−9"],
        ["0.33", "1,200", "1.2e−4"],
        ["0.000", "−2.5", "0.333", "−∞", "∞", "–"],
        ["0", "999", "37,000", "−1,234"],
    ]  # fmt: skip


def test_who_asks_whom_is_as_in_python():
    attentions = of_module("attentions.js", "m.ATTENTIONS")
    assert list(attentions) == list(KINDS)
    assert {name: (a["queries"], a["keys"]) for name, a in attentions.items()} == KINDS


def test_colours_with_a_meaning_are_those_of_the_figures():
    frame, two = of_module("colours.js", "[m.FRAME, m.TWO_COLOURS]")
    assert to_rgb(frame) == to_rgb(style.FRAME)
    assert [tuple(x / 255 for x in one) for one in two] == list(map(to_rgb, style.TWO_COLOURS))


@pytest.mark.parametrize("name", STEPPED)
def test_a_stepper_keeps_the_keyboards_focus_to_the_end_and_back(show, name):
    make, what, values = STEPPED[name]
    widget = make()
    values = list(values or range(widget.n_steps + 1))
    trait = "part" if what == "part" else "step"
    shown = show(widget)
    assert shown.state(trait) == values[0]
    for button, others in ((f"Next {what}", values[1:]), (f"Previous {what}", values[-2::-1])):
        shown.page.get_by_role("button", name=button).focus()
        for value in others:
            shown.page.keyboard.press("Enter")
            shown.frame()
            assert shown.state(trait) == value
            assert shown.page.evaluate(FOCUSED) == button
        shown.page.keyboard.press("Space")  # there is nothing beyond the end
        shown.frame()
        assert shown.state(trait) == others[-1]
        assert shown.page.evaluate(FOCUSED) == button
        element = shown.page.get_by_role("button", name=button)
        assert element.get_attribute("aria-disabled") == "true"
    assert shown.complaints == []


@pytest.mark.parametrize(
    ("widget", "label", "changes"),
    [
        (MaskExplorer, "target tokens", {"sentence": 2}),
        (PositionExplorer, "position pos", {"position": 120, "length": 128}),
        (
            lambda: MergeExplorer({"ab": 1}),
            "merges done",
            {"words": [["abcdefghij", 1]], "step": 8},  # shorter words would take the step back
        ),
    ],
    ids=["MaskExplorer", "PositionExplorer", "MergeExplorer"],
)
def test_a_slider_whose_end_moves_shows_the_value_that_is_there(show, widget, label, changes):
    shown = show(widget())
    for name, value in changes.items():
        shown.set(name, value)
    slider = shown.page.get_by_label(label)
    value, text = slider.input_value(), slider.get_attribute("aria-valuetext")
    expected = {"target tokens": "7", "position pos": "120", "merges done": "8"}[label]
    assert (value, text) == (expected, expected)
