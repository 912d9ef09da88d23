"""The BLEU explorer counts as the module and sacreBLEU do, whatever is typed or dragged."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from traitlets import TraitError

from tests.helpers.node import in_node
from tests.transformer_book.widgets.nasty import nasty
from transformer.evaluation import bleu_counts, bleu_tokens, sentence_bleu
from transformer.text.normalization import DIRECTIONS, normalize
from transformer.text.scripts import without_spaces

from transformer_book.widgets import BleuExplorer
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.bleu_explorer import LENGTHS, READY, REFERENCE

FIELD = "your candidate"
ASKED = {
    "ask": "Which of these scores highest?",
    "answers": ["another order", "a synonym", "another animal"],
    "right": "another animal",
    "why": "BLEU counts words side by side.",
}
MATHS = (FRONT_ENDS / "bleu_explorer/maths.js").as_uri()
COUNT = f"""
import {{ bleuOf, tokensOf }} from "{MATHS}";
import {{ readFileSync }} from "node:fs";
const pairs = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(pairs.map((pair) => {{
  const words = pair.map(tokensOf);
  const {{ rows, penalty, score }} = bleuOf(...words);
  return {{ words, penalty, score, right: rows.map((row) => row.right),
    shares: rows.map((row) => row.share), marks: rows.map((row) => row.marks),
    used: rows.map((row) => [...row.used].sort((a, b) => a - b)) }};
}})));
"""


def counted(pairs):
    """What the page's script counts of each candidate and reference."""
    return in_node(COUNT, pairs)


def spaced(reference):
    """Whether spaces cut its words, also where the widget's field ends."""
    known = normalize(reference), normalize(reference[:240])
    return not any(without_spaces([text]) for text in known)


def compared(text):
    return DIRECTIONS.sub("", normalize(text))


def compare_counts(pairs):
    """The page, the widget and sacreBLEU agree on each of the pairs."""
    pairs = [pair for pair in pairs if bleu_tokens(pair[1]) and spaced(pair[1])]
    assert pairs
    metric = BLEU(effective_order=True)
    for (candidate, reference), found in zip(pairs, counted(pairs), strict=True):
        score = metric.sentence_score(compared(candidate), [compared(reference)])
        references = [reference]
        assert found["words"] == [
            bleu_tokens(t, references=references) for t in (candidate, reference)
        ]
        assert found["right"] == bleu_counts([candidate], [reference])[0][2:6]
        assert found["score"] == pytest.approx(sentence_bleu([candidate], [reference])[0])
        assert found["penalty"] == pytest.approx(score.bp)
        shares = [100 * (share or 0) for share in found["shares"]]
        assert shares == pytest.approx(score.precisions)
        widget = BleuExplorer(reference[:240], {}, candidate=candidate[:240])
        if max(len(candidate), len(reference)) <= 240:
            assert [widget.marks(n) for n in LENGTHS] == found["marks"]
            assert [right for right, _ in widget.precisions()] == found["right"]
            assert [widget.score(), widget.penalty()] == pytest.approx([score.score, score.bp])
        for n, used in zip(LENGTHS, found["used"], strict=True):  # each is one of the candidate's
            words, others = found["words"]
            grams = {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}
            assert {tuple(others[i : i + n]) for i in used} <= grams


words = st.lists(st.sampled_from(["a", "b", "c", "d.", "3.5", "1-2", "don't"]), max_size=9)
# What Python alone takes for blanks nobody types: the separators of files and records.
typed = st.text(st.characters(codec="utf-8", exclude_characters="\x1c\x1d\x1e\x1f"), max_size=30)
texts = words.map(" ".join) | typed | st.text(" .,-&1a;<>'\"ltgqu", max_size=30)


@settings(max_examples=5)
@given(
    pairs=st.lists(st.tuples(texts, texts.map(lambda text: text + " a")), min_size=60, max_size=60)
)
def test_the_page_counts_as_the_module(pairs):
    compare_counts(pairs)


@pytest.mark.slow
def test_the_page_counts_as_the_module_whatever_is_typed():
    odd = [text for text in nasty() if len(text) < 300]
    ready = [*READY.values(), "", "&amp;quot; <skipped> 1,000.5 well-known U.S. 3-4.", "zebra"]
    compare_counts([(text, REFERENCE) for text in [*odd, *ready]])
    compare_counts([(REFERENCE, text) for text in [*odd, *ready]])


def table(shown):
    """The counts and the values of the table, and the lengths of the bars, 0 to 1."""
    return shown.widget.evaluate(
        """place => [...place.querySelectorAll("tbody tr")].map((row) => [row.cells[1].innerText,
          row.cells[3].innerText,
          parseFloat(row.querySelector(".tfw-bleu-bar").style.width) / 100])"""
    )


def marks_shown(shown):
    """Of the candidate's n-grams, for each n: "found", "clipped" or "absent"."""
    return shown.widget.evaluate(
        """place => {
          const candidate = place.querySelector("[role=group]");
          const markOf = (one) => one.className.match(/found|clipped|absent/)[0];
          return [[...candidate.querySelectorAll("button")].map(markOf), ...[2, 3, 4].map((n) =>
            [...candidate.querySelectorAll(`[data-n="${n}"]`)].map(markOf))];
        }"""
    )


def compare(shown, widget):
    """Everything that is shown is what the module says of the same candidate."""
    assert shown.state("candidate") == widget.candidate
    assert shown.page.get_by_label(FIELD).input_value() == widget.candidate
    assert words_shown(shown) == bleu_tokens(widget.candidate)
    assert marks_shown(shown) == [widget.marks(n) for n in LENGTHS]
    *rows, brevity, bleu = table(shown)
    precisions = BLEU(effective_order=True).sentence_score(widget.candidate, [widget.reference])
    for (said, value, bar), (right, total), share in zip(
        rows, widget.precisions(), precisions.precisions, strict=True
    ):
        assert said == (f"{right} of {total}" if right else said if total else "none")
        assert value == "–" if not total else abs(float(value) - share / 100) < 0.0051
        assert bar == pytest.approx(share / 100, abs=1e-4)
    candidate, reference = len(bleu_tokens(widget.candidate)), len(bleu_tokens(widget.reference))
    assert brevity[:2] == [f"{candidate} : {reference}", f"{widget.penalty():.2f}"]
    assert bleu[1] == f"{widget.score():.1f}"
    assert [brevity[2], bleu[2]] == pytest.approx(
        [widget.penalty(), widget.score() / 100], abs=1e-4
    )
    assert f"BLEU {widget.score():.1f}" in shown.readout()


def words_shown(shown):
    return shown.widget.locator("[role=group] button").all_inner_texts()


@pytest.mark.parametrize("candidate", [*READY.values(), "", "a", "nothing of it", "the the brown"])
def test_each_candidate_is_shown_as_it_is_counted(show, candidate):
    widget = BleuExplorer(candidate=candidate)
    shown = show(widget)
    compare(shown, widget)
    shown.check()


def test_the_score_follows_each_letter(show):
    widget = BleuExplorer()
    shown = show(widget)
    field = shown.page.get_by_label(FIELD)
    field.press("End")
    for letter in ("s", "!", " ", "a"):
        field.press(letter)
        widget.candidate += letter
        compare(shown, widget)
    field.press("Home")
    field.press("x")  # the cursor stays where it is
    field.press("y")
    widget.candidate = "xy" + widget.candidate
    compare(shown, widget)
    field.fill("a " * 200)
    assert len(shown.state("candidate")) == 120
    shown.check()


def test_a_word_is_carried_by_mouse_and_finger(show):
    widget = BleuExplorer()
    shown = show(widget, touch=True, width=390)
    for finger in (False, True):
        at = shown.widget.get_by_role("button", name="dog, ")
        to = shown.widget.get_by_role("button", name="meadow, ")
        shown.set("candidate", REFERENCE)
        way = to.bounding_box()["x"] + 40 - at.bounding_box()["x"]
        shown.drag(at, way, finger=finger)
        widget.candidate = "the brown runs across a green meadow dog"
        compare(shown, widget)
        assert shown.page.evaluate("document.activeElement.textContent") == "dog"
        assert shown.widget.locator(".tfw-held").count() == 0
    shown.drag(shown.widget.get_by_role("button", name="dog, "), -600)
    widget.candidate = "dog the brown runs across a green meadow"
    compare(shown, widget)
    shown.check()


def test_a_word_is_carried_and_taken_out_by_keys(show):
    widget = BleuExplorer()
    shown = show(widget)
    shown.widget.get_by_role("button", name="brown, ").focus()
    for key, candidate in [
        ("ArrowRight", "the dog brown runs across a green meadow"),
        ("ArrowRight", "the dog runs brown across a green meadow"),
        ("ArrowLeft", "the dog brown runs across a green meadow"),
        ("Delete", "the dog runs across a green meadow"),
        ("Backspace", "the dog across a green meadow"),
        ("Enter", "the dog a green meadow"),
    ]:
        shown.page.keyboard.press(key)
        widget.candidate = candidate
        compare(shown, widget)
    assert shown.page.evaluate("document.activeElement.textContent") == "a"
    shown.page.keyboard.press("ArrowLeft")
    shown.page.keyboard.press("ArrowLeft")
    shown.page.keyboard.press("ArrowLeft")  # it is the first already
    widget.candidate = "a the dog green meadow"
    compare(shown, widget)
    for _ in range(5):
        shown.page.keyboard.press("Delete")
    widget.candidate = ""
    compare(shown, widget)
    shown.check()


def test_a_word_that_is_tapped_is_gone_and_its_neighbour_has_the_focus(show):
    widget = BleuExplorer(candidate="the brown dog")
    shown = show(widget, touch=True, width=390)
    shown.widget.get_by_role("button", name="dog, ").tap()
    widget.candidate = "the brown"
    compare(shown, widget)
    assert shown.page.evaluate("document.activeElement.textContent") == "brown"
    shown.widget.get_by_role("button", name="the, ").click()
    widget.candidate = "brown"
    compare(shown, widget)


def test_what_is_struck_through_is_said(show):
    shown = show(BleuExplorer(candidate="the the the the"))
    names = shown.widget.locator("[role=group] button").evaluate_all(
        "all => all.map(b => b.ariaLabel)"
    )
    assert [("clipped" in name) for name in names] == [False, True, True, True]
    lines = shown.widget.locator("[role=group] .tfw-bleu-clipped")
    style = lines.first.evaluate("one => getComputedStyle(one).textDecorationLine")
    assert style == "line-through"
    assert [row[0] for row in table(shown)[:4]] == ["1 of 4", "½ of 3", "¼ of 2", "⅛ of 1"]
    assert "Struck through: 3" in shown.readout() and "counts as a half" in shown.readout()
    assert "leaves 37 %" in shown.readout()


def test_nothing_can_be_changed_before_the_guess_and_what_came_out_is_said_once_all_are_tried(show):
    """And then it stays; nothing that is said changes how tall it is."""
    widget = BleuExplorer(**ASKED)
    shown = show(widget, width=390)
    heights = {shown.height()}
    first = shown.page.get_by_text("Say first what you expect")
    field = shown.page.get_by_label(FIELD)
    assert first.is_visible()
    shown.check()
    shown.page.locator("body").press("Tab")
    shown.page.keyboard.press("Tab")  # from the answers to nothing else of the widget
    assert not field.evaluate("one => one === document.activeElement")
    shown.page.get_by_role("group", name=ASKED["ask"]).get_by_label("a synonym").check()
    assert shown.state("guess") == 1 and not first.is_visible()
    now = shown.page.get_by_text("Now try all 3 of them below")
    # Behind what is said lies unseen what may be.
    said = shown.page.get_by_text("You expected: “a synonym”").first
    why = shown.page.get_by_text(ASKED["why"]).first
    offered = shown.page.get_by_role("group", name="or try")
    for name in ("another animal", "half of it", "a synonym", "another order"):
        assert now.is_visible() and not said.is_visible() and not why.is_visible()
        offered.get_by_label(name).check()
        widget.candidate = READY[name]
        compare(shown, widget)
        heights.add(shown.height())
    assert said.is_visible() and why.is_visible() and not now.is_visible()
    for text in ("", "the dog", "the the the the", REFERENCE):
        field.fill(text)
        heights.add(shown.height())
    assert said.is_visible() and why.is_visible()
    assert max(heights) <= 1000 and max(heights) - min(heights) < 1
    shown.check()


def test_hostile_texts_stay_text(show):
    widget = BleuExplorer("<b>x</b> &lt; שלום", {"<i>y</i>": '"><img src=x onerror=alert(1)>'})
    shown = show(widget)
    compare(shown, widget)
    shown.set("candidate", "<script>alert(1)</script> <b>x</b>")
    widget.candidate = "<script>alert(1)</script> <b>x</b>"
    compare(shown, widget)
    assert shown.widget.locator(".tfw :is(script, img, i, b)").count() == 0
    shown.check()


def test_it_works_from_the_disk_and_as_python_sets_it(from_disk):
    widget = BleuExplorer()
    shown = from_disk(widget)
    for name, text in (("reference", "one two three four five six"), ("candidate", "one two six")):
        setattr(widget, name, text)
        shown.set(name, text)
        compare(shown, widget)
    assert shown.complaints == []


@pytest.mark.parametrize(
    ("settings_", "error", "named"),
    [
        ({"reference": " "}, TraitError, "the reference has no word"),
        ({"reference": "两只狗在玩耍"}, TraitError, "sets no spaces between words"),
        (
            {"reference": "a" * 241},
            TraitError,
            "the reference has 241 characters; give at most 240",
        ),
        ({"candidate": "a" * 241}, TraitError, "the candidate has 241 characters"),
        ({"ask": "Which?", "answers": ["a", "b"]}, ValueError, "'a' must name one of"),
        ({**ASKED, "right": "half of it"}, ValueError, "`right` must be one"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings_, error, named):
    with pytest.raises(error, match=re.escape(named)):
        BleuExplorer(**settings_)


@pytest.mark.parametrize("candidate", [REFERENCE, "the the dog", ""])
def test_the_twin_has_each_candidate_with_its_marks_and_its_score(candidate):
    widget = BleuExplorer(candidate=candidate)
    (ax,) = widget.twin().axes
    written = [text.get_text() for text in ax.texts]
    candidates = [candidate, *(text for text in READY.values() if text != candidate)]
    assert [text for text in written if text.startswith("BLEU")] == [
        f"BLEU {widget.score(text):.1f}" for text in candidates
    ]
    assert [text for text in written if text in (*READY, "yours")][1:] == [
        name for name, text in READY.items() if text != candidate
    ]
    marks = [mark for text in candidates for n in LENGTHS for mark in widget.marks(n, text)]
    lines = [line for line in ax.lines if line.get_linewidth() > 1]
    assert len(lines) == sum(
        mark != "absent"
        for text in candidates
        for n in LENGTHS[1:]
        for mark in widget.marks(n, text)
    ) + sum(mark == "clipped" for text in candidates for mark in widget.marks(1, text))
    assert {"found", "absent"} <= set(marks)
