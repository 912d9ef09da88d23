"""The built book as a student reads it on the train: one visit, then no network."""

import gzip
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

from tests.book.conftest import HTML, PHONE
from tools.site.after.offline import edition
from tools.site.pages import Site

from transformer_book.page.widget_pages import serving

PATH = "transformer-book"
KEPT = """async () => {
  let n = 0;
  for (const name of await caches.keys()) n += (await (await caches.open(name)).keys()).length;
  return (await navigator.serviceWorker.getRegistration())?.active?.state === 'activated' ? n : 0;
}"""


@pytest.fixture
def train(browser: Browser, tmp_path: Path) -> Iterator[tuple[Page, ExitStack]]:
    """A phone, by night, and the network, which can be ended."""
    (tmp_path / PATH).symlink_to(HTML)
    width, height = PHONE
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark", reduced_motion="reduce"
    )
    network = ExitStack()
    address = network.enter_context(serving(tmp_path)).replace("127.0.0.1", "book.localhost")
    page = context.new_page()
    page.goto(f"{address}/{PATH}/")
    page.wait_for_url("**/book/welcome.html")
    yield page, network
    network.close()
    context.close()


def wait_until_kept(page: Page) -> None:
    files = len(edition(Site(HTML))["core"])
    for _ in range(600):
        if page.evaluate(KEPT) > files:
            return
        page.wait_for_timeout(100)
    pytest.fail("a minute after the first visit the pages were not kept")


def turned_by_keyboard(page: Page, slider: Locator) -> bool:
    """Whether a slider follows the arrow keys."""
    slider.focus()
    before = slider.input_value()
    for key in ("ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        if slider.input_value() != before:
            return True
    return False


@pytest.mark.firefox
def test_after_the_front_page_the_book_is_read_on_without_a_network(
    train: tuple[Page, ExitStack],
) -> None:
    page, network = train
    wait_until_kept(page)
    network.close()
    complaints: list[str] = []

    def note(error: Error) -> None:
        if "/_images/" not in f"{error.stack}":  # Firefox names each picture that was not kept
            complaints.append(f"{error} {error.stack}")

    page.on("pageerror", note)
    page.context.set_offline(True)

    page.locator(".prev-next-footer a.right-next").click()
    page.wait_for_url("**/one_sentence.html")
    assert page.locator("article h1").count() == 1
    root = page.url.partition("/book/")[0]

    page.goto(f"{root}/search.html?q=mask")
    quotes = page.locator("#search-results li p.context")
    expect(quotes.nth(9)).to_contain_text("mask")  # of the pages that are kept
    assert not [text for text in quotes.all_inner_texts() if "import " in text or "def " in text]

    page.goto(f"{root}/book/architecture/masks.html")
    place = page.locator(".widget-place[data-front-end=mask_explorer]")
    place.scroll_into_view_if_needed()
    expect(place).to_have_attribute("data-state", "live", timeout=30_000)
    assert turned_by_keyboard(page, place.get_by_label("sentence of the batch"))
    assert complaints == []


def test_a_student_walks_through_the_book_by_keyboard(train: tuple[Page, ExitStack]) -> None:
    """Search, a widget, a question wrong and right, a hint; then the train enters a tunnel."""
    page, network = train
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    page.keyboard.press("Control+K")
    page.keyboard.type("mask")
    page.keyboard.press("Enter")
    found = page.locator("#search-results li a", has_text="Masks").first
    found.wait_for()
    found.press("Enter")
    page.wait_for_url("**/architecture/masks.html*")

    place = page.locator(".widget-place[data-front-end=mask_explorer]")
    place.scroll_into_view_if_needed()
    expect(place).to_have_attribute("data-state", "live", timeout=30_000)
    assert turned_by_keyboard(page, place.get_by_label("sentence of the batch"))

    question = page.locator(".widget-place[aria-label*='A target of seven tokens']")
    question.scroll_into_view_if_needed()
    expect(question).to_have_attribute("data-state", "live", timeout=30_000)
    answer, verdict = question.get_by_label("Your answer"), question.get_by_role("status").first
    answer.focus()
    page.keyboard.type("21")
    page.keyboard.press("Enter")
    expect(verdict).to_contain_text("the pairs that it hides")
    page.keyboard.press("Control+A")
    page.keyboard.type("7 * 8 / 2")
    page.keyboard.press("Enter")
    expect(verdict).to_contain_text("Yes, 28")

    hint = page.locator("details.sd-dropdown", has_text="Hint").first
    hint.locator("summary").press("Enter")
    expect(hint).to_have_attribute("open", "")
    assert len(hint.inner_text().split()) > 5

    wait_until_kept(page)
    network.close()
    page.context.set_offline(True)
    page.locator(".prev-next-footer a.right-next").press("Enter")
    page.wait_for_url("**/architecture/model.html")
    assert "model" in page.locator("article h1").inner_text()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert complaints == []


def test_what_a_first_visit_keeps_is_small() -> None:
    """As servers send it; pictures come with the pages that a reader opens."""
    core = edition(Site(HTML))["core"]
    assert sum(len(gzip.compress((HTML / name).read_bytes())) for name in core) < 2_000_000
    assert not any("/models/" in name or name.startswith("notebooks") for name in core)
