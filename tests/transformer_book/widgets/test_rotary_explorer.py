"""The clocks stand as the module turns, wherever both words are, and their score stays."""

import math

import pytest
import torch
from traitlets import TraitError

from tests.helpers.node import in_node

from transformer_book.widgets import RotaryExplorer
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.rotary_explorer import FARTHEST, LAST

MATHS = (FRONT_ENDS / "rotary_explorer/maths.js").as_uri()
STATES = f"""
import {{ products, score, turned }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const {{ constants, cases }} = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([position, distance]) => {{
  const angles = turned(constants, position, distance);
  return [angles, score(products(angles))];
}})));
"""


def test_the_page_turns_as_the_module():
    cases = [
        (position, distance) for position in range(0, LAST + 1, 20) for distance in (0, 1, FARTHEST)
    ]
    written = in_node(STATES, {"constants": RotaryExplorer().constants, "cases": cases})
    for (position, distance), (angles, score) in zip(cases, written, strict=True):
        widget = RotaryExplorer(position=position, distance=distance)
        hands = torch.tensor(angles).view(2, -1)
        vectors = torch.stack([hands.cos(), hands.sin()], dim=-1).flatten(-2)
        torch.testing.assert_close(vectors, widget.turned(), atol=1e-4, rtol=0)
        assert score == pytest.approx(widget.score(), abs=1e-4)


def test_only_the_distance_counts():
    scores = [RotaryExplorer(position=position, distance=5).score() for position in range(LAST + 1)]
    assert max(scores) - min(scores) < 1e-4
    assert abs(RotaryExplorer(distance=8).score() - scores[0]) > 0.1


def seen(shown):
    """Where the hands point, in degrees, and the last number of the read-out."""
    turns = shown.widget.locator(".tfw-rotary-hand").evaluate_all(
        "hands => hands.map((hand) => hand.transform.baseVal[0].angle)"
    )
    return turns, shown.readout().rpartition(" = ")[2]


def test_dragged_both_words_keep_their_score_and_turn_their_clocks(show):
    shown = show(RotaryExplorer())
    both = shown.page.get_by_role("slider", name="position of the query")
    before, score = seen(shown)
    assert score == f"{RotaryExplorer().score():.2f}."
    shown.drag(both, 150, 0)
    shown.frame()
    position = shown.state("position")
    assert position > 10 and both.get_attribute("aria-valuenow") == str(position)
    after, same = seen(shown)
    assert same == score
    moved = math.degrees(position - 3)
    turned = [before[i] - after[i] for i in range(8)]  # of each clock both hands
    assert turned == pytest.approx([moved / 10 ** (i // 2) for i in range(8)], abs=0.01)
    shown.page.get_by_role("slider", name="distance").press("Home")
    shown.frame()
    assert seen(shown)[1] != score


def test_both_words_stay_on_the_line(show):
    shown = show(RotaryExplorer(position=LAST, distance=FARTHEST))
    both = shown.page.get_by_role("slider", name="position of the query")
    both.press("ArrowRight")
    shown.frame()
    assert shown.state("position") == LAST
    box, line = both.bounding_box(), shown.widget.locator(".tfw-rotary-line").bounding_box()
    assert box["x"] + box["width"] - 30 <= line["x"] + line["width"]
    shown.check()


@pytest.mark.parametrize(
    "state", [{"position": -1}, {"position": LAST + 1}, {"distance": FARTHEST + 1}]
)
def test_a_place_beside_the_line_is_refused(state):
    with pytest.raises(TraitError):
        RotaryExplorer(**state)


@pytest.mark.slow
def test_the_twin_has_a_clock_with_two_hands_for_each_pair():
    figure = RotaryExplorer(position=0, distance=0).twin()
    assert [len(ax.lines) for ax in figure.axes] == [2] * 4
    x, y = figure.axes[1].lines[0].get_data()
    assert (x[1], y[1]) == pytest.approx((math.cos(2.0), math.sin(2.0)))
    assert "query at 0, key at 0" in figure.get_suptitle()


def test_on_a_phone_the_numbers_of_all_clocks_stand_on_one_line(show):
    shown = show(RotaryExplorer(), width=320)
    tops = {one.bounding_box()["y"] for one in shown.widget.locator(".tfw-rotary-clock b").all()}
    assert len(tops) == 1
    shown.check()
