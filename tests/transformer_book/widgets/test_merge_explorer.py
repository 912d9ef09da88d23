"""The merge explorer shows the module's merges, whatever moves it and whatever is typed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traitlets import TraitError

from tests.helpers.node import in_node
from transformer.text.bpe import alphabet, apply_merges, merge_steps

from transformer_book.widgets import MergeExplorer
from transformer_book.widgets.base import FRONT_ENDS

WORDS, NEW = "words and how often they occur", "a word to split"


def pieces_shown(shown):
    """Each word's count and pieces, from the table."""
    return shown.widget.evaluate(
        """place => [...place.querySelectorAll(".tfw-merge-table")[0].tBodies[0].rows].map((row) =>
          [row.cells[0].innerText,
           ...[...row.querySelectorAll(".tfw-merge-piece")].map((p) => p.textContent)])"""
    )


def pairs_shown(shown):
    """Each pair with its count as a number, and the length of its bar as a share of the first."""
    return shown.widget.evaluate(
        """place => [...place.querySelectorAll(".tfw-merge-table")[1].tBodies[0].rows].map(row => [
          ...[...row.querySelectorAll("bdi")].map((b) => b.textContent),
          Number(row.querySelector(".tfw-merge-count").textContent.replaceAll(",", "")),
          row.querySelector(".tfw-merge-bar").style.width])"""
    )


def split_shown(shown):
    return shown.widget.locator(".tfw-merge-split .tfw-merge-piece").all_inner_texts()


def compare(shown, widget):
    """Everything that is shown is what the module says of the same state."""
    pieces, candidates = widget.pieces(), widget.candidates()
    assert pieces_shown(shown) == [[f"{widget.counts[w]:,}", *p] for w, p in pieces.items()]
    most = max(candidates.values(), default=0)
    shown_pairs = pairs_shown(shown)
    assert [tuple(row[:3]) for row in shown_pairs] == [
        (*pair, count) for pair, count in list(candidates.items())[:5]
    ]
    for *_, count, width in shown_pairs:
        assert float(width.removesuffix("%")) == pytest.approx(100 * count / most, abs=0.01)
    more = shown.widget.locator(".tfw-merge-rest").text_content()
    assert more.startswith(f"and {len(candidates) - 5} more") == (len(candidates) > 5)

    tokens, vocabulary = widget.sizes()
    said = shown.readout()
    letters = len(alphabet(widget.counts))
    assert f"The text has {tokens:,} token" in said
    assert f"the vocabulary has {vocabulary}: {letters} character" in said
    if widget.step:
        before = [*merge_steps(widget.counts)][widget.step - 1].candidates
        (left, right), count = next(iter(before.items()))
        assert said.startswith(
            f"Merge {widget.step} joined {left} + {right}, which occurred {count:,} time"
        )
        equals = [*before.values()].count(count) - 1
        assert (f"{equals} other pair" in said) == (equals > 0)
    asked = shown.widget.locator(".tfw-question").inner_text()
    pair = "first" if not widget.step else "next"
    assert asked.startswith(
        f"Which pair is joined {pair}?" if candidates else "Every word is one piece"
    )
    assert split_shown(shown) == list(widget.split())
    merges = shown.widget.locator(".tfw-merge-list li").all_inner_texts()
    assert [m.rsplit(" (", 1)[0] for m in merges] == [" + ".join(p) for p in widget.merges()]


def test_which_pair_is_next_is_told_by_nothing_but_the_fold(show):
    """Until it is joined; the counts are there for who asks for them."""
    shown = show(MergeExplorer(), width=390)
    fold = shown.widget.locator("details")
    height = shown.height()
    for pair in ("e + r", "er + ▁", "l + o"):
        assert pair not in shown.widget.inner_text()
        shown.page.get_by_role("button", name="Next merge").click()
        shown.frame()
        assert pair in shown.readout()
        assert shown.height() == height
    assert not fold.locator("table").is_visible()
    fold.locator("summary").click()
    assert fold.locator("[aria-current]").inner_text().startswith("▸ lo + w")
    shown.check()


def test_every_step_is_the_modules(show):
    shown = show(MergeExplorer())
    slider = shown.page.get_by_label("merges done")
    slider.focus()
    for step in range(16):
        if step:
            shown.page.keyboard.press("ArrowRight")
            shown.frame()
        assert shown.state("step") == step
        widget = MergeExplorer(step=step)
        compare(shown, widget)
        made = shown.widget.locator(".tfw-merge-table .tfw-merge-made").all_inner_texts()
        expected = "".join(widget.merges()[-1]) if step else None
        flat = [piece for pieces in widget.pieces().values() for piece in pieces]
        assert made == [piece for piece in flat if piece == expected]
    assert slider.get_attribute("max") == "15"


@pytest.mark.parametrize("crowded", [False, True])
def test_reads_well_everywhere(show, look, crowded):
    longest = {f"Donaudampfschiff{i:04}": 1_000_000 - i for i in range(12)}
    widget = MergeExplorer(step=4)
    if crowded:
        widget = MergeExplorer(longest, step=17, new_word="ß" * 20)
    shown = show(widget, **look)
    compare(shown, widget)
    shown.check()


def test_each_mark_is_named_for_where_it_stands(show):
    shown = show(MergeExplorer(step=2))
    for label, mark in (("before each word", "start"), ("nowhere", "none")):
        shown.page.get_by_label(label).check()
        shown.frame()
        compare(shown, MergeExplorer(step=2, mark=mark))


def test_words_are_typed(show):
    shown = show(MergeExplorer(step=15))
    field = shown.page.get_by_label(WORDS)
    assert field.input_value() == "low 5, lowest 2, newer 6, wider 3"
    field.fill(" der 12;die 30, das,die  1 ")
    field.press("Enter")
    shown.frame()
    assert shown.state("words") == [["der", 12], ["die", 31], ["das", 1]]
    assert field.input_value() == "der 12, die 31, das 1"
    # Fewer merges make each of them one piece: the slider stands at its end.
    same = MergeExplorer({"der": 12, "die": 31, "das": 1})
    same.step = same.n_merges
    compare(shown, same)
    assert shown.page.get_by_label("merges done").input_value() == str(same.n_merges)
    assert shown.state("step") == same.n_merges
    shown.page.get_by_role("button", name="Previous").click()
    shown.frame()
    same.step -= 1
    assert shown.state("step") == same.step
    new = shown.page.get_by_label(NEW)
    new.fill("  dieser ")
    new.press("Enter")
    shown.frame()
    same.new_word = "dieser"
    compare(shown, same)
    new.fill("")
    new.press("Tab")
    shown.frame()
    assert (
        shown.widget.locator(".tfw-merge-split").inner_text()
        == "Type a word above to see it split."
    )
    shown.check()


@pytest.mark.parametrize(
    ("label", "typed", "said"),
    [
        (WORDS, "", "Here are 0 words; give 1 to 12"),
        (WORDS, ",".join(f"w{i}" for i in range(13)), "Here are 13 words"),
        (WORDS, "low high 5", '"low high 5" is no word with a count'),
        (WORDS, "low -5", '"low -5" is no word with a count'),
        (WORDS, "low 5, 3", '"3" is a count without a word; write for example: low 3.'),
        (WORDS, "low 0", '"low" occurs 0 times; give 1 to 1,000,000'),
        (WORDS, "low 9999999", '"low" occurs 9999999 times'),
        (WORDS, "x" * 21, "has 21 characters; give at most 20"),
        (NEW, "two words", "Give one word"),
        (NEW, "😀" * 21, "has 21 characters"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_said_and_changes_nothing(show, label, typed, said):
    """At once, while the reader is in the field, in a place that was kept for it."""
    shown = show(MergeExplorer(step=3), width=390)
    height = shown.height()
    field = shown.page.get_by_label(label)
    field.fill(typed)
    alert = shown.page.get_by_role("alert")
    for _ in range(2):
        assert said in alert.inner_text()
        assert "stay" in alert.inner_text()  # what was there before
        assert field.get_attribute("aria-invalid") == "true"
        compare(shown, MergeExplorer(step=3))
        field.press("Enter")
        shown.frame()
    assert shown.height() == height
    shown.check()
    field.fill("low")
    field.press("Enter")
    assert not alert.is_visible()


def test_hostile_words_stay_text(show):
    words = {"<b>x</b>": 3, "<script>": 2, "שלום": 4, "😀😀😀": 5, "&lt": 1}
    widget = MergeExplorer(words, step=12, new_word="<img>&lt")
    shown = show(widget)
    compare(shown, widget)
    assert shown.widget.locator(".tfw script, .tfw img, .tfw-merge-piece b").count() == 0
    field = shown.page.get_by_label(WORDS)
    field.fill('"><img src=x onerror=alert(1)> 3'.replace(" ", "/", 2))
    field.press("Enter")
    shown.frame()
    assert "onerror" in shown.page.get_by_role("alert").inner_text()
    assert shown.widget.locator(".tfw img").count() == 0
    shown.check()


def test_what_python_sets_is_shown(show):
    shown = show(MergeExplorer(step=2))
    shown.set("words", [["aaaa", 7]])
    shown.set("new_word", "aaa")
    shown.set("mark", "none")
    shown.set("step", 1)
    compare(shown, MergeExplorer({"aaaa": 7}, mark="none", step=1, new_word="aaa"))
    assert shown.page.get_by_label(WORDS).input_value() == "aaaa 7"
    assert shown.page.get_by_label("merges done").get_attribute("max") == "2"


def test_the_most_words_are_split_to_the_end(show):
    widget = MergeExplorer(
        {"".join(chr(97 + (i * j) % 26) for j in range(20)): 1 for i in range(1, 13)}
    )
    widget.step = widget.n_merges
    shown = show(widget)
    compare(shown, widget)
    shown.set("step", 100)
    widget.step = 100
    compare(shown, widget)


MATHS = (FRONT_ENDS / "merge_explorer/maths.js").as_uri()
STATES = f"""
import {{ alphabet, joined, statesOf }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(([counted, unseen]) => {{
  const states = statesOf(counted);
  return {{
    states,
    alphabet: alphabet(counted.map(([word]) => word)),
    unseen: states.slice(0, -1).map((s) => s.pairs[0]).reduce(joined, [...unseen]),
  }};
}})));
"""
letters = st.text("abc", min_size=1, max_size=9) | st.text(min_size=1, max_size=5)
cases = st.tuples(st.dictionaries(letters, st.integers(1, 9), min_size=1, max_size=6), letters)


@settings(max_examples=5)
@given(batch=st.lists(cases, min_size=30, max_size=30))
def test_the_browser_merges_as_the_module(batch):
    batch = [({"😀x": 2, "￿x": 2, "aaaaa": 1}, "xaaa"), *batch]  # Unicode's order is not UTF-16's
    written = in_node(STATES, [(list(counts.items()), unseen) for counts, unseen in batch])
    for (counts, unseen), found in zip(batch, written, strict=True):
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
