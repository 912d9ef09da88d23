"""How much of a stranger's file is read: by what comes out of it, whatever it says of itself.

Compressed text has a tenth to a third of its length. A file of which a thousand times its length
comes out is a bomb: it is left after the first megabytes, however large it would become.
"""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NoReturn, Protocol

from transformer.support.files import TransformerError, is_device, is_hollow

LARGEST_FILE = 2**30
LARGEST_ARCHIVE = 4 * 2**30  # and folder: all files together
MOST_FILES = 10_000
# So much may come out of however little; beyond it, so many times what has gone in.
UNPACKED_FREELY = 8 * 2**20
LARGEST_RATIO = 20
PIECE = 2**18  # bytes that are read at a time
MOST_LINES, SHORTEST_LINES = 50_000, 8  # where there are more lines, their mean length in bytes


class DataError(TransformerError):
    """A data file is missing, damaged or not what it should be; the message says what to do."""


class Readable(Protocol):
    """A file, as far as it is needed here."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many."""


class Budget:
    """What an archive with all those inside it, or a folder, may hold; counted while it is read.

    Args:
        name: what messages call it.

    Attributes:
        packed, unpacked: the bytes that have come from the disk, and those that came out of them.
        files: how many files.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.packed = self.unpacked = self.files = 0

    def admit(self, name: str, size: int) -> None:
        """A file, by what is said of it before it is read.

        Raises:
            DataError: its name leads out of the archive, or it is too large, or one too many.
        """
        self.files += 1
        path, short = PurePosixPath(name), name[:100]
        if path.is_absolute() or ".." in path.parts:
            self.refuse(f"its file {short!r} leads out of the archive")
        if not 0 <= size <= LARGEST_FILE:
            limit = f"{LARGEST_FILE / 2**20:,.0f} MB"
            self.refuse(f"its file {short!r} would take more than {limit}, which no text takes")
        if self.files > MOST_FILES:
            self.refuse("it holds more files than any corpus holds")

    def pack(self, n_bytes: int) -> None:
        """So much has been read from the disk."""
        self.packed += n_bytes

    def unpack(self, n_bytes: int) -> None:
        """So much has come out.

        Raises:
            DataError: it is too much.
        """
        self.unpacked += n_bytes
        if self.unpacked > LARGEST_ARCHIVE:
            self.refuse("it would unpack to more than any corpus holds")
        if self.unpacked > UNPACKED_FREELY + LARGEST_RATIO * self.packed:
            self.refuse(
                f"it unpacks to more than {LARGEST_RATIO} times its size, which no text does; if "
                "you know what is in it, unpack it yourself"
            )

    def refuse(self, reason: str) -> NoReturn:
        """The end of reading.

        Raises:
            DataError: always.
        """
        raise DataError(f"{self.name} is refused: {reason}")


class Counted:
    """A file that tells how many bytes each reading has given."""

    def __init__(self, file: Readable, count: Callable[[int], None]) -> None:
        self.file, self.count = file, count

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most so many."""
        content = self.file.read(size)
        self.count(len(content))
        return content


def whole(file: Readable, count: Callable[[int], None] = lambda n_bytes: None) -> bytes:
    """All that is left in a file, in pieces that are counted."""

    def pieces() -> Iterator[bytes]:
        while piece := file.read(PIECE):
            count(len(piece))
            yield piece

    return b"".join(pieces())


def read_file(path: Path, budget: Budget, *, unpack: bool = True) -> bytes:
    """The content of a file, within the limits; of a .gz what comes out of it, if it is to unpack.

    Raises:
        DataError: there is too much in it.
        OSError, EOFError, zlib.error: it cannot be read.
    """
    read = 0

    def count(n_bytes: int) -> None:
        nonlocal read
        read += n_bytes
        if read > LARGEST_FILE:
            limit = f"{LARGEST_FILE / 2**20:,.0f} MB"
            budget.refuse(f"{path.name!r} holds more than {limit}, which no text takes")
        budget.unpack(n_bytes)

    if is_device(path):
        budget.refuse(f"{path.name!r} is a pipe or a device; put a file in its place")
    if is_hollow(path):
        budget.refuse(f"{path.name!r} is next to nothing but zeros that nobody has written")
    with path.open("rb") as file:
        packed = Counted(file, budget.pack)
        if not unpack or path.suffix != ".gz":
            return whole(packed, count)
        with gzip.GzipFile(fileobj=packed) as unpacked:  # type: ignore[call-overload]
            return whole(unpacked, count)


def inside(folder: Path, path: Path) -> Path:
    """The path itself, if it is a file that no link leads to from elsewhere.

    Raises:
        DataError: it is a link out of the folder, or a device or another thing that is no file.
    """
    if not path.resolve().is_relative_to(folder.resolve()):
        raise DataError(
            f"{path} is a link that leads out of the folder, to {path.resolve()}; copy the file to "
            "where the link is, or name the folder that holds it"
        )
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is no file; take it out of the folder, or name another folder")
    return path
