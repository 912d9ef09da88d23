"""Everyday sentences: what may be used, families of translations, and a division without leaks."""

import gzip
import hashlib
import tarfile
import zipfile
from pathlib import Path

import pytest

from transformer.data import everyday
from transformer.data.everyday import (
    LARGEST_FAMILY,
    OPUS,
    Rows,
    asking_for,
    direction,
    divided,
    everyday_corpus,
    families,
    folded,
    read_everyday,
)
from transformer.data.limits import DataError

TATOEBA = "manythings 2018"


def write(path: Path, *rows: tuple[str, ...]) -> Path:
    text = "".join("\t".join(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def pairs(n: int) -> list[tuple[str, str]]:
    return [(f"Satz {i}.", f"Sentence {i}.") for i in range(n)]


def of_tatoeba(*rows: tuple[str, str]) -> Rows:
    return Rows(list(rows), [TATOEBA] * len(rows))


def test_sentences_that_share_a_translation_are_one_family() -> None:
    chain = [("Hallo!", "Hello."), ("hallo", "Hi!"), ("Servus.", "hi"), ("Katze", "cat")]
    assert families(chain) == [[0, 1, 2], [3]]


def test_the_same_word_in_both_languages_joins_nothing() -> None:
    assert families([("Tom", "Tom"), ("Hand", "hand"), ("So", "Hand ")]) == [[0], [1, 2]]
    assert families([("Hand", "palm"), ("Arm", "Hand")]) == [[0], [1]]


def test_case_and_punctuation_do_not_tell_sentences_apart_and_numbers_do() -> None:
    assert folded("Ja, gern!") == folded("ja gern")
    assert folded("Es ist 7.") != folded("Es ist 8.")


def test_no_family_stands_on_two_sides_of_the_division() -> None:
    rows = of_tatoeba(*pairs(60), *[(f"Satz {i}!", f"Another {i}.") for i in range(60)])
    parts = divided(rows, n_valid=10, n_test=15)
    assert [len(part) for part in parts[1:]] == [10, 15]
    of_part = [{folded(s) for i in part for s in rows.pairs[i]} for part in parts]
    assert of_part[0].isdisjoint(of_part[1] | of_part[2])
    assert of_part[1].isdisjoint(of_part[2])


def test_a_large_family_trains_and_other_sources_are_not_tested_on() -> None:
    large = [("Ja.", f"Yes, number {i}.") for i in range(LARGEST_FAMILY + 1)]
    orders = [(f"licht {i} an", f"light {i} on") for i in range(30)]
    rows = Rows(
        [*pairs(20), *large, *orders], [TATOEBA] * (20 + len(large)) + ["massive 1"] * len(orders)
    )
    train, valid, test = divided(rows, n_valid=5, n_test=5)
    assert set(range(20, len(rows.pairs))) <= set(train)
    assert all(i < 20 for i in (*valid, *test))


def test_too_few_pairs_are_refused_with_what_to_do() -> None:
    with pytest.raises(DataError, match="8 pairs are too few to hold 4 out for validation and 4"):
        divided(of_tatoeba(*pairs(8)), n_valid=4, n_test=4)


def test_only_text_that_may_be_used_freely_is_read_and_nothing_twice(tmp_path) -> None:
    write(
        tmp_path / "a.tsv",
        ("Guten Tag.", "Hello.", TATOEBA),
        ("Guten Tag.", "Hello.", "tatoeba"),
        ("Ein Wort.", "A word.", "ding line 7"),
    )
    write(tmp_path / "b.tsv.gz", ("licht an", "lights on", "massive 3", "some test set"))
    (tmp_path / "notes.txt").write_text("no table")
    read = read_everyday(tmp_path)
    assert read.pairs == [("Guten Tag.", "Hello."), ("licht an", "lights on")]
    assert read.origins == [TATOEBA, "massive 3"]


def test_an_archive_and_a_single_file_are_read_like_the_folder(tmp_path) -> None:
    one = write(tmp_path / "a.tsv", ("Guten Tag.", "Hello.", TATOEBA))
    with tarfile.open(tmp_path / "all.tgz", "w:gz") as archive:
        archive.add(one, "everyday/a.tsv")
    assert read_everyday(one) == read_everyday(tmp_path / "all.tgz") == read_everyday(tmp_path)


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_what_others_publish_of_tatoeba_is_read_as_it_is(tmp_path) -> None:
    anki = {"_about.txt": "CC BY", "deu.txt": "Hello.\tGuten Tag.\nHi!\tHallo!\tCC-BY #1\n"}
    opus = {"README": "OPUS", OPUS["de"]: "Guten Tag.\nHallo!\n", OPUS["en"]: "Hello.\nHi!\n"}
    pairs = [("Guten Tag.", "Hello."), ("Hallo!", "Hi!")]
    assert read_everyday(zipped(tmp_path / "deu-eng.zip", anki)) == Rows(pairs, ["manythings"] * 2)
    assert read_everyday(zipped(tmp_path / "de-en.zip", opus)) == Rows(pairs, ["tatoeba"] * 2)
    with pytest.raises(DataError, match=r"line 1 of deu.txt has 1 columns and should have 2: Engl"):
        read_everyday(zipped(tmp_path / "a.zip", {"deu.txt": "Hello. Guten Tag.\n"}))
    for english in ("Hello.\n", None):
        files = {OPUS["de"]: "Guten Tag.\nHallo!\n", **({OPUS["en"]: english} if english else {})}
        with pytest.raises(DataError, match=r"de has 2 lines and Tatoeba.de-en.en [01] in .*b.zip"):
            read_everyday(zipped(tmp_path / "b.zip", files))


def test_without_a_folder_the_pairs_are_fetched_once(server, tmp_path, monkeypatch) -> None:
    address, folder = server
    text = "".join(f"{english}\t{german}\n" for german, english in pairs(60))
    archive = zipped(folder / "deu-eng.zip", {"deu.txt": text})
    monkeypatch.setenv("TRANSFORMER_CACHE", str(tmp_path))
    monkeypatch.setattr(everyday, "ADDRESSES", (f"{address}/deu-eng.zip",))
    monkeypatch.setattr(everyday, "SHA256", hashlib.sha256(archive.read_bytes()).hexdigest())
    for _ in range(2):
        corpus = everyday_corpus(n_valid=5, n_test=5)
        assert corpus.metadata["pairs"] == 60
        archive.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (
            ("Guten Tag.", "Hello."),
            "line 1 of a.tsv has 2 columns and should have 3: German, tab, English, tab, where",
        ),
        (("Guten Tag.", "Hello.", "ding 1"), "holds no .tsv file with pairs from manythings"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, row, says) -> None:
    write(tmp_path / "a.tsv", row)
    with pytest.raises(DataError, match=says):
        read_everyday(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(DataError, match="there is no folder or archive .*nowhere"):
        read_everyday(tmp_path / "nowhere")
    with pytest.raises(DataError, match="there is no file .*nowhere.tsv"):
        read_everyday(tmp_path / "nowhere.tsv")


def test_each_pair_is_learned_in_both_directions_and_the_source_asks_for_one(tmp_path) -> None:
    write(tmp_path / "a.tsv", *[(*pair, TATOEBA) for pair in pairs(40)])
    corpus = everyday_corpus(tmp_path, n_valid=5, n_test=5)
    assert len(corpus.train) == 2 * corpus.metadata["train_pairs"] == 60
    read = list(zip(corpus.train.source, corpus.train.target, strict=True))
    there = {s.removeprefix("→en "): t for s, t in read if s.startswith("→en ")}
    back = {t: s.removeprefix("→de ") for s, t in read if s.startswith("→de ")}
    assert there == back
    assert list(corpus.splits) == ["valid.de-en", "valid.en-de", "test.de-en", "test.en-de"]
    there, back = corpus.splits["test.de-en"], corpus.splits["test.en-de"]
    assert there.source == asking_for("en", back.target)


def test_only_the_two_languages_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match=r"target \('fr'\) must be one of de, en"):
        direction("fr")


@pytest.mark.slow
def test_the_real_text_is_what_its_readme_says_and_does_not_leak(real_data) -> None:
    corpus = everyday_corpus(real_data / "everyday")
    assert corpus.metadata["pairs"] == 198_412
    assert corpus.metadata["train_pairs"] == 193_404
    read = {folded(s) for s in corpus.train.target}
    for split in ("valid.de-en", "test.de-en"):
        assert read.isdisjoint({folded(s) for s in corpus.splits[split].target})
