"""Every deck of the book in a browser, from the disk, slide by slide, by day and by night."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.slides.opened import open_deck

ROOT = Path(__file__).resolve().parents[2]
SLIDES = ROOT / "_build" / "slides"
ROW = re.compile(
    r'<td><a href="([^"]+)">.*?</a></td>\s*<td>(\d+)</td><td data-minutes="([\d.]+)">', re.DOTALL
)
LEAST, LEAST_OF_CODE = 28, 17  # pixels of 720


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
        for slide in opened.slides():
            seen.append(slide)
            if slide["over"] or slide["dead"] or slide["broken"] or slide["silent"]:
                wrong.append(json.dumps(slide, ensure_ascii=False))
            if slide["smallest"] < LEAST or (slide["code"] or LEAST_OF_CODE) < LEAST_OF_CODE:
                wrong.append(f"{slide['title']}: letters of {slide['smallest']}, {slide['code']}")
            if not slide["notes"].strip():
                wrong.append(f"{slide['title']} has no notes")
            wrong += [f"{slide['title']}: {each}" for each in opened.violations()]
        assert opened.page.evaluate("window.violations") == []
    assert wrong == []
    assert opened.complaints == []
    assert len(seen) == count + 1  # and the one that opens it
    assert sum(slide["seconds"] for slide in seen) == 60 * minutes


def test_a_slide_with_a_widget_has_a_question_its_answer_and_a_misconception(
    browser: Browser, built_slides: None, deck: tuple[str, int, float]
) -> None:
    with open_deck(browser, SLIDES / deck[0]) as opened:
        notes = [slide["notes"] for slide in opened.slides() if slide["widgets"]]
    for note in notes:
        assert all(word in note for word in ("Ask the room:", "Answer:", "Expect:"))
