"""The list of what the book must cover, held against the marks in its chapters without a build."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.paper_parts import SECTIONS, SHOWN, covered
from tools.site.chapters import chapters, numbered
from tools.site.extensions.coverage import LIST, read, topics_in

ROOT = Path(__file__).resolve().parents[2]
WORKS = read(ROOT / LIST)
MARK = re.compile(r"^% (covers:.*(?:\n%.*)*)$", re.MULTILINE)


def marks(name: str) -> Iterator[str]:
    """The topics that a page's marks name, in their order."""
    for mark in MARK.findall((ROOT / f"{name}.md").read_text()):
        yield from topics_in(mark.replace("\n%", "\n"))


def test_each_topic_is_marked_and_each_mark_is_a_topic() -> None:
    marked = {topic for name in chapters(ROOT) for topic in marks(name)}
    assert marked == {topic for topics in WORKS.values() for topic in topics}


def test_no_work_lists_a_topic_twice_or_two_by_the_same_words() -> None:
    """YAML would keep the last of two that are named alike, and say nothing."""
    lines = re.findall(r"^  ([\w.-]+):", (ROOT / LIST).read_text(), re.MULTILINE)
    assert len(lines) == sum(map(len, WORKS.values()))
    for topics in WORKS.values():
        assert len(set(topics.values())) == len(topics)


def test_the_page_shows_every_work_in_the_order_of_the_list_and_is_in_the_contents() -> None:
    page = (ROOT / "book/coverage.md").read_text()
    assert re.findall(r"^```\{coverage\} ([\w-]+)$", page, re.MULTILINE) == list(WORKS)
    assert "book/coverage" in chapters(ROOT)


def parts() -> dict[str, str]:
    """The sections, tables and figures of the paper in the list, each with its topic."""
    found = {}
    for topic in WORKS["paper"]:
        kind, _, number = topic.partition("-")
        if kind != "equation":
            found[number if kind == "section" else f"{kind.capitalize()} {number}"] = topic
    return found


def test_the_list_has_every_part_of_the_paper_but_headings_without_a_text() -> None:
    assert list(parts()) == [part for part in (*SECTIONS, *SHOWN) if part not in ("5", "6")]
    assert all(WORKS["paper"][topic].startswith(part) for part, topic in parts().items())
    equations = {topic for topic in WORKS["paper"] if topic.startswith("equation-")}
    assert {"equation-1", "equation-2", "equation-3"} < equations


def test_a_chapter_marks_the_place_of_each_part_of_the_paper_that_it_names() -> None:
    """And of no other: the head of the chapter, the map of the paper and this list agree."""
    named = covered()
    for part, topic in parts().items():
        marked = [name for name in numbered(ROOT) if topic in marks(name)]
        assert [label_of(name) for name in marked] == named.get(part), part


def label_of(name: str) -> str:
    """A chapter's label."""
    found = re.search(r"^\((chapter-[\w-]+)\)=$", (ROOT / f"{name}.md").read_text(), re.MULTILINE)
    assert found
    return found[1]
