"""How the site presents itself: its name, a description of each page, one button to search.

Every page describes itself by its first paragraph. The bibliography becomes a list that those who
hear it find to be one.
"""

import textwrap
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.writers.html5 import HTML5Translator

DESCRIPTION = 200  # characters, as many as search engines show


def set_theme(app: Sphinx, config: Config) -> None:
    """One search button, no second one in an empty top bar; at the side no page below another."""
    config.html_theme_options |= {"navbar_persistent": [], "max_navbar_depth": 1}


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


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    # Jupyter Book sets this for an extension that _config.yml leaves out.
    app.add_config_value("comments_config", {}, "html")
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.connect("config-inited", set_theme)
    app.connect("config-inited", name_the_site)
    app.connect("html-page-context", describe, priority=400)  # before sphinxext.opengraph
    return {"parallel_read_safe": True, "parallel_write_safe": True}
