"""The page hangs phrases and counts constituents as the module does, in every tree there is."""

import pytest
from traitlets import TraitError

from tests.helpers.node import in_node
from transformer.evaluation import bracketing
from transformer.text.trees import leaves, linearised, read_tree, spans

from transformer_book.widgets import TreeExplorer
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.tree_explorer import BRACKETS, SENTENCE

GARDEN = (
    "she sees the man in the garden",
    "(S (NP XX )NP (VP XX (NP XX XX )NP (PP XX (NP XX XX )NP )PP )VP )S",
    ["in the garden"],
)
# Three phrases, and a constituent of the same words and the same label as the one around it.
LONG = (
    "we saw dogs near cats in hats by chance",
    "(S (NP XX )NP (VP XX (NP (NP XX (PP XX (NP XX )NP )PP (PP XX (NP XX )NP )PP )NP )NP "
    "(PP XX (NP XX )NP )PP )VP )S",
    ["near cats", "in hats", "by chance"],
)
MATHS = (FRONT_ENDS / "tree_explorer/maths.js").as_uri()
STATES = f"""
import {{ judged, lowest, possible, spansOf }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const {{ contents, states }} = JSON.parse(readFileSync(0, "utf8"));
const wanted = spansOf(contents, contents.phrases.map((node) => contents.parents[node]));
console.log(JSON.stringify({{ lowest: lowest(contents), states: states.map((hangs) => {{
  const said = spansOf(contents, hangs);
  return {{ spans: said.map(({{ label, start, end }}) => [label, start, end]),
    possible: hangs.map((_, i) => possible(contents, hangs, i)), ...judged(said, wanted) }};
}}) }}));
"""


def states_of(widget):
    """Every way in which its phrases can hang, by single moves from where they hang now."""
    found, left = [], [[*widget.hangs]]
    while left:
        hangs = left.pop()
        if hangs not in found:
            found.append(hangs)
            for i in range(len(hangs)):
                for node in widget.possible(i, hangs):
                    left.append([*hangs[:i], node, *hangs[i + 1 :]])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("given, trees", [((), 12), (GARDEN, 3), (LONG, None)])
def test_the_page_counts_as_the_module_in_every_tree(given, trees):
    widget = TreeExplorer(*given)
    words, states = widget.contents["words"], states_of(widget)
    assert len(states) == trees or (trees is None and len(states) > 30)
    page = in_node(STATES, {"contents": widget.contents, "states": states})
    assert page["lowest"] == widget.hangs
    true = spans(read_tree((given or (0, BRACKETS))[1].split(), words).tree)
    for hangs, seen in zip(states, page["states"], strict=True):
        widget.hangs = hangs
        said = spans(widget.tree())
        assert sorted(map(tuple, seen["spans"])) == sorted(said)
        assert [*leaves(widget.tree())] == words
        assert seen["possible"] == [widget.possible(i) for i in range(len(hangs))]
        assert all(node in nodes for node, nodes in zip(hangs, seen["possible"], strict=True))
        score = widget.score()
        assert seen["f1"] == pytest.approx(score.f1)
        assert seen["right"] == pytest.approx(len(said) * score.precision / 100)
        wrong = [tuple(s) for s, odd in zip(seen["spans"], seen["wrong"], strict=True) if odd]
        assert {*said} - {*true} <= {*wrong} <= {*said}


def test_a_tree_comes_back_from_its_own_brackets():
    widget = TreeExplorer(hangs=[3, 2])  # of the day: the soup; with a spoon: eats
    assert " ".join(linearised(widget.tree())) == BRACKETS and widget.score().f1 == 100
    flat = TreeExplorer(*GARDEN).tree()
    said = "(S (NP XX )NP (VP XX (NP XX XX (PP XX (NP XX XX )NP )PP )NP )VP )S"
    assert " ".join(linearised(flat)) == said
    assert TreeExplorer(*GARDEN).score() == bracketing([GARDEN[0]], [said], [GARDEN[1]])


def test_one_mistake_may_cost_more_than_two():
    costs = {}
    for hangs in states_of(TreeExplorer()):
        mistakes = (hangs[0] != 3) + (hangs[1] != 2)
        costs.setdefault(mistakes, []).append(TreeExplorer(hangs=hangs).score().f1)
    assert costs[0] == [100]
    assert min(costs[1]) == 62.5 and max(costs[1]) == 87.5
    assert min(costs[2]) == 50 and max(costs[2]) == 75


@pytest.mark.parametrize(
    "wrong",
    [
        {"hangs": [3]},
        {"hangs": [3, 6]},  # from itself
        {"hangs": [3, 99]},
        {"hangs": [5, 2]},  # from what is inside it
        {"hangs": [2, 3]},  # the day would part the soup from the spoon
        {"hangs": [1, 2]},
    ],
)
def test_where_a_phrase_cannot_hang_is_refused_with_a_sentence(wrong):
    with pytest.raises(TraitError, match="every word stays"):
        TreeExplorer(**wrong)
    widget = TreeExplorer()
    with pytest.raises(TraitError, match="every word stays"):
        widget.hangs = wrong["hangs"]


def test_what_is_no_tree_or_no_phrase_is_refused_with_a_sentence():
    with pytest.raises(TraitError, match="must be a tree over"):
        TreeExplorer(SENTENCE, BRACKETS[:-3])
    with pytest.raises(TraitError, match="must be a tree over"):
        TreeExplorer("she sleeps .", "(S (NP XX )NP (VP XX )VP XX )S", [])
    for phrase in ("soup of", SENTENCE):
        with pytest.raises(TraitError, match="no constituent inside"):
            TreeExplorer(phrases=[phrase])
    with pytest.raises(TraitError, match="nowhere else"):
        TreeExplorer(phrases=["she"])


def test_dragged_to_where_it_belongs_the_tree_is_true(show):
    shown = show(TreeExplorer(), width=390, touch=True)
    assert shown.readout().endswith("F1 = 62.5")
    assert shown.widget.locator(".tfw-tree-wrong").count() == 3
    spoon = shown.page.get_by_role("slider", name="with a spoon")
    row = spoon.bounding_box()["height"]
    height = shown.height()
    for finger in (False, True):
        shown.set("hangs", TreeExplorer().hangs)
        shown.drag(spoon, 0, -3 * row, finger=finger)
        assert shown.state("hangs") == [3, 2]
        assert shown.readout().endswith("F1 = 100.0")
    assert shown.widget.locator(".tfw-tree-wrong").count() == 0
    assert "hangs from VP “eats the soup of the day”" in spoon.get_attribute("aria-valuetext")
    assert abs(shown.height() - height) < 1
    spoon.press("ArrowUp")
    assert shown.state("hangs") == [3, 0]
    shown.page.get_by_role("slider", name="of the day").press("ArrowUp")
    shown.frame()
    assert shown.state("hangs") == [2, 0]
    assert "6 of 8 proposed are right" in shown.readout()
    shown.check()


def test_every_box_stands_over_its_words(show):
    shown = show(TreeExplorer())
    words = [one.bounding_box() for one in shown.widget.locator(".tfw-tree-word").all()]
    for hangs in ([3, 5], [3, 2], [0, 5]):
        shown.set("hangs", hangs)
        widget = TreeExplorer(hangs=hangs)
        boxes = [one.bounding_box() for one in shown.widget.locator(".tfw-tree-box").all()]
        for _, start, end in spans(widget.tree()):
            left, right = words[start], words[end - 1]
            assert any(
                0 <= left["x"] - box["x"] < 15
                and 0 <= box["x"] + box["width"] - right["x"] - right["width"] < 15
                for box in boxes
            )


def test_the_twin_points_out_what_is_wrong():
    figure = TreeExplorer().twin()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sum(text.endswith("✗") for text in texts) == 3
    assert texts[-10:] == SENTENCE.split()
    assert figure.axes[0].get_title().startswith("5 of 8 proposed are right")
