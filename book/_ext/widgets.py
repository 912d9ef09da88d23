"""Widgets on the built pages: their state and their front ends, without Jupyter's own machinery.

MyST-NB puts the state of every widget model into the page, scripts and style sheets included, and
leaves it to code from other hosts to show them. This extension replaces that: each widget of the
book becomes a place in the page with its bare state, and `_static/widgets.js` loads the front end,
which is one script for all pages. Beside it stands the widget's picture for print and for readers
without scripts.
"""

import json
import re
import shutil
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from transformer.widgets.base import FRONT_ENDS, STYLE, bundle

VIEW, STATE = (f"application/vnd.jupyter.widget-{kind}+json" for kind in ("view", "state"))
VIEW_SCRIPT = re.compile(rf'<script type="{re.escape(VIEW)}">(.*?)</script>', re.DOTALL)
TWIN = re.compile(r'(<div class="widget-twin[^>]*>.*?<img )[^>]*?(src="[^"]+")[^>]*>', re.DOTALL)
HIDDEN = ("layout", "tabbable", "tooltip")  # Jupyter's, of no use to a front end
PROBLEM = "This control needs a kernel: open the chapter in Colab or in Jupyter."


class KeepTwin(SphinxPostTransform):
    """Keeps a widget's picture beside its view; otherwise only one of the two would stay."""

    default_priority = 3  # before MyST-NB selects one output of each cell
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Moves the picture out from among the alternatives."""
        for shown in list(self.document.findall(nodes.container)):
            if shown.get("nb_element") != "mime_bundle":
                continue
            children = [child for child in shown.children if isinstance(child, nodes.Element)]
            kinds = {child["mime_type"]: child for child in children}
            if VIEW in kinds and "image/png" in kinds:
                twin = nodes.container(classes=["widget-twin"])
                twin += kinds["image/png"].children
                shown.remove(kinds["image/png"])
                shown.parent.insert(shown.parent.index(shown) + 1, twin)


def place_widgets(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Turns the widget scripts of a page into places that `widgets.js` fills."""
    body = context.get("body", "")
    if f'<script type="{VIEW}">' not in body:
        return
    states = [script for script in context["script_files"] if kind_of(script) == STATE]
    context["script_files"] = [s for s in context["script_files"] if s not in states]
    models = json.loads(states[0].attributes["body"])["state"] if states else {}
    descriptions: list[str] = []

    def place(match: re.Match[str]) -> str:
        model = models.get(json.loads(match[1])["model_id"], {})
        state = model.get("state", {})
        if "front_end" not in state:
            return f'<p class="widget-needs-kernel">{PROBLEM}</p>'
        descriptions.append(state["description"])
        return place_of(state, model.get("buffers", []))

    def describe(match: re.Match[str]) -> str:
        words = escape(descriptions.pop(0) if descriptions else "", quote=True)
        return f'{match[1]}{match[2]} alt="{words}" />'

    body = VIEW_SCRIPT.sub(place, body)
    context["body"] = TWIN.sub(describe, body)
    static = context["pathto"]("_static", resource=True)
    context["metatags"] = context.get("metatags", "") + (
        f'\n<script defer src="{static}/widgets.js"></script>'
    )


def kind_of(script: Any) -> str:
    """The type of a script in the page's head."""
    return getattr(script, "attributes", {}).get("type", "")


def place_of(state: dict[str, Any], buffers: list[dict[str, Any]]) -> str:
    """The element that holds a widget and, until it starts, its state."""
    kept = {k: v for k, v in state.items() if not k.startswith("_") and k not in HIDDEN}
    held = {buffer["path"][0]: buffer["data"] for buffer in buffers}
    text = json.dumps({"state": kept, "buffers": held}, separators=(",", ":"), ensure_ascii=False)
    text = text.replace("<", "\\u003c")  # a token may look like the end of the script
    label = escape(unescape(state["description"]), quote=True)
    return (
        f'<div class="widget-place" role="group" aria-label="{label}">'
        f'<script type="application/json">{text}</script></div>'
    )


def write_front_ends(target: Path) -> None:
    """Each front end as a plain script with all that it imports, and their style sheet."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    shutil.copy(STYLE, target)
    for path in FRONT_ENDS.glob("*.js"):
        text = bundle(path).replace("export default", "return")
        name = f"(globalThis.bookWidgets ??= {{}}).{path.stem}"
        script = f"{name} = (() => {{\n{text}\n}})();\n"
        (target / path.name).write_text(script, encoding="utf-8")


def add_front_ends(app: Sphinx, exception: Exception | None) -> None:
    """Puts the front ends beside the pages."""
    if exception is None and app.builder.format == "html":
        write_front_ends(Path(app.outdir) / "_static" / "widgets")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.add_post_transform(KeepTwin)
    app.connect("html-page-context", place_widgets, priority=700)
    app.connect("build-finished", add_front_ends)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
