"""Data files in a folder or in an archive, read without unpacking anything to the disk."""

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from transformer.data.limits import Budget, Counted, DataError, Readable, inside, read_file, whole

# Of a .tar what stands before a file (long names and the like), of a .zip the list of its files:
# both are held in memory before anybody has seen how many or how long the names are.
LARGEST_HEADER = 2**16
LARGEST_LIST = 2**20
MOST_NOTES = 100  # about a whole .tar, which Python copies to each of its files
COMPRESSIONS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": partial(gzip.GzipFile, None, "rb", 9),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
PLAIN_ZIP = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
DAMAGE = (
    *(OSError, EOFError, ValueError, LookupError, ArithmeticError, RuntimeError),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile, struct.error),
)


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
            contents; or it is poisoned: names or links that lead out of it, more in it than any
            corpus holds (`transformer.data.limits`).
    """
    data_path = Path(data_path)
    if not (data_path.is_dir() or data_path.is_file()):
        raise DataError(f"there is no folder or archive {data_path}")
    found: dict[str, bytes] = {}
    try:
        for name, content in _all(data_path, wanted, inner):
            if found.get(name, content) != content:
                raise DataError(f"{data_path} holds two different files {name}; keep one of them")
            found[name] = content
    except tarfile.TarError as error:
        raise DataError(
            f"{data_path} is no whole .tar, .tgz or .zip archive ({error}); a web page saved in "
            "its place, or a download that broke off? Fetch it again"
        ) from error
    except DAMAGE as error:
        raise DataError(f"could not read {data_path} ({error}); fetch it again") from error
    return found


def _all(
    data_path: Path, wanted: re.Pattern[str], inner: re.Pattern[str] | None
) -> Iterator[tuple[str, bytes]]:
    budget = Budget(str(data_path))
    either = re.compile(f"{wanted.pattern}|{inner.pattern}") if inner else wanted
    with ExitStack() as stack:
        if data_path.is_dir():
            outer = _in_folder(data_path, either, budget)
        else:
            file = stack.enter_context(data_path.open("rb"))
            outer = _in(file, either, budget, budget.pack)
        for name, content in outer:
            if wanted.fullmatch(name):
                yield name, content
            else:
                # Its bytes have been counted on their way here.
                yield from _in(io.BytesIO(content), wanted, budget, lambda n_bytes: None)


def _in_folder(
    folder: Path, wanted: re.Pattern[str], budget: Budget
) -> Iterator[tuple[str, bytes]]:
    matching = (path for path in folder.rglob("*") if wanted.fullmatch(path.name))
    for path in sorted(path for path in matching if path.is_file()):
        budget.admit(str(path.relative_to(folder)), inside(folder, path).stat().st_size)
        # A .gz is no archive in this sense, but one that is opened later.
        yield path.name, read_file(path, budget, unpack=False)


def _in(
    archive: io.BytesIO | io.BufferedReader,
    wanted: re.Pattern[str],
    budget: Budget,
    count: Callable[[int], None],
) -> Iterator[tuple[str, bytes]]:
    """The wanted files of an archive; `count` is told how much of it has been read."""
    if zipfile.is_zipfile(archive):
        count(archive.seek(0, io.SEEK_END))
        yield from _in_zip(archive, wanted, budget)
        return
    archive.seek(0)
    head = archive.read(6)
    archive.seek(0)
    file = cast(IO[bytes], Counted(archive, count))
    with ExitStack() as stack:
        for magic, unpacking in COMPRESSIONS.items():
            if head.startswith(magic):
                file = stack.enter_context(unpacking(file))
        yield from _in_tar(file, wanted, budget)


def _in_zip(
    archive: io.BytesIO | io.BufferedReader, wanted: re.Pattern[str], budget: Budget
) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(cast(IO[bytes], _ShortReads(archive, budget))) as opened:
        entries = opened.infolist()
        for entry in entries:
            budget.admit(entry.filename, entry.file_size)
            budget.unpack(entry.file_size)
        for entry in entries:
            name = PurePosixPath(entry.filename).name
            if not wanted.fullmatch(name) or entry.is_dir():
                continue
            if entry.compress_type not in PLAIN_ZIP:
                # Of these Python unpacks all that there is, however little it is asked for.
                budget.refuse(f"{name!r} is packed in a way that is rare in a .zip; pack it anew")
            with opened.open(entry) as file:
                content = whole(file)
            # The reader of .zip gives no byte more than the entry states.
            if len(content) != entry.file_size:
                budget.refuse(f"{name!r} is shorter than it says")
            yield name, content


def _in_tar(file: Readable, wanted: re.Pattern[str], budget: Budget) -> Iterator[tuple[str, bytes]]:
    stream = _TarStream(file, budget)
    # As a stream: it is read from its beginning to its end, and nothing is read twice.
    with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|") as opened:
        while (member := opened.next()) is not None:
            vars(opened)["members"] = []  # else each stays in memory
            budget.admit(member.name, member.size)
            if len(opened.pax_headers) > MOST_NOTES:
                budget.refuse("it says more of itself than any archive does")
            stream.end = opened.offset + LARGEST_HEADER
            name = PurePosixPath(member.name).name
            if not wanted.fullmatch(name) or not member.isfile():
                continue
            if member.issparse():
                budget.refuse(f"{name!r} has holes, which no text has")
            content = opened.extractfile(member)
            assert content is not None
            yield name, whole(content)


class _TarStream:
    """What comes out of a compressed .tar, counted, up to the end of the next file's header."""

    def __init__(self, file: Readable, budget: Budget) -> None:
        self.file, self.budget = file, budget
        self.position, self.end = 0, LARGEST_HEADER

    def read(self, size: int) -> bytes:
        content = self.file.read(size)
        self.budget.unpack(len(content))
        self.position += len(content)
        # `tarfile` reads ahead, but never more than a record.
        if self.position > self.end + tarfile.RECORDSIZE:
            self.budget.refuse(f"a name in it takes more than {LARGEST_HEADER >> 10} kB")
        return content


class _ShortReads:
    """A .zip for `zipfile`, which reads the list of its files at once, however long."""

    def __init__(self, file: io.BytesIO | io.BufferedReader, budget: Budget) -> None:
        self.file, self.budget = file, budget

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def read(self, size: int = -1) -> bytes:
        if size > LARGEST_LIST:
            self.budget.refuse("it holds more files than any corpus holds")
        return self.file.read(size)
