"""Every deck of the book in a browser, from the disk, slide by slide, by day and by night."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.helpers.decks import HALL, LOOK, open_deck, violations_of
from tests.transformer_book.widgets.drawing import CROSSED, ON_A_SHAPE

ROOT = Path(__file__).resolve().parents[2]
SLIDES = ROOT / "_build" / "slides"
ROW = re.compile(
    r'<td><a href="([^"?]+)">.*?</a></td>\s*<td>(\d+)</td><td data-minutes="([\d.]+)">', re.DOTALL
)
LEAST, LEAST_OF_CODE, LEAST_OF_WIDGET = 28, 17, 13  # pixels of 720
LEAST_OF_PLAYGROUND = 17  # with its heads, its curve and what it writes
PICTURES, MOST_PARTS = "svg, canvas, table, .tfw-heatmap", 6
SHOWN = """(image) => {
  const { style, dataset } = image;
  return [-parseFloat(style.marginTop), parseFloat(image.closest(".slide-shown").style.height),
    parseFloat(style.height), (dataset.gaps ?? "").split(" ").filter(Boolean).map(Number)];
}"""
CUT = """() => {
  const shown = document.querySelector(".present .slide-stage.alone > .slide-shown");
  if (!shown) return [0, 0, 0, 0, []];
  const image = shown.querySelector("img");
  const [part, all] = [shown, image].map((box) => box.getBoundingClientRect());
  const ends = [part.left, part.right].map((end) =>
    Math.min(1, Math.max(0, (end - all.left) / all.width)));
  return [...ends, part.width, all.height,
    image.dataset.columns.split(" ").filter(Boolean).map(Number)];
}"""
LETTERS = """texts => texts.filter((text) => text.checkVisibility()).map((text) =>
  parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d)"""
OFFER = "Try your own sentence: load the model"
CONTENTS = "JSON.stringify(place.model.get('contents'))"
FIELD = re.compile("Your own sentence|Change any word of it")
OWN = "Ein Hund springt durch den Schnee."


def rows() -> list[tuple[str, int, float]]:
    """The decks that the index names: file, slides, minutes."""
    index = SLIDES / "index.html"
    found = ROW.findall(index.read_text(encoding="utf-8")) if index.exists() else []
    return [(path, int(slides), float(minutes)) for path, slides, minutes in found]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each deck; without slides one that fails and says so."""
    if "deck" in metafunc.fixturenames:
        decks = rows() or [("no-slides", 0, 0.0)]
        metafunc.parametrize("deck", decks, ids=[deck[0] for deck in decks])


@pytest.fixture
def built_slides() -> Iterator[None]:
    """There are decks; else every test here fails and says so."""
    if not rows():
        pytest.fail("The slides are not made: run `make slides` first.")
    yield


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_deck_opens_whole_and_quietly(
    browser: Browser, built_slides: None, deck: tuple[str, int, float], scheme: str
) -> None:
    path, count, minutes = deck
    seen, wrong = [], []
    with open_deck(browser, SLIDES / path, scheme) as opened:
        for number, slide in enumerate(opened.slides()):
            seen.append(slide)
            if slide["parts"]:  # of a tall picture, which is small as a whole
                enlarged = opened.slide(number)
                if enlarged["over"] or enlarged["picture"] < 1.4 * slide["picture"]:
                    wrong.append(f"{slide['title']}: its picture is not enlarged")
            if any(slide[key] for key in ("over", "dead", "broken", "silent", "lost", "torn")):
                wrong.append(json.dumps(slide, ensure_ascii=False))
            if slide["smallest"] < LEAST or (slide["code"] or LEAST_OF_CODE) < LEAST_OF_CODE:
                wrong.append(f"{slide['title']}: letters of {slide['smallest']}, {slide['code']}")
            if (slide["lettering"] or LEAST_OF_WIDGET) < LEAST_OF_WIDGET:
                wrong.append(f"{slide['title']}: a widget with letters of {slide['lettering']}")
            if not slide["notes"].strip():
                wrong.append(f"{slide['title']} has no notes")
            wrong += [f"{slide['title']}: {each}" for each in opened.violations()]
        assert opened.page.evaluate("window.violations") == []
    assert wrong == []
    assert opened.complaints == []
    assert len(seen) == count + 1  # and the one that opens it
    assert sum(slide["seconds"] for slide in seen) == 60 * minutes


def test_a_tall_picture_is_not_cut_through_its_letters(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    """Each part begins in a gap, if the second half of the part before has one."""
    with open_deck(browser, SLIDES / deck[0]) as opened:
        for number in range(opened.page.evaluate("Reveal.getTotalSlides()")):
            parts = opened.slide(number)["parts"]
            image = opened.page.locator(".present .slide-shown img").first
            for part in range(parts):
                opened.page.evaluate("part => Reveal.navigateFragment(part)", part)
                top, height, all_of_it, gaps = image.evaluate(SHOWN)
                low, high = top + height / 2, top + height
                if part < parts - 1 and any(low < gap * all_of_it <= high for gap in gaps):
                    assert min(abs(gap * all_of_it - high) for gap in gaps) < 1


def test_a_key_enlarges_a_picture_and_cuts_through_nothing(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    wrong = []
    with open_deck(browser, SLIDES / deck[0]) as opened:
        for number in range(opened.page.evaluate("Reveal.getTotalSlides()")):
            slide = opened.slide(number)
            if not slide["picture"] or slide["parts"] or slide["widgets"]:
                continue
            for _ in range(MOST_PARTS):
                opened.page.keyboard.press("m")
                left, right, wide, high, columns = opened.page.evaluate(CUT)
                if not wide:
                    break
                ends = [0, 1, *columns]
                if any(min(abs(end - at) for at in ends) > 0.01 for end in (left, right)):
                    wrong.append(f"{slide['title']}: cut at {left:.3f} and {right:.3f}")
                if wide > HALL["width"] or high > HALL["height"] or high < slide["picture"]:
                    wrong.append(f"{slide['title']}: {wide} x {high}")
            if opened.page.evaluate(LOOK) != slide:
                wrong.append(f"{slide['title']} is not as it was")
    assert wrong == []


def test_a_slide_with_a_widget_has_a_question_its_answer_and_a_misconception(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    with open_deck(browser, SLIDES / deck[0]) as opened:
        notes = [slide["notes"] for slide in opened.slides() if slide["widgets"]]
    for note in notes:
        assert all(word in note for word in ("Ask the room:", "Answer:", "Expect:"))


def test_a_key_shows_each_picture_of_a_widget_whole_with_a_slider(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    """No smaller than among all of it; only the drawing of the model is taken in quarters."""
    wrong = []
    with open_deck(browser, SLIDES / deck[0]) as opened:
        for number in range(opened.page.evaluate("Reveal.getTotalSlides()")):
            whole = opened.slide(number)
            if not whole["widgets"]:
                continue
            stage = opened.page.locator(".present .slide-stage")
            handles = stage.locator(":is(.tfw-control, .tfw-steps)").filter(visible=True)
            pictures = stage.locator(PICTURES).filter(visible=True)
            sizes = []
            for _ in range(MOST_PARTS):
                opened.page.keyboard.press("m")
                part, shown = opened.page.evaluate(LOOK), stage.get_attribute("class") or ""
                if "magnified" in shown and not stage.locator(".tfw-shapes").count():
                    wrong.append(f"{whole['title']} is taken in quarters")
                if "with-one-part" not in shown:
                    break
                sizes.append(part["lettering"] or LEAST_OF_WIDGET)
                if part["over"] or not pictures.count() or handles.count() > 2:
                    wrong.append(json.dumps(part, ensure_ascii=False))
            if sizes and max(sizes) < 0.95 * (whole["lettering"] or LEAST_OF_WIDGET):
                wrong.append(f"{whole['title']}: letters of {whole['lettering']}, then {sizes}")
            opened.slide(0)
            if opened.slide(number) != whole:
                wrong.append(f"{whole['title']} is not as it was")
    assert wrong == []


def test_a_trained_model_answers_from_the_disk(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    """On every slide that offers one; the slide is still whole then."""
    offered = (SLIDES / deck[0]).read_text(encoding="utf-8").count('"live":{')
    asked = 0
    with open_deck(browser, SLIDES / deck[0]) as opened:
        for number in range(opened.page.evaluate("Reveal.getTotalSlides()")):
            opened.slide(number)
            shown = opened.page.locator(".slides > section.present")
            for fold in shown.locator("details.tfw-more > summary").filter(visible=True).all():
                fold.click()
            if not (button := shown.get_by_role("button", name=OFFER)).count():
                continue
            button.click()
            field = shown.get_by_label(FIELD).first
            expect(field).to_be_visible(timeout=60_000)
            place = shown.locator(".widget-place").element_handle()
            before = place.evaluate(f"place => {CONTENTS}")
            field.fill(OWN)
            field.press("Enter")
            opened.page.wait_for_function(
                f"([place, before]) => {CONTENTS} !== before", arg=[place, before]
            )
            asked += 1
            assert opened.slide(number)["over"] == []
            assert opened.violations() == []
        assert opened.page.evaluate("window.violations") == []
        assert opened.complaints == []
    assert asked == offered


def test_in_the_drawing_of_the_model_the_arrows_stop_where_a_shape_is_written(
    browser: Browser, built_slides: None
) -> None:
    """A deck has larger letters than a page, for which the drawing leaves less."""
    drawing = ".slides > section.present .tfw-shapes-diagram"
    seen = 0
    with open_deck(browser, SLIDES / "book" / "architecture" / "model.html") as opened:
        for number in range(opened.page.evaluate("Reveal.getTotalSlides()")):
            opened.slide(number)
            for shown in opened.page.locator(drawing).all():
                assert shown.evaluate(CROSSED) == shown.evaluate(ON_A_SHAPE) == []
                seen += 1
    assert seen


def test_the_tree_of_a_beam_search_has_the_height_of_its_slide(
    browser: Browser, built_slides: None
) -> None:
    with open_deck(browser, SLIDES / "book" / "translation" / "decoding.html") as opened:
        opened.slide(4)
        tree = opened.page.locator(".slides > section.present .tfw-beam-tree")
        assert min(tree.locator("text").evaluate_all(LETTERS)) >= 18
        front, box = tree.locator(".tfw-beam-front"), tree.locator("..")
        seen, room = front.bounding_box(), box.bounding_box()
        assert seen and room and room["x"] < seen["x"] < room["x"] + room["width"] - 20


def test_all_slides_at_once_and_the_speakers_view_are_for_everyone(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    with open_deck(browser, SLIDES / deck[0]) as opened:
        page = opened.page
        opened.slide(1)
        page.evaluate("Reveal.toggleOverview(true)")
        assert opened.violations() == []
        page.evaluate("Reveal.toggleOverview(false)")
        assert opened.slide(2)["over"] == []
        with page.expect_popup() as popup:
            page.keyboard.press("s")
        view = popup.value
        expect(view.locator(".speaker-controls-notes .value")).to_contain_text("minute")
        expect(view.locator("iframe[title]")).to_have_count(2)
        assert violations_of(view) == []
        view.set_viewport_size({"width": 1280, "height": 800})
        for number in range(page.evaluate("Reveal.getTotalSlides()")):
            notes = opened.slide(number)["notes"]
            told = view.locator(".speaker-controls-notes .value")
            expect(told).to_have_text(notes, use_inner_text=False)
            box = told.bounding_box()
            assert box and box["y"] + box["height"] <= 800, notes  # nobody scrolls while speaking
        assert page.evaluate("window.violations") == []
        assert opened.complaints == []


def test_what_is_magnified_in_the_speakers_view_is_so_in_the_hall(
    browser: Browser, built_slides: None
) -> None:
    with open_deck(browser, SLIDES / "book" / "why" / "attention.html") as opened:
        page = opened.page
        opened.slide(10)  # whose picture is there at once
        with page.expect_popup() as popup:
            page.keyboard.press("s")
        view = popup.value
        view.on("pageerror", lambda error: opened.complaints.append(str(error)))
        view.on("console", lambda said: opened.complaints.append(said.text))
        preview = view.frame_locator("#current-slide iframe")
        expect(preview.locator(".reveal.ready")).to_be_visible()
        for key, magnified in (("m", 1), ("m", 0), ("m", 1), ("Escape", 0)):
            view.keyboard.press(key)
            for shown in (page, preview):
                expect(shown.locator(".present .slide-stage.alone")).to_have_count(magnified)
        assert page.evaluate("Reveal.isOverview()") is False
        assert opened.complaints == []


def test_a_slide_has_the_number_by_which_plans_name_it(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    """The one with the title has none; the address has the same number."""
    with open_deck(browser, SLIDES / deck[0]) as opened:
        shown = opened.page.locator(".slide-number")
        expect(shown).to_have_text("")
        opened.slide(deck[1])
        expect(shown).to_have_text(f"{deck[1]} / {deck[1]}", use_inner_text=True)
        opened.page.wait_for_url(re.compile(rf"#/{deck[1]}(/|$)"))


def test_a_model_that_learns_on_a_slide_has_large_letters_and_shrinks_for_nothing(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    """What is said in the end has its place; a picture alone keeps it, guess and button.

    The one that is asked about comes first.
    """
    place = '.widget-place[data-front-end="training_playground"]'
    if 'data-front-end="training_playground"' not in (SLIDES / deck[0]).read_text("utf-8"):
        return
    seen = 0
    with open_deck(browser, SLIDES / deck[0]) as opened:
        for number in range(opened.page.evaluate("Reveal.getTotalSlides()")):
            opened.slide(number)
            playground = opened.page.locator(f".slides > section.present {place}")
            if not playground.count():
                continue
            zoom = playground.evaluate("place => place.currentCSSZoom")
            assert opened.page.evaluate(LOOK)["lettering"] >= LEAST_OF_PLAYGROUND
            question = playground.locator(".tfw-pick")
            opened.page.keyboard.press("m")  # nothing can be pressed before a guess
            expect(question).to_be_visible()
            opened.page.keyboard.press("Escape")
            playground.get_by_role("radio").first.check()
            playground.evaluate(
                "({ model }) => { model.set('fast', true); model.set('steps', 20) }"
            )
            playground.locator(".tfw-play-train").click()
            verdict = playground.locator(".tfw-verdict > :first-child")
            expect(verdict).to_contain_text("You expected", timeout=60_000)
            assert playground.evaluate("place => place.currentCSSZoom") == zoom
            train = playground.locator(".tfw-play-train")
            change = playground.locator(".tfw-play-train ~ :nth-child(5)")  # a part, or the task
            looks = " will it look " in (question.text_content() or "")
            for first in (True, False):  # its heads, and what it has written
                opened.page.keyboard.press("m")
                heads = playground.locator(".tfw-play-heads").is_visible()
                assert heads == (looks == first)
                assert verdict.is_visible()
                assert opened.page.locator(".present .slide-stage.with-one-part").count() == 1
                assert train.is_visible() and change.count() == change.is_visible()
                # The guess, and what came out
                expect(question.locator("label:visible")).to_have_count(2)
            train.focus()
            opened.page.keyboard.press("ArrowRight")
            assert not playground.count()  # a button leaves the arrows to the deck
            seen += 1
    assert seen
