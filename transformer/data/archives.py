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
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from transformer.data.limits import (
    PIECE,
    Budget,
    Counted,
    DataError,
    Readable,
    inside,
    read_file,
    whole,
)

# Of a .tar what stands before a file (long names and the like), of a .zip the list of its files:
# both are held in memory before anybody has seen how many or how long the names are.
LARGEST_HEADER = 2**16
LARGEST_LIST = 2**20
# Notes (pax headers) about a whole .tar, which Python copies to each of its files, or about a file.
MOST_NOTES = 100
LARGEST_NOTES = 2**22  # bytes of all of them
NOTE = re.compile(rb"(\d{1,8}) [^=]")
# Python before 3.11.10 looks from each digit on for the end of the number: a square of its length.
LONG_NUMBER = re.compile(rb"\d{40}")
LARGEST_DICTIONARY = 2**27  # bytes that unpacking .xz may take; of `xz -9` it takes half
COMPRESSIONS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": partial(gzip.GzipFile, None, "rb", 9),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lambda file: _Xz(file),
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
    contents: dict[str, bytes] = {}
    try:
        for name, content in _all(data_path, wanted, inner):
            if contents.get(name, content) != content:
                raise DataError(f"{data_path} holds two different files {name}; keep one of them")
            contents[name] = content
    except tarfile.TarError as error:
        raise DataError(
            f"{data_path} is no whole .tar, .tgz or .zip archive ({error}); a web page saved in "
            "its place, or a download that broke off? Fetch it again"
        ) from error
    except DAMAGE as error:
        raise DataError(f"could not read {data_path} ({error}); fetch it again") from error
    return contents


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
                file = stack.enter_context(closing(unpacking(file)))
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
    with tarfile.open(
        fileobj=cast(IO[bytes], stream), mode="r|", tarinfo=_entries(budget)
    ) as opened:
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


class _Entry(tarfile.TarInfo):
    """A file in a .tar, of whose notes nothing is searched that is not as it should be."""

    budget: Budget
    so_far = 0

    def _proc_member(self, archive: Any) -> tarfile.TarInfo:
        """The place that `tarfile` has for a subclass to look at a kind of entry."""
        super_proc: Callable[[Any], tarfile.TarInfo] = super()._proc_member  # type: ignore[misc]
        if self.type not in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE):
            return super_proc(archive)
        stream = archive.fileobj
        notes = stream.read(self._block(self.size))  # type: ignore[attr-defined]
        type(self).so_far += len(notes)
        if self.so_far > LARGEST_NOTES or _n_notes(notes) > MOST_NOTES:
            self.budget.refuse("it says more of itself than any archive does")
        if LONG_NUMBER.search(notes):
            self.budget.refuse("it says numbers of itself that no archive has")
        archive.fileobj = _Again(notes, stream)
        try:
            return super_proc(archive)
        finally:
            archive.fileobj = stream


def _entries(budget: Budget) -> type[_Entry]:
    """What the files of one archive are, whose notes are counted together."""
    return type("Entry", (_Entry,), {"budget": budget})


def _n_notes(content: bytes) -> int:
    """How many notes there are, each with its length before it.

    Raises:
        ValueError: something else is among them.
    """
    n, start = 0, 0
    while start < len(content) and content[start]:
        match = NOTE.match(content, start)
        end = start + int(match[1]) if match else 0
        if not match or content[end - 1 : end] != b"\n" or b"=" not in content[match.end() : end]:
            raise ValueError("a note on a file in it is damaged")
        n, start = n + 1, end
    return n


class _Again:
    """A stream of which the last bytes are read once more."""

    def __init__(self, content: bytes, stream: Any) -> None:
        self.content, self.stream = content, stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def read(self, size: int) -> bytes:
        if not self.content:
            return self.stream.read(size)
        content, self.content = self.content, b""
        return content


class _Xz:
    """What comes out of an .xz, which states itself how much memory it takes to unpack it."""

    def __init__(self, file: Readable) -> None:
        self.file = file
        self.unpacker = self._unpacker()

    @staticmethod
    def _unpacker() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=LARGEST_DICTIONARY)

    def read(self, size: int = -1) -> bytes:
        while True:
            piece = b""
            if self.unpacker.eof:  # there may be another behind it
                piece = (self.unpacker.unused_data or self.file.read(PIECE)).lstrip(b"\0")
                if not piece:
                    return b""
                self.unpacker = self._unpacker()
            elif self.unpacker.needs_input and not (piece := self.file.read(PIECE)):
                raise EOFError("it breaks off")
            if content := self.unpacker.decompress(piece, size):
                return content

    def close(self) -> None:
        self.unpacker = self._unpacker()


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
