"""A page of one's own in a browser: opened from the disk it looks well, and it translates."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe import AXE
from transformer.own_page import write_page
from transformer.packing import as_rounded
from transformer.shipped import shipped_model

TOY = "der Hund sieht die Katze ."
OWN = "die Frau hat den Mann gesehen ."


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "page"
    write_page(shipped_model("toy_german"), folder, [TOY], "My model")
    return (folder / "index.html").as_uri()


def opened(browser: Browser, address: str, **settings: object) -> tuple[Page, list[str]]:
    page = browser.new_context(**settings).new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url),
    )
    page.goto(address)
    for place in page.locator(".widget-place").all():
        place.scroll_into_view_if_needed()
        expect(place).to_have_attribute("data-state", "live")
    return page, complaints


def test_a_sentence_of_ones_own_is_answered_by_every_explorer(browser, address) -> None:
    page, complaints = opened(browser, address)
    places = page.locator(".widget-place")
    assert places.count() == 3
    for place in places.all():
        place.get_by_role("button", name="Try your own sentence").click()
        field = place.get_by_label("Your own sentence")
        expect(field).to_be_visible(timeout=60_000)
        field.fill(OWN)
        field.press("Enter")
        page.wait_for_function(
            """([place, own]) => {
              const { examples, runs } = place.model.get("contents");
              return examples ? examples.length === 2 : runs[0].sentence === own && runs[0].done;
            }""",
            arg=[place.element_handle(), OWN],
        )
    said = as_rounded(shipped_model("toy_german")).attention(OWN).target
    decoder, heads, _ = (
        place.evaluate("place => place.model.get('contents')") for place in places.all()
    )
    assert heads["examples"][1]["target"] == said
    assert decoder["runs"][0]["pieces"] == [*said[1:], "</s>"]
    assert complaints == []
    page.context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 360)])
def test_it_follows_the_readers_colours_and_fits_a_phone(browser, address, scheme, width) -> None:
    size = {"width": width, "height": 800}
    page, complaints = opened(browser, address, color_scheme=scheme, viewport=size)
    assert page.locator("html").get_attribute("data-theme") == scheme
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(AXE)
    found = page.evaluate("axe.run({ preload: false })")["violations"]  # it may not fetch styles
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []
    assert complaints == []
    page.context.close()
