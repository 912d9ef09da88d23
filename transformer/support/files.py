"""Files: written whole or not at all, read within limits."""

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LARGEST_SETTINGS = 64 * 2**10  # bytes; a run's config.json has two thousand
LARGEST_SCORES = 2**20  # bytes, of a run's scores.json
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
SPARSE = 20  # a file so many times as long as what it takes of the disk is hollow


class TransformerError(Exception):
    """What this package raises with a sentence for the user; each kind is a class of its own."""


class FileError(TransformerError):
    """A file that could not be written or read; the message says which, why and what to do."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that, whatever happens, there is the old one or the new one.

    The content goes to a temporary file beside it, reaches the disk, and takes its place in one
    step. A full disk leaves the old file as it was and no temporary file; what a killed process
    leaves behind, the next one overwrites.

    Raises:
        FileError: the file could not be written.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A link of this name, in a folder from elsewhere, would lead what is written to its target.
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        kept = "; the earlier one is untouched" if path.exists() else ""
        raise not_written(path, error, kept) from error


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder, filled under another name, which takes its own when the block has ended well.

    Raises:
        FileError: there is one already.
    """
    if folder.exists():
        raise FileError(f"{folder} is there already; name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        complete = Path(unfinished, folder.name)
        complete.mkdir()
        yield complete
        complete.rename(folder)


def not_written(path: Path, error: OSError, kept: str = "") -> FileError:
    """The error of a file that could not be written: why, and what to do.

    Args:
        path: the file.
        error: what the system said.
        kept: what is to be said of an earlier file of this name.
    """
    remedy = "Choose another folder, in which you may write and no file is in the way"
    if error.errno in NO_SPACE:
        remedy = "Free some space or choose another folder, and resume"
    return FileError(f"could not write {path}: {error.strerror or error}{kept}. {remedy}")


def own_folder(folder: Path) -> Path:
    """A folder within a run's, in which files are replaced and deleted: the run's own, or none yet.

    Raises:
        FileError: it is a link, and what would be deleted may be somebody else's.
    """
    if folder.is_symlink():
        raise FileError(
            f"{folder} is a link to {folder.resolve()}, where files would be replaced and deleted; "
            "take the link away, or name another folder for the run"
        )
    return folder


def is_device(path: Path) -> bool:
    """Whether there is a pipe or a device, of which reading may never end."""
    return path.exists() and not path.is_file() and not path.is_dir()


def read_limited(path: Path, largest: int) -> bytes:
    """A file's content, of which not much more than `largest` bytes is ever read.

    Raises:
        FileError: it is larger, or a pipe or a device.
        OSError: it is missing, or cannot be read.
    """
    if is_device(path):
        raise FileError(f"{path} is a pipe or a device; put a file in its place")
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise FileError(
            f"{path} is larger than a file of its kind can be ({largest / 2**10:,.0f} kB); "
            "is it another file in its place?"
        )
    return content


def read_json(path: Path, largest: int = LARGEST_SETTINGS) -> Any:
    """What a JSON file holds, within limits.

    Raises:
        FileError: it is larger than `largest` bytes.
        OSError: it is missing, or cannot be read.
        ValueError: it is no JSON in UTF-8.
    """
    try:
        return json.loads(read_limited(path, largest))
    except RecursionError as error:
        raise ValueError(f"{path} is nested too deeply") from error


def is_hollow(path: Path) -> bool:
    """Whether a file takes hardly anything of the disk that it would take of the memory.

    Such a file has holes, which read as zeros and which nobody has written. Where the system does
    not know holes, no file has any.

    Raises:
        OSError: it is missing, or cannot be read.
    """
    size = path.stat().st_size
    if size < 2**20 or not hasattr(os, "SEEK_DATA"):
        return False
    written = end = 0
    with path.open("rb") as file:
        while written * SPARSE < size:
            try:
                start = os.lseek(file.fileno(), end, os.SEEK_DATA)
                end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            except OSError as error:
                return error.errno == errno.ENXIO  # a hole up to the end
            written += end - start
    return False
