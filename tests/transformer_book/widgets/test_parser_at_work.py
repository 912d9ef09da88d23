"""The page parses as Python does, reads rows as the module does, and says what came out."""

import random
from functools import cache

import pytest
from playwright.sync_api import expect
from traitlets import TraitError

from tests.helpers.node import in_node
from tests.transformer_book.widgets.in_node import answers
from transformer.data.toy_german import about_subject, toy_treebank
from transformer.evaluation import MARKS, bracket_counts, bracketing
from transformer.text.trees import read_tree, spans

from transformer_book.page.model_scripts import page_model, rounded_translator
from transformer_book.shipped import shipped_model
from transformer_book.widgets import ParserAtWork
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.parser_at_work import MOST_WORDS, SENTENCES

KNOWS, OBJECT, SUBJECT = SENTENCES
READING = (FRONT_ENDS / "parser_at_work/reading.js").as_uri()
READ = f"""
import {{ read, scored }} from "{READING}";
import {{ readFileSync }} from "node:fs";
const {{ marks, jobs }} = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(jobs.map((one) => {{
  const {{ parts, over, wellFormed }} = read(one.tokens, one.words, true);
  const {{ right, said, wanted, f1 }} = scored(parts, one, marks);
  return {{ wellFormed, taken: over.length, counts: [right, said, wanted], f1,
    spans: parts.map(({{ label, start, end }}) => [label, start, end]) }};
}})));
"""


@cache
def parser():
    return rounded_translator(shipped_model("toy_parser"))


@cache
def bank():
    return toy_treebank(n_train=12_000, n_valid=0, n_test=120)


def at_work(**settings):
    return ParserAtWork(parser(), **settings)


def live(**settings):
    return at_work(live=page_model("toy_parser"), **settings)


def asked(shown, text):
    """Types a sentence, and waits until its tree is there."""
    field = shown.page.get_by_label("Your own sentence")
    field.fill(text)
    field.press("Enter")
    shown.page.wait_for_function(
        """() => {
          const { contents, sentence, message } =
            document.querySelector(".widget-place").model.state;
          const { examples, ready } = contents;
          return message || examples[ready]?.words.join(" ") === sentence;
        }"""
    )
    shown.frame()


def load(shown):
    shown.page.get_by_role("button", name="load the model (0.3 MB").click()
    expect(shown.page.get_by_label("Your own sentence")).to_be_focused(timeout=60_000)


def broken(rng, tokens):
    """A row as a model might write it: something left out, doubled, or put elsewhere."""
    tokens = list(tokens)
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(tokens))
        put = rng.choices([*tokens, "<unk>", "("], k=rng.randrange(3))
        tokens[at : at + rng.randrange(3)] = put
    return tokens


@pytest.mark.slow
def test_the_page_reads_and_counts_any_row_as_the_module_does():
    rng, jobs = random.Random(0), []
    for pair in [*bank().test, *bank().test_constructions, *bank().test_longer]:
        for other in (pair.brackets, rng.choice(bank().test).brackets, "XX )S (NP )NP (S"):
            row = broken(rng, other.split())
            jobs.append({"words": pair.target, "tokens": row, "brackets": pair.brackets})
    found = in_node(READ, {"marks": sorted(MARKS), "jobs": jobs})
    formed = set()
    for job, seen in zip(jobs, found, strict=True):
        words, tokens, brackets = job.values()
        tree, well_formed = read_tree(tokens, words)
        assert seen["wellFormed"] == well_formed
        assert [tuple(one) for one in seen["spans"]] == spans(tree)
        texts = [" ".join(text) for text in (words, tokens)]
        assert tuple(seen["counts"]) == bracket_counts(*texts, brackets)
        if seen["counts"][1]:
            score = bracketing(*([text] for text in (*texts, brackets)))
            assert seen["f1"] == pytest.approx(score.f1)
        formed.add(well_formed)
    assert formed == {True, False} and len(jobs) > 1000


@pytest.mark.slow
def test_the_page_writes_the_tokens_that_python_writes():
    pairs = [*bank().test, *bank().test_constructions, *bank().test_longer]
    texts = [" ".join(pair.target) for pair in pairs]
    found = answers(parser(), [{"method": "translate", "text": text} for text in texts])
    # One by one: a batch may go on as long as its longest sentence.
    assert [one["text"] for one in found] == [parser().translate([text])[0] for text in texts]
    assert len(texts) == 360


def test_two_ready_sentences_are_parsed_and_the_third_is_not():
    widget = at_work()
    found = []
    for example, sentence in enumerate(SENTENCES):
        widget.example = example
        shown = widget.shown
        assert " ".join(shown["words"]) == sentence and widget.step == len(shown["tokens"])
        well_formed = read_tree(shown["tokens"], shown["words"]).well_formed
        found.append((well_formed, round(widget.score().f1, 1)))
    assert found == [(True, 100), (True, 100), (False, 16.7)]


def test_the_ready_trees_are_the_grammars():
    trees = {pair.brackets: about_subject(pair) for pair in bank().train}
    assert [trees[SENTENCES[sentence]] for sentence in (KNOWS, OBJECT)] == [False, False]
    the_ball, me = "(VP XX (NP XX XX )NP )VP XX )S", "(VP XX (NP XX )NP )VP XX )S"
    alike = [pair.brackets.replace(the_ball, me) for pair in bank().test_constructions]
    assert SENTENCES[SUBJECT] in alike and SENTENCES[SUBJECT] not in trees


def test_the_tree_grows_with_the_row(show):
    shown = show(at_work(), width=390, touch=True)
    slider, boxes = shown.page.get_by_label("tokens written"), shown.widget.locator("rect")
    assert "8 of 8 proposed are right (P), 8 of 8 true are found (R): F1 = 100.0" in shown.readout()
    slider.press("Home")
    shown.frame()
    assert boxes.count() == 0 and shown.page.get_by_text("F1 =").is_hidden()
    height, n_open = shown.height(), []
    for _ in range(25):
        slider.press("ArrowRight")
        shown.frame()
        n_open.append(shown.widget.locator(".tfw-parse-open").count())
        assert shown.height() == height
    assert boxes.count() == 8 and max(n_open) == 6 and n_open[-1] == 0
    row = shown.widget.locator(".tfw-parse-row").inner_text()
    assert " ".join(row.split()) == " ".join(at_work().shown["tokens"])
    words = [one.bounding_box() for one in shown.widget.locator(".tfw-parse-word").all()]
    found = spans(read_tree(row.split(), KNOWS.split()).tree)
    for box, (_, start, end) in zip(boxes.all(), found, strict=True):
        place, first, last = box.bounding_box(), words[start], words[end - 1]
        assert place["x"] <= first["x"] and last["x"] + last["width"] <= place["x"] + place["width"]
    shown.check()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_the_true_tree_lacks_is_marked_and_what_was_mended_said(show, theme):
    shown = show(at_work(), width=390, theme=theme)
    shown.page.get_by_role("radio", name=SUBJECT).check()
    shown.frame()
    assert shown.widget.locator(".tfw-parse-wrong text").all_text_contents() == ["S ✗", "VP ✗"]
    said = shown.readout()
    assert "it is mended. “sees me .” got no XX." in said and "F1 = 16.7" in said
    assert "Not in the true tree: S “the man who sleeps”, VP “who”." in said
    for text, rect in zip(shown.widget.locator(".tfw-parse-part text").all(),
                          shown.widget.locator("rect").all(), strict=True):  # fmt: skip
        assert text.bounding_box()["width"] < rect.bounding_box()["width"]
    shown.check()


def test_readers_who_do_not_mind_motion_see_it_written(show):
    shown = show(at_work())
    shown.in_motion()
    shown.page.get_by_role("radio", name=OBJECT).check()
    assert shown.state("step") < 5
    shown.page.wait_for_function(
        "() => document.querySelector('.widget-place').model.get('step') === 25"
    )
    shown.page.get_by_role("radio", name=KNOWS).check()
    shown.page.get_by_label("tokens written").press("End")  # which ends it
    shown.frame()
    assert shown.state("step") == 25 and "F1 = 100.0" in shown.readout()


def test_a_sentence_of_ones_own_is_parsed_by_the_page_as_by_python(show):
    shown, widget = show(live(), width=390), live()
    load(shown)
    for typed, read, unknown in [
        ("The dog sleeps", "the dog sleeps .", ""),
        ("she sees the elephant.", "she sees the elephant .", "(\u2068elephant\u2069)"),
        ("I see the man who sleeps .", "I see the man who sleeps .", ""),
    ]:
        asked(shown, typed)
        widget.sentence = read
        assert shown.page.get_by_label("Your own sentence").input_value() == read
        assert shown.state("contents") == widget.contents
        assert shown.state("step") == widget.step == len(widget.shown["tokens"])
        said = shown.widget.locator(".tfw-own-answer").inner_text()
        assert unknown in said and bool(said.strip()) == bool(unknown)
        assert "Nobody has drawn the true tree" in shown.readout()
        assert shown.page.get_by_role("radio").count() == len(SENTENCES) + 1
        assert shown.widget.locator(".tfw-parse-wrong").count() == 0 and widget.score() is None
    asked(shown, SUBJECT)  # whose true tree is known, however it is asked
    widget.sentence = SUBJECT
    assert shown.state("contents") == widget.contents and "F1 = 16.7" in shown.readout()
    asked(shown, "dog " * (MOST_WORDS + 1))
    expect(shown.page.get_by_role("alert")).to_contain_text(f"and {MOST_WORDS} can be shown")
    widget.sentence = "dog " * (MOST_WORDS + 1)
    assert f"and {MOST_WORDS} can be shown" in widget.message
    shown.check()


def test_in_jupyter_the_field_is_there_at_once(show):
    shown = show(at_work())
    assert shown.page.get_by_label("Your own sentence").count() == 0  # nobody would answer
    shown.render_with_kernel("parser_at_work")
    assert shown.page.get_by_label("Your own sentence").count() == 1
    assert shown.page.get_by_role("button", name="load the model").count() == 0


def test_the_twin_points_out_what_is_wrong():
    figure = at_work(example=2).twin()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sum(text.endswith("✗") for text in texts) == 2 and texts[-7:] == SUBJECT.split()
    assert figure.axes[0].get_title() == "no tree, mended: F1 = 16.7"
    assert at_work().twin().axes[0].get_title() == "F1 = 100.0"


def test_what_cannot_be_shown_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="no sentences"):
        ParserAtWork(parser(), {})
    with pytest.raises(ValueError, match="too long"):
        ParserAtWork(parser(), {"dog " * 30: "(NP )NP"})
    with pytest.raises(TraitError, match="must be 0 to 2"):
        at_work(example=3)
