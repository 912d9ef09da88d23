"""A model of two directions finds out which is meant, in Python as in the page."""

import json
from pathlib import Path

import pytest

from tests.helpers.both_ways import ENGLISH, GERMAN, N_KNOWN, UNSURE_BELOW, two_ways
from tests.transformer_book.widgets.in_node import answers
from transformer.translation import Translator

from transformer_book import shipped
from transformer_book.both_ways import TwoWayTranslator, without_direction
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


def test_it_is_read_from_where_it_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    two, folder = two_ways(), tmp_path / "models" / "both"
    two.save(folder)
    two.ways.save(folder)
    (folder / "config.json").write_text(json.dumps({"task": "everyday"}))
    monkeypatch.setattr(shipped, "book_folders", lambda name: [tmp_path / name])
    read = shipped.shipped_model("both")
    assert isinstance(read, TwoWayTranslator) and read.ways == two.ways
    assert read.translate(GERMAN[:2]) == two.translate(GERMAN[:2])
