"""Multi30k: the real files, and a local server in place of the network."""

import gzip
import hashlib
from pathlib import Path

import pytest

from transformer.data import multi30k
from transformer.data.multi30k import SHA256, load_multi30k
from transformer.data.parallel import DataError


def test_the_real_files_have_the_known_sizes(real_data) -> None:
    corpus = load_multi30k(real_data / "multi30k")
    assert (len(corpus.train), len(corpus.valid)) == (29_000, 1_014)
    assert [len(text) for text in corpus.tests.values()] == [1_000, 1_000, 461, 1_071]
    assert corpus.train.source[0].startswith("Zwei junge weiße Männer")
    assert corpus.train.target[0].startswith("Two young, White males")


def test_the_pinned_checksums_are_those_of_the_real_files(real_data) -> None:
    for name, checksum in SHA256.items():
        content = (real_data / "multi30k" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum, name


def test_each_file_is_read_whole_and_the_sides_belong_together(corpora) -> None:
    corpus = load_multi30k(corpora / "multi30k")
    parts = {"train": corpus.train, "val": corpus.valid, **corpus.tests}
    assert sorted(f"{name}.{side}.gz" for name in parts for side in ("de", "en")) == sorted(SHA256)
    for name, text in parts.items():
        for language, lines in (("de", text.source), ("en", text.target)):
            content = gzip.decompress((corpora / f"multi30k/{name}.{language}.gz").read_bytes())
            assert lines == content.decode().removesuffix("\n").split("\n")


def test_the_direction_can_be_turned(corpora) -> None:
    there = load_multi30k(corpora / "multi30k")
    back = load_multi30k(corpora / "multi30k", source="en", target="de")
    assert back.valid.source == there.valid.target


def test_other_languages_are_refused() -> None:
    with pytest.raises(ValueError, match="German and English, not 'fr'"):
        load_multi30k(source="fr")


def test_a_missing_folder_or_file_is_named(tmp_path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        load_multi30k(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"there is no file .*train.de.gz"):
        load_multi30k(tmp_path)


def test_a_caption_with_a_word_without_end_is_refused(tmp_path) -> None:
    for name in SHA256:
        word = b"a" * (1001 if name == "train.en.gz" else 1000)
        (tmp_path / name).write_bytes(gzip.compress(b"eins " + word + b"\n"))
    with pytest.raises(DataError, match=r"train.en.gz holds a word of more than 1,000 letters"):
        load_multi30k(tmp_path)


def _serve(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def test_multi30k_comes_from_the_network_when_no_folder_is_given(
    server, tmp_path, monkeypatch
) -> None:
    address, folder = server
    sums = {name: _serve(folder, name, gzip.compress(b"eins\nzwei\n")) for name in SHA256}
    monkeypatch.setattr(multi30k, "SHA256", sums)
    monkeypatch.setattr(multi30k, "ADDRESSES", (address + "/{name}",))
    monkeypatch.setenv("TRANSFORMER_CACHE", str(tmp_path / "cache"))
    assert load_multi30k().train.source == ["eins", "zwei"]
