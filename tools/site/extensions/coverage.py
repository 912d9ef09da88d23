"""Where the chapters treat what they ought to treat: marks, a list, and the tables made from both.

book/coverage.yml names works, and the topics of each that the book must cover. A comment in a
chapter, `% covers: layer-norm, section-3.1`, marks the place that treats these topics: a section,
where it is the first thing below its heading; otherwise what follows it, be it a paragraph, a box
or a cell. The directive `coverage`, with the name of a work, becomes the table of its topics, with
links to the places. A topic without a place, a mark of no topic and a mark of nothing are warnings,
and a warning fails the build.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from tools.site.extensions.gallery import bundles_of, children_of
from tools.site.extensions.whole_book import fill_from_all_pages, name_of, pages_of, section_of
from tools.site.extensions.widgets import VIEW

LIST = "book/coverage.yml"
MARK = "covers"
KINDS = {nodes.math_block: "formula", nodes.table: "table", nodes.literal_block: "code"}
logger = logging.getLogger(__name__)


class CoverageNode(nodes.General, nodes.Element):
    """Where the table of a work will stand."""


@dataclass(frozen=True)
class Location:
    """A place that treats a topic: its address, its heading, and what it is, if no text."""

    page: str
    anchor: str
    section: list[nodes.Node]
    kind: str


def topics_in(mark: str) -> list[str]:
    """The topics that a comment names; none where it is no mark."""
    head, colon, names = mark.partition(":")
    if head.strip() != MARK or not colon:
        return []
    return [name for name in re.split(r"[,\s]+", names.replace(f"{MARK}:", " ")) if name]


class NoteMarks(SphinxTransform):
    """Writes what the marks of a page say to the places that they mark."""

    default_priority = 870

    def apply(self, **kwargs: object) -> None:
        """Takes the marks away."""
        note(self.document)


def note(document: nodes.document) -> None:
    """Gives each marked place its topics and, where it has none, a name."""
    marks = [mark for mark in document.findall(nodes.comment) if topics_in(mark.astext())]
    for mark, target in [(mark, target_of(mark)) for mark in marks]:
        topics = topics_in(mark.astext())
        if target is None or not has_content(target):
            logger.warning(
                "what is said to cover %s is nothing: below the mark must stand a text or a cell",
                ", ".join(topics),
                location=mark,
            )
        else:
            target[MARK] = [*target.get(MARK, []), *topics]
            if not target["ids"]:
                target["ids"].append(free_name(document, topics[0]))
        mark.parent.remove(mark)


def target_of(mark: nodes.comment) -> nodes.Element | None:
    """What a mark marks: the section whose heading it follows, or what comes next."""
    assert mark.parent is not None
    if isinstance(mark.parent[max(0, mark.parent.index(mark) - 1)], nodes.title):
        return mark.parent
    for node in mark.findall(include_self=False, descend=False, siblings=True, ascend=True):
        if isinstance(node, nodes.Element) and is_seen(node):
            within = node.parent is mark.parent or isinstance(node, nodes.section)
            return node if within else None
    return None


def is_seen(node: nodes.Node) -> bool:
    """Whether a reader sees something of it."""
    return not isinstance(node, nodes.Invisible | nodes.target | nodes.system_message)


def has_content(target: nodes.Element) -> bool:
    """Whether there is more to read than a heading."""
    if target.get("nb_element") == "cell_code":
        return True
    return any(
        part.astext().strip() or next(iter(part.findall(nodes.image)), None) is not None
        for part in target.children
        if not isinstance(part, nodes.comment | nodes.title)
    )


def free_name(document: nodes.document, topic: str) -> str:
    """A name for a place that treats a topic, which no other place of the page has."""
    taken = {name for node in document.findall(nodes.Element) for name in node["ids"]}
    name = nodes.make_id(f"{MARK}-{topic}")
    others = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return next(free for free in (name, *others) if free not in taken)


def kind_of(target: nodes.Element) -> str:
    """What a place is, in a word; nothing for text."""
    if isinstance(target, nodes.container) and target.get("nb_element") == "cell_code":
        forms = {f.get("mime_type") for bundle in bundles_of(target) for f in children_of(bundle)}
        if forms:
            return "widget" if VIEW in forms else "figure"
        return "test" if "tag_check" in target["classes"] else "cell"
    if "from-the-paper" in target["classes"]:
        return "quotation"
    return KINDS.get(type(target), "")


def locations_in(env: BuildEnvironment, page: str) -> Iterator[tuple[str, Location]]:
    """The marked places of a page, each with a topic, in their order."""
    for target in env.get_doctree(page).findall(nodes.Element):
        topics: list[str] = target.get(MARK, [])
        for topic in topics:
            yield topic, Location(page, target["ids"][0], section_of(target), kind_of(target))


class Coverage(SphinxDirective):
    """The table of one work, which the argument names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A place that is filled once all pages have been read."""
        path = Path(self.env.srcdir, LIST)
        self.env.note_dependency(str(path))
        (name,) = self.arguments
        if name not in (works := read(path)):
            raise self.error(f"{LIST} has no work {name!r}; it has {', '.join(works)}")
        return [CoverageNode(work=name)]


def read(path: Path) -> dict[str, dict[str, str]]:
    """The works: for each its topics, and what each is in words."""
    works: dict[str, dict[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return works


def fill(app: Sphinx, page: str, tables: list[CoverageNode]) -> Iterator[list[nodes.Node]]:
    """The tables for where the directive stands; says what is missing."""
    works = read(Path(app.srcdir, LIST))
    found: dict[str, list[Location]] = {}
    for chapter in pages_of(app.env, app.config.master_doc):
        for topic, location in locations_in(app.env, chapter):
            found.setdefault(topic, []).append(location)
    for sentence in missing(works, found, [table["work"] for table in tables]):
        logger.warning(sentence, location=page)
    for table in tables:
        yield shown(app, page, works[table["work"]], found)


def missing(
    works: dict[str, dict[str, str]], found: dict[str, list[Location]], shown: list[str]
) -> Iterator[str]:
    """What does not fit together, in sentences."""
    for name, topics in works.items():
        if shown.count(name) != 1:
            yield f"the work {name} of {LIST} has {shown.count(name)} tables here, not one"
        for topic in topics:
            if topic not in found:
                yield f"nothing covers {topic} ({name}): mark the place by a line % {MARK}: {topic}"
    known = {topic for topics in works.values() for topic in topics}
    for topic, locations in found.items():
        if topic not in known:
            yield f"{locations[0].page} covers {topic}, which is no topic of {LIST}"


def shown(
    app: Sphinx, page: str, topics: dict[str, str], found: dict[str, list[Location]]
) -> list[nodes.Node]:
    """The count and the table of one work."""
    where = [found.get(topic, []) for topic in topics]
    different = {(location.page, location.anchor) for location in chain(*where)}
    count = f"{sum(map(bool, where))} of {len(topics)} covered, in {len(different)} places."
    rows = []
    for words, locations in zip(topics.values(), where, strict=True):
        chapters = groupby(locations, lambda location: location.page)
        lines = [entry(app, page, chapter, list(group)) for chapter, group in chapters]
        rows.append(row([nodes.Text(words)], lines))
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (35, 65)), cols=2)
    group += nodes.thead("", row([nodes.Text("topic")], [nodes.Text("where")]))
    group += nodes.tbody("", *rows)
    table = nodes.table("", group, classes=["coverage", "colwidths-given"])
    return [nodes.paragraph("", count), table]


def row(*cells: Sequence[nodes.Node]) -> nodes.row:
    """A row of a table: for each cell its lines."""
    lines = [[nodes.paragraph("", "", line) for line in cell] for cell in cells]
    return nodes.row("", *(nodes.entry("", *cell) for cell in lines))


def entry(app: Sphinx, page: str, chapter: str, locations: list[Location]) -> nodes.Node:
    """A chapter, and its places with their headings, which lead there, and what they are."""
    name = name_of(app.env, chapter)
    shown = nodes.inline()
    for location in locations:
        uri = f"{app.builder.get_relative_uri(page, chapter)}#{location.anchor}"
        address = nodes.reference("", "", refuri=uri, internal=True)
        heading = [part.deepcopy() for part in location.section]
        within = not name.endswith("".join(part.astext() for part in heading))
        if not shown.children and within:
            shown += nodes.Text(f"{name}: ")
        elif shown.children:
            shown += nodes.Text(" · ")
        address += heading if within else [nodes.Text(name)]
        shown += [address, nodes.Text(f" ({location.kind})" if location.kind else "")]
    return shown


def setup(app: Sphinx) -> dict[str, Any]:
    """Adds the directive and what fills it."""
    app.add_directive("coverage", Coverage)
    app.add_transform(NoteMarks)
    fill_from_all_pages(app, CoverageNode, fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
