"""Decks: a chapter's slides, from what its marks say (`slide_marks.py`), and an index of all decks.

The builder is sphinx-revealjs'. A deck is made from the chapter as it is when all references are
resolved, so what is on a slide is the chapter's own: its paragraphs, formulas, figures, widgets.
`book/_slides/deck.js` fits each into its slide.
"""

import ast
import io
import itertools
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from docutils import nodes
from PIL import Image
from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator
from sphinx_design.dropdown import dropdown_main, dropdown_title
from sphinx_revealjs.builders import RevealjsHTMLBuilder
from sphinx_revealjs.utils import get_revealjs_path
from sphinx_revealjs.writers import RevealjsSlideTranslator

from tools.site.after import licences, policy, shipped_models
from tools.site.after.steps import run
from tools.site.chapters import chapters, contents
from tools.site.extensions import widgets
from tools.site.extensions.gallery import FOLDED
from tools.site.extensions.slide_marks import (
    CODE,
    NEXT,
    NOTHING,
    SPOKEN,
    below,
    slide_mark,
    to_keep,
)
from tools.site.extensions.whole_book import name_of
from tools.site.formats.charts import KINDS, chart
from tools.site.pages import Site

THEME = Path(__file__).resolve().parents[3] / "book/_slides"
SPEAKER = "plugin/notes/speaker-view.html"
# What is read as text; all else is fitted into what the text leaves.
WORDS = (
    *(nodes.paragraph, nodes.bullet_list, nodes.enumerated_list, nodes.definition_list),
    *(nodes.math_block, nodes.admonition, nodes.block_quote),
)
# Letters in a line of printed prose, of code, and in any printed line, which a hall can still read.
SENTENCE, CODE_LINE, LONGEST = 64, 80, 96
GO_ON = "    "  # before what is left of a line
IS_SENTENCE = re.compile(r"^\S+( \S+)+[.?!]$")  # and no line of a table
IS_PROSE = re.compile(r"(?!.* [.|])\S+( \S+)+")  # nor of tokens
WORD = re.compile(r"\b[a-z]{2,}\b")
COMMAND = "python -m "  # how the line begins that says what made a record
IS_SOURCE = re.compile(r"\[[^\]]+, \d{4}\w?\]")  # a citation, where nothing else is said
FRAGMENT = "fragment"  # reveal's class for what comes with a later key
NOTES = "revealjs/plugin/notes/notes.js"
LOADED = (
    *("deck.*", "book.css", "pygments.css", "widgets.js", "widgets/*", "models/*"),
    *("fonts/*book-math*", "revealjs/LICENSE", NOTES),
    *("revealjs/dist/reveal.js", "revealjs/dist/reveal.css"),
)
IMAGE = re.compile(r'<img (?=[^>]*src="([^"]*_images/[^"]+\.png)")')
GAP = 8  # rows or columns of a picture, all of one colour, between which it may be cut
LABELS = {"say": "", "ask": "Ask the room: ", "answer": "Answer: ", "expect": "Expect: "}
# The first minute of a lecture and its last are those of its title and of what to keep: the slides
# beside them leave them theirs.
A_MINUTE = 1.0
CLOSING = "Which of these would you not have said an hour ago? Then name the exercises to do."
logger = logging.getLogger(__name__)


class slide(nodes.Element):
    """A slide, with its number and its minutes."""


class slide_title(nodes.Element):
    """Its title."""


class slide_notes(nodes.Element):
    """What is spoken."""


@dataclass(frozen=True)
class Deck:
    """A chapter with slides: its document, name, how many, their time, how many are spare."""

    document: str
    name: str
    slides: int
    minutes: float
    spare: int


class DeckBuilder(RevealjsHTMLBuilder):
    """Builds the chapters that have slides, and nothing else."""

    def write(
        self, build_docnames: Iterable[str] | None, updated: Iterable[str], method: str = "update"
    ) -> None:
        """All decks: they are few, and each has the numbers of its chapter."""
        super().write([deck.document for deck in decks_of(self.env)], [], "specific")

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        """Not a page of contents, which Sphinx would like to renew."""
        if "slides" in self.env.metadata[docname]:
            super().write_doc(docname, doctree)


class DeckTranslator(RevealjsSlideTranslator):
    """Code is coloured when the deck is built, as on the site."""

    def visit_literal_block(self, node: nodes.Element) -> None:
        """Sphinx' own."""
        HTML5Translator.visit_literal_block(self, node)

    def depart_literal_block(self, node: nodes.Element) -> None:
        """Its end."""
        HTML5Translator.depart_literal_block(self, cast(nodes.literal_block, node))


def decks_of(env: BuildEnvironment) -> Iterator[Deck]:
    """The chapters with slides, in the order of the contents."""
    for document in chapters(Path(env.srcdir)):
        if said := env.metadata.get(document, {}).get("slides"):
            yield Deck(document, name_of(env, document), **said)


def make_deck(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Puts the slides into the place of the chapter."""
    if app.builder.name != DeckBuilder.name or "slides" not in app.env.metadata.get(page, {}):
        return
    slides: list[slide] = []
    kept = to_keep(doctree)
    marks = list(doctree.findall(slide_mark))
    timed = [mark for mark in marks if mark["minutes"]]
    timed[0]["minutes"] -= A_MINUTE
    if kept:
        timed[-1]["minutes"] -= A_MINUTE
    for mark in marks:
        parts: dict[str, list[nodes.Element]] = {"title": [], "point": [], "then": [], "notes": []}
        for line in mark.children:
            assert isinstance(line, nodes.Element)
            parts["notes" if line["kind"] in SPOKEN else line["kind"]].append(line)
        if parts["title"]:
            slides.append(begin(parts, mark["minutes"]))
            slides[-1]["spare"] = mark["spare"]
        show(slides[-1], mark)
    for made in slides:
        complain(made, page)
    if kept:
        slides.append(closing(kept))
    first = opening(app.env, page, slides)
    doctree.children = []
    doctree += [first, *slides]
    for node in doctree.findall(nodes.Element):
        node["ids"] = []  # nothing leads there
        if isinstance(node, nodes.math_block):
            node["number"] = None
    for reference in list(doctree.findall(nodes.reference)):
        reference.replace_self(reference.children)
    for number in [node for node in doctree.findall(nodes.inline) if is_number(node)]:
        number.parent.remove(number)


def is_number(node: nodes.inline) -> bool:
    """Whether it is the number of a later chapter, to which nobody follows in a lecture."""
    return "later-number" in node["classes"]


def begin(parts: dict[str, list[nodes.Element]], minutes: float) -> slide:
    """A slide with its title, points and notes."""
    made = slide(minutes=minutes, spoken={line["kind"] for line in parts["notes"]})
    made += slide_title("", *inline(parts["title"][0]))
    body = nodes.container(classes=["slide-body"])
    words = nodes.container(classes=["slide-words"])
    if parts["point"]:
        words += points(parts["point"])
    stage = nodes.container("", nodes.container(classes=["slide-shown"]), classes=["slide-stage"])
    then = nodes.container(classes=["slide-then"])
    if parts["then"]:
        then += points(parts["then"], FRAGMENT)
    body += [words, stage, then]
    made += body
    notes = slide_notes("", nodes.paragraph("", f"{in_minutes(minutes)}."))
    for line in parts["notes"]:
        said = nodes.paragraph()
        if label := LABELS[line["kind"]]:
            said += nodes.strong("", label)
        said += inline(line)
        notes += said
    made += notes
    return made


def points(lines: list[nodes.Element], *classes: str) -> nodes.bullet_list:
    """Points as a list."""
    items = [nodes.list_item("", nodes.paragraph("", "", *inline(line))) for line in lines]
    for item in items:
        item["classes"] += classes
    return nodes.bullet_list("", *items)


def inline(line: nodes.Element) -> list[nodes.Node]:
    """The words of a line, without the paragraph around them."""
    if len(line) == 1 and isinstance(line[0], nodes.paragraph):
        return list(line[0].children)
    return list(line.children)


def part_of(made: slide, name: str) -> nodes.container:
    """The part of a slide with a class."""
    return next(part for part in made.findall(nodes.container) if name in part["classes"])


def show(made: slide, mark: slide_mark) -> None:
    """Puts what stands below a mark on a slide."""
    if mark["show"] == NOTHING:
        return
    target = below(mark)
    if target is None:
        logger.warning("a slide shows nothing: below its mark must stand something", location=mark)
        return
    words, stage = part_of(made, "slide-words"), part_of(made, "slide-shown")
    shown = chosen(target, mark["show"])
    if not shown:
        logger.warning("what a slide is to show has no %s", mark["show"], location=mark)
    if mark["later"]:
        minutes = cast(nodes.paragraph, next(iter(made.findall(slide_notes)))[0])
        what = "The last column" if isinstance(target, nodes.table) else "What is shown"
        minutes += nodes.Text(f" {what} comes with the next key.")
    for part in [prose(part) or part for part in shown]:
        if mark["later"]:
            part["classes"].append(FRAGMENT)
        (words if isinstance(part, WORDS) else stage).append(part)


def chosen(target: nodes.Element, what: str) -> list[nodes.Element]:
    """Of a cell its code, its output or, as on the page, what is not folded; all of other things.

    Of code only what runs: its documentation is for readers.
    """
    if isinstance(target, dropdown_main):  # nobody unfolds it in a lecture
        parts = (part for part in target.children if not isinstance(part, dropdown_title))
        return [spare(cast(nodes.Element, part).deepcopy()) for part in parts]
    if target.get("nb_element") != "cell_code":
        return [spare(target.deepcopy())] if what == NEXT else []
    code, output = parts_with(target, "cell_input"), parts_with(target, "cell_output")
    hidden = target.get("hide_mode", "")
    if what == CODE or (what == NEXT and not hidden and not has_widget(target)):
        shown = [*code, *(output if what == NEXT else [])]
    else:
        shown = [] if what == NEXT and hidden in FOLDED else output
    copies = [part.deepcopy() for part in shown]
    return [charted(x, what) if what in KINDS else in_short_lines(x) for x in copies]


def printed(part: nodes.Element) -> list[nodes.literal_block]:
    """What the cell has printed."""
    blocks = part.findall(nodes.literal_block)
    return [b for b in blocks if b.get("language") != "python" and "code" not in b["classes"]]


def prose(part: nodes.Element) -> nodes.paragraph | None:
    """The sentences that an output is, a line each; None where it is anything else."""
    seen = any(isinstance(node, nodes.image | nodes.table | nodes.raw) for node in part.findall())
    if "cell_output" not in part["classes"] or seen or has_widget(part):
        return None
    lines = part.astext().strip().replace(f"\n{GO_ON}", " ").split("\n")
    lines = [" ".join(lines)] if IS_SENTENCE.match(lines[-1]) else lines
    if not all(IS_PROSE.fullmatch(line) and len(WORD.findall(line)) > 2 for line in lines):
        return None
    said = nodes.paragraph("", lines[0])
    for line in lines[1:]:
        said += [nodes.raw("", "<br />", format="html"), nodes.Text(line)]
    return said


def charted(part: nodes.Element, kind: str) -> nodes.Element:
    """Printed lines with numbers as bars or dots."""
    for block in printed(part):
        if (drawn := chart(block.astext(), kind)) is None:
            logger.warning("there are no %s to be drawn of %r", kind, block.astext())
        else:
            block.replace_self(nodes.raw("", drawn, format="html"))
    return part


def in_short_lines(part: nodes.Element) -> nodes.Element:
    """Printed sentences in lines that can be read from afar; tables stay as they were printed."""
    for block in printed(part):
        if block.astext().startswith(COMMAND) and len(block.parent) > 1:
            block.parent.remove(block)
        lines = block.astext().split("\n")
        text = "\n".join(map(broken, lines))
        if text != block.astext():
            block.children = [nodes.Text(text)]
            block.rawsource = text
    return part


def broken(line: str) -> str:
    """A line that is too long as several."""
    if IS_SENTENCE.match(line):
        return textwrap.fill(line, SENTENCE)
    if len(line) > LONGEST and len(re.findall(r" {2,}", line)) > 3:
        return in_rows(re.split(r" {2,}", line))
    if len(line) > LONGEST:
        return textwrap.fill(line, SENTENCE, subsequent_indent=GO_ON, break_on_hyphens=False)
    return line


def in_rows(things: list[str]) -> str:
    """Things that stood in one line, with gaps between them, in rows."""
    rows = [""]
    for thing in things:
        if rows[-1] and len(rows[-1]) + len(thing) + 2 > SENTENCE:
            rows.append(thing)
        else:
            rows[-1] += ("  " if rows[-1] else "") + thing
    return "\n".join(rows)


def spare(target: nodes.Element) -> nodes.Element:
    """Code that is quoted from the module with what runs of it, a box without its source."""
    for paragraph in list(target.findall(nodes.paragraph)):
        if IS_SOURCE.fullmatch(paragraph.astext().strip()):
            paragraph.parent.remove(paragraph)
    for block in target.findall(nodes.literal_block):
        if block.get("language") == "python":
            text = without_comments(without_docstrings(block.astext()))
            block.children = []
            block += nodes.Text(text)
            block.rawsource = text  # else Sphinx takes it for one with marks of its own
    return target


def without_docstrings(source: str) -> str:
    """Code without the lines of its docstrings; as it is, where it cannot be read by itself."""
    source = textwrap.dedent(source)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    gone: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            gone |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = source.split("\n")
    kept = [line for number, line in enumerate(lines, 1) if number not in gone]
    return re.sub(r"(:\n)\n+", r"\1", "\n".join(kept))


def without_comments(source: str) -> str:
    """Code without its comments on lines of their own, and without those that make a line long."""
    lines: list[str | None] = [*source.split("\n")]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source
    for token in tokens:
        code = token.line[: token.start[1]].rstrip()
        if token.type == tokenize.COMMENT and (not code or len(token.line.rstrip()) > CODE_LINE):
            lines[token.start[0] - 1] = code or None
    return "\n".join(line for line in lines if line is not None)


def has_widget(node: nodes.Element) -> bool:
    """Whether a widget stands in it."""
    return any("widget-twin" in part["classes"] for part in node.findall(nodes.container))


def parts_with(cell: nodes.Element, name: str) -> list[nodes.Element]:
    """The parts of a cell with a class."""
    return [part for part in cell.findall(nodes.container) if name in part["classes"]]


def complain(made: slide, page: str) -> None:
    """Warns of a slide that leaves its lecturer alone with a widget, or its room with numbers."""
    title, missing = made[0].astext(), {"ask", "answer", "expect"} - made["spoken"]
    if has_widget(made) and missing:
        lines = ", ".join(f"% {key}:" for key in sorted(missing))
        logger.warning("%s: the slide %r shows a widget and lacks %s", page, title, lines)
    if made["minutes"] <= 0:
        logger.warning("%s: the slide %r has no minute to spare for its neighbour", page, title)
    if is_alone(made):
        need = "shows one thing and asks nothing; a question to it needs a line `% point:`"
        logger.warning("%s: the slide %r %s", page, title, need)
    if begins_empty(made):
        need = "begins as a heading alone; what the room is to think about needs a line `% point:`"
        logger.warning("%s: the slide %r %s", page, title, need)
    elif shows_only_printed_lines(made):
        need = "shows only printed lines; what one sees in them needs a line `% point:`"
        logger.warning("%s: the slide %r %s", page, title, need)


def is_alone(made: slide) -> bool:
    """Whether a quotation, a formula, a paragraph or a single point is all that there is."""
    words, stage, then = (part_of(made, f"slide-{x}") for x in ("words", "shown", "then"))
    one = words[0] if len(words) == 1 else None
    several = isinstance(one, nodes.bullet_list | nodes.enumerated_list) and len(one) > 1
    return one is not None and not several and not len(stage) and not len(then)


def begins_empty(made: slide) -> bool:
    """Whether all that is below the title comes with a later key."""
    parts = [*part_of(made, "slide-words"), *part_of(made, "slide-shown")]
    later = (FRAGMENT in cast(nodes.Element, part)["classes"] for part in parts)
    return all(later) and not any(isinstance(part, nodes.table) for part in parts)


def shows_only_printed_lines(made: slide) -> bool:
    """Whether a cell's printed lines, with its code or without, have no words and no picture."""
    shown = part_of(made, "slide-shown")
    seen = any(isinstance(node, nodes.image | nodes.table | nodes.raw) for node in shown.findall())
    if len(part_of(made, "slide-words")) or seen or has_widget(made):
        return False
    outputs = parts_with(shown, "cell_output")
    return any(block for output in outputs for block in output.findall(nodes.literal_block))


def opening(env: BuildEnvironment, page: str, slides: list[slide]) -> slide:
    """The first slide: the chapter's name; in its notes the plan of the lecture."""
    made = slide(minutes=A_MINUTE, classes=["opening"])
    title = slide_title(level=1)
    title += nodes.Text(env.titles[page].astext())
    made += title
    made += nodes.paragraph("", env.config.html_title, classes=["slide-book"])
    number = name_of(env, page).removesuffix(env.titles[page].astext()).strip(" .")
    chapter = f"Chapter {number} · " if number else ""
    total = A_MINUTE + sum(each["minutes"] for each in slides)
    made += nodes.paragraph("", f"{chapter}{in_minutes(total)}", classes=["slide-plan"])
    notes = slide_notes("", nodes.paragraph("", f"{len(slides)} slides, {in_minutes(total)}:"))
    plan, begun = nodes.enumerated_list(), A_MINUTE
    for each in slides:
        heading = [part.deepcopy() for part in each[0].children]
        text = nodes.paragraph("", f"from minute {begun:g}: ", *heading)
        plan += nodes.list_item("", text)
        begun += each["minutes"]
    notes += plan
    made += notes
    return made


def closing(kept: nodes.admonition) -> slide:
    """The last slide: the chapter's lines to keep."""
    title, *lines = cast("list[nodes.Element]", kept.deepcopy().children)
    ask = nodes.container("", nodes.Text(CLOSING), kind="ask")
    made = begin({"title": [title], "point": [], "then": [], "notes": [ask]}, A_MINUTE)
    part_of(made, "slide-words").extend(lines)
    made["classes"] = ["closing"]
    return made


def in_minutes(minutes: float) -> str:
    """A time in words."""
    return f"{minutes:g} minute{'s' * (minutes != 1)}"


def visit_slide(self: HTML5Translator, node: slide) -> None:
    """A slide: the seconds of which the speaker's view keeps count, and whether it is spare."""
    data: dict[str, Any] = {"data-timing": f"{60 * node['minutes']:.0f}"}
    if node.get("spare"):
        data["data-spare"] = "yes"
    self.body.append(self.starttag(node, "section", **data))


def depart_slide(self: HTML5Translator, node: slide) -> None:
    """Its end."""
    self.body.append("</section>\n")


def visit_title(self: HTML5Translator, node: slide_title) -> None:
    """A heading."""
    self.body.append(f"<h{node.get('level', 2)}>")


def depart_title(self: HTML5Translator, node: slide_title) -> None:
    """Its end."""
    self.body.append(f"</h{node.get('level', 2)}>\n")


def visit_notes(self: HTML5Translator, node: slide_notes) -> None:
    """What the speaker's view shows."""
    self.body.append('<aside class="notes">\n')


def depart_notes(self: HTML5Translator, node: slide_notes) -> None:
    """Its end."""
    self.body.append("</aside>\n")


def index_of_decks(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The page that leads to all decks."""
    if app.builder.name != DeckBuilder.name:
        return
    decks = {deck.document: deck for deck in decks_of(app.env)}
    parts = []
    for part in contents(Path(app.srcdir)):
        shown = [
            {"name": name_of(app.env, name), "deck": decks.get(name), "in_minutes": in_minutes}
            for name in part.pages
            if name in decks or app.env.toc_secnumbers.get(name, {}).get("")
        ]
        if shown:
            parts.append({"caption": part.caption, "chapters": shown})
    total = in_minutes(sum(deck.minutes for deck in decks.values()))
    context = {"parts": parts, "decks": len(decks), "total": total, "in_minutes": in_minutes}
    yield "index", context, "index.html"


def finish_decks(app: Sphinx, site: Site) -> None:
    """Each deck says what a browser may load for it, the speaker's view among it."""
    # The view opens as a window without an address of its own, for which the deck's policy holds.
    speaker = get_revealjs_path() / SPEAKER
    scripts = policy.inline_scripts(speaker.read_text(encoding="utf-8"))
    static = site.out / "_static"
    for needless in list(needless_files(static)):
        site.remove(needless)
    (static / "pygments.css").write_text(colours_of_code(), encoding="utf-8")
    for name, page in site.pages.items():
        page.text = IMAGE.sub(partial(with_gaps, (site.out / name).parent), page.text)
        page.text = policy.with_policy(page.text, scripts=scripts, **{"frame-src": "'self'"})


def with_gaps(folder: Path, tag: re.Match[str]) -> str:
    """The beginning of a picture's tag, with the heights and widths at which it may be cut."""
    rows, columns = (
        " ".join(f"{gap:.3f}" for gap in gaps(folder / tag[1], axis)) for axis in (0, 1)
    )
    return f'{tag[0]}data-gaps="{rows}" data-columns="{columns}" '


def gaps(picture: Path, axis: int = 0) -> Iterator[float]:
    """The middles of a picture's empty rows or columns as shares of it, the widest stripe first."""
    with Image.open(picture) as opened:
        rows = np.asarray(opened.convert("RGB")).swapaxes(0, axis)
    empty = (rows == rows[:1, :1]).all(axis=(1, 2))
    stripes = ([*stripe] for _, stripe in itertools.groupby(range(len(empty)), empty.__getitem__))
    wide = [stripe for stripe in stripes if empty[stripe[0]] and len(stripe) >= GAP]
    for stripe in sorted(wide, key=len, reverse=True):
        yield (stripe[0] + stripe[-1] + 1) / 2 / len(empty)


AFTER_THE_DECKS = (
    widgets.add_front_ends,
    shipped_models.add_models,
    finish_decks,
    licences.publish,
)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """After the decks, as `steps.py` after the pages."""
    if exception is None and app.builder.name == DeckBuilder.name:
        run(app, AFTER_THE_DECKS)


def colours_of_code() -> str:
    """The site's colours, light and dark."""
    light, dark = (
        HtmlFormatter(style=f"a11y-high-contrast-{name}").get_style_defs(
            f'html[data-theme="{name}"] .highlight'
        )
        for name in ("light", "dark")
    )
    return f"{light}\n{dark}\n"


def load_little(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leaves out the sheets and scripts of extensions that only the site's pages use."""
    if app.builder.name == DeckBuilder.name:
        context["script_files"] = []
        context["css_files"] = [
            sheet
            for sheet in context["css_files"]
            if is_loaded(str(getattr(sheet, "filename", sheet)).removeprefix("_static/"))
        ]


def needless_files(static: Path) -> Iterator[Path]:
    """What no deck loads: the themes' own files, reveal's themes, its other plug-ins, maps."""
    for path in static.rglob("*"):
        name = path.relative_to(static).as_posix()
        if path.is_file() and not is_loaded(name):
            yield path


def is_loaded(name: str) -> bool:
    """Whether a deck loads the static file of a name."""
    return any(fnmatch(name, pattern) for pattern in LOADED)


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the builder and connects the steps."""
    app.setup_extension("sphinx_revealjs")
    app.add_builder(DeckBuilder, override=True)
    app.set_translator(DeckBuilder.name, DeckTranslator, override=True)
    app.add_html_theme("deck", str(THEME))
    app.add_node(slide, revealjs=(visit_slide, depart_slide))
    app.add_node(slide_title, revealjs=(visit_title, depart_title))
    app.add_node(slide_notes, revealjs=(visit_notes, depart_notes))
    app.connect("doctree-resolved", make_deck, priority=900)
    app.connect("html-collect-pages", index_of_decks)
    app.connect("html-page-context", load_little, priority=950)
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
