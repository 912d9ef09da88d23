"""Files are written whole or not at all, with the rights of any other file."""

import errno
import os
import stat

import pytest

from transformer.support.files import FileError, own_folder, write_atomically


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_have_the_rights_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "file", b"content")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


def test_what_a_killed_process_left_behind_is_overwritten(tmp_path):
    (tmp_path / ".file.part").write_bytes(b"the first half of something lar")
    write_atomically(tmp_path / "file", b"short")
    assert (tmp_path / "file").read_bytes() == b"short"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path):
    (tmp_path / "victim").write_bytes(b"theirs")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".file.part").symlink_to("../victim")
    write_atomically(tmp_path / "run" / "file", b"content")
    assert (tmp_path / "victim").read_bytes() == b"theirs"
    assert (tmp_path / "run" / "file").read_bytes() == b"content"
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["file"]
    assert not (tmp_path / "run" / "file").is_symlink()


def test_a_folder_of_a_run_that_is_a_link_is_refused(tmp_path):
    assert own_folder(tmp_path / "weights") == tmp_path / "weights"
    (tmp_path / "weights").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileError, match=r"weights is a link to .*elsewhere, where files would be"):
        own_folder(tmp_path / "weights")


def test_a_disk_that_is_full_only_when_the_file_is_flushed_is_noticed(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_atomically(tmp_path / "file", b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"could not write .*file: No space left on device"):
        write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
