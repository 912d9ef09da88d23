"""A widget on a page of its own, as the book shows it: no kernel, no other host."""

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import axe_playwright_python
import pytest
from ipywidgets.embed import dependency_state
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from tests.chromium import browser, serving
from transformer.widgets.base import FRONT_ENDS, Widget

__all__ = ["browser"]

ROOT = Path(__file__).resolve().parents[2]
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}" style="color-scheme: {theme}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A widget</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/widgets/widgets.css">
<script type="module" src="_static/widgets.js"></script></head>
<body><main><h1>A widget</h1>{place}</main></body></html>"""

_spec = importlib.util.spec_from_file_location("_widgets", ROOT / "book/_ext/widgets.py")
assert _spec is not None
assert _spec.loader is not None
_extension = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_extension)


@dataclass
class Shown:
    """A widget on its page, and what the browser complained about."""

    page: Page
    widget: Locator
    complaints: list[str]

    def readout(self, n: int = 0) -> str:
        """What the n-th read-out says."""
        return self.widget.locator(".tfw-readout").nth(n).inner_text()

    def state(self, name: str) -> object:
        """A trait, as the page has it."""
        return self.widget.evaluate("(place, name) => place.model.get(name)", name)

    def set(self, name: str, value: object) -> None:
        """Sets a trait, as Python would, and waits for the redraw."""
        self.widget.evaluate("(place, [n, v]) => place.model.set(n, v)", [name, value])
        self.frame()

    def frame(self) -> None:
        """Waits until what is due to be drawn is drawn."""
        self.page.evaluate(
            "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
        )

    def check(self) -> None:
        """No complaint, no sideways scrolling, no violation of accessibility rules."""
        assert self.complaints == []
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= self.page.viewport_size["width"]
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run('.widget-place')")["violations"]
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site's folder, with the front ends as a built book has them."""
    static = tmp_path_factory.mktemp("site") / "_static"
    shutil.copytree(FRONT_ENDS, static / "widgets")
    shutil.copy(ROOT / "book/_static/widgets.js", static)
    return static.parent


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    """Where the site is served."""
    with serving(folder) as where:
        yield where


@pytest.fixture
def show(browser: Browser, folder: Path, address: str) -> Iterator[Callable[..., Shown]]:
    """Shows a widget: `show(widget, width=360, theme="dark", touch=True)`."""
    contexts: list[BrowserContext] = []

    def open_page(
        widget: Widget, *, width: int = 1000, theme: str = "light", touch: bool = False
    ) -> Shown:
        model = dependency_state([widget], drop_defaults=False)[widget.model_id]
        place = _extension.place_of(model["state"], model.get("buffers", []))
        (folder / "index.html").write_text(PAGE.format(theme=theme, place=place))
        context = browser.new_context(
            viewport={"width": width, "height": 900}, has_touch=touch, reduced_motion="reduce"
        )
        contexts.append(context)
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
                if not r.url.startswith((address, "data:", "blob:"))
                else None
            ),
        )
        page.goto(address)
        page.wait_for_selector(".widget-place[data-state]", state="attached")
        assert page.get_attribute(".widget-place", "data-state") == "live", complaints
        return Shown(page, page.locator(".widget-place"), complaints)

    yield open_page
    for context in contexts:
        context.close()
