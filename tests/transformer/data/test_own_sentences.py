"""The sentences written for the book: complete, different from each other, and nobody else's."""

import gzip
import re
from collections import Counter
from dataclasses import astuple
from pathlib import Path

import pytest

from transformer.data.everyday import folded
from transformer.data.limits import DataError
from transformer.data.own_sentences import (
    OWN_SENTENCES,
    OwnSentence,
    own_sentences,
    sources_and_references,
)

ROWS = own_sentences()
TEXTS = [text for row in ROWS for text in astuple(row)[1:]]
HEADER = "phenomenon\tgerman\tgerman_2\tenglish\tenglish_2\n"
FORMAL = re.compile(r"\b(Sie|Ihnen|Ihre?[mnrs]?)\b")
FAMILIAR = re.compile(r"\b(du|dich|dir|deine?[mnrs]?)\b", re.IGNORECASE)


def test_there_are_two_hundred_with_every_column_filled() -> None:
    assert len(ROWS) == 200
    assert all(text and text == text.strip() for row in ROWS for text in astuple(row))
    assert OWN_SENTENCES.read_bytes().count(b"\n") == 201
    assert b"\r" not in OWN_SENTENCES.read_bytes()


def test_no_sentence_stands_there_twice_whatever_its_case_and_punctuation() -> None:
    assert [text for text, n in Counter(map(folded, TEXTS)).items() if n > 1] == []


def test_second_translations_differ_in_words_and_not_only_in_their_order() -> None:
    for row in ROWS:
        for pair in ((row.german, row.german_2), (row.english, row.english_2)):
            first, second = (Counter(folded(text).split()) for text in pair)
            assert first != second, pair


def test_each_phenomenon_has_enough_sentences_to_say_something_about_it() -> None:
    counts = Counter(row.phenomenon for row in ROWS)
    assert len(counts) == 18
    assert min(counts.values()) >= 8
    order = list(dict.fromkeys(row.phenomenon for row in ROWS))
    assert [row.phenomenon for row in ROWS] == [name for name in order for _ in range(counts[name])]


def test_a_sentence_is_short_begins_with_a_capital_and_has_its_mark() -> None:
    assert [text for text in TEXTS if not 3 <= len(text.split()) <= 14] == []
    assert [text for text in TEXTS if not text[0].isupper() or text[-1] not in ".?"] == []
    assert [text for text in TEXTS if re.search(r"\s\s|\s[.,;?!]|[„“”‚‘’]", text)] == []


@pytest.mark.parametrize(
    ("phenomenon", "pattern"),
    [
        ("questions", r"\?$"),
        ("negation", r"(?i)\b(nicht|nie|niemand|nirgend\w*|keine?n?|weder)\b"),
        ("subordinate clauses", ", "),
        ("names and numbers", r"\d|\b(halb|zwei|drei|fünf|sieben|neun|\w*viertel|drittel)"),
    ],
)
def test_a_phenomenon_is_in_the_german_that_it_names(phenomenon: str, pattern: str) -> None:
    texts = [row.german for row in ROWS if row.phenomenon == phenomenon]
    assert [text for text in texts if not re.search(pattern, text, re.IGNORECASE)] == []
    assert len(texts) >= 8


def test_one_german_reference_says_du_and_the_other_sie() -> None:
    """The English *you* does not tell which, so either must count as right."""
    for row in (row for row in ROWS if row.phenomenon == "du and Sie"):
        formal = [bool(FORMAL.search(text)) for text in (row.german, row.german_2)]
        familiar = [bool(FAMILIAR.search(text)) for text in (row.german, row.german_2)]
        assert sorted(formal) == [False, True], row
        assert familiar == [not says_sie for says_sie in formal], row


@pytest.mark.slow
def test_none_stands_in_what_everyday_models_are_trained_or_tested_on(real_data: Path) -> None:
    known = set()
    for path in (*real_data.glob("everyday/*.tsv.gz"), *real_data.glob("test_sets/*.tsv.gz")):
        for line in gzip.decompress(path.read_bytes()).decode().split("\n"):
            known.update(map(folded, line.split("\t")[:2]))
    assert len(known) > 400_000
    assert [text for text in TEXTS if folded(text) in known] == []


def test_each_direction_has_its_sources_and_two_references() -> None:
    row = OwnSentence("questions", "Wo?", "An welchem Ort?", "Where?", "In which place?")
    assert sources_and_references("en", [row]) == (["Wo?"], [["Where?"], ["In which place?"]])
    assert sources_and_references("de", [row]) == (["Where?"], [["Wo?"], ["An welchem Ort?"]])
    for target in ("de", "en"):
        sources, references = sources_and_references(target)
        assert [len(sources), *map(len, references)] == [200, 200, 200]


def test_a_reference_scores_100_whichever_of_the_two_it_is() -> None:
    from sacrebleu import corpus_bleu

    _, references = sources_and_references("en")
    mixed = [pair[i % 2] for i, pair in enumerate(zip(*references, strict=True))]
    assert corpus_bleu(mixed, references).score == pytest.approx(100)
    assert corpus_bleu(mixed, references[:1]).score < 80


def test_only_the_two_languages_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match=r"target \('fr'\) must be one of de, en"):
        sources_and_references("fr")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begins with ''; its first line must name the columns"),
        ("food\tBrot.\tBrot!\tBread.\tBread!\n", r"begins with 'food\\tBrot.*phenomenon, german"),
        (HEADER + "food\tBrot.\tBread.\n", "line 2 of .* has 3 filled columns and should have 5"),
        (HEADER + "food\tBrot.\t \tBread.\tBread!\n", "line 2 of .* has 4 filled columns"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "own.tsv").write_text(text, "utf-8")
    with pytest.raises(DataError, match=says):
        own_sentences(tmp_path / "own.tsv")


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file .*nowhere.tsv"):
        own_sentences(tmp_path / "nowhere.tsv")
