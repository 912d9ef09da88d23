"""Adds the anchors of the built book to those published: `python -m tools.site.formats.anchors`.

`book/anchors.txt` has each address of a heading or of a label that a reader may have kept. A test
holds the book to it: an anchor that goes is named in `_config.yml` under `moved_anchors`, with
where its text is now. What the reference of the module has follows the module, and is left out.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.site.chapters import chapters
from transformer.support.files import write_atomically

ROOT = Path(__file__).resolve().parents[3]
RECORD = "book/anchors.txt"
ANCHOR = re.compile(r'<(?:section\b[^>]*\bid="([^"]+)"|span id="([^"]+)"></span>)')
# Of each exercise one page has many of its extension; pictures are counted anew in each edition.
PASSING = re.compile(r"(?:exercise|solution)-content|picture-\d+")
REFERENCE = "book/reference/"


def anchors_of(html: Path, documents: list[str]) -> Iterator[str]:
    """The addresses of all headings and labels of the built pages."""
    for document in documents:
        if not document.startswith(REFERENCE):
            text = (html / f"{document}.html").read_text(encoding="utf-8")
            names = {heading or label for heading, label in ANCHOR.findall(text)}
            kept = (name for name in sorted(names) if not PASSING.fullmatch(name))
            yield from (f"{document}#{name}" for name in kept)


def recorded(root: Path) -> list[str]:
    """The addresses published so far."""
    path = root / RECORD
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def lost(root: Path, pages: dict[str, str], anchors: dict[str, str]) -> list[str]:
    """Recorded addresses that lead nowhere; `pages` and `anchors` say what has moved where."""
    html = root / "_build/html"
    texts: dict[str, str] = {}

    def leads(address: str) -> bool:
        page, _, name = address.partition("#")
        page = pages.get(page, page)
        path = html / f"{page}.html"
        if page not in texts:
            texts[page] = path.read_text(encoding="utf-8") if path.exists() else ""
        return f'id="{name}"' in texts[page]

    return [a for a in recorded(root) if not leads(anchors.get(a, a))]


def main() -> int:
    """The command line."""
    html = ROOT / "_build/html"
    if not (ROOT / "_build/book.json").exists():
        print("The book is not built: run `make book` first.", file=sys.stderr)
        return 1
    before = recorded(ROOT)
    new = set(anchors_of(html, chapters(ROOT))) - set(before)
    write_atomically(ROOT / RECORD, "".join(f"{a}\n" for a in sorted({*before, *new})).encode())
    print(f"{len(new)} new anchors beside {len(before)} in {RECORD}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
