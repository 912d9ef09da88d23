"""The trained models of the built pages: nothing of them before the click, and then an answer."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.book.conftest import HTML, PHONE
from tools.site.after.shipped_models import NAMED

from transformer_book.shipped import shipped_model

SENTENCES = {
    "toy_german": "die Frau hat den Mann gesehen .",
    "everyday": "Wo ist der Bahnhof?",
}
PAGES = {
    path.relative_to(HTML).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(HTML.glob("book/**/*.html"))
}
# These add an example for each sentence; decoder and broken translator have tests of their own.
ASKED_ALIKE = ('"front_end":"attention_heads"', '"front_end":"beam_explorer"')
LIVE = {
    name
    for name, text in PAGES.items()
    if NAMED.search(text) and any(front_end in text for front_end in ASKED_ALIKE)
}
# A request from the disk leaves no trace but its script.
ASKED = """[...performance.getEntriesByType('resource').map(({ name }) => name),
  ...[...document.scripts].map(({ src }) => src)]"""
ASK = """async (place, text) => {
  const examples = () => place.model.get("contents").examples;
  const before = examples().length;
  const field = place.querySelector('input[type="text"]');
  field.value = text;
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  while (examples().length === before && !place.model.get("message")) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return [examples().at(-1), place.model.get("message")];
}"""


def of_models(page: Page) -> list[str]:
    """The addresses asked for that are a model's, or the code's that computes with it.

    Each with a version, so that a new edition's page meets no old part that the browser has kept.
    """
    asked = [url for url in page.evaluate(ASKED) if "/models/" in url or "/live.js" in url]
    assert all(re.search(r"\.js\?v=\w+$", url) for url in asked)
    return asked


def started(places: Locator, i: int) -> Locator:
    """A widget, once it has come near the window and drawn itself."""
    place = places.nth(i)
    place.scroll_into_view_if_needed()
    expect(place).to_have_attribute("data-state", "live", timeout=30_000)
    return place


def said(example: dict[str, object]) -> str:
    """The translation that a widget shows, without spaces."""
    tokens = [t for t in example["target"] if t not in ("<s>", "</s>")]
    return "".join(tokens).replace("\u2581", "")


def test_the_chapters_that_ask_for_a_sentence_have_their_model() -> None:
    chapters = {name.rpartition("/")[2].removesuffix(".html") for name in LIVE}
    assert {"welcome", "one_sentence", "heads", "decoding", "first_translation"} <= chapters


@pytest.mark.firefox
@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        pytest.param(name, scheme, marks=[pytest.mark.smoke] if once else [])
        for name in sorted(LIVE)
        for scheme in ("http", "file")
        for once in [scheme == "file" and name == "book/welcome.html"]
    ],
)
def test_a_page_loads_its_model_at_a_click_and_translates(
    browser: Browser, site: str, name: str, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": PHONE[0], "height": PHONE[1]})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{site if scheme == 'http' else HTML.as_uri()}/{name}")
    places = page.locator(".widget-place")
    states = places.all_text_contents()
    models = [NAMED.search(text) for text in states]
    for i in range(len(models)):
        started(places, i)
    assert of_models(page) == []
    loaded: set[str] = set()
    for i, model in enumerate(models):
        if model is None or not any(name in states[i] for name in ASKED_ALIKE):
            continue
        place, sentence = started(places, i), SENTENCES[model[1]]
        offer = place.get_by_role("button", name="Try your own sentence")
        assert ("once)" in offer.inner_text()) == (model[1] not in loaded)  # one download a page
        loaded.add(model[1])
        offer.click()
        expect(place.get_by_label("Your own sentence")).to_be_visible(timeout=60_000)
        example, message = place.evaluate(ASK, sentence)
        assert message == ""
        if "target" in example:
            [translation] = shipped_model(model[1]).translate([sentence])
            assert said(example) == translation.replace(" ", "")
        else:
            assert example["source"] == sentence
    assert any("/models/" in url for url in of_models(page))
    foreign = [url for url in page.evaluate(ASKED) if not url.startswith((site, HTML.as_uri()))]
    assert [url for url in foreign if url and not url.startswith("data:")] == complaints == []
    page.close()
