"""Parallel text: sentences of one language and their translations, line by line."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from transformer.data.limits import (
    MOST_LINES,
    SHORTEST_LINES,
    Budget,
    DataError,
    read_file,
)
from transformer.text.normalization import normalize
from transformer.text.sentences import texts_of

__all__ = ["DataError", "ParallelText", "decode", "lines_of", "read_lines", "read_parallel"]


@dataclass(frozen=True)
class ParallelText:
    """As many source as target sentences; sentence i of the one translates sentence i of the other.

    Attributes:
        source, target: the sentences.
        origins: of each pair the name of its file and its line there; empty where it has none.

    Raises:
        DataError: the two sides have different lengths.
        ValueError: a side is one string, or holds something else than strings.
    """

    source: Sequence[str]
    target: Sequence[str]
    origins: Sequence[tuple[str, int]] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            object.__setattr__(self, side, texts_of(getattr(self, side), f"the {side} side"))
        if len(self.source) != len(self.target):
            raise DataError(
                f"{len(self.source):,} source sentences but {len(self.target):,} target "
                "sentences: the two files are not line by line translations of each other"
            )

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str, str]]) -> "ParallelText":
        """The text of (source, target) pairs."""
        pairs = list(pairs)
        return cls([source for source, _ in pairs], [target for _, target in pairs])

    @classmethod
    def joined(cls, texts: Iterable["ParallelText"]) -> "ParallelText":
        """One text after the other; with origins where all have them."""
        texts = list(texts)
        source = [line for text in texts for line in text.source]
        target = [line for text in texts for line in text.target]
        origins = [origin for text in texts for origin in text.origins]
        return cls(source, target, origins if len(origins) == len(source) else ())

    def only(self, indices: Iterable[int]) -> "ParallelText":
        """The pairs with these indices, in this order."""
        indices = list(indices)
        source, target = ([side[i] for i in indices] for side in (self.source, self.target))
        return ParallelText(source, target, [self.origins[i] for i in indices if self.origins])

    def normal_pairs(self) -> Iterator[tuple[str, str]]:
        """The (source, target) pairs, as `normalize` writes them."""
        return zip(map(normalize, self.source), map(normalize, self.target), strict=True)

    def line(self, i: int) -> str:
        """Where a pair stands: "line 101 of train.de"; without origins, "sentence pair 101"."""
        if not self.origins:
            return f"sentence pair {i + 1:,}"
        name, number = self.origins[i]
        return f"line {number:,} of {name}"


def read_parallel(source: Path, target: Path, budget: Budget | None = None) -> ParallelText:
    """Read two files (plain or .gz) with one sentence a line.

    Raises:
        DataError: a file is missing, damaged, too large or not UTF-8, or their lengths differ.
    """
    sides = read_lines(source, budget), read_lines(target, budget)
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{source} has {len(sides[0]):,} lines and {target} has {len(sides[1]):,}; they must "
            "be translations line by line: fetch both again from the same place"
        )
    return ParallelText(*sides, [(source.name, n) for n in range(1, len(sides[0]) + 1)])


def read_lines(path: Path, budget: Budget | None = None) -> list[str]:
    """The lines of a UTF-8 text file, plain or .gz, without their ends.

    Only a newline ends a line (see `lines_of`): real text holds other characters that
    `str.splitlines` would break at, and one such break shifts all translations after it.

    Args:
        path: the file.
        budget: what the folder that it is in may hold altogether.

    Raises:
        DataError: it is missing, damaged, not UTF-8, or holds more than a text does.
    """
    try:
        content = read_file(path, budget or Budget(str(path)))
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"could not read {path} ({error}); fetch it again") from error
    return lines_of(content, str(path))


def lines_of(content: bytes, name: str) -> list[str]:
    """The lines of UTF-8 text, without their ends; a message about them calls the text by its name.

    They end in LF or CRLF; in a text that has none of these between two lines, in CR.

    Raises:
        DataError: a line is not UTF-8.
    """
    text = decode(content, name)
    body = text.rstrip("\r\n")
    end = "\r" if "\r" in body and "\n" not in body else "\n"
    lines = [line.strip("\r\n") for line in text.split(end)]
    return lines[:-1] if lines[-1] == "" else lines


def decode(content: bytes, name: str) -> str:
    """The text of a file, whose name a message tells with the line that is at fault.

    Raises:
        DataError: it is not UTF-8, or hardly more than ends of lines.
    """
    n_lines = content.count(b"\n") or content.count(b"\r")
    if n_lines > MOST_LINES and len(content) < SHORTEST_LINES * n_lines:
        raise DataError(
            f"{name} has {n_lines:,} lines in {len(content):,} bytes, which is no text; was it "
            "damaged, or is it another file in its place?"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise DataError(
            f"line {line:,} of {name} is not UTF-8 text (byte {error.start:,} is 0x{byte:02x}); "
            "save it as UTF-8"
        ) from error
