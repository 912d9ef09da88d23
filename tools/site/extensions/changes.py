"""The change log as a feed: `changes.xml`, made from the page `book/changes`.

The page is the one source. Each of its sections is a change, headed by the day and, behind a colon,
what it is: `2026-11-22: The book can be read without a network`; the newest comes first.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from tools.site.pages import Site

PAGE = "book/changes"
NAME = "changes.xml"
ATOM = "http://www.w3.org/2005/Atom"
XML = "http://www.w3.org/XML/1998/namespace"
HEADING = re.compile(r"(\d{4}-\d{2}-\d{2}): (\S.*)")
LINK = '<link rel="alternate" type="application/atom+xml" title="Changes" href="{}" />\n'


@dataclass(frozen=True)
class Change:
    """One section of the page: its day, its title, its anchor, and its text in HTML."""

    day: date
    title: str
    anchor: str
    html: str


def changes_of(headings: list[tuple[str, str, str]]) -> list[Change]:
    """The changes, from the heading, the anchor and the text of each section.

    Raises ExtensionError for a heading that is none of a change, and for one at the wrong position.
    """
    found = []
    for heading, anchor, html in headings:
        match = HEADING.fullmatch(heading)
        if match is None:
            raise ExtensionError(
                f"{PAGE}: the heading {heading!r} must be a day and a title, such as "
                "2026-11-22: What is new"
            )
        found.append(Change(date.fromisoformat(match[1]), match[2], anchor, html))
    days = [change.day for change in found]
    if days != sorted(days, reverse=True):
        raise ExtensionError(f"{PAGE}: the newest change must come first")
    return found


def atom_feed(changes: list[Change], title: str, author: str, base: str) -> str:
    """The feed in Atom; `base` is the address of the book, with a slash at its end."""
    ElementTree.register_namespace("", ATOM)
    root = ElementTree.Element(f"{{{ATOM}}}feed")

    def add(parent: ElementTree.Element, name: str, text: str = "", **more: str) -> None:
        ElementTree.SubElement(parent, f"{{{ATOM}}}{name}", more).text = text or None

    add(root, "title", title)
    add(root, "id", f"{base}{NAME}")
    add(root, "updated", f"{changes[0].day.isoformat()}T00:00:00Z")
    add(root, "link", rel="self", href=f"{base}{NAME}", type="application/atom+xml")
    add(root, "link", rel="alternate", href=f"{base}{PAGE}.html", type="text/html")
    writer = ElementTree.SubElement(root, f"{{{ATOM}}}author")
    add(writer, "name", author)
    for change in changes:
        entry = ElementTree.SubElement(root, f"{{{ATOM}}}entry")
        address = f"{base}{PAGE}.html#{change.anchor}"
        add(entry, "title", change.title)
        add(entry, "id", address)
        add(entry, "link", rel="alternate", href=address, type="text/html")
        add(entry, "updated", f"{change.day.isoformat()}T00:00:00Z")
        add(entry, "content", change.html, type="html", **{f"{{{XML}}}base": f"{base}{PAGE}.html"})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def sections_of(app: Sphinx) -> list[tuple[str, str, str]]:
    """Heading, anchor and text of each section of the page."""
    doctree = app.env.get_and_resolve_doctree(PAGE, app.builder)
    found = []
    for section in doctree.findall(nodes.section):
        if not isinstance(section.parent, nodes.section):
            continue
        title, *text = section.children
        body = nodes.container("", *(child.deepcopy() for child in text))
        html = app.builder.render_partial(body)["fragment"]  # type: ignore[attr-defined]
        found.append((title.astext(), section["ids"][0], html.strip()))
    return found


def write_feed(app: Sphinx, site: Site) -> None:
    """Writes it, if the book has the page of changes."""
    if PAGE not in app.env.found_docs:
        return
    config = app.config
    base = config.html_baseurl.rstrip("/") + "/"
    title, changes = f"{config.html_title}: changes", changes_of(sections_of(app))
    text = atom_feed(changes, title, config.author, base)
    (site.out / NAME).write_text(text, encoding="utf-8")


def link_feed(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Lets readers of feeds find it from every page."""
    if app.builder.name == "html" and PAGE in app.env.found_docs:
        up = "../" * pagename.count("/")
        context["metatags"] = context.get("metatags", "") + LINK.format(f"{up}{NAME}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Lets every page name the feed."""
    app.connect("html-page-context", link_feed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
