"""Parallel text files: every way in which they can be wrong is said."""

import gzip

import pytest

from transformer.data.parallel import DataError, ParallelText, read_lines, read_parallel


def test_only_a_newline_ends_a_line(tmp_path) -> None:
    lines = ["form\x0cfeed", "line\u2028separator", "next\x85line", "", "last"]
    path = tmp_path / "text.de"
    path.write_bytes(("\n".join(lines) + "\n").encode())
    assert read_lines(path) == lines


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_last_line_may_lack_its_end(end: str, tmp_path) -> None:
    path = tmp_path / "text.de"
    path.write_text("eins\nzwei" + end)
    assert read_lines(path) == ["eins", "zwei"]


@pytest.mark.parametrize(
    "content", [b"eins\r\nzwei\r\n", b"eins\r\nzwei", b"eins\rzwei\r", b"eins\rzwei\r\n"]
)
def test_line_ends_of_other_machines_are_dropped(content: bytes, tmp_path) -> None:
    path = tmp_path / "text.de"
    path.write_bytes(content)
    assert read_lines(path) == ["eins", "zwei"]


def test_gzip_is_read(tmp_path) -> None:
    path = tmp_path / "text.de.gz"
    path.write_bytes(gzip.compress("Bäume\n".encode()))
    assert read_lines(path) == ["Bäume"]


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.de"):
        read_lines(tmp_path / "nowhere.de")


@pytest.mark.parametrize("cut", [5, -4], ids=["in its header", "in its end"])
def test_a_truncated_gzip_file_is_named(cut: int, tmp_path) -> None:
    path = tmp_path / "text.de.gz"
    path.write_bytes(gzip.compress(b"some text\n" * 100)[:cut])
    with pytest.raises(DataError, match=r"could not read .*text.de.gz .*fetch it again"):
        read_lines(path)


def test_damage_inside_a_gzip_file_is_named(tmp_path) -> None:
    content = bytearray(gzip.compress(b"some text that is long enough\n" * 10))
    content[20] ^= 0xFF
    path = tmp_path / "text.de.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match="fetch it again"):
        read_lines(path)


def test_a_web_page_in_place_of_gzip_is_named(tmp_path) -> None:
    path = tmp_path / "text.de.gz"
    path.write_text("<!DOCTYPE html><p>404</p>")
    with pytest.raises(DataError, match=r"text\.de\.gz"):
        read_lines(path)


def test_text_that_is_not_utf8_is_named(tmp_path) -> None:
    path = tmp_path / "text.de"
    path.write_bytes("Bäume".encode("latin-1"))
    with pytest.raises(DataError, match=r"line 1 of .*text.de is not UTF-8 text \(byte 1 is 0x"):
        read_lines(path)


def test_files_of_different_length_are_refused(tmp_path) -> None:
    (tmp_path / "a.de").write_text("eins\nzwei\n")
    (tmp_path / "a.en").write_text("one\n")
    with pytest.raises(DataError, match=r"a.de has 2 lines and .*a.en has 1"):
        read_parallel(tmp_path / "a.de", tmp_path / "a.en")


def test_parallel_text_of_different_length_is_refused() -> None:
    with pytest.raises(DataError, match="2 source sentences but 1 target"):
        ParallelText(["eins", "zwei"], ["one"])
