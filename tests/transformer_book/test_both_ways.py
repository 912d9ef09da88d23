"""A model of two directions finds out which is meant, in Python as in the page."""

import copy
import json
import math
from pathlib import Path

import pytest
import torch

from tests.helpers.both_ways import ENGLISH, GERMAN, N_KNOWN, UNSURE_BELOW, two_ways
from tests.transformer_book.widgets.in_node import answers
from transformer.decoding.beam import penalty
from transformer.text import BOS_ID, EOS_ID
from transformer.translation import Translator

from transformer_book import shipped
from transformer_book.both_ways import Candidate, TwoWayTranslator, without_direction
from transformer_book.widgets.beam_explorer import tokens_of


@pytest.mark.slow
def test_sentences_that_were_not_counted_are_told_apart():
    two = two_ways()
    right = [two.asked(text) == f"→en {text}" for text in GERMAN[1::2]]
    right += [two.asked(text) == f"→de {text}" for text in ENGLISH[1::2]]
    assert sum(right) >= 0.97 * len(right)


def test_a_sentence_is_asked_in_its_direction_and_may_name_another():
    two = two_ways()
    plain = Translator(two.model, two.tokenizer)
    text = GERMAN[1]
    assert two.translate([text]) == plain.translate([f"→en {text}"])
    assert two.translate([f"→de {text}"]) == plain.translate([f"→de {text}"])
    assert two.attention(text).source[:2] == plain.attention(f"→en {text}").source[:2]
    assert two.translate(["", text])[0] == ""
    assert two.asked(text) == f"→en {text}"
    assert without_direction(two.asked(text)) == without_direction(text) == text
    assert tokens_of(two, text) == two.tokenizer.encode(f"→en {text}")
    assert tokens_of(plain, text) == two.tokenizer.encode(text)


def test_it_is_sure_of_what_it_knows_and_of_nothing_else():
    two = two_ways()
    known = [text[:N_KNOWN] for text in (GERMAN, ENGLISH)]
    others = [text[10:14] for text in (GERMAN, ENGLISH)]
    for texts in [*known, *others]:
        assert two.unsure(texts) == [texts in others] * len(texts)
        assert two.unsure(texts) == [m < UNSURE_BELOW for m in two.confidence(texts)]
    assert two.translate(known[0]) == known[1] and two.translate(known[1]) == known[0]
    with pytest.raises(ValueError, match="a text is empty; there is nothing to be sure of"):
        two.confidence(["Guten Morgen.", " "])


def test_a_page_asks_as_python_does_and_warns_of_the_same_translations():
    two = two_ways()
    texts = [*GERMAN[:8], *ENGLISH[:8], "\u2192de Guten Morgen.", "\u2192en"]
    found = answers(two, [{"method": "attention", "text": text} for text in texts])
    for text, one, unsure in zip(texts, found, two.unsure(texts), strict=True):
        expected = two.attention(text)
        assert one["source"] == expected.source and one["target"] == expected.target, text
        assert bool(one["note"]) == one["note"].startswith("The model is unsure") == unsure, text


def test_a_page_reads_back_as_python_does():
    two = two_ways()
    texts = [GERMAN[0], GERMAN[5], ENGLISH[6], f"\u2192de {GERMAN[5]}"]
    found = answers(two, [{"method": "readBack", "text": t, "beamSize": 3} for t in texts])
    for page, python in zip(found, two.candidates(texts, beam_size=3), strict=True):
        assert [one["text"] for one in page] == [one.text for one in python]
        for one, expected in zip(page, python, strict=True):
            assert one["length"] == expected.length
            assert one["forward"] == pytest.approx(expected.forward, abs=1e-3)
            assert one["backward"] == pytest.approx(expected.backward, abs=1e-2)


def test_it_is_read_from_where_it_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    two, folder = two_ways(), tmp_path / "models" / "both"
    two.save(folder)
    two.ways.save(folder)
    (folder / "config.json").write_text(json.dumps({"task": "everyday"}))
    monkeypatch.setattr(shipped, "book_folders", lambda name: [tmp_path / name])
    read = shipped.shipped_model("both")
    assert isinstance(read, TwoWayTranslator) and read.ways == two.ways
    assert read.translate(GERMAN[:2]) == two.translate(GERMAN[:2])


def log_probability(two: TwoWayTranslator, source: str, target: str) -> float:
    """Of a whole output with its end mark, by one pass over one sentence."""
    encode, model = two.tokenizer.encode, two.model
    tokens = [*encode(target), EOS_ID]
    with torch.no_grad():
        logits = model(
            torch.tensor([[*encode(source), EOS_ID]]), torch.tensor([[BOS_ID, *tokens[:-1]]])
        )
    return logits[0].log_softmax(-1)[range(len(tokens)), tokens].sum().item()


def test_every_candidate_is_read_back_in_the_other_direction():
    two = two_ways()
    texts = [GERMAN[5], "", ENGLISH[6], f"→de {GERMAN[5]}"]
    found = two.candidates(texts, beam_size=3)
    nbest = two.n_best(texts, 3, beam_size=3)
    assert [[(one.text, one.forward) for one in each] for each in found] == nbest
    assert list(map(len, found)) == [3, 0, 3, 3]
    back = ["→de ", "", "→en ", "→en "]
    for text, arrow, candidates in zip(texts, back, found, strict=True):
        plain = without_direction(text)
        for one in candidates:
            assert one.length == len(two.tokenizer.encode(one.text)) + 1
            expected = log_probability(two, arrow + one.text, plain)
            expected /= penalty(len(two.tokenizer.encode(plain)) + 1, 0.6)
            assert one.backward == pytest.approx(expected, abs=1e-3)
    best = [max(each, key=Candidate.score).text if each else "" for each in found]
    assert two.rerank(texts, beam_size=3) == best


def test_what_leaves_something_out_reads_back_badly():
    """The shipped model's greedy translation has lost a word, and its beam has not."""
    dessert = "Zum Nachtisch gibt es Erdbeeren mit Sahne."
    shipped_one = shipped.shipped_model()
    assert isinstance(shipped_one, TwoWayTranslator)
    read = {one.text: one for one in shipped_one.candidates([dessert])[0]}
    (greedy,) = shipped_one.translate([dessert])
    (kept,) = shipped_one.rerank([dessert])
    assert "cream" not in greedy and "cream" in kept
    assert read[greedy].backward < read[kept].backward - 5


def test_the_score_adds_what_is_read_back_and_a_bonus_for_each_token():
    one = Candidate("x", -1.0, -4.0, 6)
    assert one.score(0.5, 0.25) == -1.0 - 2.0 + 1.5
    assert one.score(0.0, 0.0) == one._replace(backward=-math.inf).score(0.0, 0.0) == one.forward


def test_a_model_in_training_is_read_back_without_dropout_and_stays_in_training():
    two = copy.deepcopy(two_ways())
    sound = two.candidates([GERMAN[5]], beam_size=2)
    two.model.train()
    assert two.candidates([GERMAN[5]], beam_size=2) == sound and two.model.training


def test_a_candidate_that_is_too_long_to_be_read_back_comes_last(monkeypatch: pytest.MonkeyPatch):
    two, long = two_ways(), "word " * 300
    monkeypatch.setattr(two, "n_best", lambda *args, **kwargs: [[(long, -1.0), ("No.", -9.0)]])
    assert [one.backward == -math.inf for one in two.candidates([GERMAN[0]])[0]] == [True, False]
    assert two.rerank([GERMAN[0]]) == ["No."]
    monkeypatch.setattr(two, "n_best", lambda *args, **kwargs: [[(long, -1.0)]])
    assert two.rerank([GERMAN[0]]) == [long]
