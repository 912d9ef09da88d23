"""Widgets on the built pages: their state and their front ends, without Jupyter's own machinery.

MyST-NB puts the state of every widget model into the page, scripts and style sheets included, and
leaves it to code from other hosts to show them. This extension replaces that: each widget of the
book becomes a place in the page with its bare state, and `_static/widgets.js` loads the front end,
which is one script for all pages. Beside it stands, for print and for readers without scripts, the
widget's picture, or its words if it is a question.
"""

import json
import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

from tools.site.pages import Site

from transformer_book.widgets.static_page import element_of, write_front_ends, write_host

VIEW, STATE = (f"application/vnd.jupyter.widget-{kind}+json" for kind in ("view", "state"))
VIEW_SCRIPT = re.compile(rf'<script type="{re.escape(VIEW)}">(.*?)</script>', re.DOTALL)
TWIN = re.compile(r'(<div class="widget-twin[^>]*>.*?<img )[^>]*?(src="[^"]+")[^>]*>', re.DOTALL)
PROBLEM = "This control needs a kernel: open the chapter in Colab or in Jupyter."


# What stands in for a widget, by its kind, and the class of the element around it.
TWINS = {"image/png": "widget-twin", "text/html": "widget-words"}


class KeepTwin(SphinxPostTransform):
    """Keeps what stands in for a widget beside its view; otherwise only one of them would stay."""

    default_priority = 3  # before MyST-NB selects one output of each cell
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Moves the picture, or the words, out from among the alternatives."""
        for shown in list(self.document.findall(nodes.container)):
            if shown.get("nb_element") != "mime_bundle":
                continue
            children = [child for child in shown.children if isinstance(child, nodes.Element)]
            kinds = {child["mime_type"]: child for child in children}
            for kind in TWINS.keys() & kinds.keys() if VIEW in kinds else ():
                twin = nodes.container(classes=[TWINS[kind]])
                twin += kinds[kind].children
                shown.remove(kinds[kind])
                shown.parent.insert(shown.parent.index(shown) + 1, twin)


def insert_widgets(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Turns the widget scripts of a page into places that `widgets.js` fills."""
    body = context.get("body", "")
    twins = [] if doctree is None else list(doctree.findall(nodes.container))
    pictures, questions = (
        [node for node in twins if kind in node["classes"]] for kind in TWINS.values()
    )
    if not pictures and not questions and VIEW not in body:
        return
    states = [script for script in context["script_files"] if kind_of(script) == STATE]
    context["script_files"] = [s for s in context["script_files"] if s not in states]
    models = json.loads(states[0].attributes["body"])["state"] if states else {}
    descriptions: list[str] = []
    asked = 0

    def element(match: re.Match[str]) -> str:
        model = models.get(json.loads(match[1])["model_id"], {})
        state = model.get("state", {})
        if "front_end" not in state:
            return f'<p class="widget-needs-kernel">{PROBLEM}</p>'
        if state["front_end"] == "self_check":
            nonlocal asked
            asked += 1
        else:
            descriptions.append(escape(state["description"], quote=True))
        return element_of(state, model.get("buffers", []))

    body, n_views = VIEW_SCRIPT.subn(element, body)
    words = iter(descriptions)
    body, n_twins = TWIN.subn(lambda m: f'{m[1]}{m[2]} alt="{next(words, "")}" />', body)
    # A pattern that no longer fits the markup would leave a page without its widgets, unsaid.
    for pattern, found, due in (
        ("VIEW_SCRIPT", n_views, max(body.count(VIEW) + n_views, len(pictures) + len(questions))),
        ("STATE", len(descriptions), len(pictures)),
        ("STATE", asked, len(questions)),
        ("TWIN", n_twins, len(pictures)),
    ):
        if found != due:
            raise ExtensionError(
                f"widgets.{pattern} fits {found} of {due} places in {pagename}: has the markup of "
                "MyST-NB or of its widgets' state changed?"
            )
    context["body"] = body
    static = context["pathto"]("_static", resource=True)
    context["metatags"] = context.get("metatags", "") + (
        f'\n<script defer src="{static}/widgets.js"></script>'
    )


def kind_of(script: Any) -> str:
    """The type of a script in the page's head."""
    return getattr(script, "attributes", {}).get("type", "")


def add_front_ends(app: Sphinx, site: Site) -> None:
    """Puts the front ends and their host beside the pages."""
    static = site.out / "_static"
    write_front_ends(static / "widgets")
    write_host(static)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.add_post_transform(KeepTwin)
    app.connect("html-page-context", insert_widgets, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
