"""Printed lines as a chart for a hall: bars from zero, or dots on an axis, beside their numbers.

A cell prints a name and some numbers, line by line; a room sees sooner which one is longest. A line
becomes a row, its numbers are columns, and the words that all lines share stand over them. What is
no such line stays what it is, above or below the rows.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

BARS, DOTS = KINDS = ("bars", "dots")
NUMBER = re.compile(
    r"(?<![\w.,/'-])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?%?(?: of \d+(?:,\d{3})*)?(?![\w'/])"
)
# Where the name of a line ends: `n = 16:`, `beam 4:`, or a gap.
NAME = re.compile(r"\S+(?: =)? +[-\d.]+:|[^:]*?(?: {2,}|:(?= |$))")
MANY = re.compile(r"(?:\S[^:]*?: \S+(?: {2,}|$)){3,}")  # `+0: 20%  +1: 100%  +2: 100%`
WHOLE = re.compile(r"-?\d[\d,]*")
PROSE = re.compile(r"; |^\S+( \S+)+[.?!]$")
AROUND = " :=^[]()"  # of words
WIDE = 700  # pixels for all columns, before the slide is fitted
FOR_NUMBER = 70  # of them beside each bar
LEAST, MOST = 40, 440  # pixels of the longest bar


@dataclass
class Line:
    """A name, the numbers as they were printed, and the words before and after each of them."""

    name: str = ""
    numbers: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def units(self) -> tuple[str, ...]:
        """In what each number counts: `12%`, `3 of 4`, or neither."""
        return tuple("%" if "%" in x else "of" if " of " in x else "" for x in self.numbers)

    @property
    def values(self) -> list[float]:
        """What each number is worth; of `3 of 4` the share."""
        return [value_of(number) for number in self.numbers]


@dataclass
class Table:
    """Lines with the same units, what stands over name and columns, and the lines around them."""

    lines: list[Line]
    head: list[str]
    above: list[str]
    below: list[str]

    def repeats(self, column: int) -> bool:
        """Whether all lines have the same whole number in a column."""
        found = {line.numbers[column] for line in self.lines}
        return len(found) == 1 and WHOLE.fullmatch(min(found)) is not None

    def drop(self, column: int) -> str:
        """Takes the numbers of a column away; the first of them."""
        first, *_ = [line.numbers.pop(column) for line in self.lines]
        return first


def value_of(number: str) -> float:
    """What a number is worth; of `3 of 4` the share."""
    part, _, whole = number.replace(",", "").partition(" of ")
    return float(part.rstrip("%")) / (float(whole) if whole and "%" not in part else 1)


def line_of(text: str) -> Line:
    """A printed line taken apart; a number before a gap is no name, but one of the numbers."""
    line, text, waiting = Line(), text.strip(), ""
    if PROSE.search(text):
        return line
    if (name := NAME.match(text)) and not NUMBER.fullmatch(name[0].rstrip()):
        line.name, text = name[0], text[name.end() :]
    for piece in re.split(r"(?<=,) +| {2,}", text):
        found, end = [*NUMBER.finditer(piece)], 0
        for number in found:
            line.numbers.append(number[0])
            line.before.append((waiting + piece[end : number.start()]).strip(AROUND))
            line.after.append("")
            waiting, end = "", number.end()
        if found:
            line.after[-1] = piece[end:].strip(AROUND + ",")
        else:
            waiting += f"{piece} "
    if line.numbers and not line.name:
        line.name, line.before[0] = line.before[0], ""
    line.name = " ".join(line.name.rstrip(": ").split())
    return line


def table_of(texts: list[str]) -> Table | None:
    """Printed lines as a table; None where no two of them are alike."""
    read = [line_of(text) for text in texts]
    kinds = Counter(line.units for line in read if line.numbers)
    if not kinds or max(kinds.values()) < 2:
        return None
    kind = max(kinds, key=lambda kind: (kinds[kind], len(kind)))
    rows = [row for row, line in enumerate(read) if line.units == kind]
    lines = [read[row] for row in rows]
    shared = {line.before[0] for line in lines} - {""}
    for line in lines:
        if len(shared) > 1:  # they tell the lines apart
            line.name, line.before[0] = f"{line.name} {line.before[0]}".strip(), ""
        else:  # where one line has a gap, another may have none
            line.before[0] = "".join(shared)
            line.name = line.name.removesuffix(f" {line.before[0]}")
    around = zip(lines[0].before, lines[0].after, strict=True)
    words = (" … ".join(filter(None, both)) for both in around)
    table = Table(lines, ["", *words], texts[: rows[0]], texts[rows[-1] + 1 :])
    if not has_head(table):
        take_names(table)
    return table


def has_head(table: Table) -> bool:
    """Whether the line above the others is their head, or a first one that only counts."""
    first, *others = table.lines
    cells = re.split(r" {2,}", table.above[-1].strip()) if table.above else []
    counts = all(map(WHOLE.fullmatch, first.numbers)) and len(first.numbers) > 1
    if counts and not all(WHOLE.fullmatch(number) for line in others for number in line.numbers):
        table.head, table.lines = [first.name, *first.numbers], others
    elif len(cells) >= len(first.numbers) + bool(first.name):
        table.above.pop()
        for line in table.lines:
            line.name = line.name or line.numbers.pop(0)
        table.head = cells[: len(first.numbers) + 1]
    else:
        return False
    return True


def take_names(table: Table) -> None:
    """A number that all lines have is none: in `layer 12 4.35`, or at the end of all."""
    while len(table.head) > 2 and table.repeats(-1) and len(table.lines) > 2:
        table.drop(-1)
        table.head.pop()
    for column in range(len(table.head) - 3, -1, -1):
        if not table.head[column + 2] and table.repeats(column):
            table.head[column + 1 : column + 3] = [f"{table.head[column + 1]} {table.drop(column)}"]


def ends_of(table: Table, kind: str) -> list[tuple[float, float]]:
    """For each column the values at the ends of its axis; bars of one unit share theirs."""
    columns = [*zip(*(line.values for line in table.lines), strict=True)]
    units = table.lines[0].units
    if kind == DOTS:
        return [(min(column), max(column)) for column in columns]
    most: dict[str, float] = {"%": 100, "of": 1}
    for column, unit in zip(columns, units, strict=True):
        most[unit] = max(most.get(unit, 0), *map(abs, column))
    return [(0, most[unit]) for unit in units]


def chart(text: str, kind: str) -> str | None:
    """Printed lines as HTML; None where they are no lines with numbers."""
    texts = [part for line in text.split("\n") for part in single(line)]
    filled = groupby(texts, lambda line: bool(line.strip()))
    groups = [list(lines) for is_filled, lines in filled if is_filled]
    tables = [table_of(lines) for lines in groups]
    if not any(tables):
        return None
    both = zip(tables, groups, strict=True)
    return "".join(drawn(table, kind) if table else as_said(lines) for table, lines in both)


def single(line: str) -> list[str]:
    """A line with several names, each with its number, as several lines."""
    return re.split(r" {2,}", line.strip()) if MANY.fullmatch(line.strip()) else [line]


def as_said(lines: list[str]) -> str:
    """Lines that are no rows; a sentence may go on in the next."""
    texts = [" ".join(lines)] if lines and PROSE.search(lines[-1]) else lines
    return "".join(f"<p>{escape(' '.join(text.split()))}</p>" for text in texts)


def drawn(table: Table, kind: str) -> str:
    """A table with a bar, or a dot on its axis, in each cell."""
    ends = ends_of(table, kind)
    wide = min(max(WIDE // len(ends) - FOR_NUMBER, LEAST), MOST)
    parts = [as_said(table.above), f'<table class="chart" style="--wide: {wide}px">']
    if any(table.head):
        heads = (f'<th scope="col">{escape(x)}</th>' if x else "<td></td>" for x in table.head)
        parts.append(f"<thead><tr>{''.join(heads)}</tr></thead>")
    for line in table.lines:
        name = f'<th scope="row">{escape(line.name)}</th>' if line.name else "<td></td>"
        parts.append(f"<tr>{name}")
        for number, worth, (low, high) in zip(line.numbers, line.values, ends, strict=True):
            share = (abs(worth) if kind == BARS else worth - low) / ((high - low) or 1)
            look = f"{kind} below" if kind == BARS and worth < 0 else kind
            mark = f'<span class="{look}"><i style="--share: {share:.3f}"></i></span>'
            parts.append(f"<td>{mark}{escape(number)}</td>")
        parts.append("</tr>")
    return "".join([*parts, "</table>", as_said(table.below)])
