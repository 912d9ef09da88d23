"""What the site has beyond its theme: descriptions, notebook buttons, and addresses for notebooks.

- every page gets a description for search engines and link previews;
- every chapter gets buttons that open its notebook in Colab and download it;
- the addresses of all labels are left in `_build/labels.json` for the notebooks.
"""

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

SIDE_BAR = '<div id="pst-primary-sidebar"'


def set_theme(app: Sphinx, config: Config) -> None:
    """One search button, in the side bar and above the text; no second one in an empty top bar."""
    config.html_theme_options["navbar_persistent"] = []


def first_paragraph(doctree: nodes.document) -> str:
    """The first paragraph of running text, boxes and lists left out."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            text = " ".join(paragraph.astext().split())
            return text if len(text) <= 200 else text[:197].rsplit(" ", 1)[0] + " …"
    return ""


def add_descriptions(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Writes the meta tags of one page."""
    description = first_paragraph(doctree) if doctree is not None else ""
    tags = {
        "description": description or f"{context.get('title', '')}: {app.config.html_title}",
    }
    properties = {
        "og:title": re.sub("<[^>]*>", "", context.get("title", "")),
        "og:description": tags["description"],
        "og:type": "article",
        "og:site_name": app.config.html_title,
    }
    lines = [f'<meta name="{k}" content="{escape(v)}" />' for k, v in tags.items()]
    lines += [f'<meta property="{k}" content="{escape(v)}" />' for k, v in properties.items()]
    context["metatags"] = context.get("metatags", "") + "\n".join(lines)


def mend_bibliography(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Takes away roles of a bibliography that contradict each other: a list without items."""
    body = context.get("body", "")
    body = body.replace(' role="list" class="citation-list"', ' class="citation-list"')
    context["body"] = body.replace(' role="doc-biblioentry"', "")


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
    if app.env.metadata.get(pagename, {}).get("kernelspec"):
        notebook = pagename.removeprefix("book/") + ".ipynb"
        repository = app.config.html_theme_options["repository_url"].removeprefix("https://")
        branch = app.config.notebooks_branch
        colab = repository.replace("github.com/", "https://colab.research.google.com/github/")
        buttons += [
            {
                "type": "link",
                "url": f"{colab}/blob/{branch}/notebooks/{notebook}",
                "icon": "fas fa-play",
                "text": "Colab",
                "tooltip": "Run this chapter in Colab",
                "label": "colab-button",
            },
            {
                "type": "link",
                "url": "../" * pagename.count("/") + f"notebooks/{notebook}",
                "icon": "fas fa-download",
                "text": ".ipynb",
                "tooltip": "Download this chapter as a notebook",
                "label": "notebook-button",
            },
        ]
    context["header_buttons"] = buttons


def write_labels(app: Sphinx) -> None:
    """Saves where each label leads, so that notebooks link to the site."""
    labels = {
        name: {"page": page, "anchor": anchor, "title": str(title)}
        for name, (page, anchor, title) in app.env.get_domain("std").data["labels"].items()
    }
    for page, heading in app.env.titles.items():
        labels[f"/{page}"] = {"page": page, "anchor": "", "title": heading.astext()}
    for name, (page, number) in app.env.get_domain("math").data["objects"].items():
        anchor = f"equation-{name}"
        numbers = app.env.toc_fignumbers.get(page, {}).get("displaymath", {})
        shown = ".".join(map(str, numbers.get(anchor, (number,))))
        labels[name] = {"page": page, "anchor": anchor, "title": f"({shown})"}
    path = Path(app.outdir).parent / "labels.json"
    path.write_text(json.dumps(labels, indent=1, sort_keys=True))


def name_side_bars(folder: Path) -> None:
    """Makes the side bar a landmark, for those who move from landmark to landmark."""
    for path in folder.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        landmark = f'{SIDE_BAR} role="region" aria-label="Book" class='
        named = page.replace(f"{SIDE_BAR} class=", landmark)
        if named != page:
            path.write_text(named, encoding="utf-8")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """After the pages."""
    if exception is None and app.builder.format == "html":
        write_labels(app)
        name_side_bars(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.add_config_value("notebooks_branch", "gh-pages", "html")
    # Jupyter Book sets this for an extension that _config.yml leaves out.
    app.add_config_value("comments_config", {}, "html")
    app.connect("config-inited", set_theme)
    app.connect("html-page-context", add_descriptions, priority=600)
    app.connect("html-page-context", add_buttons, priority=600)
    app.connect("html-page-context", mend_bibliography, priority=600)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
