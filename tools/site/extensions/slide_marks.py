"""Which of a chapter is on a slide, and what is spoken there: marks in the chapter.

A comment on lines of its own begins a slide. What stands below it is shown there; beside it may
stand a few points, and what the lecturer says is in the notes of the speaker's view:

    % slide: How does a word find the one it needs?
    % point: Three English words, four German ones
    % show: output later
    % minutes: 4
    % ask: Which German word does *admired* need?
    % answer: *bewunderte*, and a little of *sehr*.
    % expect: That the weights were chosen by hand. Training finds them.
    % say: Let them guess before you go on.

`% spare: yes`: the deck's question does without this slide, and `?core` leaves it out.

`later`: it comes with the next key, when the room has guessed; of a table its last column. `bars`
and `dots` draw what a cell has printed (`formats/charts.py`).

A comment that begins with `show` puts what stands below it on the slide that was begun last. Pages
and notebooks know nothing of all this: there the marks are taken away.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from docutils import nodes
from docutils.utils import new_document
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from myst_parser.parsers.mdit import create_md_parser
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from tools.site.extensions.coverage import is_seen

DECKS = "revealjs"  # the builder
NEXT, CODE, OUTPUT, NOTHING = ("next", "code", "output", "nothing")
SHOWN = (NEXT, CODE, OUTPUT, NOTHING, "bars", "dots")
LATER = " later"
SPOKEN = ("say", "ask", "answer", "expect")
LINE = re.compile(rf"^(slide|point|then|show|minutes|spare|{'|'.join(SPOKEN)}):\s*(.*)$")
logger = logging.getLogger(__name__)


class slide_mark(nodes.Invisible, nodes.Element):
    """A mark of a chapter, with its points and notes as children, until the deck is made."""


@dataclass
class Mark:
    """What a comment says.

    Args:
        title: of the slide that begins here; empty where the mark only shows more on the last one.
        show: what of the thing below is shown: "next" (as on the page), "code", "output",
            "nothing", or the output drawn as "bars" or "dots".
        later: whether it comes with the next key; of a table its last column alone.
        minutes: how long the lecturer stays at the slide.
        spare: whether the core of the deck does without it.
        lines: the points and notes in their order, each with what it is.
    """

    title: str = ""
    show: str = NEXT
    later: bool = False
    minutes: float = 0.0
    spare: bool = False
    lines: list[tuple[str, str]] = field(default_factory=list)


def read_mark(comment: str) -> Mark | None:
    """The mark that a comment is; None where it is another comment.

    Raises ValueError, with a sentence, for a mark that says what nobody could do.
    """
    said: list[list[str]] = []
    for line in comment.split("\n"):
        if match := LINE.match(line := line.strip()):
            said.append([match[1], match[2].strip()])
        elif not said:
            return None
        else:
            said[-1][1] = f"{said[-1][1]} {line}".strip()
    if not said or said[0][0] not in ("slide", "show"):
        return None
    keys = [key for key, _ in said]
    mark = Mark(show=NEXT)
    for key, text in said:
        if key in ("slide", "show", "minutes", "spare") and keys.count(key) > 1:
            raise ValueError(f"a slide has one line `% {key}:`; leave a blank line between slides")
        if not text:
            raise ValueError(f"the line `% {key}:` says nothing")
        if key == "slide":
            mark.title = text
        elif key == "minutes":
            mark.minutes = float(text) if re.fullmatch(r"\d+(\.5)?", text) else 0.0
        elif key == "spare":
            if text != "yes":
                raise ValueError(f"`% spare: {text}` is not `% spare: yes`")
            mark.spare = True
        elif key != "show":
            mark.lines.append((key, text))
        elif (what := text.removesuffix(LATER)) in SHOWN:
            mark.show, mark.later = what, what != text
        else:
            raise ValueError(f"`% show: {text}` is none of {', '.join(SHOWN)}")
    if mark.later and mark.show == NOTHING:
        raise ValueError("what is shown later must be something; write `% then:` for words")
    if mark.title and not mark.minutes:
        raise ValueError("a slide needs its time: `% minutes: 3`, or 0.5, 1.5, and so on")
    if mark.title and not any(key in SPOKEN for key in keys):
        raise ValueError("a slide needs its notes: a line `% say:` at least")
    if not mark.title and keys != ["show"]:
        raise ValueError("points, notes and minutes stand in the mark that begins a slide")
    return mark


class ReadMarks(SphinxTransform):
    """Takes the marks from the comments of a chapter: for a deck into nodes, else away."""

    default_priority = 860  # before those of coverage.py, which ask what comes next

    def apply(self, **kwargs: object) -> None:
        """Does it for one page."""
        begun, minutes, spare = 0, 0.0, 0
        for comment in list(self.document.findall(nodes.comment)):
            try:
                mark = read_mark(comment.astext())
            except ValueError as error:
                logger.warning("%s", error, location=comment)
                comment.parent.remove(comment)
                continue
            if mark is None:
                continue
            begun, minutes = begun + bool(mark.title), minutes + mark.minutes
            spare += mark.spare
            if not begun:
                logger.warning("more is shown before a slide has begun", location=comment)
            if self.app.builder.name == DECKS and begun:
                comment.replace_self(self.node_of(mark))
            else:
                comment.parent.remove(comment)
        if begun:
            begun += to_keep(self.document) is not None  # with which a deck closes
            said = {"slides": begun, "minutes": minutes, "spare": spare}
            self.env.metadata[self.env.docname]["slides"] = said

    def node_of(self, mark: Mark) -> slide_mark:
        """A mark with its texts read as the chapter's own are."""
        lines = [("title", mark.title)] if mark.title else []
        node = slide_mark(show=mark.show, later=mark.later, minutes=mark.minutes, spare=mark.spare)
        for key, text in [*lines, *mark.lines]:
            node += nodes.container("", *self.parsed(text), kind=key)
        return node

    def parsed(self, text: str) -> list[nodes.Node]:
        """MyST as nodes."""
        settings = self.document.settings
        inner = new_document(self.env.doc2path(self.env.docname), settings)
        parser = create_md_parser(vars(self.env)["myst_config"], SphinxRenderer)
        parser.options["document"] = inner
        parser.render(text)
        return inner.children


def to_keep(document: nodes.document) -> nodes.admonition | None:
    """The box with what a reader should keep."""
    boxes = document.findall(nodes.admonition)
    return next((box for box in boxes if "to-keep" in box["classes"]), None)


def below(mark: slide_mark) -> nodes.Element | None:
    """What stands below a mark: a paragraph, a formula, a box, a cell."""
    assert mark.parent is not None
    for node in mark.parent.children[mark.parent.index(mark) + 1 :]:
        if isinstance(node, nodes.Element) and is_seen(node):
            return None if isinstance(node, nodes.section) else node
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    """Adds the step that reads the marks."""
    app.add_node(slide_mark)
    app.add_transform(ReadMarks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
