"""What stands beside the pages: sitemap, the page for wrong addresses, picture, feed, anchors."""

import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from sphinx.errors import ExtensionError

from tools.site.after.moved import write_anchors
from tools.site.after.sitemap_and_404 import draw_social_picture, from_the_root, sitemap
from tools.site.extensions.changes import ATOM, atom_feed, changes_of
from tools.site.formats.anchors import RECORD, anchors_of, lost
from tools.site.pages import Site

PAGE = """<html lang="en" data-content_root="./"><head><link href="_static/a.css?v=1" />
<script src="_static/a.js"></script></head><body><a href="#main">skip</a>
<a href="https://example.org/">out</a><a href="book/one.html#x">in</a></body></html>"""
HEADINGS = [
    ("2026-11-22: Second", "second", "<p>b</p>"),
    ("2026-11-21: First", "first", "<p>a</p>"),
]
BASE = "https://example.org/book/"


def test_a_page_for_any_address_names_everything_from_the_root() -> None:
    made = from_the_root(PAGE, "/book/")
    assert 'href="/book/_static/a.css?v=1"' in made
    assert 'src="/book/_static/a.js"' in made
    assert 'data-content_root="/book/"' in made
    assert 'href="/book/book/one.html#x"' in made
    assert 'href="#main"' in made and 'href="https://example.org/"' in made
    assert made.startswith('<html data-base="/book/" lang="en"')


def test_the_sitemap_has_absolute_addresses() -> None:
    root = ElementTree.fromstring(sitemap("https://example.org", ["a", "b/c&d"]))
    found = [element.text for element in root.iter() if element.tag.endswith("}loc")]
    assert found == ["https://example.org/a.html", "https://example.org/b/c&d.html"]


def test_the_social_picture_has_the_size_that_is_shown(tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        draw_social_picture(tmp_path / name, "A title")
    content = (tmp_path / "one.png").read_bytes()
    assert struct.unpack(">II", content[16:24]) == (1200, 630)
    assert content == (tmp_path / "two.png").read_bytes()
    assert len(content) < 300_000


def test_the_feed_has_what_atom_asks_for() -> None:
    text = atom_feed(changes_of(HEADINGS), "Changes", "somebody", BASE)
    root = ElementTree.fromstring(text)
    names = {"a": ATOM}
    for parent in (root, *root.findall("a:entry", names)):
        for wanted in ("id", "title", "updated"):
            (element,) = parent.findall(f"a:{wanted}", names)
            assert element.text
    assert root.findtext("a:author/a:name", namespaces=names) == "somebody"
    (own,) = [e for e in root.findall("a:link", names) if e.get("rel") == "self"]
    assert own.get("href") == f"{BASE}changes.xml"
    entries = root.findall("a:entry", names)
    assert [entry.findtext("a:title", namespaces=names) for entry in entries] == ["Second", "First"]
    assert entries[0].findtext("a:id", namespaces=names) == f"{BASE}book/changes.html#second"
    assert entries[1].findtext("a:content", namespaces=names) == "<p>a</p>"
    assert root.findtext("a:updated", namespaces=names) == "2026-11-22T00:00:00Z"


@pytest.mark.parametrize(
    ("headings", "message"),
    [
        ([("Something", "x", "")], "'Something' must be a day and a title"),
        (HEADINGS[::-1], "the newest change must come first"),
    ],
)
def test_a_heading_that_is_no_change_is_named(headings: Any, message: str) -> None:
    with pytest.raises(ExtensionError, match=message):
        changes_of(headings)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    html = tmp_path / "_build/html/book"
    html.mkdir(parents=True)
    (html / "a.html").write_text('<article><section id="one"></section></article>')
    (html / "b.html").write_text('<article><span id="two"></span><p id="other"></p></article>')
    return tmp_path


def move(site: Path, moved: dict[str, str]) -> None:
    app: Any = SimpleNamespace(
        config=SimpleNamespace(moved_anchors=moved),
        env=SimpleNamespace(titles={"book/b": SimpleNamespace(astext=lambda: "The page B")}),
    )
    built = Site(site / "_build/html")
    write_anchors(app, built)
    built.write()


def test_anchors_are_those_of_headings_and_labels(site: Path) -> None:
    found = list(anchors_of(site / "_build/html", ["book/a", "book/b"]))
    assert found == ["book/a#one", "book/b#two"]


def test_an_anchor_that_went_is_named_until_it_says_where_it_is_now(site: Path) -> None:
    (site / "book").mkdir()
    (site / RECORD).write_text("book/a#one\nbook/a#gone\nbook/old#two\n")
    assert lost(site, {}, {}) == ["book/a#gone", "book/old#two"]
    assert lost(site, {"book/old": "book/b"}, {"book/a#gone": "book/b#two"}) == []
    assert lost(site, {"book/old": "book/b"}, {"book/a#gone": "book/b#nowhere"}) == ["book/a#gone"]


def test_the_old_anchor_leads_to_the_new_one(site: Path) -> None:
    for _ in range(2):  # a second build changes nothing
        move(site, {"book/a#gone": "book/b#two"})
        text = (site / "_build/html/book/a.html").read_text()
        line = (
            '<p class="moved-anchor" id="gone">This has moved: <a href="b.html#two">The page B</a>'
        )
        assert text.count(line) == 1
        assert text.endswith("</article>")


@pytest.mark.parametrize(
    ("moved", "message"),
    [
        ({"book/a#one": "book/b#two"}, "book/a#one is there still"),
        ({"book/x#one": "book/b#two"}, "there is no page book/x"),
        ({"book/a#gone": "book/b#three"}, "there is no book/b#three"),
    ],
)
def test_a_move_that_is_none_is_refused(site: Path, moved: dict[str, str], message: str) -> None:
    with pytest.raises(ExtensionError, match=message):
        move(site, moved)
