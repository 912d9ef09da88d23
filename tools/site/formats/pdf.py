"""Prints the built book: `.venv/bin/python -m tools.site.formats.pdf`, which `make pdf` calls.

Chromium prints one document of all pages (`paper.py`) twice: the first printing says on which page
each chapter begins, which the contents of the second one name. Then the file is read, and what
would disappoint its reader fails the printing.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from playwright.sync_api import Browser, Page, sync_playwright

from tools.browser import FLAGS, NoBrowserError, ensure_chromium
from tools.site.formats.paper import Paper

if TYPE_CHECKING:
    from pypdf import PdfWriter
    from pypdf.generic import DictionaryObject

STYLE = Path(__file__).parent / "paper.css"
# What is of use on a screen alone: the reference of the module, the reader's own notes, and the
# pictures of all chapters once more.
LEAVE_OUT = {"book/reading", "book/changes", "book/figures"}
REFERENCE = "book/reference/"
# Between the margins of paper.css; in pixels, as Chromium lays pages out.
WIDTH = round((210 - 2 * 18) / 25.4 * 96)
WRONG = """() => {
  const found = [];
  const under = (element) => element.closest('[id]')?.id;
  for (const element of document.querySelectorAll('table, pre, img, math, p, li')) {
    const { right, width } = element.getBoundingClientRect();
    const inside = element.localName === 'pre' ? element.scrollWidth - element.clientWidth : 0;
    const over = Math.round(Math.max(right - innerWidth, inside));
    const name = `${under(element)}: <${element.localName}>`;
    if (width && over > 1) found.push(`${name} is ${over} px too wide`);
  }
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    const name = link.getAttribute('href');
    if (!document.getElementById(name.slice(1)))
      found.push(`${under(link)}: a link leads to ${name}, which is not there`);
  }
  return found;
}"""
EMPTY = """async () => {
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  return [...document.images].filter((image) => !image.naturalWidth)
    .map((image) => `${image.closest('[id]')?.id}: the picture ${image.src} is empty`);
}"""


# "2.6. 2.6. Where does it look?Where does it look?"
TWICE = re.compile(r"(?P<number>(?:[\d.]+ )?)(?P=number)(?P<title>.+)(?P=title)$")


class PaperError(Exception):
    """The printed book would disappoint; the message says where."""


def wrong_on_the_page(page: Page) -> list[str]:
    """Empty pictures, and what is wider than the paper."""
    page.set_viewport_size({"width": WIDTH, "height": 1000})
    page.emulate_media(media="print")
    return [*page.evaluate(EMPTY), *page.evaluate(WRONG)]


def printed(browser: Browser, document: Path, pdf: Path) -> list[str]:
    """Prints a document; returns what is wrong with it."""
    page = browser.new_page()
    page.set_default_timeout(0)  # a slow machine only takes longer
    page.goto(document.as_uri())
    page.evaluate("document.fonts.ready.then(() => true)")
    wrong = wrong_on_the_page(page)
    page.pdf(path=pdf, prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    page.close()
    return wrong


def page_numbers(pdf: Path) -> dict[str, int]:
    """The page of each anchor to which something in the file leads, from 1 on."""
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    found = {}
    for name, destination in reader.named_destinations.items():
        number = reader.get_destination_page_number(destination)
        if number is not None:
            found[name.removeprefix("/")] = number + 1
    return found


def wrong_in_the_file(pdf: Path, anchors: Iterable[str]) -> list[str]:
    """Chapters that are missing or empty, and links within the file that lead nowhere."""
    from pypdf import PdfReader

    reader, numbers = PdfReader(pdf), page_numbers(pdf)
    wrong = [f"{anchor}: no page of the file has it" for anchor in anchors if anchor not in numbers]
    for number, page in enumerate(reader.pages, start=1):
        for reference in page.get("/Annots") or ():
            annotation = reference.get_object()
            target = annotation.get("/Dest") or annotation.get("/A", {}).get("/D")
            if isinstance(target, str) and target.removeprefix("/") not in numbers:
                wrong.append(f"page {number}: a link leads to {target}, which is not there")
    if not reader.outline:
        wrong.append("the file has no bookmarks")
    return wrong


def print_book(root: Path, pdf: Path, chromium: str) -> int:
    """Prints the book that was built in a folder; returns the number of pages.

    Raises:
        PaperError: a chapter, a picture or a link is missing, or something is cut off.
    """
    from tools.site.chapters import chapters

    leave_out = LEAVE_OUT | {name for name in chapters(root) if name.startswith(REFERENCE)}
    paper = Paper(root, leave_out)
    folder = root / "_build/paper"
    folder.mkdir(parents=True, exist_ok=True)
    document, draft = folder / "book.html", folder / "book.pdf"
    style = STYLE.read_text(encoding="utf-8")
    numbers: dict[str, int] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for printing in ("first", "second"):
            document.write_text(paper.document(numbers, style), encoding="utf-8")
            wrong = printed(browser, document, draft)
            if page_numbers(draft) == numbers:
                break
            numbers = page_numbers(draft)
            print(f"  the {printing} printing is done", flush=True)
        browser.close()
    if page_numbers(draft) != numbers:
        wrong.append("the contents changed the pages that they name")
    wrong += wrong_in_the_file(draft, [chapter.anchor for chapter in paper.chapters])
    if wrong:
        raise PaperError("The book was NOT printed:\n" + "\n".join(f"  {line}" for line in wrong))
    return finished(draft, pdf, paper)


def finished(draft: Path, pdf: Path, paper: Paper) -> int:
    """Writes the file with its title and author; returns the number of pages."""
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=draft)
    writer.add_metadata({"/Title": paper.title, "/Author": paper.author})
    say_titles_once(writer)
    writer.write(pdf)
    return len(writer.pages)


def say_titles_once(writer: "PdfWriter") -> None:
    """Chromium names a heading twice among the bookmarks where it begins a page."""
    from pypdf.generic import NameObject, TextStringObject

    waiting = [writer.root_object["/Outlines"].get_object()]
    while waiting:
        entry = cast("DictionaryObject", waiting.pop())
        waiting += [entry[key].get_object() for key in ("/First", "/Next") if key in entry]
        if match := TWICE.match(str(entry.get("/Title", ""))):
            title = TextStringObject(match["number"] + match["title"])
            entry[NameObject("/Title")] = title


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the folder with _build/html")
    parser.add_argument("--out", type=Path, help="the file; _build/book.pdf unless given")
    options = parser.parse_args()
    root = options.root.resolve()
    pdf = options.out or root / "_build/book.pdf"
    if not (root / "_build/book.json").exists():
        print("The book is not built: run `make book` first.", file=sys.stderr)
        return 1
    if not pdf.parent.is_dir():
        print(f"there is no folder {pdf.parent}; make it, or name another file", file=sys.stderr)
        return 1
    print("Printing the book: a few minutes", flush=True)
    try:
        pages = print_book(root, pdf, ensure_chromium())
    except (NoBrowserError, PaperError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The book on {pages} pages: {pdf} ({pdf.stat().st_size / 1e6:.0f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
