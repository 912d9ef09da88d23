"""Every chapter has a main line that can be read in twenty minutes (CONTRIBUTING, "A chapter")."""

from pathlib import Path

import jupytext
import pytest
import yaml

from book._ext.main_line import HIDDEN, main_line
from tools.durations import RECORDED, Durations

ROOT = Path(__file__).resolve().parents[2]
WORDS, CELLS, LINES, MINUTES = 1300, 16, 15, 20
SECONDS = 90  # of one core


def numbered() -> list[str]:
    """The chapters that have a number, in order."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    return [c["file"] for part in parts if part.get("numbered") for c in part["chapters"]]


CHAPTERS = [name for name in numbered() if jupytext.read(ROOT / f"{name}.md").metadata.get("paper")]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_main_line_is_short(name: str) -> None:
    line = main_line(ROOT / f"{name}.md")
    assert line.words <= WORDS
    assert line.cells <= CELLS
    assert line.minutes <= MINUTES


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_cell_shows_one_idea_and_a_check_is_folded(name: str) -> None:
    for cell in jupytext.read(ROOT / f"{name}.md").cells:
        if cell.cell_type == "code":
            tags = set(cell.metadata.get("tags", []))
            assert "check" not in tags or tags & HIDDEN, cell.source
            assert tags & HIDDEN or len(cell.source.splitlines()) <= LINES, cell.source


def test_the_seconds_of_every_chapter_are_on_record_and_few() -> None:
    measured = Durations.read(RECORDED).chapters
    assert {name: measured[name] for name in CHAPTERS if measured[name] > SECONDS} == {}
