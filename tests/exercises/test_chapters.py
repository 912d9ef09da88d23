"""What the chapters have of an exercise is what `transformer.exercises` has."""

import re
from pathlib import Path

import jupytext
import pytest

from tools.book import numbered
from transformer.exercises import EXERCISES, skeleton

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = {name: (ROOT / f"{name}.md").read_text("utf-8") for name in numbered(ROOT)}
CELLS = [
    (chapter, cell.source)
    for chapter in CHAPTERS
    for cell in jupytext.read(ROOT / f"{chapter}.md").cells
    if "skeleton" in cell.metadata.get("tags", [])
]
SUMMONS = re.compile(r"\n\n\ncheck\((\w+)\)$")


def test_there_are_skeletons() -> None:
    assert len(CELLS) >= 2


@pytest.mark.parametrize(("chapter", "source"), CELLS)
def test_a_cell_to_fill_in_is_the_skeleton_and_a_check(chapter: str, source: str) -> None:
    match = SUMMONS.search(source)
    assert match, f"{chapter}: a skeleton's cell ends in check(...)"
    assert source == f"{str(skeleton(match[1])).rstrip()}{match[0]}"
    assert f"book/{EXERCISES[match[1]].chapter}" == chapter


@pytest.mark.parametrize(("chapter", "source"), CELLS)
def test_effort_hints_and_solution_come_from_the_exercise(chapter: str, source: str) -> None:
    match, text = SUMMONS.search(source), CHAPTERS[chapter]
    assert match
    name = match[1]
    assert f":::{{effort}} {name}\n" in text
    assert f":::{{hints}} {name}\n" in text
    module = EXERCISES[name].solution.__module__.replace(".", "/")
    shown = f"```{{literalinclude}} ../../{module}.py\n:language: python\n:pyobject: {name}\n```"
    assert shown in text
    executed = f"from {module.replace('/', '.')} import {name} as ours\n\nresult = check(ours)\n"
    assert executed + "assert result.passed\n" in text


def test_every_exercise_names_a_chapter_of_the_book() -> None:
    assert {f"book/{exercise.chapter}" for exercise in EXERCISES.values()} <= set(CHAPTERS)
