"""What one page says of all chapters, so that it is written down in the chapters alone.

- {covered}`3.2.1`: links to the chapters whose front matter names this part of the paper;
- {minutes}`chapter-masks`: those of the chapter's slides, as its marks give them; of several
  chapters, with blanks between them, those of all together;
- {reading}`chapter-masks`: the minutes that the main line takes to read, likewise.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from tools.site.extensions.whole_book import fill_from_all_pages, pages_of
from tools.site.main_line import main_line, parts_in

COVERED, MINUTES, READING = "covered", "minutes", "reading"
logger = logging.getLogger(__name__)


class OfChapters(nodes.General, nodes.Inline, nodes.Element):
    """Where the answer will stand: the role that asks, and for what."""


class Ask(SphinxRole):
    """One of the roles."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A place that is filled once all pages have been read."""
        target = OfChapters(role=self.name, asked=self.text)
        self.set_source_info(target)
        return [target], []


def fill(app: Sphinx, page: str, targets: list[OfChapters]) -> Iterator[list[nodes.Node]]:
    """The answers; what nobody answers is a warning, as is a part for which nobody asks."""
    by_part = parts(app.env, app.config.master_doc)
    asked = {target["asked"] for target in targets if target["role"] == COVERED}
    for part in by_part.keys() - asked if asked else ():
        logger.warning("%s covers %s, which this page lacks", by_part[part][0], part, location=page)
    for target in targets:
        if target["role"] == MINUTES:
            yield [nodes.Text(f"{minutes(app.env, target):g}")]
        elif target["role"] == READING:
            yield [nodes.Text(str(reading(app.env, target)))]
        else:
            if target["asked"] not in by_part:
                logger.warning("no chapter covers %s", target["asked"], location=target)
            yield links(app, page, by_part.get(target["asked"], []))


def parts(env: BuildEnvironment, start: str) -> dict[str, list[str]]:
    """The chapters that cover each part of the paper, in the book's order."""
    found: dict[str, list[str]] = {}
    for page in pages_of(env, start):
        for part in parts_in(str(env.metadata[page].get("paper", "none"))):
            found.setdefault(part, []).append(page)
    return found


def minutes(env: BuildEnvironment, target: OfChapters) -> float:
    """Those of the slides of the chapters that a place names."""
    total = 0.0
    for label in target["asked"].split():
        page, *_ = env.get_domain("std").data["labels"].get(label, ("",))
        if "slides" not in (about := env.metadata.get(page, {})):
            logger.warning("there is no chapter with slides called %s", label, location=target)
        else:
            total += about["slides"]["minutes"]
    return total


def reading(env: BuildEnvironment, target: OfChapters) -> int:
    """The minutes to read the chapters that a place names."""
    total = 0
    for label in target["asked"].split():
        page, *_ = env.get_domain("std").data["labels"].get(label, ("",))
        if "kernelspec" not in env.metadata.get(page, {}):
            logger.warning("there is no chapter called %s", label, location=target)
        else:
            total += main_line(Path(env.doc2path(page))).minutes
    return total


def links(app: Sphinx, page: str, chapters: list[str]) -> list[nodes.Node]:
    """Links to chapters, by their titles, with points between them."""
    made: list[nodes.Node] = []
    for chapter in chapters:
        title = (part.deepcopy() for part in app.env.titles[chapter].children)
        uri = app.builder.get_relative_uri(page, chapter)
        words = nodes.inline("", "", *title, classes=["std", "std-ref"])  # as those of a {ref}
        link = nodes.reference("", "", words, refuri=uri, internal=True)
        made += [nodes.Text(" · "), link] if made else [link]
    return made


def setup(app: Sphinx) -> dict[str, Any]:
    """Adds the roles and what answers them."""
    app.add_role(COVERED, Ask())
    app.add_role(MINUTES, Ask())
    app.add_role(READING, Ask())
    fill_from_all_pages(app, OfChapters, fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
