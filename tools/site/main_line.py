"""What a first reading of a chapter takes: its words, its code, its pictures, its minutes.

The main line of a chapter is its text without the sections marked as second reading, without the
exercises, and without what is folded. The head of the page is made from it, and a test holds it to
the measures that `book/README.md` names. `python -m tools.site.main_line` prints them for all
chapters.
"""

import ast
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext
import yaml
from nbformat import NotebookNode
from sphinx.config import Config
from sphinx.directives.code import LiteralIncludeReader

from tools.site.chapters import Block, blocks, numbered
from tools.site.durations import in_words

EXERCISES, NEXT = "Exercises", "What comes next"
MAIN, SECOND = "main", "second reading"  # parts of a chapter; the third are the exercises
FOLDED = {"dropdown", "solution"}  # directives that open with a click
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
QUOTED = {"literalinclude", "code-block", "code"}  # directives that show code
PICTURES = {"figure", "image"}
WIDGETS = "transformer_book.widgets"
FIRST_READING = "first_reading"  # in the front matter of a chapter on the path of the welcome page

# How long things take, in minutes.
A_WORD, A_LINE, A_PICTURE, A_CHECK, A_WIDGET = 1 / 160, 7 / 60, 0.75, 1.0, 4.0
LINE_IN_WORDS = 6  # for what a line of code counts where nothing is to be seen

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
        is_first: whether the chapter is on the path of a first reading.
        topics: its headings of the second level, without what comes next.
        lines: of code, those of its cells and those quoted.
        pictures: how many.
        checks: how many questions that are answered on the page.
        widgets: how many.
        dry: the words of its longest stretch without a picture, a widget or a question.
    """

    paper: str
    prose: str
    cells: int
    is_first: bool
    topics: int
    lines: int
    pictures: int
    checks: int
    widgets: int
    dry: int

    @property
    def words(self) -> int:
        """How many words it has; a formula counts as one."""
        return words_in(self.prose)

    @property
    def minutes(self) -> int:
        """How long it takes to read, to look at and to answer."""
        seen = self.pictures * A_PICTURE + self.checks * A_CHECK + self.widgets * A_WIDGET
        return math.ceil(self.words * A_WORD + self.lines * A_LINE + seen)

    def chapter_line(self, seconds: float | None) -> str:
        """The line below a chapter's title; `seconds` of one core are what its cells took."""
        parts = ["First reading"] if self.is_first else []
        parts += [f"Paper: {self.paper}"] if self.paper else []
        parts.append(f"{self.minutes} minute{'s' * (self.minutes > 1)} to read")
        if seconds is not None:
            parts.append(f"{in_words(seconds)} to run")
        return " · ".join(parts)


def sections_of(paper: str) -> str:
    """The parts in a front matter as words: "section 3.2, Table 1" for "3.2, Table 1"."""
    items = [item.strip() for item in paper.split(",") if item.strip() and item.strip() != "none"]
    numbers = [item for item in items if item[0].isdigit()]
    others = [item for item in items if not item[0].isdigit()]
    named = [("section " if len(numbers) == 1 else "sections ") + ", ".join(numbers)]
    return ", ".join([*(named if numbers else []), *others])


def parts_in(paper: str) -> list[str]:
    """Each part in a front matter: "Figure 3" and "Figure 4" for "Figures 3 and 4"."""
    found: list[str] = []
    for item in (item.strip() for item in paper.split(",")):
        if several := re.match(r"(Table|Figure)s (\d) (?:to|and) (\d)", item):
            kind, first, last = several.groups()
            found += [f"{kind} {n}" for n in range(int(first), int(last) + 1)]
        elif item != "none":
            found += re.findall(r"^(?:Table |Figure )?\d[\d.]*", item) or [item]
    return found


@dataclass(frozen=True)
class Piece:
    """A line of prose, a cell of code, or what is neither, in its place.

    Args:
        part: "main", "second reading" or "exercises".
        section: the heading of the second level that it stands under.
        text: the line, or the cell's code; "" for what is neither.
        tags: a cell's; None for all else.
        block: what is neither: quoted code, a picture, a folded answer.
        has_picture: whether a cell draws one.
    """

    part: str
    section: str
    text: str
    tags: frozenset[str] | None = None
    block: Block | None = None
    has_picture: bool = False


def pieces(notebook: NotebookNode) -> Iterator[Piece]:
    """All of a chapter in its order, without what is folded."""
    part, level, section = MAIN, 0, ""  # the level of the heading that began the part
    for cell in notebook.cells:
        if cell.cell_type == "code":
            drawn = "alt" in cell.metadata.get("mystnb", {}).get("image", {})
            tags = frozenset(cell.metadata.get("tags", []))
            yield Piece(part, section, cell.source, tags, has_picture=drawn)
            continue
        for block in unfolded(cell.source):
            if block.kind == "heading":
                if block.level <= level:
                    part, level = MAIN, 0
                if part == MAIN and (block.second or block.title == EXERCISES):
                    part = SECOND if block.second else EXERCISES.lower()
                    level = block.level
                section = block.title if block.level <= 2 else section
                yield Piece(part, section, block.title)
            elif block.name in QUOTED | PICTURES or block.kind == "code" or is_folded(block):
                yield Piece(part, section, "", block=block)
            elif block.kind == "directive":  # a box, of which only the title is meant
                yield Piece(part, section, block.title)
            else:
                yield from (Piece(part, section, line) for line in block.own_lines)


def is_folded(block: Block) -> bool:
    """Whether a directive opens with a click."""
    return block.name in FOLDED or "dropdown" in str(block.options.get("class", "")).split()


def unfolded(text: str) -> Iterator[Block]:
    """What a reader sees of a text without a click; of what is folded, that it is there."""
    for block in blocks(text):
        shown = block.kind in ("text", "heading", "formula", "code")
        if shown or block.name in QUOTED | PICTURES or is_folded(block):
            yield block
        elif block.has_text:
            if block.name == "admonition":
                yield block
            yield from unfolded("\n".join(block.body))


def main_line(path: Path) -> MainLine:
    """Reads a chapter's file."""
    notebook = jupytext.read(path)
    main = [piece for piece in pieces(notebook) if piece.part == MAIN]
    prose = [piece for piece in main if piece.tags is None and not piece.block]
    cells = [piece for piece in main if piece.tags is not None]
    names = _widgets_of(notebook)
    widgets = [piece for piece in cells if _shows_widget(piece, names)]
    pictures = [piece for piece in main if _is_picture(piece) and piece not in widgets]
    checks = [piece for piece in cells if "self-check" in _tags(piece)]
    sights = [*widgets, *pictures, *checks, *(piece for piece in main if _is_answer(piece))]
    return MainLine(
        paper=sections_of(str(notebook.metadata.get("paper", ""))),
        prose=plain("\n".join(piece.text for piece in prose)),
        cells=sum(not _tags(piece) & HIDDEN for piece in cells),
        is_first=bool(notebook.metadata.get(FIRST_READING)),
        topics=len({piece.section for piece in prose} - {"", NEXT, prose[0].section}),
        lines=sum(_lines(piece, path) for piece in main),
        pictures=len(pictures),
        checks=len(checks),
        widgets=len(widgets),
        dry=max(_stretches(main, sights, path)),
    )


def _stretches(main: list[Piece], sights: list[Piece], path: Path) -> Iterator[int]:
    """The words between one thing to see or to decide and the next."""
    prose, lines = "", 0
    for piece in main:
        if any(piece is sight for sight in sights):
            yield words_in(plain(prose)) + LINE_IN_WORDS * lines
            prose, lines = "", 0
        else:
            prose += "\n" + ("" if piece.tags is not None else piece.text)
            lines += _lines(piece, path)
    yield words_in(plain(prose)) + LINE_IN_WORDS * lines


def _tags(piece: Piece) -> frozenset[str]:
    return piece.tags or frozenset()


def _is_picture(piece: Piece) -> bool:
    return piece.has_picture or (piece.block is not None and piece.block.name in PICTURES)


def _is_answer(piece: Piece) -> bool:
    """Whether it is the folded answer to a question that the text has asked."""
    return piece.block is not None and piece.block.title.startswith("Answer")


def _widgets_of(notebook: NotebookNode) -> set[str]:
    """The names of widgets that a chapter imports."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    nodes = [node for source in sources for node in ast.parse(source).body]
    imports = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == WIDGETS]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def _shows_widget(cell: Piece, widgets: set[str]) -> bool:
    """Whether the last line of a cell is one, or a name that the cell has given to one."""
    body = ast.parse(cell.text).body
    given = {
        ast.unparse(node.targets[0]): node.value for node in body if isinstance(node, ast.Assign)
    }
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    call = given.get(ast.unparse(last), last) if last else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in widgets


def _lines(piece: Piece, path: Path) -> int:
    """The lines of code that a piece shows."""
    if piece.tags is not None:
        return 0 if piece.tags & HIDDEN else len(piece.text.splitlines())
    if piece.block is None or piece.block.name in PICTURES or is_folded(piece.block):
        return 0
    if piece.block.name != "literalinclude":
        return len(piece.block.body)
    file, options = path.parent / piece.block.title, dict(piece.block.options)
    config = Config(overrides={"source_encoding": "utf-8"})
    options = {key: yaml.safe_load(value) for key, value in options.items() if key != "dedent"}
    return LiteralIncludeReader(str(file), options, config).read()[1]


def plain(text: str) -> str:
    """Text without formulas, the marks of roles, and addresses."""
    text = MATH.sub(" formula ", text)
    text = ROLE.sub(r"\1", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def words_in(prose: str) -> int:
    """How many words a text has."""
    return len(WORD.findall(prose))


def report(root: Path) -> Iterator[str]:
    """A table of all chapters, and of the path of a first reading."""
    lines = {name: main_line(root / f"{name}.md") for name in ["book/welcome", *numbered(root)]}
    yield "| chapter | topics | words | code lines | pictures · checks · widgets | minutes | dry |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, line in lines.items():
        seen = f"{line.pictures} · {line.checks} · {line.widgets}"
        chapter = name.split("/")[-1] + " (first reading)" * line.is_first
        yield (
            f"| {chapter} | {line.topics} | {line.words} | {line.lines} | {seen} "
            f"| {line.minutes} | {line.dry} |"
        )
    first = sum(line.minutes for line in lines.values() if line.is_first)
    total = sum(line.minutes for line in lines.values())
    yield f"A first reading takes {first} minutes, all main lines {total}."


if __name__ == "__main__":
    print("\n".join(report(Path(sys.argv[1] if sys.argv[1:] else "."))))
