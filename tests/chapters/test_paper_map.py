"""The page that maps the paper to chapters has all of it; its links are made from their heads."""

import re
from pathlib import Path

from tests.helpers.paper_parts import SECTIONS, SHOWN
from tools.site.main_line import parts_in

PAGE = Path(__file__).resolve().parents[2] / "book/paper.md"
ROW = re.compile(
    r"^\| ((?:Table |Figure )?\d[\d.]*)(?: [^|]*)? \| [^|]+ \| (\{covered\}`(.*?)`|.*?) \|$", re.M
)
ONLY_HEADINGS = {"5": "5.1 to 5.4", "6": "6.1 to 6.3"}


def test_the_page_has_every_section_table_and_figure_in_the_papers_order() -> None:
    rows = ROW.findall(PAGE.read_text())
    assert [name for name, _, _ in rows] == [*SECTIONS, *SHOWN]
    for name, where, asked in rows:
        assert asked == name or where == ONLY_HEADINGS[name]


def test_a_front_matter_is_understood_as_it_is_written() -> None:
    assert parts_in("none") == []
    assert parts_in("3.2.1, Figure 2 (left), Table 3 rows A and B, Figures 3 to 5") == [
        "3.2.1", "Figure 2", "Table 3", "Figure 3", "Figure 4", "Figure 5",
    ]  # fmt: skip
