"""Each place that asks before it shows: predict wrong, press, read what came out, open the answer.

On a phone, from the disk, without a network.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.book.conftest import HTML, PHONE

ROOT = Path(__file__).resolve().parents[2]
WIDGETS = re.compile(r"\b(TrainingPlayground|BrokenTranslator)\(")
FRONT_ENDS = ("training_playground", "broken_translator")
# In the order of the chapters' sources: (page, how many such widgets it has).
PAGES = {
    path.relative_to(ROOT).with_suffix("").as_posix(): len(found)
    for path in sorted((ROOT / "book").glob("**/*.md"))
    if (found := WIDGETS.findall(path.read_text(encoding="utf-8")))
}
TRAIN_MS = 180_000  # two cores that do other work; a reader's own takes seconds
FIRST = "Say first what you expect"


def test_they_stand_where_a_reader_first_meets_the_parts() -> None:
    names = {page.rpartition("/")[2] for page in PAGES}
    assert {"welcome", "positions", "masks", "layers", "attention", "model"} <= names
    assert {
        "multi_head_attention",
        "training",
        "twenty_minutes",
        "ablations",
        "paper_figures",
    } <= names


def of(place: Locator, trait: str) -> object:
    """What a widget's trait is."""
    return place.evaluate("(place, trait) => place.model.get(trait)", trait)


def press(place: Locator) -> None:
    """The button that the question is about."""
    if of(place, "front_end") == "training_playground":
        button = place.get_by_role("button", name="Train", exact=True)
    else:
        contents = of(place, "contents")
        part = of(place, "about") or next((part for part, _ in contents["parts"]), "")
        labels = dict(contents["parts"])
        toggles = place.locator("button[aria-pressed]")
        button = toggles.filter(has_text=labels[part]) if part else toggles.first
    expect(button.first).not_to_have_attribute("aria-disabled", "true")
    button.first.click()


@pytest.mark.parametrize("name", PAGES)
def test_a_wrong_guess_is_answered_by_what_came_out(browser: Browser, name: str) -> None:
    context = browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((HTML / f"{name}.html").as_uri())
    context.set_offline(True)
    places = page.locator(".widget-place")
    here = [
        i for i, text in enumerate(places.all_text_contents()) if any(f in text for f in FRONT_ENDS)
    ]
    assert len(here) == PAGES[name]
    for i in here:
        place = places.nth(i)
        place.scroll_into_view_if_needed()
        expect(place).to_have_attribute("data-state", "live", timeout=30_000)
        if of(place, "front_end") not in FRONT_ENDS:
            continue
        answers, right = of(place, "answers"), of(place, "right")
        # Behind what is said lies unseen the longest that may be said.
        verdict = place.locator(":is(.tfw-verdict, .tfw-broken-verdict) > :first-child").first
        if answers:
            expect(place.get_by_text(FIRST)).to_be_visible()
            wrong = next(i for i in range(len(answers)) if i != right)
            place.get_by_label(answers[wrong], exact=True).check()
            expect(place.get_by_text(FIRST)).to_have_count(0)
        press(place)
        if answers:
            expect(verdict).to_contain_text(
                f"You expected: \u201c{answers[wrong]}\u201d.", timeout=TRAIN_MS
            )
            expect(verdict).to_contain_text(f"What came out: \u201c{answers[right]}\u201d.")
            expect(verdict).to_contain_text(str(of(place, "why")))
        else:
            expect(verdict).to_contain_text("It has learned", timeout=TRAIN_MS)
        box = place.bounding_box()
        assert box and box["width"] <= PHONE[0]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert complaints == []
    context.close()
