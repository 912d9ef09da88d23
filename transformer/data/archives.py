"""Data files in a folder or in an archive, read without unpacking anything to the disk."""

import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from transformer.data.parallel import DataError

LARGEST_FILE = 512 * 2**20
LARGEST_ARCHIVE = 4 * 2**30
MOST_FILES = 100_000


def read_files(
    data_path: Path | str, wanted: re.Pattern[str], inner: re.Pattern[str] | None = None
) -> dict[str, bytes]:
    """The files with wanted names in a folder and those below it, or in a .tar, .tgz or .zip.

    Args:
        data_path: the folder or the archive.
        wanted: matches the names to read, folders left out.
        inner: matches the names of archives inside it that are opened too, one level deep.

    Returns:
        Contents by name, folders left out.

    Raises:
        DataError: data_path is missing, damaged or no archive; a name is there twice with different
            contents; or the archive is poisoned: names that lead out of it, sizes of no corpus.
    """
    data_path = Path(data_path)
    if not data_path.exists():
        raise DataError(f"there is no folder or archive {data_path}")
    found: dict[str, bytes] = {}
    try:
        for name, content in _all(data_path, wanted, inner):
            if found.get(name, content) != content:
                raise DataError(f"{data_path} holds two different files {name}; keep one of them")
            found[name] = content
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise DataError(f"could not read {data_path} ({error}); fetch it again") from error
    except tarfile.TarError as error:
        raise DataError(
            f"{data_path} is no whole .tar, .tgz or .zip archive ({error}); a web page saved in "
            "its place, or a download that broke off? Fetch it again"
        ) from error
    return found


def _all(
    data_path: Path, wanted: re.Pattern[str], inner: re.Pattern[str] | None
) -> Iterator[tuple[str, bytes]]:
    guard = _Guard(data_path)
    either = re.compile(f"{wanted.pattern}|{inner.pattern}") if inner else wanted
    with ExitStack() as stack:
        if data_path.is_dir():
            outer = _in_folder(data_path, either)
        else:
            outer = _in(stack.enter_context(data_path.open("rb")), either, guard)
        for name, content in outer:
            if wanted.fullmatch(name):
                yield name, content
            else:
                yield from _in(io.BytesIO(content), wanted, guard)


def _in_folder(folder: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if wanted.fullmatch(path.name) and path.is_file():
            yield path.name, path.read_bytes()


def _in(
    archive: io.BytesIO | io.BufferedReader, wanted: re.Pattern[str], guard: "_Guard"
) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            entries = opened.infolist()
            for entry in entries:
                guard.admit(entry.filename, entry.file_size)
            for entry in entries:
                name = PurePosixPath(entry.filename).name
                if wanted.fullmatch(name) and not entry.is_dir():
                    yield name, opened.read(entry)
        return
    archive.seek(0)
    with tarfile.open(fileobj=archive) as opened:
        # One after the other: what comes behind a file that is refused is never unpacked.
        for member in opened:
            guard.admit(member.name, member.size)
            name = PurePosixPath(member.name).name
            if wanted.fullmatch(name) and member.isfile():
                file = opened.extractfile(member)
                assert file is not None
                yield name, file.read()


class _Guard:
    """Refuses poisoned archives, by the names and sizes that they state; no more is ever read."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.files = self.bytes = 0

    def admit(self, name: str, size: int) -> None:
        path = PurePosixPath(name)
        self.files += 1
        self.bytes += size
        reason = ""
        if path.is_absolute() or ".." in path.parts:
            reason = f"its file {name!r} leads out of the archive"
        elif size > LARGEST_FILE:
            reason = f"its file {name!r} would take {size / 2**20:,.0f} MB, which no text takes"
        elif self.bytes > LARGEST_ARCHIVE or self.files > MOST_FILES:
            reason = "it would unpack to more than any corpus holds"
        if reason:
            raise DataError(f"{self.archive} is refused: {reason}")
