"""A widget on a page of its own, as the book shows it: no kernel, no other host."""

from collections.abc import Callable, Iterator

import matplotlib.pyplot as plt
import pytest
from playwright.sync_api import Browser, Locator

from tests.helpers.axe import AXE
from tools.site.after.policy import with_policy

from transformer_book.page.widget_pages import WidgetPage, WidgetSite, widget_site
from transformer_book.widgets.base import Widget


class Shown(WidgetPage):
    """A widget on its page, and what the tests ask it."""

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

    def render_with_kernel(self, front_end: str) -> None:
        """Draws the widget once more as in Jupyter, where somebody answers."""
        self.widget.evaluate(
            """async (place, name) => {
              const { default: frontEnd } = await import(`/modules/${name}/index.js`);
              const model = Object.assign(Object.create(place.model), { widget_manager: {} });
              await frontEnd.render({ model, el: place });
            }""",
            front_end,
        )

    def frame(self) -> None:
        """Waits until what is due to be drawn is drawn."""
        self.page.evaluate(
            "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
        )

    def slide_to_ends(self, label: str, trait: str, low: object, high: object) -> None:
        """Moves a slider to its right end by mouse and to its left end by finger."""
        slider = self.page.get_by_label(label)
        place = slider.bounding_box()
        assert place is not None
        slider.click(position={"x": place["width"] - 3, "y": place["height"] / 2})
        self.frame()
        assert self.state(trait) == high
        slider.tap(position={"x": 3, "y": place["height"] / 2})
        self.frame()
        assert self.state(trait) == low

    def drag(
        self,
        handle: Locator,
        dx: float,
        dy: float = 0,
        *,
        finger: bool = False,
        at: tuple[float, float] = (0.5, 0.5),
    ) -> None:
        """Drags what is held on a picture, by mouse or finger; `at`: where its box is held."""
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        assert box is not None
        x, y = box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"]
        way = [(max(0, x + dx * i / 5), max(0, y + dy * i / 5)) for i in range(6)]
        if finger:
            session = self.page.context.new_cdp_session(self.page)
            for i, (at_x, at_y) in enumerate(way):
                kind = "touchMove" if i else "touchStart"
                points = [{"x": at_x, "y": at_y}]
                session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        else:
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            for at_x, at_y in way[1:]:
                self.page.mouse.move(at_x, at_y)
            self.page.mouse.up()
        self.frame()

    def height(self) -> float:
        """How tall the widget is, in pixels."""
        box = self.widget.locator(".tfw").bounding_box()
        assert box is not None
        return box["height"]

    def in_motion(self) -> None:
        """From here on for a reader who does not mind motion; else nothing moves by itself."""
        self.page.emulate_media(reduced_motion="no-preference")

    def check(self) -> None:
        """No complaint, no sideways scrolling, no violation of accessibility rules."""
        assert self.complaints == []
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= self.page.viewport_size["width"]
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run('.widget-place')")["violations"]
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []


@pytest.fixture(
    params=[{"theme": "light", "width": 1000}, {"theme": "dark", "width": 360}],
    ids=lambda look: "{theme}-{width}".format(**look),
)
def look(request: pytest.FixtureRequest) -> dict[str, object]:
    """How a page may look, in pairs: no rule of the style depends on colour and width at once."""
    return dict(request.param)


@pytest.fixture(autouse=True)
def _no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WidgetSite]:
    """The front ends, served as a built book has them."""
    with widget_site(tmp_path_factory.mktemp("site"), with_policy) as served:
        yield served


@pytest.fixture
def show(browser: Browser, site: WidgetSite) -> Iterator[Callable[..., Shown]]:
    """Shows a widget: `show(widget, width=360, theme="dark", touch=True)`."""
    opened: list[Shown] = []

    def open_page(widget: Widget, **settings: object) -> Shown:
        opened.append(Shown(**vars(site.open(browser, widget, **settings))))
        return opened[-1]

    yield open_page
    for shown in opened:
        shown.page.context.close()


@pytest.fixture
def from_disk(
    browser: Browser, site: WidgetSite, show: Callable[..., Shown]
) -> Iterator[Callable[..., Shown]]:
    """Shows a widget like `show`, but without a server: the page is read from the disk."""
    context = browser.new_context()

    def open_file(widget: Widget) -> Shown:
        served = show(widget)  # writes the page
        page, complaints = context.new_page(), served.complaints
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((site.folder / "index.html").as_uri())
        page.wait_for_selector(".widget-place[data-state=live]")
        return Shown(page, page.locator(".widget-place"), complaints)

    yield open_file
    context.close()
