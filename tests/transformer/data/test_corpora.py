"""Real corpora, divided: what trains, what judges, and that nothing is in both."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.releases import folder_of, mteval, release, tar_of, zip_of
from transformer.data.corpora import (
    IWSLT14_TEST,
    hold_out,
    iwslt_corpus,
    iwslt_splits,
    overlaps,
    text_corpus,
    text_splits,
    with_more,
)
from transformer.data.iwslt import load_iwslt
from transformer.data.parallel import DataError, ParallelText

SETS_14 = {name: size for size, name in enumerate(IWSLT14_TEST, 3)}
SETS_17 = {"TED.dev2010": 2, **{f"TED.tst201{year}": 3 for year in range(6)}}


def lines(text: ParallelText) -> list[tuple[str, str]]:
    return list(zip(text.source, text.target, strict=True))


def check_disjoint(corpus) -> None:
    train = set(lines(corpus.train))
    for split in corpus.splits.values():
        assert not train & set(lines(split))


def test_iwslt14_is_divided_as_in_the_literature(tmp_path):
    place = folder_of(tmp_path / "14", release("14", 460, SETS_14))
    corpus = iwslt_corpus("iwslt14", place)
    # With the literature's 23 where pairs are many; here they are few.
    assert {name: len(text) for name, text in corpus.splits.items()} == {
        "valid": 9,
        "test": 3 + 4 + 5 + 6 + 7,
    }
    assert corpus.splits["test"].source[0] == "Haus TED.dev2010 0 ."
    assert corpus.splits["test"].source[-1] == "Haus TED.tst2012 6 ."
    assert len(corpus.train) == corpus.metadata["train_pairs"] == 451
    assert corpus.metadata["metadata_lines"] == 2 * 7
    check_disjoint(corpus)


def test_of_many_pairs_every_23rd_validates():
    text = ParallelText(*([f"{side}{i}" for i in range(167_522)] for side in "ab"))
    rest, held = hold_out(text, 23)
    # The numbers that the literature gives for IWSLT14 de-en.
    assert (len(rest), len(held)) == (160_239, 7_283)
    assert held.source[:2] == ["a22", "a45"]


@pytest.mark.parametrize("campaign", ["iwslt16", "iwslt17"])
def test_later_campaigns_validate_on_dev2010_and_test_on_each_set(tmp_path, campaign):
    place = folder_of(tmp_path / "talks", release(campaign[-2:], 60, SETS_17))
    corpus = iwslt_corpus(campaign, place)
    assert list(corpus.splits) == list(SETS_17)
    assert len(corpus.train) == 60
    check_disjoint(corpus)
    only = iwslt_corpus(campaign, place, test_sets=["TED.tst2013"])
    assert list(only.splits) == ["TED.dev2010", "TED.tst2013"]


def test_without_a_training_file_all_other_sets_train(tmp_path):
    place = folder_of(tmp_path / "16", release("16", None, {"TED.tst2013": 99, "TED.tst2014": 8}))
    corpus = iwslt_corpus("iwslt16", place)
    assert {name: len(text) for name, text in corpus.splits.items()} == {
        "valid": 1,
        "TED.tst2014": 8,
    }
    assert (corpus.metadata["pairs"], len(corpus.train)) == (99, 98)
    assert corpus.metadata["training_text"] == "TED.tst2013"
    check_disjoint(corpus)


def test_the_test_set_can_be_chosen(tmp_path):
    sets = {"TED.tst2012": 30, "TED.tst2013": 60, "TED.tst2014": 8}
    place = folder_of(tmp_path / "16", release("16", None, sets))
    corpus = iwslt_corpus("iwslt16", place, test_sets=["TED.tst2012", "TED.tst2014"])
    assert list(corpus.splits) == ["valid", "TED.tst2012", "TED.tst2014"]
    assert corpus.metadata["training_text"] == "TED.tst2013"


def test_the_real_sets_make_a_corpus(real_data):
    corpus = iwslt_corpus("iwslt16", real_data / "iwslt16")
    assert (corpus.metadata["pairs"], corpus.metadata["train_pairs"]) == (10_520, 10_298)
    assert sum(corpus.metadata["dropped"].values()) == 12
    assert {name: len(text) for name, text in corpus.splits.items()} == {
        "valid": 210,
        "TED.tst2014": 1305,
    }
    back = iwslt_corpus("iwslt16", real_data / "iwslt16", source="en", target="de")
    assert back.splits["TED.tst2014"].target == corpus.splits["TED.tst2014"].source


def test_what_was_dropped_is_told(tmp_path):
    files = release("16", None, {"TED.tst2013": 99, "TED.tst2014": 8})
    files["IWSLT16.TED.tst2012.de-en.de.xml"] = mteval(["Ja .", "w " * 300, "gut"])
    files["IWSLT16.TED.tst2012.de-en.en.xml"] = mteval(["w " * 20, "w " * 290, "good"])
    corpus = iwslt_corpus("iwslt16", folder_of(tmp_path / "16", files))
    assert corpus.metadata["dropped"] == {
        "one side more than 4 times as long": 1,
        "more than 250 words": 1,
    }


def test_a_run_is_scored_without_its_training_text(tmp_path):
    whole = folder_of(tmp_path / "whole", release("14", 460, SETS_14))
    metadata = iwslt_corpus("iwslt14", whole).metadata
    tests = folder_of(tmp_path / "tests", release("14", None, SETS_14))
    splits = iwslt_splits("iwslt14", tests, metadata)
    assert splits == {"test": iwslt_corpus("iwslt14", whole).splits["test"]}
    few = folder_of(tmp_path / "few", release("14", None, {"TED.tst2010": 3}))
    with pytest.raises(DataError, match=r"no set TED.dev2010.*; there are TED.tst2010"):
        iwslt_splits("iwslt14", few, metadata)


def test_an_unknown_set_is_named(tmp_path):
    place = folder_of(tmp_path / "16", release("16", None, {"TED.tst2013": 99}))
    with pytest.raises(DataError, match="no set TED.tst1999; there are TED.tst2013"):
        iwslt_corpus("iwslt16", place, test_sets=["TED.tst1999"])


def test_too_few_pairs_are_named(tmp_path):
    place = folder_of(tmp_path / "16", release("16", None, {"TED.tst2013": 9, "TED.tst2014": 8}))
    with pytest.raises(DataError, match="9 sentence pairs are too few"):
        iwslt_corpus("iwslt16", place)


# The layouts of the real archives: the campaign's own, fairseq's, torchtext's, Hugging Face's.


def test_archives_of_the_real_layouts_are_read(tmp_path):
    files = release("17", 60, SETS_17)
    expected = load_iwslt(folder_of(tmp_path / "folder", files))
    inner = tar_of(tmp_path / "de-en.tgz", files, "de-en/")
    assert load_iwslt(inner) == expected
    assert load_iwslt(zip_of(tmp_path / "de-en.zip", files, "de-en/")) == expected
    nested = {"texts/de/en/de-en.tgz": inner.read_bytes(), "README": b"all languages"}
    assert load_iwslt(tar_of(tmp_path / "2017-01.tgz", nested, "2017-01/")) == expected
    unpacked = tmp_path / "2017-01" / "texts" / "de" / "en"
    unpacked.mkdir(parents=True)
    (unpacked / "de-en.tgz").write_bytes(inner.read_bytes())
    assert load_iwslt(tmp_path / "2017-01") == expected


def test_of_two_directions_the_one_that_was_asked_for_is_read(tmp_path):
    there = release("16", 60, SETS_17)
    back = release("16", 70, SETS_17, "en-de", ("home", "Heim"))
    archives = {
        "texts/de/en/de-en.tgz": tar_of(tmp_path / "de-en.tgz", there, "de-en/").read_bytes(),
        "texts/en/de/en-de.tgz": tar_of(tmp_path / "en-de.tgz", back, "en-de/").read_bytes(),
        "texts/en/fr/en-fr.tgz": b"of no concern",
    }
    place = tar_of(tmp_path / "2016-01.tgz", archives, "2016-01/")
    german = load_iwslt(place)
    assert (len(german.train), german.train.source[0]) == (60, "Haus train 0 .")
    english = load_iwslt(place, source="en", target="de")
    assert (len(english.train), english.train.source[0]) == (70, "home train 0 .")


def test_a_poisoned_archive_within_an_archive_is_refused(tmp_path):
    bad = tar_of(tmp_path / "de-en.tgz", release("16", 3, {}), "../")
    place = tar_of(tmp_path / "2016-01.tgz", {"de-en.tgz": bad.read_bytes()}, "2016-01/")
    with pytest.raises(DataError, match="refused: its file .* leads out of the archive"):
        load_iwslt(place)
    page = tar_of(tmp_path / "page.tgz", {"de-en.tgz": b"<html>"}, "2016-01/")
    with pytest.raises(DataError, match=r"is no whole .tar, .tgz or .zip archive"):
        load_iwslt(page)


@pytest.mark.parametrize("pair", ["vi-en", "zh-en", "fr-en"])
def test_any_pair_of_languages_that_is_there_can_be_read(tmp_path, pair):
    source, target = pair.split("-")
    names = ("房子很大", "the house is large") if source == "zh" else ("maison", "house")
    place = folder_of(tmp_path / "talks", release("17", 60, SETS_17, pair, names))
    corpus = iwslt_corpus("iwslt17", place, source=source, target=target)
    assert len(corpus.train) == 60
    with pytest.raises(DataError, match="no IWSLT files of de and en"):
        iwslt_corpus("iwslt17", place)


# Text of one's own.


def test_part_of_the_training_text_validates_where_nothing_else_does(tmp_path):
    for language in ("de", "en"):
        (tmp_path / f"train.{language}").write_text("".join(f"{language} {i}\n" for i in range(99)))
    corpus = text_corpus(tmp_path)
    assert (len(corpus.train), len(corpus.splits["valid"])) == (95, 4)
    assert corpus.metadata["dropped"] == {}
    check_disjoint(corpus)
    assert text_splits(tmp_path, corpus.metadata) == corpus.splits


def test_given_texts_validate_and_test_without_their_empty_lines(tmp_path):
    for name in ("train", "dev", "test_a"):
        (tmp_path / f"{name}.tsv").write_text(f"{name} eins\tone\nzwei\ttwo\n\tthree\n")
    corpus = text_corpus(tmp_path)
    assert list(corpus.splits) == ["valid", "test_a"]
    assert corpus.splits["valid"].source == ["dev eins", "zwei"]
    assert (len(corpus.train), corpus.metadata["dropped"]) == (2, {"a side is empty": 1})
    (tmp_path / "train.tsv").unlink()
    assert text_splits(tmp_path, corpus.metadata) == corpus.splits
    with pytest.raises(DataError, match="holds no training text, only valid, test_a"):
        text_corpus(tmp_path)


def test_text_must_be_named():
    with pytest.raises(DataError, match="name the text with --data"):
        text_corpus(None)


def test_other_text_trains_too_and_judges_nothing(tmp_path):
    place = folder_of(tmp_path / "16", release("16", None, {"TED.tst2013": 99, "TED.tst2014": 8}))
    more = tmp_path / "captions"
    more.mkdir()
    (more / "train.de").write_text("Ein Hund .\n\nZwei Hunde .\n")
    (more / "train.en").write_text("A dog .\nnobody\nTwo dogs .\n")
    (more / "val.de").write_text("Drei .\n")
    (more / "val.en").write_text("Three .\n")
    alone = iwslt_corpus("iwslt16", place)
    corpus = with_more(alone, more)
    assert lines(corpus.train) == [
        *lines(alone.train),
        ("Ein Hund .", "A dog ."),
        ("Zwei Hunde .", "Two dogs ."),
    ]
    assert corpus.splits == alone.splits
    also = corpus.metadata["also"]
    assert (also["name"], also["pairs"], sum(also["dropped"].values())) == ("captions", 2, 1)
    (more / "train.de").unlink()
    (more / "train.en").unlink()
    with pytest.raises(DataError, match="holds no training text, only valid"):
        with_more(alone, more)


# What a text repeats.


def check_held_out_once(text, every):
    rest, held = hold_out(text, every)
    for side in ("source", "target"):
        sides = [{" ".join(line.split()) for line in getattr(part, side)} for part in (rest, held)]
        assert sides[0].isdisjoint(sides[1])
    assert sorted(lines(rest) + lines(held)) == sorted(lines(text))
    assert min(len(rest), len(held)) > 0
    return rest, held


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("copies", [2, 3, 10])
def test_copies_are_held_out_together_and_no_more_than_asked_for(copies, together):
    numbers = [i // copies for i in range(600)] if together else [*range(600 // copies)] * copies
    text = ParallelText([f"a {i}" for i in numbers], [f"b {i}" for i in numbers])
    _, held = check_held_out_once(text, 20)
    assert len(held) == 30


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=5, max_size=60))
def test_no_held_out_sentence_stands_in_the_training_text(numbers):
    # Two blanks look like one.
    pairs = [(f"a{'  ' if i % 3 else ' '}{s}", f"b {t}") for i, (s, t) in enumerate(numbers)]
    text = ParallelText.of_pairs(pairs)
    try:
        check_held_out_once(text, 5)
    except DataError as error:
        assert "share a sentence" in str(error)


def test_test_sentences_that_were_trained_on_are_counted_and_stay(tmp_path):
    own, also = tmp_path / "own", tmp_path / "also"
    pairs = [f"eins {i}\tone {i}\n" for i in range(60)]
    own.mkdir()
    also.mkdir()
    (own / "train.tsv").write_text("".join(pairs[:40]))
    (own / "test.tsv").write_text("".join(pairs[40:50]))
    (also / "train.tsv").write_text("".join(pairs[43:60]).replace(" ", "\u00a0"))
    corpus = text_corpus(own)
    assert overlaps(corpus.train, corpus.splits) == {"valid": 0, "test": 0}
    more = with_more(corpus, also)
    assert overlaps(more.train, more.splits) == {"valid": 0, "test": 7}
    assert more.splits == corpus.splits
    assert more.train.line(len(corpus.train) + 1) == "line 2 of also/train.tsv"


def test_a_pair_keeps_its_line_in_every_kind_of_file(tmp_path):
    bad = {7: ("", "x"), 30: ("zu viel " * 200, "y")}
    pairs = [bad.get(i, (f"Satz {i}", f"line {i}")) for i in range(1, 61)]
    (tmp_path / "c.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    for name, side in (("c.de", 0), ("c.en", 1)):
        with gzip.open(tmp_path / f"{name}.gz", "wt") as file:
            file.write("".join(f"{pair[side]}\n" for pair in pairs))
    for path, name in ((tmp_path / "c.tsv", "c.tsv"), (tmp_path / "c", "c.de.gz")):
        corpus = text_corpus(path)
        assert corpus.metadata["first_dropped"] == {
            "a side is empty": f"line 7 of {name}",
            "more than 250 words": f"line 30 of {name}",
        }
        for part in (corpus.train, *corpus.splits.values()):
            for i, sentence in enumerate(part.source):
                assert part.line(i) == f"line {sentence.split()[1]} of {name}"


def test_a_segment_of_the_talks_keeps_its_line(tmp_path):
    place = folder_of(tmp_path / "talks", release("17", 60, SETS_17))
    talks = load_iwslt(place)
    for text in (talks.train, *talks.sets.values()):
        for sentence, (name, number) in zip(text.source, text.origins, strict=True):
            assert sentence in (place / name).read_text().split("\n")[number - 1]
