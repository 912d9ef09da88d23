"""The parts of the paper, and which chapters say in their front matter that they cover them."""

from pathlib import Path

from tools.site.chapters import Chapter, numbered
from tools.site.main_line import parts_in

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = [
    *("1", "2", "3", "3.1", "3.2", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "4"),
    *("5", "5.1", "5.2", "5.3", "5.4", "6", "6.1", "6.2", "6.3", "7"),
]
SHOWN = [*(f"Table {n}" for n in range(1, 5)), *(f"Figure {n}" for n in range(1, 6))]


def covered() -> dict[str, list[str]]:
    """Which chapters say in their front matter that they cover a part, by their labels."""
    found: dict[str, list[str]] = {}
    for name in numbered(ROOT):
        chapter = Chapter(ROOT / f"{name}.md")
        paper = chapter.front.get("paper")
        assert paper and chapter.label, f"{name} does not say what of the paper it covers"
        for part in parts_in(str(paper)):
            found.setdefault(part, []).append(chapter.label)
    return found
