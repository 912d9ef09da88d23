"""Parallel text: sentences of one language and their translations, line by line."""

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class DataError(Exception):
    """A data file is missing, damaged or not what it should be; the message says what to do."""


@dataclass(frozen=True)
class ParallelText:
    """As many source as target sentences; sentence i of the one translates sentence i of the other.

    Raises:
        DataError: the two sides have different lengths.
    """

    source: Sequence[str]
    target: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise DataError(
                f"{len(self.source):,} source sentences but {len(self.target):,} target "
                "sentences: the two files are not line by line translations of each other"
            )

    def __len__(self) -> int:
        return len(self.source)


def read_parallel(source: Path, target: Path) -> ParallelText:
    """Read two files (plain or .gz) with one sentence a line.

    Raises:
        DataError: a file is missing, damaged or not UTF-8, or their lengths differ.
    """
    sides = read_lines(source), read_lines(target)
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{source} has {len(sides[0]):,} lines and {target} has {len(sides[1]):,}; they must "
            "be translations line by line: fetch both again from the same place"
        )
    return ParallelText(*sides)


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 text file, plain or .gz, without their ends.

    Only a newline ends a line: real text holds other characters that `str.splitlines` would
    break at, and one such break shifts all translations after it.
    """
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        text = content.decode("utf-8")
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"could not read {path} ({error}); fetch it again") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start:,})") from error
    lines = [line.rstrip("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines
