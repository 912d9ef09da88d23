"""What leads from a chapter to its notebook, and from notebooks to the site.

- every chapter gets buttons that open its notebook in Colab, download it, and open its text in the
  reader's own JupyterLab, which `make lab` starts at a fixed address;
- the addresses of all labels are left in `_build/labels.json` for the notebooks.
"""

import json
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from tools.site.pages import Site

FACTORY = "Jupytext%20Notebook"  # with which JupyterLab opens a text as a notebook


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


def write_labels(app: Sphinx, site: Site) -> None:
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
    path = site.out.parent / "labels.json"
    path.write_text(json.dumps(labels, indent=1, sort_keys=True))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.add_config_value("notebooks_branch", "gh-pages", "html")
    app.add_config_value("own_jupyterlab", "http://localhost:8888", "html")
    app.connect("html-page-context", add_buttons, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
