"""Text of one's own: the ways to give it, and what may be wrong with it."""

import gzip

import pytest

from transformer.data.multi30k import load_multi30k
from transformer.data.parallel import DataError, ParallelText
from transformer.data.plain import load_plain, read_tsv

PAIRS = ParallelText(["eins", "zwei \u2028 drei"], ["one", "two \u2028 three"])


@pytest.fixture
def text(tmp_path):
    (tmp_path / "train.de").write_text("eins\nzwei \u2028 drei\n", encoding="utf-8")
    (tmp_path / "train.en").write_text("one\r\ntwo \u2028 three", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("place", [".", "train", "train.de", "train.en"])
def test_two_files_are_given_by_folder_common_name_or_one_of_them(text, place):
    assert load_plain(text / place) == {"train": PAIRS}


def test_the_direction_can_be_turned(text):
    turned = load_plain(text, source="en", target="de")
    assert turned == {"train": ParallelText(PAIRS.target, PAIRS.source)}


def test_compressed_files_are_read(text):
    for name in ("train.de", "train.en"):
        (text / f"{name}.gz").write_bytes(gzip.compress((text / name).read_bytes()))
        (text / name).unlink()
    for place in (text, text / "train", text / "train.de.gz"):
        assert load_plain(place) == {"train": PAIRS}


def test_a_table_is_read_by_itself_or_in_a_folder(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("eins\tone\nzwei \u2028 drei\ttwo \u2028 three\ta note\n", encoding="utf-8")
    assert load_plain(path) == load_plain(tmp_path) == {"train": PAIRS}
    (tmp_path / "train.tsv.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert load_plain(tmp_path / "train.tsv.gz") == {"train": PAIRS}


def test_a_folder_holds_parts_under_their_usual_names(text):
    for name in ("val.tsv", "test.tsv", "test_2016.tsv", "notes.tsv", "LICENSE"):
        (text / name).write_text(f"{name}\tx\n")
    parts = load_plain(text)
    assert list(parts) == ["train", "valid", "test", "test_2016"]
    assert parts["valid"].source == ["val.tsv"]


def test_multi30k_is_a_folder_of_such_files(corpora):
    parts = load_plain(corpora / "multi30k")
    corpus = load_multi30k(corpora / "multi30k")
    assert parts == {"train": corpus.train, "valid": corpus.valid, **corpus.tests}


@pytest.mark.parametrize(
    ("files", "place", "message"),
    [
        ({"train.de": "a\nb\n", "train.en": "x\n"}, ".", "has 2 lines and .* has 1; they must"),
        ({"train.de": "a\n"}, ".", "holds train.de, but no train.en"),
        ({"train.de": "a\n"}, "train", "not both of .*train.de and .*train.en"),
        ({"train.de": "", "train.en": ""}, ".", "there is no text in it"),
        ({"train.de": " \n", "train.en": "\n"}, "train", "there is no text in it"),
        ({"train.tsv": ""}, "train.tsv", "there is no text in it"),
        ({"train.tsv": "a\tx\nb x\n"}, "train.tsv", "line 2 of .* holds no tab"),
        ({"train.tsv": "a\tx\n\n"}, ".", "line 2 of .* holds no tab"),
        ({"dev.tsv": "a\tx\n", "val.tsv": "a\tx\n"}, ".", "holds dev.tsv and val.tsv; keep one"),
        ({"notes": "a"}, ".", "holds neither train.de and train.en nor train.tsv"),
        ({}, "nowhere", "no folder .*nowhere, no .tsv file of this name"),
        ({}, "nowhere.tsv", "there is no file .*nowhere.tsv"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, files, place, message):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        load_plain(tmp_path / place)


def test_bytes_that_are_no_text_are_named(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"a\t\xff\n")
    with pytest.raises(DataError, match=r"line 1 of .*a.tsv is not UTF-8 text \(byte 2 is 0x"):
        read_tsv(tmp_path / "a.tsv")


def test_one_language_on_both_sides_is_refused(text):
    with pytest.raises(DataError, match="source and target are both 'de'"):
        load_plain(text, source="de", target="de")
