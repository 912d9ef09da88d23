"""Widgets without a kernel: the state of each in the page, and the front ends as plain scripts."""

import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from html import escape, unescape
from pathlib import Path
from typing import Any

from ipywidgets.embed import dependency_state

from transformer_book.widgets.base import FRONT_ENDS, Widget, style_of
from transformer_book.widgets.bundle import as_expression

STYLE = "widgets.css"
HOST = "widgets.js"  # its name on a site, in the folder above the front ends
HIDDEN = ("layout", "tabbable", "tooltip")  # Jupyter's, of no use to a front end


def element_of(state: Mapping[str, Any], buffers: Iterable[Mapping[str, Any]] = ()) -> str:
    """The element that holds a widget and, until its front end starts, its state.

    Args:
        state: the traits, as ipywidgets embeds them.
        buffers: those traits that are bytes, in base64.
    """
    kept = {k: v for k, v in state.items() if not k.startswith("_") and k not in HIDDEN}
    encoded = {buffer["path"][0]: buffer["data"] for buffer in buffers}
    text = json.dumps(
        {"state": kept, "buffers": encoded}, separators=(",", ":"), ensure_ascii=False
    )
    text = text.replace("<", "\\u003c")  # a token may look like the end of the script
    label = escape(unescape(state["description"]), quote=True)
    # Known before the front end starts: how much space it takes, and which question it asks.
    marks = f'data-front-end="{state["front_end"]}"'
    marks += f' data-key="{state["key"]}"' if "key" in state else ""
    return (
        f'<div class="widget-place" {marks} role="group" aria-label="{label}">'
        f'<script type="application/json">{text}</script></div>'
    )


def element_of_widget(widget: Widget) -> str:
    """The same for a widget as it stands now."""
    model = dependency_state([widget], drop_defaults=False)[widget.model_id]
    return element_of(model["state"], model.get("buffers", []))


def write_front_ends(target: Path, names: Collection[str] | None = None) -> None:
    """Front ends as plain scripts, and one style sheet for them and the host; all unless named.

    The scripts leave what they export in `bookWidgets`, where `widgets.js` finds it.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    names = sorted(names or (path.parent.name for path in FRONT_ENDS.glob("*/index.js")))
    style = style_of(*names) + (FRONT_ENDS / "host.css").read_text(encoding="utf-8")
    (target / STYLE).write_text(style, encoding="utf-8")
    for name in names:
        exported = as_expression(FRONT_ENDS / name / "index.js")
        script = f"(globalThis.bookWidgets ??= {{}}).{name} = {exported};\n"
        (target / f"{name}.js").write_text(script, encoding="utf-8")


def write_host(static: Path) -> None:
    """The script that brings the widgets of a page to life, into the folder of a site's scripts."""
    shutil.copyfile(FRONT_ENDS / "host.js", static / HOST)
