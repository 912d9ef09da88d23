"""What the search knows: the sections of all pages, with their words, and their text to quote.

Sphinx's index knows which pages have a word; this one knows which sections. Code is left out, and
formulas are read as words: `d_k`, and its root. `index.js` has headings and words; the texts lie
beside it, a file a page, and are loaded when something was found there: from the disk, too, where a
page cannot fetch another one. `tools/site/search_scores.js` ranks and shows what is found.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import chain, pairwise

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

from tools.site.pages import Site

FOLDER = "search"
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
BLOCKS = {"p", "li", "td", "th", "div", "dd", "figcaption", "blockquote"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5"}
# What is no prose: code and what it prints, buttons, what stands in every chapter, answers; of the
# reference, signatures and lists of parameters.
TAGS_LEFT_OUT = {"pre", "script", "style", "svg", "button", "summary", "nav"}
LEFT_OUT = {"headerlink", "widget-place", "chapter-head", "second-reading-note", "effort"}
LEFT_OUT |= {"cell_output", "solution", "sig", "field-list", "in-reference", "later-number"}
# What stands before the second and the third part of a formula's element.
JOINTS = {"msub": "_", "msup": "^", "mfrac": "/", "msubsup": "_^"}
JOINTS |= {"munder": "_", "munderover": "_^"}
WORD = re.compile(r"\w+(?:[-^]\w+)*")
ROOT = re.compile(r"√|\bsqrt\b")
NUMBER = re.compile(r"^[\d.]+ ")  # before a heading
STOP_WORDS = SearchEnglish.stopwords
OFTEN = 3  # times in a section


@dataclass
class Section:
    """A section, an exercise, an entry of the glossary or a documented name."""

    anchor: str
    heading: str = ""
    prose: str = ""
    terms: list[str] = field(default_factory=list)  # that it introduces


@dataclass
class Element:
    """An open element: where its text goes, and what it has had in it."""

    tag: str
    section: Section | None = None
    heads: bool = False
    left_out: bool = False
    children: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """Takes a page apart."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        super().__init__()
        self.sections: list[Section] = []
        self.open = [Element("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enters an element, with which a section may begin."""
        outer = self.open[-1]
        given = {name: value or "" for name, value in attrs}
        classes, anchor = set(given.get("class", "").split()), given.get("id", "")
        if outer.children:
            self.handle_data(JOINTS.get(outer.tag, "")[len(outer.children) - 1 :][:1])
        if tag == "msqrt":
            self.handle_data("√")
        element = Element(tag, outer.section, outer.heads, outer.left_out)
        element.left_out |= tag in TAGS_LEFT_OUT or not LEFT_OUT.isdisjoint(classes)
        if tag == "dt" and anchor and outer.children[-1:] == ["dt"] and outer.section:
            outer.section.heading += ", "  # another word for the same
            element.heads = True
        elif anchor and (tag in ("section", "dt") or "exercise" in classes):
            if not anchor.endswith("-content"):
                element.section = Section(anchor, anchor if "sig" in classes else "")
                self.sections.append(element.section)
            if tag == "dt":  # what follows in the list is about it
                outer.section, element.heads = element.section, True
        elif outer.section:
            untitled = "admonition-title" in classes and not outer.section.heading
            element.heads |= tag in HEADINGS or untitled
            if tag == "dfn":
                outer.section.terms.append(anchor.removeprefix("term-").replace("-", " "))
        outer.children.append(tag)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """Leaves an element."""
        if tag in BLOCKS:
            self.handle_data(" · " if tag in ("td", "th") else " ")
        if any(element.tag == tag for element in self.open):
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Text of the open section, in its heading or below."""
        inner = self.open[-1]
        if inner.section and not inner.left_out:
            if inner.heads:
                inner.section.heading += data
            else:
                inner.section.prose += data


def sections_of(page: str) -> list[Section]:
    """The sections of a page that have a heading, in their order."""
    start = page.find("<article")
    reader = Reader()
    reader.feed(page[start : page.find("</article>", start)])
    for section in reader.sections:
        section.heading = tidy(section.heading).replace(" ,", ",")
        section.prose = tidy(section.prose)
    return [section for section in reader.sections if section.heading]


def tidy(text: str) -> str:
    """A text in one line, without what is not seen."""
    seen = re.sub("[\u2061-\u2064\u200b]", "", text)
    return re.sub("( ·)+", " ·", " ".join(seen.split()))


def words_of(text: str) -> Iterator[str]:
    """The words of a text, in the singular; `warm-up` is `warmup`, and each part; √ is `root`.

    A power is a word, too, and each part: `n^2`.
    """
    for word in WORD.findall(ROOT.sub(" root ", text.lower())):
        for part in {word.replace("-", ""), *re.split("[-^]", word)}:
            if len(part) > 1 and not part.isdigit() and part not in STOP_WORDS:
                yield re.sub("([^s])s$", r"\1", re.sub("ies$", "y", part))


def index(pages: dict[str, list[Section]]) -> str:
    """The script with the headings of each page, and with the sections of each word.

    These are counted through the book: a word has the step from each to the next, marked where it
    stands there often. An anchor or a heading that follows from the other is left out.
    """
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for number, section in enumerate(chain.from_iterable(pages.values())):
        for word in words_of(f"{section.heading} {section.prose}"):
            found[word][number] += 1
    words = {}
    for word, times in sorted(found.items()):
        numbers = sorted(times)
        marks = ("!" if times[number] >= OFTEN else "" for number in numbers)
        words[word] = " ".join(
            f"{after - before}{mark}"
            for (before, after), mark in zip(pairwise([0, *numbers]), marks, strict=True)
        )
    listed = [[name, *map(entry, sections)] for name, sections in pages.items()]
    return f"Search.setIndex({compact({'pages': listed, 'words': words})});\n"


def entry(section: Section) -> list[str]:
    """A section in the index."""
    heading, anchor = section.heading, section.anchor
    if heading == anchor:
        return [anchor, ""]
    follows = re.sub("[^a-z0-9]+", "-", NUMBER.sub("", heading).lower()).strip("-") == anchor
    return ["" if follows else anchor, heading, *section.terms]


def compact(value: object) -> str:
    """JSON as small as it gets."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write_index(app: Sphinx, site: Site) -> None:
    """Writes the index, and the texts of each page."""
    in_order = app.env.collect_relations()
    pages = {name: sections_of(site.pages[f"{name}.html"].text) for name in in_order}
    scripts = {"index": index(pages)}
    for name, sections in pages.items():
        texts = compact({section.anchor: section.prose for section in sections})
        scripts[name] = f"Search.texts[{compact(name)}] = {texts};\n"
    for name, text in scripts.items():
        path = site.out / FOLDER / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
