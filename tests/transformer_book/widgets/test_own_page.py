"""A page of one's own in a browser: opened from the disk it looks well, and it translates."""

import shutil
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.helpers.axe import AXE
from tests.helpers.both_ways import ENGLISH, GERMAN, two_ways

from transformer_book.page.model_scripts import rounded_translator
from transformer_book.page.own_page import write_page
from transformer_book.shipped import shipped_model

TOY = "der Hund sieht die Katze ."
OWN = ["die Frau hat den Mann gesehen .", "der Mann sieht den Hund ."]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "page"
    write_page(shipped_model("toy_german"), folder, [TOY], "My model")
    return (folder / "index.html").as_uri()


def opened(
    browser: Browser, address: str, seen: int = 3, **settings: object
) -> tuple[Page, list[str]]:
    """The page, its first explorers looked at, and what it complains of."""
    page = browser.new_context(**settings).new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url),
    )
    page.goto(address)
    for place in page.locator(".widget-place").all()[:seen]:
        place.scroll_into_view_if_needed()
        expect(place).to_have_attribute("data-state", "live")
    return page, complaints


def test_one_field_asks_every_explorer_those_too_that_come_into_view_later(
    browser, address
) -> None:
    page, complaints = opened(browser, address, seen=1)
    places = page.locator(".widget-place")
    assert page.get_by_role("button", name="Try your own sentence").count() == 1
    places.first.get_by_role("button", name="Try your own sentence").click()
    field = page.get_by_label("Your own sentence")
    for n, own in enumerate(OWN, start=2):
        field.fill(own)
        field.press("Enter")
        for place in places.all():
            place.scroll_into_view_if_needed()
            expect(place).to_have_attribute("data-state", "live")
            page.wait_for_function(
                """([place, own, n]) => {
                  const { examples, runs: [run] = [] } = place.model.get("contents");
                  return examples ? examples.length === n : run.sentence === own && run.done;
                }""",
                arg=[place.element_handle(), own, n],
            )
    translator = rounded_translator(shipped_model("toy_german"))
    decoder, heads, beams = (
        place.evaluate("place => place.model.get('contents')") for place in places.all()
    )
    said = [translator.attention(own).target for own in OWN]
    assert [one["target"] for one in heads["examples"][1:]] == said
    assert decoder["runs"][0]["pieces"] == [*said[-1][1:], "</s>"]
    assert [one["source"] for one in beams["examples"][1:]] == OWN
    assert complaints == []
    page.context.close()


# Asks the second sentence as soon as the first one is translated, when the others begin with it.
ASK_TWICE = """([place, own, next]) => {
  const field = place.querySelector("input[type=text]");
  const send = (text) => {
    field.value = text;
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  };
  const seen = () => {
    const [run] = place.model.get("contents").runs;
    if (run.sentence !== own || !run.done) return;
    place.model.off("change:contents", seen);
    setTimeout(send, 0, next);
  };
  place.model.on("change:contents", seen);
  send(own);
}"""


def test_the_next_question_is_answered_though_the_others_are_still_with_the_last(
    browser, address
) -> None:
    page, complaints = opened(browser, address)
    places = page.locator(".widget-place").all()
    places[0].get_by_role("button", name="Try your own sentence").click()
    expect(page.get_by_label("Your own sentence")).to_be_visible()
    page.evaluate(ASK_TWICE, [places[0].element_handle(), *OWN])
    for place in places:
        page.wait_for_function(
            """([place, own]) => {
              const { examples, runs: [run] = [] } = place.model.get("contents");
              return place.model.get("message") || (examples
                ? [examples.at(-1).source].flat().join(" ").startsWith(own)
                : run.sentence === own && run.done);
            }""",
            arg=[place.element_handle(), OWN[1]],
        )
    assert [place.evaluate("place => place.model.get('message')") for place in places] == [""] * 3
    assert complaints == []
    page.context.close()


def test_words_that_the_model_never_met_are_counted(browser, address) -> None:
    page, complaints = opened(browser, address, seen=1)
    page.get_by_role("button", name="Try your own sentence").click()
    field = page.get_by_label("Your own sentence")
    for sentence, said in (
        ("der Elefant sieht die Maus .", "2 words are not in the model's vocabulary"),
        ("der Hund sieht den Elefanten .", "1 word is not in the model's vocabulary"),
        (TOY, ""),
    ):
        field.fill(sentence)
        field.press("Enter")
        expect(page.get_by_text("in the model's vocabulary")).to_have_count(1 if said else 0)
        if said:
            expect(page.get_by_text(said)).to_be_visible()
    assert complaints == []
    page.context.close()


def test_a_model_of_two_directions_translates_back_and_says_when_it_is_unsure(
    browser, tmp_path
) -> None:
    two, known, other = two_ways(), GERMAN[0], GERMAN[12]
    write_page(two, tmp_path / "page", [other], "Both ways")
    page, complaints = opened(browser, (tmp_path / "page" / "index.html").as_uri(), seen=2)
    writing, heads = page.locator(".widget-place").all()[:2]
    doubt = writing.get_by_text("The model is unsure")
    expect(doubt).to_have_count(1)
    writing.get_by_role("button", name="Try your own sentence").click()
    field = page.get_by_label("Your own sentence")
    field.fill(known)
    field.press("Enter")
    back = writing.get_by_role("button", name="Translate it back")
    for n, text in enumerate([known, ENGLISH[0], known], start=2):
        if n > 2:
            back.click()
        expect(field).to_have_value(text)
        page.wait_for_function(
            "([place, n]) => place.model.get('contents').examples.length === n",
            arg=[heads.element_handle(), n],
        )
        found = heads.evaluate("place => place.model.get('contents').examples.at(-1)")
        assert found["source"] == two.attention(text).source
        expect(doubt).to_have_count(0)
    assert complaints == []
    page.context.close()


def test_the_search_is_shown_to_its_end(browser, address) -> None:
    page, _ = opened(browser, address)
    beams = page.locator(".widget-place").last
    expect(beams.locator(".tfw-beam-ends tbody tr")).not_to_have_count(0)
    expect(beams.get_by_role("button", name="Next step")).to_have_attribute("aria-disabled", "true")
    page.context.close()


@pytest.mark.parametrize(
    ("name", "cut", "lost"),
    [
        ("widgets/attention_heads.js", False, [False, True, False]),
        ("widgets/decoder_at_work.js", True, [True, False, False]),
        ("widgets.js", True, [True, True, True]),
        ("widgets.js", False, [True, True, True]),
    ],
)
def test_a_part_whose_script_is_missing_or_damaged_says_so(
    browser, address, tmp_path, name, cut, lost
) -> None:
    folder = shutil.copytree(Path(urlparse(address).path).parent, tmp_path / "page")
    script = folder / "_static" / name
    script.write_text(script.read_text()[: script.stat().st_size // 2] if cut else "")
    if not cut:
        script.unlink()
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    for place, missing in zip(page.locator(".widget-place").all(), lost, strict=True):
        place.scroll_into_view_if_needed()
        page.wait_for_function(
            """([place, missing]) => {
              const { content, visibility } = getComputedStyle(place, "::before");
              return missing ? visibility === "visible" && content.includes("did not start")
                : place.dataset.state === "live" && content === "none";
            }""",
            arg=[place.element_handle(), missing],
        )
    page.close()


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
