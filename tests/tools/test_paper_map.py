"""The page that maps the paper to chapters agrees with what the chapters say in their heads."""

import re
from pathlib import Path

from tests.paper_parts import SECTIONS, SHOWN, covered, parts_in

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book/paper.md"
LATER = "not yet in the book"
ONLY_HEADINGS = {"5": "5.1 to 5.4", "6": "6.1 to 6.3"}


def rows() -> dict[str, str]:
    """What the page says of each part of the paper: where it is covered."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text().splitlines()
        if line.startswith("| ")
    ]
    named = [(re.match(r"((?:Table |Figure )?\d[\d.]*)", row[0]), row[-1]) for row in cells]
    return {name[1]: where for name, where in named if name}


def test_the_page_has_every_section_table_and_figure_in_the_papers_order() -> None:
    assert list(rows()) == [*SECTIONS, *SHOWN]


def test_chapters_name_parts_that_the_paper_has() -> None:
    assert covered().keys() <= {*SECTIONS, *SHOWN}


def test_the_page_leads_to_the_chapters_that_cover_a_part_and_to_no_others() -> None:
    by_chapters = covered()
    for name, where in rows().items():
        linked = re.findall(r"\{ref\}`(?:[^`<]*<)?(chapter-[\w-]+)>?`", where)
        assert linked == by_chapters.get(name, []), name
        assert linked or where == ONLY_HEADINGS.get(name, LATER), name


def test_a_front_matter_is_understood_as_it_is_written() -> None:
    assert parts_in("none") == []
    assert parts_in("3.2.1, Figure 2 (left), Table 3 rows A and B, Figures 3 to 5") == [
        "3.2.1", "Figure 2", "Table 3", "Figure 3", "Figure 4", "Figure 5",
    ]  # fmt: skip
