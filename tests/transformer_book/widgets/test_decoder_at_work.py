"""The decoder at work on a page: what it carries, what it asks, and all that moves it."""

import gzip
import re
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.transformer_book.widgets.decoder_examples import OTHER, OWN, TOY, decoder, translator
from tests.transformer_book.widgets.nasty import nasty

from transformer_book.page.widget_pages import WidgetPage
from transformer_book.widgets.output_steps import output_steps, steps_state
from transformer_book.widgets.static_page import element_of_widget

OFFER = "Try your own sentence: load the model"
PAGE_LIMIT = 60_000  # milliseconds, for a machine that is busy


def rows(shown, pane=0):
    """The candidates as shown: token, probability, drawn with, mark; and the last row."""
    found = shown.widget.locator(".tfw-decoder-pane").nth(pane).locator("tbody tr:visible")
    cells = "all => all.map(row => [...row.cells].map(cell => cell.hidden ? null : cell.innerText))"
    return [[row[0], *row[2:]] for row in found.evaluate_all(cells)]


def said(number):
    if number == 0:
        return "–"
    return "< 0.001" if number < 0.0005 else f"{number:.3f}"


def tokens_of(shown, which, pane=0):
    both = shown.widget.locator(".tfw-decoder-pane").nth(pane).locator(".tfw-decoder-tokens")
    return both.nth(which).locator("li").all_inner_texts()


def output(shown, look, pane=0):
    """The tokens of the output that look so."""
    pane = shown.widget.locator(".tfw-decoder-pane").nth(pane)
    return pane.locator(f".tfw-decoder-tokens {look}").all_inner_texts()


def hand(shown):
    return shown.page.get_by_role("slider", name="step", exact=True)


def assert_shows(shown, one, pane=0):
    """Tokens, bars and words are those of the widget in Python."""
    shown.frame()
    run = one.run(pane)
    at = min(one.step, len(run["tokens"])) - 1
    assert tokens_of(shown, 0, pane) == run["source"]
    assert tokens_of(shown, 1, pane) == run["pieces"]
    assert output(shown, ".tfw-decoder-now", pane) == [run["pieces"][at]]
    assert output(shown, ".tfw-decoder-later", pane) == run["pieces"][at + 1 :]
    candidates, both = one.candidates(pane), one.temperature != 1 or one.top_k != 0
    *likely, rest = rows(shown, pane)
    assert len(likely) == len(candidates)
    if run["tokens"][at] not in {c["token"] for c in candidates}:
        candidates.pop()  # in its place stands what was written
        assert likely[-1][0] == run["pieces"][at]
    for row, candidate in zip(likely, candidates, strict=False):
        mark = "✓ written" if candidate["token"] == run["tokens"][at] else ""
        drawn = said(candidate["drawn"]) if both else None
        assert row == [candidate["piece"], said(candidate["probability"]), drawn, mark]
    assert [row[3] for row in likely].count("✓ written") == 1
    others = 496 - len(likely)
    assert rest[0] == f"all {others} others"
    whole = shown.widget.locator(".tfw-decoder-whole").nth(pane).inner_text()
    log = f"{one.log_probability(pane):.2f}".replace("-", "−")
    assert f"“\u2068{one.text(pane)}\u2069”, log P {log}" in whole


def load_model(shown: WidgetPage) -> None:
    shown.page.get_by_role("button", name=OFFER).click()
    expect(shown.page.get_by_label("Your own sentence")).to_be_focused(timeout=PAGE_LIMIT)


def wait_for_answer(shown, pane=0):
    """Until the page has written what was asked last."""
    shown.page.wait_for_function(
        """pane => { const { model } = document.querySelector(".widget-place");
          const { runs } = model.get("contents");
          const { number, runs: asked } = model.get("question");
          return runs[pane]?.done
            && asked.every(({ at }) => runs[at]?.done && runs[at].number === number); }""",
        arg=pane,
        timeout=PAGE_LIMIT,
    )
    shown.frame()


def translate(shown, text, label="Your own sentence"):
    field = shown.page.get_by_label(label)
    field.fill(text)
    field.press("Enter")


def open_all(shown):
    for summary in shown.widget.locator("summary").all():
        summary.click()


def assert_page_has(shown, sentence, pane=0, **settings):
    """What the page computed is what Python computes with the same settings."""
    run = shown.state("contents")["runs"][pane]
    expected = steps_state(translator(), sentence, output_steps(translator(), sentence, **settings))
    assert (run["tokens"], run["pieces"]) == (expected["tokens"], expected["pieces"])
    assert run["written"] == pytest.approx(expected["written"], abs=3e-4)
    for found, wanted in zip(run["logs"], expected["logs"], strict=True):
        assert found == pytest.approx(wanted, abs=3e-4)
    difference = np.array(run["cross"]) - np.array(expected["cross"])
    assert np.abs(difference).max() <= 1


def test_each_step_shows_what_python_has(show, look):
    one = decoder([TOY, OTHER], layer=1, head=3, beside=True)
    shown = show(one, **look)
    shown.check()
    for step in range(1, 1 + max(len(one.run(i)["tokens"]) for i in (0, 1))):
        one.step = step
        shown.set("step", step)
        for pane in (0, 1):
            assert_shows(shown, one, pane)
            run = one.run(pane)
            weights = run["cross"][min(step, len(run["tokens"])) - 1][11]
            expected = {t: w / 1000 for t, w in zip(run["source"], weights, strict=True) if w >= 50}
            readout = shown.readout(2 * pane)
            assert readout.startswith(f"Step {min(step, len(run['tokens']))}: ")
            assert "cross-attention, layer 2, head 4" in readout
            found = re.findall("“\u2068(.*?)\u2069” with ([\\d.]+\\d)", readout)
            said_first = sorted(expected.values(), reverse=True)[:3]
            assert [float(w) for _, w in found] == pytest.approx(said_first)
            assert all(expected[token] == pytest.approx(float(w)) for token, w in found)
            lines = shown.widget.locator(".tfw-decoder-lines").nth(pane).locator("path")
            drawn = lines.evaluate_all("all => all.map(one => Number(one.dataset.weight))")
            assert sorted(drawn) == pytest.approx(sorted(expected.values()))
    shown.check()


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_hand_is_dragged_along_the_output(show, finger):
    one = decoder("Zwei Hunde spielen im Schnee.", name="everyday")
    shown = show(one, touch=True, width=390)
    tokens = shown.widget.locator(".tfw-decoder-tokens").nth(1).locator("li")
    steps = len(one.run()["tokens"])
    for step in (3, steps, 1):
        start, goal = hand(shown).bounding_box(), tokens.nth(step - 1).bounding_box()
        by = [
            goal[a] + goal[b] / 2 - start[a] - start[b] / 2
            for a, b in (("x", "width"), ("y", "height"))
        ]
        shown.drag(hand(shown), *by, finger=finger)
        assert shown.state("step") == step
        assert output(shown, ".tfw-decoder-now") == [one.run()["pieces"][step - 1]]
        assert hand(shown).get_attribute("aria-valuetext") == f"{step} of {steps}"
        shown.frame()
        below = hand(shown).bounding_box()
        assert below["x"] + below["width"] / 2 == pytest.approx(
            goal["x"] + goal["width"] / 2, abs=2
        )
    shown.check()


@pytest.mark.parametrize("width", [390, 1000])
def test_no_step_changes_how_tall_it_is(show, width):
    one = decoder("Zwei Hunde spielen im Schnee.", name="everyday", layer=1)
    shown = show(one, width=width)
    heights = set()
    for step in range(1, 1 + len(one.run()["tokens"])):
        shown.set("step", step)
        heights.add(shown.height())
    shown.set("temperature", 2.0)
    heights.add(shown.height())
    assert len(heights) == 1
    assert heights.pop() < 1000


def test_on_a_phone_a_finger_finds_each_candidate(show):
    shown = show(decoder("Zwei Hunde spielen im Schnee.", name="everyday", layer=1), width=390)
    table = shown.widget.locator(".tfw-decoder-candidates").first
    boxes = [button.bounding_box() for button in table.get_by_role("button").all()]
    assert len(boxes) > 3 and min(box["width"] for box in boxes) >= 32
    assert min(b["y"] - a["y"] for a, b in pairwise(boxes)) >= 32


def test_what_was_written_has_a_row_though_it_was_unlikely(show):
    unlikely = translator().tokenizer.encode("Katze")
    one = decoder(given=[unlikely])
    assert unlikely[0] not in {candidate["token"] for candidate in one.candidates()}
    shown = show(one)
    assert_shows(shown, one)
    height = shown.height()
    shown.set("step", 2)
    assert shown.height() == height


def test_on_a_phone_ten_words_fit_and_no_line_crosses_a_word_aslant(show):
    shown = show(decoder("Zwei Hunde.", name="everyday", live=True), width=390, touch=True)
    load_model(shown)
    for sentence in (
        "Could you please tell me where the nearest train station is?",
        "My brother bought an expensive motorcycle without asking his parents.",
    ):
        translate(shown, sentence)
        wait_for_answer(shown)
        assert shown.height() <= 1000
        for step in (3, len(shown.state("contents")["runs"][0]["tokens"])):
            shown.set("step", step)
            shown.frame()
            source, target = shown.widget.locator(".tfw-decoder-tokens").evaluate_all(
                "lists => lists.map(({ offsetTop, offsetHeight }) => [offsetTop, offsetHeight])"
            )[:2]
            paths = shown.widget.locator(".tfw-decoder-lines path")
            assert paths.count()
            for path in paths.evaluate_all("all => all.map((one) => one.getAttribute('d'))"):
                slanted = re.fullmatch(r"M[\d.]+ [\d.]+V([\d.]+)L[\d.]+ ([\d.]+)V[\d.]+", path)
                assert float(slanted[1]) == target[0] and float(slanted[2]) == sum(source)
    translate(shown, "a")
    wait_for_answer(shown)
    expect(shown.widget.locator(".tfw-decoder-whole").first).to_contain_text(
        "The whole output: nothing (the end mark comes first), log P"
    )
    shown.check()


def test_on_a_phone_the_bars_are_long_enough_to_compare(show):
    shown = show(decoder(), width=390)
    row = shown.widget.locator(".tfw-decoder-written")
    assert row.locator(".tfw-decoder-bars").bounding_box()["width"] > 120
    for name in ("th", ".tfw-decoder-own"):  # nothing is cut
        assert row.locator(name).evaluate("cell => cell.scrollWidth - cell.clientWidth") <= 0


def test_temperature_and_top_k_change_what_is_drawn_and_say_so(show):
    one = decoder(step=2)
    shown = show(one)
    open_all(shown)
    note = shown.widget.locator(".tfw-decoder-note")
    assert "drawn with" not in note.inner_text()
    assert "at temperature 1 over all 496 tokens" in note.inner_text()
    for temperature, top_k in ((0.5, 0), (2.0, 0), (2.0, 3), (1.0, 1)):
        one.temperature, one.top_k = temperature, top_k
        shown.set("temperature", temperature)
        shown.set("top_k", top_k)
        assert_shows(shown, one)
        kept = {0: "all tokens", 1: "the most probable one"}.get(
            top_k, f"the {top_k} most probable"
        )
        assert f"at temperature {temperature:g}, from {kept}" in note.inner_text()
    shown.check()


def test_the_matrix_has_all_heads_of_the_step(show, look):
    one = decoder(step=3, view="matrix", silenced=["decoder.1.cross.2"])
    shown = show(one, **look)
    field, run = shown.widget.locator(".tfw-field").first, one.run()
    for row in range(16):
        field.press("ArrowDown" if row else "Home")
        for column, token in enumerate(run["source"]):
            field.press("ArrowRight" if column else "Home")
            head = f"layer {row // 8 + 1}, head {row % 8 + 1}"
            silent = " (silenced)" if row == 10 else ""
            weight = run["cross"][2][row][column] / 1000
            assert shown.readout(1) == (
                f"Step 3: cross-attention, {head}{silent} looks at “\u2068{token}\u2069” "
                f"with {weight:.3f}."
            )
    assert shown.page.get_by_label("layer", exact=True).is_hidden()
    assert shown.widget.locator(".tfw-decoder-lines path").count() == 0
    shown.check()


def test_keyboard_mouse_and_finger_move_every_control(show):
    shown = show(decoder([TOY, OTHER]), touch=True)
    page = shown.page
    open_all(shown)

    def now(*names):
        shown.frame()
        return [shown.state(name) for name in names]

    hand(shown).press("ArrowRight")
    page.get_by_role("button", name="Next step").press("Enter")
    assert now("step") == [3]
    page.get_by_role("button", name="Next step").tap()
    page.get_by_role("button", name="Previous step").click()
    assert now("step") == [3]
    for key, step in (("Home", 1), ("PageUp", 6), ("ArrowLeft", 5)):
        hand(shown).press(key)
        assert now("step") == [step]
    page.locator(".tfw-decoder-later").first.click()
    assert now("step") == [6]
    page.locator(".tfw-decoder-tokens").nth(1).locator("li").first.tap()
    assert now("step") == [1]
    hand(shown).press("End")
    assert now("step") == [len(decoder().run()["tokens"])]
    page.get_by_label("lines of one head").press("ArrowRight")
    assert now("view") == ["matrix"]
    page.get_by_label("lines of one head").tap()
    page.get_by_label("layer", exact=True).select_option(index=1)
    page.get_by_label("head", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.get_by_label("a second sentence").press("Space")
    assert now("view", "layer", "head", "beside") == ["lines", 1, 1, True]
    assert tokens_of(shown, 0, 1)[:2] == ["die", "Hunde"]
    page.get_by_label("temperature").press("ArrowRight")
    page.get_by_label("top-k").select_option(index=2)
    page.get_by_label("the others of its layer").tap()
    page.get_by_label("keep the words").press("Space")
    assert now("temperature", "top_k", "presses", "keep") == [
        1.25, 2, "the others of its layer", True,
    ]  # fmt: skip
    first = page.get_by_label("decoder self-attention, layer 1, head 1", exact=True)
    first.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.ariaLabel") == (
        "decoder self-attention, layer 2, head 8"
    )
    page.keyboard.press("ArrowDown")  # there is nothing below
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.ariaLabel").endswith("layer 1, head 8")
    stops = shown.widget.locator('.tfw-decoder-heads [tabindex="0"]')
    assert stops.count() == 3  # one stop of the Tab key for each kind
    shown.check()


def test_without_a_model_nothing_is_asked_and_a_sentence_says_why(show):
    one = decoder()
    shown = show(one)
    open_all(shown)
    before = shown.state("contents")
    for name in (
        "Take",
        "Draw from this step on",
        "Take the most probable ones",
        "cross-attention",
    ):
        shown.page.get_by_role("button", name=name).last.click()
        expect(shown.page.get_by_text("Nobody is here to answer")).to_be_visible()
    assert shown.state("question") == {} and shown.state("contents") == before
    assert shown.widget.locator('[aria-pressed="true"]').count() == 0
    assert shown.page.get_by_label("Your own sentence").is_hidden()
    live = show(decoder(live=True))
    live.page.get_by_role("button", name="Take").nth(1).click()
    expect(live.page.get_by_text("the page needs the model: load it below")).to_be_visible()
    assert_shows(live, one)
    live.check()


def test_a_sentence_is_written_token_by_token_as_python_writes_it(show, look):
    shown = show(decoder(live=True), **look)
    shown.widget.evaluate(
        """place => { window.lengths = []; place.model.on("change:contents", () =>
          window.lengths.push(place.model.get("contents").runs[0].tokens.length)); }"""
    )
    load_model(shown)
    translate(shown, OWN)
    wait_for_answer(shown)
    assert_page_has(shown, OWN)
    n_steps = len(shown.state("contents")["runs"][0]["tokens"])
    assert shown.page.evaluate("window.lengths") == [*range(1, n_steps + 1), n_steps]
    assert shown.state("step") == n_steps
    one = decoder(OWN, step=n_steps)
    assert_shows(shown, one)
    assert shown.widget.locator(".tfw-decoder-state").inner_text() == ""
    shown.check()


def test_another_candidate_is_taken_and_the_rest_follows(show):
    shown = show(decoder(OWN, live=True, step=3))
    load_model(shown)
    one = decoder(OWN, step=3)
    given = [*one.run()["tokens"][:2], one.candidates()[1]["token"]]
    shown.page.get_by_role("button", name=f"Take {one.candidates()[1]['piece']} instead").click()
    wait_for_answer(shown)
    assert_page_has(shown, OWN, given=given)
    assert shown.state("step") == 3
    assert rows(shown)[1][3] == "✓ written"
    whole = shown.widget.locator(".tfw-decoder-whole").first
    assert "Its first 3 tokens were given" in whole.inner_text()
    open_all(shown)
    head = shown.page.get_by_label("cross-attention, layer 2, head 3", exact=True)
    head.click()
    wait_for_answer(shown)
    assert_page_has(shown, OWN, given=given, silenced=["decoder.1.cross.2"])
    expect(shown.page.get_by_text("With all heads: ")).to_be_visible()
    shown.page.get_by_role("button", name="Take the most probable ones").click()
    wait_for_answer(shown)
    assert_page_has(shown, OWN, silenced=["decoder.1.cross.2"])
    assert shown.page.get_by_text("With all heads: ").is_hidden()  # those had other words
    shown.page.get_by_role("button", name="Let all heads speak").click()
    wait_for_answer(shown)
    assert_page_has(shown, OWN)
    shown.check()


def test_heads_are_silenced_alone_or_all_others_and_the_words_may_be_kept(show):
    shown = show(decoder([TOY, OWN], live=True, beside=True))
    load_model(shown)
    open_all(shown)
    page = shown.page
    before = page.locator(".tfw-decoder-whole").first.inner_text()
    page.get_by_label("the others of its kind").check()
    page.get_by_label("cross-attention, layer 2, head 1", exact=True).click()
    wait_for_answer(shown, 1)
    others = [f"decoder.{i}.cross.{h}" for i in (0, 1) for h in range(8)]
    others.remove("decoder.1.cross.0")
    pressed = shown.widget.locator('[aria-pressed="true"]')
    assert pressed.count() == 15
    for pane, text in enumerate((TOY, OWN)):
        assert_page_has(shown, text, pane, silenced=others)
    assert "15 heads are silenced." in page.locator(".tfw-decoder-whole").first.inner_text()
    said_before = before.split(": ")[1].split(". Its")[0]
    expect(page.get_by_text(f"With all heads: {said_before}.")).to_be_visible()

    page.get_by_role("button", name="Let all heads speak").click()
    wait_for_answer(shown, 1)
    assert page.get_by_text("With all heads").first.is_hidden()
    page.get_by_label("keep the words").check()
    page.get_by_label("the others of its layer").check()
    page.get_by_label("encoder self-attention, layer 1, head 8", exact=True).click()
    wait_for_answer(shown, 1)
    layer = [f"encoder.0.self.{h}" for h in range(7)]
    for pane, text in enumerate((TOY, OWN)):
        tokens = output_steps(translator(), text).tokens
        assert_page_has(shown, text, pane, given=tokens, silenced=layer)
    assert "All its tokens were given." in page.locator(".tfw-decoder-whole").first.inner_text()
    page.get_by_label("this head", exact=True).check()
    page.get_by_label("encoder self-attention, layer 1, head 1", exact=True).click()
    wait_for_answer(shown, 1)
    assert shown.state("question")["silenced"] == layer[1:]
    page.get_by_label("keep the words").uncheck()
    page.get_by_label("encoder self-attention, layer 1, head 1", exact=True).click()
    wait_for_answer(shown, 1)
    assert_page_has(shown, TOY, 0, silenced=layer)
    shown.check()


def test_draws_go_on_from_the_step_and_one_of_one_is_the_most_probable(show):
    shown = show(decoder(OWN, live=True, step=2, temperature=2.0, top_k=1))
    load_model(shown)
    open_all(shown)
    draw = shown.page.get_by_role("button", name="Draw from this step on")
    draw.click()
    wait_for_answer(shown)
    assert_page_has(shown, OWN)
    whole = shown.widget.locator(".tfw-decoder-whole").first
    expect(whole).to_contain_text(
        "Its first token was given; the others were drawn at temperature 2, from the most probable"
    )
    shown.set("top_k", 0)
    seen = set()
    for _ in range(6):
        draw.click()
        wait_for_answer(shown)
        run = shown.state("contents")["runs"][0]
        assert run["tokens"][0] == decoder(OWN).run()["tokens"][0]
        assert_page_has(shown, OWN, given=run["tokens"])  # whatever it drew, its numbers are true
        seen.add(tuple(run["tokens"]))
    assert len(seen) > 1
    shown.check()


def test_a_second_sentence_stands_beside_the_first(show):
    shown = show(decoder(live=True))
    load_model(shown)
    open_all(shown)
    shown.page.get_by_label("a second sentence").check()
    shown.frame()
    translate(shown, OTHER, "A sentence beside it")
    translate(shown, OWN)  # before the other one is answered: both are
    wait_for_answer(shown, 0)
    wait_for_answer(shown, 1)
    assert_page_has(shown, OWN, 0)
    assert_page_has(shown, OTHER, 1)
    shown.page.get_by_label("a second sentence").uncheck()
    shown.page.get_by_label("cross-attention, layer 1, head 1", exact=True).click()
    wait_for_answer(shown)
    shown.page.get_by_label("a second sentence").check()  # it has missed that
    wait_for_answer(shown, 1)
    assert_page_has(shown, OTHER, 1, silenced=["decoder.0.cross.0"])
    shown.check()


def test_no_answer_takes_the_focus_away(show):
    shown = show(decoder(OWN, live=True, step=2))
    load_model(shown)
    open_all(shown)
    for button in (
        shown.page.get_by_role("button", name="Take").nth(2),
        shown.page.get_by_label("cross-attention, layer 1, head 1", exact=True),
        shown.page.get_by_role("button", name="Draw from this step on"),
    ):
        button.press("Enter")
        wait_for_answer(shown)
        focused = button.evaluate("button => document.activeElement === button")
        assert focused or shown.page.evaluate("document.activeElement.tagName") == "BUTTON"
    assert shown.complaints == []


def test_doubt_stands_at_the_field_and_belongs_to_its_sentence(show):
    shown = show(decoder("Zwei Hunde.", name="everyday", live=True), width=390)
    load_model(shown)
    field = shown.page.get_by_label("Your own sentence")
    translate(shown, "asdf qwer")
    wait_for_answer(shown)
    doubt = shown.page.get_by_text("The model is unsure")
    expect(shown.page.get_by_role("button", name="I have lost my keys.")).to_be_hidden()
    first = shown.widget.locator(".tfw-decoder-tokens").first
    assert doubt.bounding_box()["y"] < first.bounding_box()["y"]
    translate(shown, "")
    assert shown.page.get_by_text("Nothing is written here yet.").is_visible()
    assert doubt.count() == 0  # an empty field is another sentence
    field.fill("asdf qwer")
    assert doubt.is_visible()
    shown.check()


def test_what_cannot_be_translated_is_said_and_nothing_is_lost(show):
    shown = show(decoder(live=True))
    load_model(shown)
    translate(shown, "Hund " * 200)
    alert = shown.page.get_by_role("alert")
    expect(alert).to_have_text("This is too long: 200 pieces, and 120 can be shown. Shorten it.")
    assert_shows(shown, decoder())
    translate(shown, OWN)
    wait_for_answer(shown)
    expect(alert).to_be_hidden()
    shown.check()


def test_who_is_ended_by_another_figure_of_the_page_says_so(show):
    shown = show(decoder("Zwei Hunde.", name="everyday", live=True))
    load_model(shown)
    shown.widget.evaluate(
        """async ({ model }) => {
          const live = await model.load(() => {});
          for (const number of [1, 2]) { // the first one is ended by its own successor
            const runs = [{ at: 0, sentence: "Ein Hund und ein Kind.", given: [] }];
            model.set("question", { number, runs, silenced: [] });
          }
          await new Promise(requestAnimationFrame);
          window.said = model.get("message");
          model.set("question", { ...model.get("question"), number: 3 });
          await live.translate("Ein Mann.");
        }"""
    )
    assert shown.page.evaluate("window.said") == ""
    alert = shown.page.get_by_role("alert")
    expect(alert).to_contain_text("another figure of this page has asked the model")
    assert shown.complaints == []


def test_a_kernel_is_asked_and_what_it_says_is_shown(show):
    one = decoder([TOY, OWN])
    shown = show(one)
    shown.render_with_kernel("decoder_at_work")
    kernel = shown.widget.locator(".tfw").last
    field = kernel.get_by_label("Your own sentence")
    field.fill(f" {OTHER} ")
    field.press("Enter")
    assert shown.state("question") == {
        "number": 1, "runs": [{"at": 0, "sentence": OTHER, "given": []}], "silenced": [],
    }  # fmt: skip
    state = kernel.locator(".tfw-decoder-state")
    expect(state).to_have_text("The model writes …")
    one.question = shown.state("question")
    shown.set("contents", one.contents)
    expect(state).to_be_hidden()
    assert one.run()["sentence"] == OTHER
    one.step = shown.state("step")  # it has followed the output to its end
    assert one.step == len(one.run()["tokens"])
    assert_shows(shown, one)
    kernel.get_by_role("button", name="Take").nth(1).click()
    shown.set("message", "there is no <b>word</b>")
    expect(kernel.get_by_role("alert")).to_have_text("there is no <b>word</b>")
    expect(state).to_be_hidden()


def test_it_answers_from_the_disk_too(from_disk):
    shown = from_disk(decoder(live=True))
    load_model(shown)
    shown.page.get_by_label("Your own sentence").fill(OWN)
    shown.page.get_by_role("button", name="Translate").first.click()
    expect(shown.page.locator(".tfw-decoder-whole").first).to_contain_text(
        decoder(OWN).text(), timeout=PAGE_LIMIT
    )
    assert shown.complaints == []


def test_the_recorded_part_is_light():
    """Kilobytes for a sentence: it stands in the page whether a reader moves it or not."""
    one = decoder("Ein Mann mit einem roten Hut sitzt auf einer Bank.", name="everyday")
    text = element_of_widget(one).encode()
    assert len(text) < 12_000 and len(gzip.compress(text)) < 5_500


def test_hostile_tokens_stay_text(show):
    shown = show(decoder("Ein Hund.", name="everyday", live=True))
    load_model(shown)
    text = "<b>x</b> </script> שלום &amp; \u202eabc 👩‍👧"
    translate(shown, text)
    wait_for_answer(shown)
    source = tokens_of(shown, 0)
    assert source == shown.state("contents")["runs"][0]["source"]
    assert shown.widget.locator(".tfw :is(b, script)").count() == 0
    shown.check()


@pytest.mark.slow
def test_nasty_texts_and_quick_changes_leave_the_page_whole(show):
    shown = show(decoder("Zwei Hunde.", name="everyday", live=True))
    load_model(shown)
    ends = shown.widget.evaluate(
        """async (place, texts) => {
          const { model } = place;
          const ends = [];
          for (const [n, sentence] of texts.entries()) {
            model.set("question", { number: 1000 + n, silenced: [],
              runs: [{ at: 0, sentence, given: [] }] });
            for (;;) {
              await new Promise((resolve) => setTimeout(resolve));
              const [run] = model.get("contents").runs;
              if (model.get("message")) { ends.push("refused"); break; }
              if (run.number === 1000 + n && run.done) { ends.push("written"); break; }
            }
          }
          return ends;
        }""",
        nasty(),
    )
    assert len(ends) == 200 and ends.count("refused") < 12
    assert shown.complaints == []
    shown.widget.evaluate(
        """async (place) => {
          const [field] = place.querySelectorAll("input[type=text]");
          const [send] = [...place.querySelectorAll("button")]
            .filter((one) => one.textContent === "Translate");
          for (let i = 0; i < 100; i += 1) {
            field.value = `Ein Hund ${i}.`;
            send.click();
            if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve));
          }
        }"""
    )
    wait_for_answer(shown)
    assert shown.state("contents")["runs"][0]["sentence"] == "Ein Hund 99."
    assert shown.widget.locator(".tfw-decoder-state").inner_text() == ""
    shown.check()


@pytest.mark.slow
def test_fifty_sentences_leave_nothing_in_memory(show):
    shown = show(decoder(live=True))
    load_model(shown)
    protocol = shown.page.context.new_cdp_session(shown.page)
    used = []
    for n_sentences in (5, 50):
        for i in range(n_sentences):
            translate(shown, f"{OWN} {'der Hund ' * (i % 3)}".strip())
            wait_for_answer(shown)
        translate(shown, TOY)
        wait_for_answer(shown)
        protocol.send("HeapProfiler.collectGarbage")
        used.append(protocol.send("Runtime.getHeapUsage")["usedSize"])
        nodes = protocol.send("Memory.getDOMCounters")["nodes"]
        used[-1] = (used[-1], nodes)
    (before, nodes_before), (after, nodes_after) = used
    assert after - before < 300_000  # bytes; an output takes some 50,000
    assert nodes_after - nodes_before < 500
