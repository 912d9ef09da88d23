"""Every chapter has a main line that can be read in 25 minutes (book/README.md)."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.chapters import notebook
from tools.site.chapters import Chapter, numbered
from tools.site.durations import RECORDED, Durations
from tools.site.main_line import HIDDEN, MAIN, SECOND, Piece, main_line, pieces

ROOT = Path(__file__).resolve().parents[2]
WORDS, CELLS, LINES, MINUTES = 1300, 16, 15, 25
LONGER: dict[str, int] = {}
PATH = 180  # minutes of a first reading
DRY = 200  # words without anything to see or to decide
SECONDS = 90  # of one core


CHAPTERS = numbered(ROOT)
PIECES = {name: list(pieces(notebook(name))) for name in CHAPTERS}
EQUATION = re.compile(r"\$\$ \(([\w-]+)\)")
PAPERS = {"eq-attention", "eq-ffn", "eq-noam"}  # the three that the paper numbers


line_of = cache(lambda name: main_line(ROOT / f"{name}.md"))


def prose(part: str, name: str) -> str:
    return "\n".join(p.text for p in PIECES[name] if p.part == part and p.tags is None)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_names_the_sections_of_the_paper_that_it_covers(name: str) -> None:
    assert notebook(name).metadata.get("paper")


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_main_line_is_short(name: str) -> None:
    line = line_of(name)
    assert line.words <= WORDS
    assert line.cells <= CELLS
    assert line.minutes <= LONGER.get(name, MINUTES)
    assert line.dry <= DRY


def test_a_first_reading_takes_three_hours_and_is_one_path() -> None:
    pages = {name: line_of(name) for name in ("book/welcome", *CHAPTERS)}
    path = [name for name, line in pages.items() if line.is_first]
    assert sum(pages[name].minutes for name in path) <= PATH
    welcome = (ROOT / "book/welcome.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \{ref\}`([\w-]+)` \|.*\{reading\}`\1` \|$", welcome, re.MULTILINE)
    assert rows == [Chapter(ROOT / f"{name}.md").label for name in path]
    (together,) = re.findall(r"^\| together .*\{reading\}`([\w -]+)`", welcome, re.MULTILINE)
    assert together.split() == rows


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_cell_shows_one_idea_and_a_check_is_folded(name: str) -> None:
    for cell in notebook(name).cells:
        if cell.cell_type == "code":
            tags = set(cell.metadata.get("tags", []))
            assert "check" not in tags or tags & HIDDEN, cell.source
            # A skeleton has the types and the words of its function.
            assert tags & (HIDDEN | {"skeleton"}) or len(cell.source.splitlines()) <= LINES


def test_the_seconds_of_a_chapter_are_few() -> None:
    """Of those on record; `tests/book/test_durations.py` has those that a build has measured."""
    measured = Durations.read(RECORDED).chapters
    assert len(measured) > 20
    assert {name: seconds for name, seconds in measured.items() if seconds > SECONDS} == {}


def test_what_a_main_line_uses_stands_in_a_main_line() -> None:
    """Its equations, and the words that a chapter introduces."""
    mains, seconds = ({name: prose(part, name) for name in CHAPTERS} for part in (MAIN, SECOND))
    equations = {label for text in mains.values() for label in EQUATION.findall(text)}
    assert equations >= PAPERS
    for name, text in mains.items():
        assert {*re.findall(r"\{eq\}`([\w-]+)`", text)} <= equations, name
    assert {name for name, text in seconds.items() if "{dfn}`" in text} == set()


def names_in(piece: Piece) -> tuple[set[str], set[str]]:
    """The names that a cell reads, and those that it gives a value to at its own level."""
    tree = ast.parse(piece.text)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    defined = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    kinds = ast.FunctionDef | ast.ClassDef
    defined |= {node.name for node in tree.body if isinstance(node, kinds)}
    aliases = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    defined |= {(alias.asname or alias.name).split(".")[0] for n in aliases for alias in n.names}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)}, defined


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_cell_of_a_main_line_needs_one_of_a_second_reading(name: str) -> None:
    known: set[str] = set()
    aside: set[str] = set()
    for piece in PIECES[name]:
        if piece.tags is not None:
            read, defined = names_in(piece)
            if piece.part == MAIN:
                assert read & (aside - known) - defined == set(), piece.text
                known |= defined
            elif piece.part == SECOND:
                aside |= defined


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_numbered_equation_has_its_check_in_its_own_section(name: str) -> None:
    main = [piece for piece in PIECES[name] if piece.part == MAIN]
    for piece in main:
        if piece.tags is None and (label := EQUATION.search(piece.text)):
            checks = [p for p in main if p.section == piece.section and "check" in (p.tags or ())]
            assert checks, f"{label[1]} has no check below it"
