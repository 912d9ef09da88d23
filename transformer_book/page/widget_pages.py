"""A widget on a page of its own, as the book shows it: no kernel, no other host.

The browser tests and the measurements of the widgets open their pages here.
"""

import functools
import http.server
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page

from transformer_book.page.model_scripts import shipped_pack, write_scripts
from transformer_book.widgets.base import FRONT_ENDS, Widget
from transformer_book.widgets.static_page import (
    STYLE,
    element_of_widget,
    write_front_ends,
    write_host,
)

MODELS = ("everyday", "toy_german", "toy_parser")  # that widgets may load
PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}" style="color-scheme: {theme}">
<head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A widget</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/widgets/{style}">
<script defer src="_static/widgets.js"></script></head>
<body><main><h1>A widget</h1>{element}</main></body></html>"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def serving(folder: Path, handler: type[QuietHandler] = QuietHandler) -> Iterator[str]:
    """The address under which a folder is served meanwhile."""
    answer = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@dataclass
class WidgetPage:
    """A widget on its page, and what the browser complained about."""

    page: Page
    widget: Locator
    complaints: list[str]


@dataclass
class WidgetSite:
    """A folder with the front ends as a built book has them, and where it is served.

    Attributes:
        finish: what a page's text is put through before it is written, such as a policy's tag.
    """

    folder: Path
    address: str
    finish: Callable[[str], str] = str

    def open(
        self,
        browser: Browser,
        widget: Widget,
        *,
        width: int = 1000,
        theme: str = "light",
        touch: bool = False,
    ) -> WidgetPage:
        """Shows a widget, in a context of its own; `page.context.close()` ends it."""
        content = PAGE.format(theme=theme, style=STYLE, element=element_of_widget(widget))
        (self.folder / "index.html").write_text(self.finish(content), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, has_touch=touch, reduced_motion="reduce"
        )
        page = context.new_page()
        complaints: list[str] = []
        page.on(
            "console",
            lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda r: (
                complaints.append(f"request to {r.url}")
                if not r.url.startswith((self.address, "data:", "blob:"))
                else None
            ),
        )
        page.goto(self.address)
        page.wait_for_selector(".widget-place[data-state]", state="attached")
        if page.get_attribute(".widget-place", "data-state") != "live":
            context.close()
            raise RuntimeError(f"{type(widget).__name__} did not start: {complaints}")
        return WidgetPage(page, page.locator(".widget-place"), complaints)


@contextmanager
def widget_site(folder: Path, finish: Callable[[str], str] = str) -> Iterator[WidgetSite]:
    """Fills an empty folder with the front ends and serves it meanwhile."""
    static = folder / "_static"
    write_front_ends(static / "widgets")
    for name in MODELS:
        write_scripts(shipped_pack(name), static / "models" / name, name)
    shutil.copytree(FRONT_ENDS, folder / "modules")  # for those who ask a module of the kit
    write_host(static)
    with serving(folder) as address:
        yield WidgetSite(folder, address, finish)
