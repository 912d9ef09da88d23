"""What a first reading of a chapter takes: its words, its cells, its minutes.

The main line of a chapter is its text without the sections marked as second reading, without the
exercises, and without what is folded. The head of the page is made from it, and a test holds it to
the measures that CONTRIBUTING names.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext
from nbformat import NotebookNode

SECOND_READING = "{.second-reading}"
EXERCISES = "Exercises"
MAIN, SECOND = "main", "second reading"  # parts of a chapter; the third are the exercises
FOLDED = {"dropdown", "solution"}  # directives that open with a click
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
# Prose is read at 200 words a minute or more; a cell of code takes half a minute.
WORDS_A_MINUTE = 200
MINUTES_A_CELL = 0.5

HEADING = re.compile(r"^(#+) +(.*)$")
FENCE = re.compile(r"^(`{3,}|:{3,})(?:\{([\w:-]+)\}(.*))?(\w*)\s*$")
OPTION = re.compile(r"^:[\w-]+:")
UNSEEN = re.compile(r"^\([\w-]+\)=\s*$|^%")  # a target, a comment
ROLE = re.compile(r"\{[\w:]+\}`([^`]+?)(?:\s*<[^`>]+>)?`")
MATH = re.compile(r"\$\$.*?\$\$(?: *\([\w:-]+\))?|\$[^$]+\$", re.DOTALL)
WORD = re.compile(r"[^\W_][\w'’.,-]*")


@dataclass(frozen=True)
class MainLine:
    """The main line of one chapter.

    Args:
        paper: the sections, tables and figures of the paper that it covers, as its front matter
            names them; empty where it covers none.
        prose: its text, without code and marks.
        cells: how many cells of code stand in it unfolded.
    """

    paper: str
    prose: str
    cells: int

    @property
    def words(self) -> int:
        """How many words it has; a formula counts as one."""
        return len(WORD.findall(self.prose))

    @property
    def minutes(self) -> int:
        """How long it takes to read."""
        return math.ceil(self.words / WORDS_A_MINUTE + self.cells * MINUTES_A_CELL)

    def head(self, seconds: float | None) -> str:
        """The line below a chapter's title; `seconds` of one core are what its cells took."""
        parts = [f"Paper: {self.paper}"] if self.paper else []
        parts.append(f"{self.minutes} minute{'s' * (self.minutes > 1)} to read")
        if seconds is not None:
            parts.append(f"{in_words(seconds)} to run")
        return " · ".join(parts)


def in_words(seconds: float) -> str:
    """A running time, no more exact than another machine would confirm."""
    if seconds < 55:
        return f"{max(5, 5 * round(seconds / 5))} seconds"
    minutes = round(seconds / 60)
    return "a minute" if minutes == 1 else f"{minutes} minutes"


def sections_of(paper: str) -> str:
    """ "3.2, Table 1" of a front matter as words: "section 3.2, Table 1"."""
    items = [item.strip() for item in paper.split(",") if item.strip() and item.strip() != "none"]
    numbers = [item for item in items if item[0].isdigit()]
    others = [item for item in items if not item[0].isdigit()]
    named = [("section " if len(numbers) == 1 else "sections ") + ", ".join(numbers)]
    return ", ".join([*(named if numbers else []), *others])


@dataclass(frozen=True)
class Piece:
    """A line of prose, or a cell of code, in its place.

    Args:
        part: "main", "second reading" or "exercises".
        section: the heading of the second level that it stands under.
        text: the line, or the cell's code.
        tags: a cell's; None for prose.
    """

    part: str
    section: str
    text: str
    tags: frozenset[str] | None = None


def pieces(notebook: NotebookNode) -> Iterator[Piece]:
    """All of a chapter in its order, without code that is only quoted and what is folded."""
    part, level, section = MAIN, 0, ""  # the level of the heading that began the part
    marked = False
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield Piece(part, section, cell.source, frozenset(cell.metadata.get("tags", [])))
            continue
        for line in unfenced(cell.source.split("\n")):
            if line.strip() == SECOND_READING:
                marked = True
                continue
            if heading := HEADING.match(line):
                found = len(heading[1])
                if found <= level:
                    part, level = MAIN, 0
                if part == MAIN and (marked or heading[2].strip() == EXERCISES):
                    part, level = SECOND if marked else EXERCISES.lower(), found
                section = heading[2] if found <= 2 else section
                marked = False
            yield Piece(part, section, line)


def main_line(path: Path) -> MainLine:
    """Reads a chapter's file."""
    notebook = jupytext.read(path)
    main = [piece for piece in pieces(notebook) if piece.part == MAIN]
    prose = "\n".join(HEADING.sub(r"\2", piece.text) for piece in main if piece.tags is None)
    cells = sum(piece.tags is not None and not piece.tags & HIDDEN for piece in main)
    paper = sections_of(str(notebook.metadata.get("paper", "")))
    return MainLine(paper, plain(prose), cells)


def unfenced(lines: list[str]) -> Iterator[str]:
    """The lines without code, directives' marks and options, and what is folded."""
    fences: list[tuple[str, bool]] = []  # the marks that close, and whether the content is text
    for line in lines:
        match = FENCE.match(line.strip())
        if match and not match[2] and fences and match[1] == fences[-1][0] and not match[4]:
            fences.pop()
        elif match and (match[2] or match[1][0] == "`"):
            shown = bool(match[2]) and not literal(match[2]) and match[2] not in FOLDED
            fences.append((match[1], shown))
            if match[2] == "admonition":
                yield (match[3] or "").strip()
        elif all(text for _, text in fences) and not OPTION.match(line) and not UNSEEN.match(line):
            yield line


def literal(directive: str) -> bool:
    """Whether a directive's content is no text."""
    return directive in {"literalinclude", "code", "code-block", "math", "figure", "image"}


def plain(text: str) -> str:
    """Text without formulas, the marks of roles, and addresses."""
    text = MATH.sub(" formula ", text)
    text = ROLE.sub(r"\1", text)
    return re.sub(r"\]\([^)]*\)", "]", text)
