"""Puts the pages of the built site into one document for paper.

Links between pages lead to places in the document. What folds on the screen cannot on paper: the
code behind figures and checks stays on the site, hints stand open, answers and solutions at the end
of their chapter, as in a page that a reader prints (`book/_static/book.js`). Widgets give way to
their pictures, which say where they move.
"""

import re
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urldefrag

import yaml
from lxml import html
from lxml.builder import E

from tools.site.chapters import contents

SCREEN_ONLY = (
    './/a[contains(@class, "headerlink")]',
    './/*[contains(@class, "widget-place")]',
    './/*[contains(@class, "only-dark")]',
    ".//script",
    './/*[contains(@class, "sd-summary-state-marker")]',
    './/p[contains(@class, "in-reference")]',
)
FOLD = './/details[contains(@class, "fold")]'
ANSWER = (
    './/details[starts-with(normalize-space(), "Answer")]'
    ' | .//div[contains(concat(" ", @class, " "), " solution ")]'
)
SHORT = 16  # lines of code that stay on one sheet, as in book.js
ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass
class Chapter:
    """A page as a part of the document.

    Attributes:
        page: its document, such as `book/why/attention`.
        title: with its number: "3. Attention".
        article: its text.
        sections: the anchor of each section, and its entry in the contents.
        part: the title of the part that begins with it, if one does.
    """

    page: str
    title: str
    article: Any
    sections: list[tuple[str, Any]] = field(default_factory=list)
    part: str = ""

    @property
    def anchor(self) -> str:
        """Its place in the document."""
        return self.page.removeprefix("book/").replace("/", "-")


def text_of(element: Any) -> str:
    """An element's words on one line; of a formula, its source."""
    words = html.fromstring(html.tostring(element, encoding="unicode", with_tail=False))
    for formula in words.xpath(".//math"):
        formula.tail = f"{formula.get('alttext', '')}{formula.tail or ''}"
        formula.drop_tree()
    return " ".join(words.text_content().split()).removesuffix("#").strip()


def entry_of(heading: Any) -> Any:
    """A heading's words for the contents, formulas as they are; nothing in them leads elsewhere."""
    entry = html.fromstring(html.tostring(heading, encoding="unicode", with_tail=False))
    for link in entry.xpath(".//a"):
        link.drop_tag()
    for element in entry.iter():
        element.attrib.pop("id", None)
    entry.tag = "span"
    entry.set("class", "entry")
    return entry


def replace_by(element: Any, *others: Any) -> None:
    """Others in the place of an element; what follows it stays."""
    parent, tail = element.getparent(), element.tail
    index = parent.index(element)
    element.tail = None
    parent.remove(element)
    for number, other in enumerate(others):
        other.tail = None
        parent.insert(index + number, other)
    if tail:
        if others:
            others[-1].tail = tail
        elif index:
            parent[index - 1].tail = (parent[index - 1].tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail


def unfold(article: Any) -> None:
    """Of what is folded, what its cell has put out stays: a claim that was checked, a figure."""
    for details in article.xpath(FOLD):
        replace_by(details, *details.xpath('.//*[contains(@class, "cell_output")]'))
    for cell in article.xpath('.//div[contains(concat(" ", @class, " "), " cell ")]'):
        if not len(cell):
            cell.drop_tree()


def collect_answers(article: Any) -> None:
    """Answers and solutions, from where they are folded to the chapter's end; the rest unfolds."""
    answers: list[Any] = []
    numbers = count(1)
    for answer in article.xpath(ANSWER):
        (title,) = answer.xpath('./summary | ./*[contains(@class, "admonition-title")]')
        heading = name = text_of(title)
        if answer.tag == "details":
            heading = name = f"Answer {next(numbers)}"
            if section := answer.xpath('string(ancestor::section[1]//*[@class="section-number"])'):
                heading += f", to section {section.strip().removesuffix('.')}"
        position = len(answers) + 1
        link = E.a(f"{name}: at the end of the chapter", href=f"#answer-{position}")
        replace_by(answer, E.p({"class": "to-answer", "id": f"to-answer-{position}"}, link))
        title.drop_tree()
        back = E.a(heading, href=f"#to-answer-{position}")
        content = E.section({"id": f"answer-{position}", "class": "answer"})
        content.append(E.h3({"class": "answer-title"}, back))
        if anchors := answer.get("id"):
            content.append(E.span(id=anchors))
        content.append(answer)
        answer.tag = "div"
        answer.attrib.pop("class", None)
        answer.attrib.pop("id", None)
        answers.append(content)
    for details in article.xpath(".//details"):
        details.set("open", "")
    if answers:
        section = E.section({"id": "answers", "class": "answers"}, E.h2("Answers and solutions"))
        section.extend(answers)
        article.append(section)


class Paper:
    """The document of all pages of a site.

    Attributes:
        chapters: the pages in order.
        base: the site's address, where links lead that leave the document.
    """

    def __init__(self, root: Path, leave_out: set[str]) -> None:
        """Reads the pages that were built from the book of a folder."""
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        self.title, self.author = config["title"], config["author"]
        self.base = config["html"]["baseurl"].rstrip("/") + "/"
        self.html = root / "_build/html"
        self.chapters: list[Chapter] = []
        for part in contents(root):
            kept = [page for page in part.pages if page not in leave_out]
            for page in kept:
                self.chapters.append(self.read(page, part.caption if page == kept[0] else ""))
        anchors = {chapter.page: chapter.anchor for chapter in self.chapters}
        for chapter in self.chapters:
            self.lead(chapter, anchors)

    def read(self, page: str, part: str) -> Chapter:
        """One page, made ready for paper."""
        tree = html.parse(str(self.html / f"{page}.html"), html.HTMLParser(encoding="utf-8"))
        article = tree.getroot().xpath("//article")[0]
        for path in SCREEN_ONLY:
            for element in article.xpath(path):
                if element.getparent() is not None:
                    element.drop_tree()
        unfold(article)
        (heading,) = article.xpath(".//h1")
        chapter = Chapter(page, text_of(heading), article, part=part)
        collect_answers(article)
        for block in article.xpath(".//pre"):
            if block.text_content().count("\n") < SHORT:
                block.set("class", f"{block.get('class', '')} short".strip())
        address = f"{self.base}{page}.html"
        for twin in article.xpath('.//div[contains(@class, "widget-twin")]'):
            twin.append(E.p("This figure moves on the page: ", E.a(address, href=address)))
        for section in article.xpath("./section/section[h2] | ./section[h2]"):
            name = section.get("id")
            chapter.sections.append((f"{chapter.anchor}--{name}", entry_of(section.find("h2"))))
        return chapter

    def lead(self, chapter: Chapter, anchors: dict[str, str]) -> None:
        """Gives anchors, links and pictures the addresses that they have in the document."""
        seen = set()
        for element in chapter.article.xpath(".//*[@id]"):
            name = element.get("id")
            element.attrib.pop("id")
            if name not in seen:
                element.set("id", f"{chapter.anchor}--{name}")
            seen.add(name)
        for link in chapter.article.xpath(".//a[@href]"):
            link.set("href", self.address(link.get("href"), chapter, anchors))
        for image in chapter.article.xpath(".//img"):
            image.attrib.pop("loading", None)
            source = image.get("src", "")
            if source and not ABSOLUTE.match(source):
                image.set("src", (self.html / chapter.page).parent.joinpath(source).as_uri())

    def address(self, link: str, chapter: Chapter, anchors: dict[str, str]) -> str:
        """A link as it is in the document: to a place in it, or to the site."""
        if ABSOLUTE.match(link):
            return link
        path, name = urldefrag(link)
        path = normpath(join(dirname(chapter.page), unquote(path))) if path else ""
        page = path.removesuffix(".html") or chapter.page
        if page not in anchors:
            return f"{self.base}{path}" + (f"#{name}" if name else "")
        return f"#{anchors[page]}--{unquote(name)}" if name else f"#{anchors[page]}"

    def contents(self, numbers: dict[str, int]) -> Any:
        """The contents with the numbers of pages, as far as they are known."""
        box = E.nav({"class": "paper-contents", "id": "contents"}, E.h1("Contents"))

        def line(kind: str, anchor: str, entry: Any) -> Any:
            page = E.span({"class": "number"}, str(numbers.get(anchor, "")))
            return E.a({"class": kind, "href": f"#{anchor}"}, deepcopy(entry), page)

        for chapter in self.chapters:
            if chapter.part:
                box.append(E.p({"class": "paper-part"}, chapter.part))
            title = E.span({"class": "entry"}, chapter.title)
            box.append(line("chapter", chapter.anchor, title))
            box.extend(line("section", *section) for section in chapter.sections)
        return box

    def document(self, numbers: dict[str, int], style: str) -> str:
        """The whole document; `numbers` has the page of each anchor, from an earlier printing."""
        heads = "\n".join(
            f"@page c{i} {{ @top-center {{ content: {css_string(chapter.title)} }} }}\n"
            f".c{i} {{ page: c{i} }}"
            for i, chapter in enumerate(self.chapters)
        )
        sheet = (self.html / "_static/styles/site.css").as_uri()
        front = E.header(
            {"class": "paper-front"},
            E.h1(self.title),
            E.p(f"By {self.author}"),
            E.p(E.a(self.base, href=self.base)),
        )
        body = E.body(front, self.contents(numbers))
        for i, chapter in enumerate(self.chapters):
            around = E.div({"class": "bd-content"}, chapter.article)
            body.append(
                E.main({"class": f"bd-main paper-chapter c{i}", "id": chapter.anchor}, around)
            )
        page = E.html(
            {"lang": "en", "data-theme": "light", "data-mode": "light"},
            E.head(
                E.meta(charset="utf-8"),
                E.title(self.title),
                E.link(rel="stylesheet", href=sheet),
                E.style(style + heads),
            ),
            body,
        )
        return "<!DOCTYPE html>\n" + html.tostring(page, encoding="unicode")


def css_string(text: str) -> str:
    """A text as style sheets quote it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
