"""The page that maps the paper to chapters agrees with what the chapters say in their heads."""

import re
from pathlib import Path

import yaml

from tools.book import numbered

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "book/paper.md"
SECTIONS = [
    *("1", "2", "3", "3.1", "3.2", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "4"),
    *("5", "5.1", "5.2", "5.3", "5.4", "6", "6.1", "6.2", "6.3", "7"),
]
SHOWN = [*(f"Table {n}" for n in range(1, 5)), *(f"Figure {n}" for n in range(1, 6))]
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


def covered() -> dict[str, list[str]]:
    """Which chapters say in their front matter that they cover a part, by their labels."""
    found: dict[str, list[str]] = {}
    for name in numbered(ROOT):
        text = (ROOT / f"{name}.md").read_text()
        paper = yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n")).get("paper")
        label = re.search(r"^\((chapter-[\w-]+)\)=$", text, re.M)
        assert paper and label, f"{name} does not say what of the paper it covers"
        for part in parts_in(str(paper)):
            found.setdefault(part, []).append(label[1])
    return found


def parts_in(paper: str) -> list[str]:
    """The parts that a front matter names: "3.5, Table 3 row (E), Figures 3 to 5"."""
    found = []
    for item in (item.strip() for item in paper.split(",")):
        if several := re.match(r"(Table|Figure)s (\d) (?:to|and) (\d)", item):
            kind, first, last = several.groups()
            found += [f"{kind} {n}" for n in range(int(first), int(last) + 1)]
        elif item != "none":
            found += re.findall(r"^(?:Table |Figure )?\d[\d.]*", item) or [item]
    return found


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
