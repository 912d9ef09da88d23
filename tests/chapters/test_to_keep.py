"""A chapter's main line ends in three lines to keep and in what comes next (book/README.md)."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.chapters import notebook
from tools.site.chapters import Block, blocks, numbered
from tools.site.main_line import EXERCISES, MAIN, NEXT, pieces

ROOT = Path(__file__).resolve().parents[2]
TITLE, CLASS, LINES, WORDS = "To keep", "to-keep", 3, 24
CHAPTERS = numbered(ROOT)
ITEM = re.compile(r"^- ", re.MULTILINE)
INSIDE = re.compile(r"[.!?] +[A-Z]")  # where a second sentence begins


def is_box(block: Block) -> bool:
    return block.name == "admonition" and block.options.get("class") == CLASS


@cache
def of(name: str) -> tuple[Block, ...]:
    """What stands in a chapter, without empty lines."""
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    return tuple(block for block in blocks(text) if block.text.strip())


def after_the_box(name: str) -> tuple[Block, ...]:
    (place,) = (number for number, block in enumerate(of(name)) if is_box(block))
    return of(name)[place + 1 :]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_one_box_of_three_sentences(name: str) -> None:
    (box,) = filter(is_box, of(name))
    assert box.title == TITLE
    before, *lines = (" ".join(item.split()) for item in ITEM.split("\n".join(box.body)))
    assert not before, "it holds nothing but its lines"
    assert len(set(lines)) == LINES
    for line in lines:
        assert line.endswith(".") and not INSIDE.search(line), line
        assert len(line.split()) <= WORDS, line


@pytest.mark.parametrize("name", CHAPTERS)
def test_what_comes_next_follows_the_box_and_ends_the_main_line(name: str) -> None:
    heading, said, *rest = (block for block in after_the_box(name) if block.kind != "comment")
    assert (heading.kind, heading.level, heading.title) == ("heading", 2, NEXT)
    assert said.kind == "text" and "{ref}`" in said.text, "it leads on"
    main = [piece for piece in pieces(notebook(name)) if piece.part == MAIN]
    assert main[-1].section == NEXT
    assert EXERCISES in [block.title for block in rest if block.kind == "heading"]
    assert [block.title for block in of(name) if block.kind == "heading"].count(NEXT) == 1
