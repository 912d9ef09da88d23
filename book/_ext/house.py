"""What the site has beyond its theme: descriptions, notebook buttons, addresses for notebooks.

- every page describes itself by its first paragraph;
- every chapter gets buttons that open its notebook in Colab, download it, and open its text in the
  reader's own JupyterLab, which `make lab` starts at a fixed address;
- the addresses of all labels are left in `_build/labels.json` for the notebooks.
"""

import json
import textwrap
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.writers.html5 import HTML5Translator

FACTORY = "Jupytext%20Notebook"  # with which JupyterLab opens a text as a notebook
DESCRIPTION = 200  # characters, as many as search engines show


def set_theme(app: Sphinx, config: Config) -> None:
    """One search button, in the side bar and above the text; no second one in an empty top bar."""
    config.html_theme_options["navbar_persistent"] = []


def name_the_site(app: Sphinx, config: Config) -> None:
    """Gives sphinxext.opengraph, which describes each page, the name and address of the book."""
    config.ogp_site_name, config.ogp_site_url = config.html_title, config.html_baseurl


def first_paragraph(doctree: nodes.document) -> str:
    """The first paragraph of running text, boxes and lists left out, or as many words as fit."""
    for paragraph in doctree.findall(nodes.paragraph):
        ours = {"chapter-head", "second-reading-note"} & set(paragraph["classes"])
        if isinstance(paragraph.parent, nodes.section | nodes.document) and not ours:
            return textwrap.shorten(paragraph.astext(), DESCRIPTION, placeholder=" …")
    return ""


def describe(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Hands sphinxext.opengraph the words for a page; those that it finds end in mid-word."""
    if doctree is not None and (text := escape(first_paragraph(doctree))):
        context["meta"] = {**(context["meta"] or {}), "og:description": text}
        context["metatags"] += f'<meta name="description" content="{text}" />\n'


def visit_citation(self: HTML5Translator, node: nodes.citation) -> None:
    """An entry of the bibliography; docutils' own roles contradict each other: a list, no items."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<div class="citation-list">\n')
    self.body.append(self.starttag(node, "div", classes=[node.tagname]))


def depart_citation(self: HTML5Translator, node: nodes.citation) -> None:
    """Its end, and after the last one the end of the list."""
    self.body.append("</div>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        self.body.append("</div>\n")


def colab_address(repository: str) -> str:
    """Of a repository on GitHub, in Colab."""
    colab = "https://colab.research.google.com/github/"
    return repository.removeprefix("https://").replace("github.com/", colab)


def add_buttons(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Offers the chapter's notebook, in Colab and as a file; leaves the repository's button."""
    buttons = [
        button
        for button in context.get("header_buttons", [])
        if button.get("label") not in ("download-buttons", "fullscreen-button")
    ]
    metadata = app.env.metadata.get(pagename, {})
    chapter = metadata.get("kernelspec")
    if app.builder.name == "html" and (chapter or metadata.get("notebook")):
        source = app.env.doc2path(pagename, base=False).removeprefix("book/")
        notebook = pagename.removeprefix("book/") + ".ipynb"
        branch = app.config.notebooks_branch
        colab = colab_address(app.config.html_theme_options["repository_url"])
        buttons += [
            {
                "type": "link",
                "url": f"{colab}/blob/{branch}/notebooks/{notebook}",
                "icon": "fas fa-play",
                "text": "Colab",
                "tooltip": "Run this chapter in Colab" if chapter else "Open the notebook in Colab",
                "label": "colab-button",
            },
            {
                "type": "link",
                "url": "../" * pagename.count("/") + f"notebooks/{notebook}",
                "icon": "fas fa-download",
                "text": ".ipynb",
                "tooltip": "Download this chapter as a notebook" if chapter else "Download it",
                "label": "notebook-button",
            },
        ]
    if app.builder.name == "html" and chapter:
        buttons += [
            {
                "type": "link",
                "url": f"{app.config.own_jupyterlab}/lab/tree/{source}?factory={FACTORY}",
                "icon": "fas fa-pencil",
                "text": "JupyterLab",
                "tooltip": "Open this chapter in JupyterLab on your machine, after make lab",
                "label": "jupyterlab-button",
            },
        ]
    context["header_buttons"] = buttons


def write_labels(app: Sphinx) -> None:
    """Saves where each label leads, so that notebooks link to the site."""
    labels = {
        name: {"page": page, "anchor": anchor, "title": str(title)}
        for name, (page, anchor, title) in app.env.get_domain("std").data["labels"].items()
    }
    for label in labels.values():  # the number of the chapter in which it stands
        chapter = app.env.toc_secnumbers.get(label["page"], {}).get("", ())
        label["chapter"] = ".".join(map(str, chapter))
    for page, heading in app.env.titles.items():
        labels[f"/{page}"] = {"page": page, "anchor": "", "title": heading.astext()}
    for name, (page, number) in app.env.get_domain("math").data["objects"].items():
        anchor = f"equation-{name}"
        numbers = app.env.toc_fignumbers.get(page, {}).get("displaymath", {})
        shown = ".".join(map(str, numbers.get(anchor, (number,))))
        labels[name] = {"page": page, "anchor": anchor, "title": f"({shown})"}
    path = Path(app.outdir).parent / "labels.json"
    path.write_text(json.dumps(labels, indent=1, sort_keys=True))


def finish(app: Sphinx, exception: Exception | None) -> None:
    """After the pages."""
    if exception is None and app.builder.format == "html":
        write_labels(app)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.add_config_value("notebooks_branch", "gh-pages", "html")
    app.add_config_value("own_jupyterlab", "http://localhost:8888", "html")
    # Jupyter Book sets this for an extension that _config.yml leaves out.
    app.add_config_value("comments_config", {}, "html")
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.connect("config-inited", set_theme)
    app.connect("config-inited", name_the_site)
    app.connect("html-page-context", describe, priority=400)  # before sphinxext.opengraph
    app.connect("html-page-context", add_buttons, priority=600)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
