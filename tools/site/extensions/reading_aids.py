"""What helps a reader to find the way through a chapter.

- below the title stand the paper's sections, what reading and running take, and its slides;
- a section marked `{.second-reading}` says so, and links to where the main line goes on;
- what is folded says in a word or two what it is: the code, or the test of a claim;
- {dfn}`term` is the place where a term is introduced: a definition, and an entry of the index;
- {later}`term <label>` is a term that a later chapter explains: a link that names the chapter.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode  # type: ignore[import-untyped]
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole
from sphinx.util.nodes import make_id
from sphinx.writers.html5 import HTML5Translator

from tools.site.durations import known
from tools.site.main_line import main_line

SECOND_READING = "second-reading"


class dfn(nodes.inline):
    """A term where it is introduced."""


class later(nodes.inline):
    """A term that a later chapter introduces, around the link to it."""


class Definition(ReferenceRole):
    """{dfn}`term`, or {dfn}`the form in this sentence <term>`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The term, and before it the place to which the index leads."""
        node_id = make_id(self.env, self.inliner.document, "term", self.target)
        entry = addnodes.index(entries=[("single", self.target, node_id, "main", None)])
        term = dfn("", "", *self.text_nodes(), ids=[node_id])
        return [entry, term], []

    def text_nodes(self) -> list[nodes.Node]:
        """Special tokens keep the look of code."""
        if self.title.startswith("<") and self.title.endswith(">"):
            return [nodes.literal(self.title, self.title)]
        return [nodes.Text(self.title)]


class Later(ReferenceRole):
    """{later}`term <label>`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A cross-reference by label; its number is known when all chapters have been read."""
        reference = addnodes.pending_xref(
            "",
            nodes.inline("", self.title, classes=["std", "std-ref"]),
            refdoc=self.env.docname,
            refdomain="std",
            reftype="ref",
            reftarget=self.target.lower(),
            refexplicit=True,
            refwarn=True,
        )
        self.set_source_info(reference)
        return [later("", "", reference, target=self.target.lower())], []


def number_later(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Writes the chapter's number behind each term that is explained later."""
    labels = app.env.get_domain("std").data["labels"]
    for node in doctree.findall(later):
        page, _, title = labels.get(node["target"], ("", "", ""))
        number = ".".join(map(str, app.env.toc_secnumbers.get(page, {}).get("", ())))
        said = f"built in chapter {number}" if number else f"built in: {title}"
        node["title"] = said
        node += nodes.inline("", f" → {number}" if number else " →", classes=["later-number"])


def chapter_line(app: Sphinx, doctree: nodes.document) -> None:
    """Puts the line about paper, reading and running below the title of a chapter.

    The chapter's deck is on the published site alone (`formats/slides.py`): the link leads there.
    """
    metadata = app.env.metadata.get(app.env.docname, {})
    title = next(iter(doctree.findall(nodes.title)), None)
    if "kernelspec" not in metadata or "paper" not in metadata or title is None:
        return
    path = Path(app.env.doc2path(app.env.docname))
    text = main_line(path).chapter_line(known(Path(app.confdir)).chapters.get(app.env.docname))
    assert title.parent is not None
    index = title.parent.index(title) + 1
    line = nodes.paragraph("", text, classes=["chapter-head"])
    if "slides" in metadata and (base := app.config.html_baseurl.rstrip("/")):
        address = f"{base}/slides/{app.env.docname}.html"
        line += [nodes.Text(" · "), nodes.reference("", "slides", refuri=address)]
    title.parent.insert(index, line)


def is_second(section: nodes.Node | None) -> bool:
    """Whether a section, or one around it, is second reading."""
    if not isinstance(section, nodes.Element):
        return False
    return SECOND_READING in section.get("classes", []) or is_second(section.parent)


def mark_second_readings(app: Sphinx, doctree: nodes.document) -> None:
    """Says below its title that a section is second reading, and where the main line goes on."""
    sections = list(doctree.findall(nodes.section))
    for number, section in enumerate(sections):
        if SECOND_READING not in section["classes"]:
            continue
        note = nodes.paragraph("", classes=["second-reading-note"])
        note += nodes.strong("", "Second reading.")
        following = next((s for s in sections[number + 1 :] if not is_second(s)), None)
        if following is not None:
            title = next(iter(following.findall(nodes.title)))
            # Pages of notebooks have a name for each section, made from its title.
            link = nodes.reference("", "", refid=following["ids"][0], internal=True)
            link += [child.deepcopy() for child in title.children]
            note += nodes.Text(" Nothing later in the main line needs it: go on to ")
            note += nodes.emphasis("", "", link)
            note += nodes.Text(".")
        section.insert(1, note)


def set_titles_in_italics(app: Sphinx, doctree: nodes.document) -> None:
    """In italics what a link says that has no words of its own: a title, amid a sentence."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("reftype") == "ref" and not link.get("refexplicit"):
            link.replace_self(nodes.emphasis("", "", link.deepcopy()))


# The words that unfold a cell, by its tag.
FOLDS = {"check": "The test", "judge": "How your answer is judged (gives it away)"}


def name_folds(app: Sphinx, doctree: nodes.document) -> None:
    """Gives each cell that is folded the words that unfold it."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and "hide_mode" in cell:
            named = (name for tag, name in FOLDS.items() if f"tag_{tag}" in cell["classes"])
            name = next(named, "Code")
            if cell["hide_mode"] == "all":
                name += ", and what it prints"
            cell["prompt_show"] = cell["prompt_hide"] = name


def visit_fold(self: HTML5Translator, node: HideCodeCellNode) -> None:
    """A fold whose words are its name; myst-nb's look like boxes, and are all named alike."""
    self.body.append(self.starttag(node, "details", classes=["hide", "fold"]))
    self.body.append(f"<summary>{self.encode(node['prompt_show'])}</summary>\n")


def depart_fold(self: HTML5Translator, node: HideCodeCellNode) -> None:
    """Its end."""
    self.body.append("</details>\n")


def visit_dfn(self: HTML5Translator, node: dfn) -> None:
    """The element that HTML has for it."""
    self.body.append(self.starttag(node, "dfn", suffix=""))


def depart_dfn(self: HTML5Translator, node: dfn) -> None:
    """Its end."""
    self.body.append("</dfn>")


def visit_later(self: HTML5Translator, node: later) -> None:
    """A link with a hint; the hint is text for those who hear the page."""
    self.body.append(f'<span class="later" title="{self.attval(node.get("title", ""))}">')


def depart_later(self: HTML5Translator, node: later) -> None:
    """Its end."""
    self.body.append("</span>")


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers roles and nodes, and connects the steps to the build."""
    app.add_node(dfn, html=(visit_dfn, depart_dfn))
    app.add_node(later, html=(visit_later, depart_later))
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_fold))
    app.add_role("dfn", Definition(), override=True)
    app.add_role("later", Later())
    app.connect("doctree-read", mark_second_readings)
    app.connect("doctree-read", chapter_line)
    app.connect("doctree-read", name_folds)
    app.connect("doctree-read", set_titles_in_italics)
    app.connect("doctree-resolved", number_later)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
