"""What is read of a folder or of compressed text, and where reading ends."""

import gzip
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.releases import release, tar_of, zip_of
from transformer.data import limits
from transformer.data.archives import read_files
from transformer.data.iwslt import load_iwslt
from transformer.data.limits import Budget, read_file
from transformer.data.multi30k import load_multi30k
from transformer.data.parallel import DataError, read_lines
from transformer.data.plain import load_plain
from transformer.support.files import is_hollow, read_limited

TEXT = "".join(f"line {i} of a text that has many words\n" for i in range(2_000)).encode()


def test_limits_count_what_comes_out_and_not_what_goes_in(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT))
    assert read_file(path, Budget("a")) == TEXT
    for limit, value, message in (
        ("LARGEST_FILE", len(TEXT) - 1, "holds more than .* MB, which no text takes"),
        ("LARGEST_ARCHIVE", len(TEXT) - 1, "would unpack to more than any corpus holds"),
        ("LARGEST_RATIO", 2, "unpacks to more than 2 times its size"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(limits, "UNPACKED_FREELY", 0)
            changed.setattr(limits, limit, value)
            with pytest.raises(DataError, match=f"a is refused: .*{message}"):
                read_file(path, Budget("a"))
        if limit != "LARGEST_RATIO":
            with monkeypatch.context() as changed:
                changed.setattr(limits, limit, len(TEXT))
                assert read_file(path, Budget("a")) == TEXT


def test_text_that_is_not_packed_may_be_as_long_as_it_is(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a.de"
    path.write_bytes(TEXT)
    monkeypatch.setattr(limits, "UNPACKED_FREELY", 0)
    monkeypatch.setattr(limits, "LARGEST_RATIO", 1)
    assert read_lines(path)[7] == "line 7 of a text that has many words"


def test_a_folders_files_are_counted_together(tmp_path: Path, monkeypatch) -> None:
    for name in ("train", "valid", "test"):
        for side in ("de", "en"):
            (tmp_path / f"{name}.{side}").write_bytes(TEXT)
    monkeypatch.setattr(limits, "LARGEST_ARCHIVE", 6 * len(TEXT))
    assert len(load_plain(tmp_path)) == 3
    monkeypatch.setattr(limits, "LARGEST_ARCHIVE", 6 * len(TEXT) - 1)
    with pytest.raises(DataError, match=f"{tmp_path} is refused: it would unpack to more"):
        load_plain(tmp_path)
    with pytest.raises(DataError, match="is refused: it would unpack to more"):
        read_files(tmp_path, re.compile(r".*\.(de|en)"))


@pytest.mark.parametrize("kind", ["plain", "multi30k", "iwslt"])
def test_links_within_a_folder_are_followed_and_no_others(
    kind: str, corpora: Path, tmp_path: Path
) -> None:
    folder, inner = tmp_path / "given", tmp_path / "given" / "sub"
    inner.mkdir(parents=True)
    load, source, name = {
        "plain": (load_plain, "multi30k", "train.de.gz"),
        "multi30k": (load_multi30k, "multi30k", "val.en.gz"),
        "iwslt": (load_iwslt, "iwslt16", "IWSLT16.TED.tst2014.de-en.de.xml"),
    }[kind]
    for path in (corpora / source).glob("*.*z" if source == "multi30k" else "*.xml"):
        (folder / path.name).write_bytes(path.read_bytes())
    whole = load(folder)
    secret = tmp_path / name
    (folder / name).rename(secret)
    (folder / name).symlink_to(secret)
    with pytest.raises(DataError, match=r"is a link that leads out of the folder, to .*; copy"):
        load(folder)
    (folder / name).unlink()
    secret.rename(inner / f"moved-{name}")
    (folder / name).symlink_to(Path("sub", f"moved-{name}"))
    assert load(folder) == whole
    linked = tmp_path / "linked"
    linked.symlink_to(folder)
    assert load(linked) == whole


def test_a_link_to_a_folder_elsewhere_is_not_searched(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "given"
    for place in (elsewhere, folder):
        place.mkdir()
    (elsewhere / "README").write_text("hidden")
    (folder / "sub").symlink_to(elsewhere)
    assert read_files(folder, re.compile("README")) == {}


def test_files_with_holes_are_told_from_files_of_zeros(tmp_path: Path) -> None:
    size = 4 * 2**20
    for name, written in (("hollow", 0), ("dense", size), ("half", size // 2)):
        with (tmp_path / name).open("wb") as file:
            file.write(bytes(written))
            file.truncate(size)
            os.fsync(file.fileno())
    if (tmp_path / "hollow").stat().st_blocks * 512 >= size:
        pytest.skip("the disk knows no holes")
    assert is_hollow(tmp_path / "hollow")
    assert not is_hollow(tmp_path / "dense") and not is_hollow(tmp_path / "half")


def test_a_short_file_is_read_whole_and_a_long_one_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(99))
    assert read_limited(tmp_path / "a", 99) == bytes(99)
    with pytest.raises(Exception, match="a is larger than a file of its kind can be"):
        read_limited(tmp_path / "a", 98)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The same small release as .zip, .tgz and .tar."""
    folder, files = tmp_path_factory.mktemp("whole"), release("14", 3, {"TED.tst2010": 2})
    packed = tar_of(folder / "a.tgz", dict(files)).read_bytes()
    return [zip_of(folder / "a.zip", files).read_bytes(), packed, gzip.decompress(packed)]


@given(data=st.data())
@settings(max_examples=150)
def test_a_damaged_archive_is_a_sentence_or_harmless(
    archives: list[bytes], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever bytes are wrong, and wherever it ends."""
    content = bytearray(data.draw(st.sampled_from(archives)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(1, len(content))) :]
    path = tmp_path_factory.mktemp("damaged") / "a.tgz"
    path.write_bytes(content)
    try:
        load_iwslt(path)
    except DataError as error:
        assert str(error)


@pytest.mark.parametrize("kind", ["multi30k", "iwslt"])
def test_what_is_no_file_is_not_waited_for(kind: str, tmp_path: Path) -> None:
    """A pipe would be read until somebody fills it."""
    os.mkfifo(tmp_path / "train.de.gz")
    os.mkfifo(tmp_path / "train.tags.de-en.de")
    load, message = {
        "multi30k": (load_multi30k, "train.de.gz is no file; take it out of the folder"),
        "iwslt": (load_iwslt, "holds no IWSLT files"),
    }[kind]
    with pytest.raises(DataError, match=message):
        load(tmp_path)
    with pytest.raises(DataError, match="there is no folder or archive"):
        load_iwslt(tmp_path / "train.de.gz")
