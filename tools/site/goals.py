"""What each chapter teaches, for a syllabus: `python -m tools.site.goals` prints it.

The goals stand in the chapters, in the box "After this chapter you can", and nowhere else.
"""

import argparse
import re
from pathlib import Path

from tools.site.chapters import numbered

ROOT = Path(__file__).resolve().parents[2]
BOX = re.compile(r"^(:::+|```+)\{admonition\} After this chapter you can\n(.*?)^\1$", re.M | re.S)
MARKED = re.compile(r"\{\w+(?::\w)?\}`([^`<]+?)(?: <[^>]*>)?`")


def goals_of(name: str) -> tuple[str, list[str]]:
    """A chapter's title, and what one can do after it.

    Raises:
        ValueError: it has no such box, or more than one.
    """
    text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    boxes = BOX.findall(text)
    if len(boxes) != 1:
        raise ValueError(f"{name} has {len(boxes)} boxes of goals; it should have one")
    (title,) = re.findall(r"^# (.+)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    items = re.split(r"^- ", boxes[0][1], flags=re.M)[1:]
    return title, [MARKED.sub(r"\1", " ".join(item.split())) for item in items]


def syllabus() -> str:
    """All chapters with their goals, as Markdown."""
    parts = []
    for number, name in enumerate(numbered(ROOT), 1):
        title, goals = goals_of(name)
        parts.append("\n".join([f"## {number}. {title}", "", *(f"- {goal}" for goal in goals)]))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """The command."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    print(syllabus(), end="")


if __name__ == "__main__":
    main()
