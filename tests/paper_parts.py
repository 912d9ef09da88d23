"""The parts of the paper, and which chapters say in their front matter that they cover them."""

import re
from pathlib import Path

import yaml

from tools.book import numbered

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = [
    *("1", "2", "3", "3.1", "3.2", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "4"),
    *("5", "5.1", "5.2", "5.3", "5.4", "6", "6.1", "6.2", "6.3", "7"),
]
SHOWN = [*(f"Table {n}" for n in range(1, 5)), *(f"Figure {n}" for n in range(1, 6))]


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
