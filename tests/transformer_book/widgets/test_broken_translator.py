"""The model taken apart on a page: what it carries, what it asks, and all that moves it."""

import gzip
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.transformer_book.widgets.broken_examples import DOG, MAN, OWN, bench

from transformer_book.widgets.breaking import label_of
from transformer_book.widgets.static_page import element_of_widget

OFFER = "Try your own sentence: load the model"
HEADS = "which head is silent"
PAGE_LIMIT = 60_000  # milliseconds, for a machine that is busy


def pressed(shown):
    return shown.widget.locator('[aria-pressed="true"]').all_inner_texts()


def texts(shown):
    """Both translations as shown, and the words that are marked in them."""
    both = shown.widget.locator(".tfw-broken-text")
    marked = [both.nth(i).locator("strong").all_inner_texts() for i in (0, 1)]
    return both.all_inner_texts(), marked


def result(shown):
    """What has become of the translation, and of the head whose lines are drawn."""
    return " ".join(shown.widget.locator(".tfw-readout, .tfw-broken-caption").all_inner_texts()[:2])


def verdict(shown):
    """What is said of the guess."""
    return shown.widget.locator(".tfw-broken-verdict").inner_text()


def rows(shown, side):
    """The tokens and the lines of a picture."""
    picture = shown.widget.locator(".tfw-heads-picture").nth(side)
    words = picture.locator("text").all_text_contents()[2:]  # after what the columns are
    return words, picture.locator(".tfw-heads-lines:not(.tfw-heads-strong) path").count()


def n_drawn(one, broken=(), sentence=None):
    """How many tokens of an output have a row; one that is longer than the sound one says so."""
    sound, other = (len(one.run(parts, sentence)["output"]) for parts in ((), broken))
    return other if other <= sound else sound - 1


def dashed(shown):
    """How many links of each picture are dashed."""
    both = shown.widget.locator(".tfw-heads-truth")
    return [(both.nth(i).get_attribute("d") or "").count("M") for i in (0, 1)]


def assert_shows(shown, one, broken=(), sentence=None):
    """What is shown is what Python has."""
    shown.frame()
    runs = [one.run((), sentence), one.run(broken, sentence)]
    said, _ = texts(shown)
    assert said == [run["text"] + ("" if run["ended"] else " …") for run in runs]
    for side, run in enumerate(runs):
        words, _ = rows(shown, side)
        output = run["output"][: n_drawn(one, run["broken"], sentence)]
        plain = [t.replace("▁", "") or t for t in (*output, *run["source"])]
        longest = 8 if shown.page.viewport_size["width"] < 640 else 13
        cut = [t if len(t) <= longest else f"{t[: longest - 1]}…" for t in plain]
        more = len(run["output"]) - len(output)
        assert words == ([*cut, f"… and {more} more"] if more else cut)
    labels = [label_of(part) for part in broken if part.count(".") < 3]
    silent = [part for part in broken if part.count(".") == 3]
    assert pressed(shown) == labels + ["one head silent"] * len(silent)


def more(shown):
    """Opens what is folded away."""
    shown.widget.locator("summary").click()


def load_model(shown, field="Your own sentence"):
    more(shown)
    shown.page.get_by_role("button", name=OFFER).click()
    expect(shown.page.get_by_label(field)).to_be_focused(timeout=PAGE_LIMIT)


def wait_for(shown, n_runs):
    shown.page.wait_for_function(
        """n => document.querySelector(".widget-place").model.get("contents").runs.length === n""",
        arg=n_runs,
        timeout=PAGE_LIMIT,
    )
    shown.frame()


def press(shown, part):
    name = "one head silent" if part.count(".") == 3 else label_of(part)
    shown.page.get_by_role("button", name=name, exact=True).click()
    shown.frame()


def test_each_part_shows_what_it_was_for_before_any_model_is_there(show, look):
    one = bench(layer=1, head=3)
    shown = show(one, **look)
    assert_shows(shown, one)
    expect(shown.page.get_by_text("Nothing is broken")).to_have_count(1)
    shown.check()
    for part in ("src_positions", "shortcuts", "encoder.1", "decoder.1.cross.0"):
        press(shown, part)  # one at a time: the one before is mended
        assert_shows(shown, one, [part])
        sound, other = one.text(), one.text(part)
        if sound == other:
            assert "the same translation, word for word" in shown.readout().lower()
        else:
            said = re.search(r"New words: (\d+) of (\d+); lost: (\d+) of (\d+)", shown.readout())
            fresh, whole, lost, before = map(int, said.groups())
            assert (whole, before) == (len(other.split()), len(sound.split()))
            assert whole - fresh == before - lost
            assert len(texts(shown)[1][1]) == fresh
        width, n_rows = len(one.run()["source"]), 1
        a, b = (np.array(one.run(x)["weights"][11]).reshape(-1, width) for x in ((), [part]))
        before, after = one.run()["output"], one.run([part])["output"]
        while n_rows < min(len(a), len(b)) and before[:n_rows] == after[:n_rows]:
            n_rows += 1
        moved = np.abs(a[:n_rows] - b[:n_rows]).sum(1) / 2
        found = re.search(r"layer 2, head 4 has moved (\d+)\s%", result(shown))
        assert abs(int(found[1]) - moved.mean()) <= 0.51
        most = re.search(r'most at "(.+?)".*: (\d+)\s%', result(shown))
        assert (most is None) == (moved.max() == 0)
        if most:
            assert most[1].startswith(after[int(moved.argmax())])
            assert abs(int(most[2]) - moved.max()) <= 0.51
        gone = (a[:n_rows] - b[:n_rows] >= 20)[: n_drawn(one, [part])].sum()
        assert dashed(shown) == [0, gone]
    shown.page.get_by_role("button", name="Mend all").click()
    assert_shows(shown, one)
    shown.check()


def test_sentences_and_heads_are_chosen_and_lines_are_those_of_the_head(show):
    one = bench()
    shown = show(one)
    press(shown, "roles")
    shown.page.get_by_label("sentence", exact=True).select_option(DOG)
    assert_shows(shown, one, ["roles"], DOG)
    for layer, head in ((0, 2), (1, 7)):
        shown.page.get_by_label("layer", exact=True).select_option(index=layer)
        shown.page.get_by_label("head", exact=True).select_option(index=head)
        shown.frame()
        for side, broken in enumerate(((), ["roles"])):
            weights = np.array(one.run(broken, DOG)["weights"][8 * layer + head])
            picture = shown.widget.locator(".tfw-heads-picture").nth(side)
            drawn = picture.locator(".tfw-heads-lines:not(.tfw-heads-strong) path")
            strokes = drawn.evaluate_all(
                "all => all.map(p => p.getAttribute('d').split('M').length)"
            )
            seen = weights[: n_drawn(one, broken, DOG) * len(one.run(broken, DOG)["source"])]
            assert sum(n - 1 for n in strokes) == (seen >= 5).sum()
    picture.press("Home")
    row = weights[: len(one.run(["roles"], DOG)["source"])]
    strongest = one.run(["roles"], DOG)["source"][int(row.argmax())]
    assert f'looks at "{strongest}"' in shown.readout(2)
    assert f" with {row.max() / 100:.3f}" in shown.readout(2)
    shown.check()


def test_without_a_model_several_parts_are_refused_in_a_sentence(show):
    one = bench()
    shown = show(bench(live=True))
    said = "Press a part to break it, one at a time; for more, load the model below."
    assert shown.readout() == said
    press(shown, "roles")
    press(shown, "scaling")
    assert_shows(shown, one, ["scaling"])
    more(shown)
    shown.page.get_by_label(HEADS).select_option("encoder self-attention, layer 1, head 2")
    press(shown, "encoder.0.self.1")
    assert_shows(shown, one, ["scaling"])
    assert shown.readout().startswith("This head was not tried beforehand: for more, load")
    shown.page.get_by_label(HEADS).select_option("cross-attention, layer 2, head 1")
    press(shown, "decoder.1.cross.0")
    assert_shows(shown, one, ["decoder.1.cross.0"])
    shown.page.get_by_label(HEADS).select_option("cross-attention, layer 2, head 2")
    shown.frame()
    assert_shows(shown, one)  # the button has gone up: nobody knows what this head does
    assert shown.state("question") == {}
    shown.check()


def test_the_model_in_the_page_breaks_as_python_does(show, look):
    one, shown = bench([MAN]), show(bench([MAN], live=True), **look)
    n_runs = len(one.contents["runs"])
    load_model(shown)
    press(shown, "roles")
    press(shown, "causal_mask")
    wait_for(shown, n_runs + 1)
    one.translate("roles", "causal_mask")
    assert_shows(shown, one, ["roles", "causal_mask"])
    field = shown.page.get_by_label("Your own sentence")
    field.fill(OWN)
    field.press("Enter")
    wait_for(shown, n_runs + 3)
    one.translate("roles", "causal_mask", sentence=OWN)
    assert_shows(shown, one, ["roles", "causal_mask"], OWN)
    shown.page.get_by_role("button", name="Mend all").click()
    press(shown, "decoder.1.cross.0")
    wait_for(shown, n_runs + 4)
    shown.page.get_by_label(HEADS).select_option("decoder self-attention, layer 1, head 3")
    wait_for(shown, n_runs + 5)
    one.translate("decoder.1.cross.0", sentence=OWN)
    one.translate("decoder.0.self.2", sentence=OWN)
    assert_shows(shown, one, ["decoder.0.self.2"], OWN)
    for ours, theirs in zip(shown.state("contents")["runs"], one.contents["runs"], strict=True):
        assert {**ours, "weights": 0} == {**theirs, "weights": 0}
        assert np.abs(np.array(ours["weights"]) - np.array(theirs["weights"])).max() <= 1
    field.fill("Hund " * 50)
    field.press("Enter")
    expect(shown.page.get_by_role("alert")).to_contain_text("and 40 can be shown")
    shown.page.get_by_label("sentence", exact=True).select_option(MAN)
    wait_for(shown, n_runs + 6)
    expect(shown.page.get_by_role("alert")).to_be_hidden()
    assert shown.readout() != "The model writes …"
    shown.check()


def test_keyboard_and_finger_press_and_keep_the_focus(show):
    shown = show(bench(), touch=True)
    button = shown.page.get_by_role("button", name="no shortcuts")
    button.press("Space")
    shown.frame()
    assert pressed(shown) == ["no shortcuts"]
    assert button.evaluate("button => document.activeElement === button")
    button.tap()
    shown.frame()
    assert pressed(shown) == []
    button.press("Enter")
    shown.frame()  # from which on there is something to mend
    shown.page.get_by_role("button", name="Mend all").press("Enter")
    shown.frame()
    assert pressed(shown) == []
    picture = shown.widget.locator(".tfw-heads-picture").last
    picture.press("End")
    assert shown.readout(2).startswith('"</s>" looks at ')
    shown.check()


def test_a_kernel_is_asked_and_what_it_says_is_shown(show):
    one = bench([MAN])
    shown = show(one)
    shown.render_with_kernel("broken_translator")
    kernel = shown.widget.locator(".tfw").last
    for name in ("keys and queries exchanged", "no causal mask"):
        kernel.get_by_role("button", name=name).click()
    asked = {"number": 1, "sentence": MAN, "broken": ["roles", "causal_mask"]}
    assert shown.state("question") == asked
    waiting = kernel.locator(".tfw-readout").first.get_by_text("The model writes …").first
    expect(waiting).to_be_visible()
    one.question = asked
    shown.set("contents", one.contents)
    expect(waiting).to_be_hidden()
    said = one.text("roles", "causal_mask")
    expect(kernel.locator(".tfw-broken-text").last).to_contain_text(said)
    kernel.get_by_role("button", name="no shortcuts").click()
    expect(waiting).to_be_visible()
    shown.set("message", "there is no <b>word</b>")
    expect(kernel.get_by_role("alert")).to_have_text("there is no <b>word</b>")
    expect(waiting).to_be_hidden()


def test_one_question_may_stand_alone(show, look):
    one = bench(parts=["src_positions"], silent="")
    shown = show(one, **look)
    buttons = shown.widget.get_by_role("button").all_inner_texts()
    assert buttons == ["no source positions"]
    press(shown, "src_positions")
    assert_shows(shown, one, ["src_positions"])
    shown.check()


QUESTION = {
    "ask": "What will it write?",
    "answers": ["The same", "Something else", "Nothing"],
    "right": "Something else",
    "why": "The source is a bag of words.",
}


def test_a_question_is_answered_before_a_part_can_be_broken(show, look):
    one = bench(parts=["src_positions", "roles"], silent="", **QUESTION)
    shown = show(one, **look)
    button = shown.page.get_by_role("button", name="no source positions")
    button.press("Enter")
    assert_shows(shown, one)
    assert verdict(shown) == "Say first what you expect; then press a button."
    shown.page.get_by_role("radio", name="The same").press("Space")
    shown.frame()
    press(shown, "roles")
    assert "You expected" not in verdict(shown)  # the question is about the first part
    press(shown, "src_positions")
    assert shown.state("broken") == ["src_positions"]
    said = "You expected: “The same”. What came out: “Something else”."
    assert said in verdict(shown) and QUESTION["why"] in verdict(shown)
    shown.page.get_by_role("radio", name="Something else").check()
    shown.frame()
    assert "You expected: “Something else”. That is what came out." in verdict(shown)
    press(shown, "roles")
    assert "You expected" in verdict(shown)  # it stays
    shown.check()


def test_a_question_may_be_about_another_part(show):
    shown = show(bench(about="shortcuts", **QUESTION))
    shown.page.get_by_role("radio", name="Nothing").check()
    for part in ("src_positions", "shortcuts"):
        press(shown, part)
        assert ("You expected" in verdict(shown)) == (part == "shortcuts")


def test_one_word_is_changed_and_the_links_that_moved_are_dashed(show, look):
    one = bench([MAN], variants=[DOG, OWN], attention="encoder", layer=0, head=3, live=True)
    shown = show(one, **look)
    assert shown.readout() == "Both are the same sentence. Press a word to change it."
    names = shown.widget.locator(".tfw-broken-parts button").all_inner_texts()
    shown.page.get_by_role("button", name=names[0], exact=True).click()
    shown.frame()
    assert shown.state("variant") == DOG
    said, marked = texts(shown)
    assert said == [one.text(sentence=text) for text in (MAN, DOG)]
    assert all(marked)
    weights = [one.weights(sentence=text) for text in (MAN, DOG)]
    for side, sentence in enumerate((MAN, DOG)):
        words, lines = rows(shown, side)
        assert words == [*sentence.split(), "</s>"] * 2 and lines > 0
    assert dashed(shown) == [0, (np.round(weights[0] - weights[1], 2) >= 0.2).sum()]
    moved = np.abs(weights[0] - weights[1]).sum(1) / 2
    found = re.search(r"Layer 1, head 4 has moved (\d+)\s%", result(shown))
    assert abs(int(found[1]) - 100 * moved.mean()) <= 0.51
    shown.check()
    shown.page.get_by_role("button", name=names[1], exact=True).click()
    shown.frame()
    assert "has moved" not in result(shown)  # of another length: no row stands beside another
    load_model(shown, "Change any word of it")
    field = shown.page.get_by_label("Change any word of it")
    assert field.input_value() == MAN
    other = MAN.replace("sieht", "hört")
    field.fill(other)
    field.press("Enter")
    wait_for(shown, len(one.contents["runs"]) + 1)
    one.translate(sentence=other)
    assert texts(shown)[0] == [one.text(sentence=text) for text in (MAN, other)]
    field.fill(MAN)
    field.press("Enter")
    shown.frame()
    assert shown.state("variant") == ""
    field.fill("Hund " * 50)
    field.press("Enter")
    expect(shown.page.get_by_role("alert")).to_contain_text("and 40 can be shown")
    assert shown.state("variant") == ""
    shown.check()


@pytest.mark.parametrize("width", [390, 800])
def test_no_part_that_is_broken_changes_how_tall_it_is(show, width):
    """Nor what is said of the guess; a stammer has no more rows than the sound translation."""
    sentences = ["Zwei Hunde spielen im Schnee.", "Ein Hund sucht einen Mann."]
    one = bench(sentences, name="everyday", live=True, layer=1, head=0, **QUESTION)
    assert len(one.run(["shortcuts"])["output"]) > len(one.run()["output"]) + 5
    shown = show(one, width=width)
    heights = {shown.height()}
    shown.page.get_by_role("radio", name="The same").check()
    for part in [name for name, _ in one.contents["parts"]] + [one.silent]:
        press(shown, part)
        assert_shows(shown, one, [part])
        heights.add(shown.height())
    shown.page.get_by_label("sentence", exact=True).select_option(sentences[1])
    shown.frame()
    heights.add(shown.height())
    assert max(heights) < 1000
    assert max(heights) - min(heights) < 1
    for title in shown.widget.locator(".tfw-heads-title").all():
        size = title.evaluate("one => one.getScreenCTM().a * one.getAttribute('font-size')")
        assert size > 11  # pixels
    shown.check()


def test_on_a_phone_the_lines_of_a_long_sentence_are_not_cut(show):
    german = "Ein Mann mit einem Hut spielt mit seinem Hund im Schnee."
    shown = show(bench([german], name="everyday", live=True, layer=1, head=0), width=390)
    heights = "(box) => [box.scrollHeight, box.clientHeight]"
    for box in shown.widget.locator(".tfw-heads-tall").all():
        inside, seen = box.evaluate(heights)
        assert 200 < inside <= seen


@pytest.mark.slow
def test_the_recorded_part_is_light():
    """Kilobytes for a sentence: it stands in the page whether a reader moves it or not."""
    sentences = ["Das Mädchen sucht das Pferd.", "Das Pferd sucht das Mädchen."]
    text = element_of_widget(bench(sentences, name="everyday")).encode()
    assert len(text) < 70_000 and len(gzip.compress(text)) < 15_000


@pytest.mark.slow
def test_it_answers_from_the_disk_too(from_disk):
    shown = from_disk(bench([MAN], live=True))
    load_model(shown)
    shown.page.get_by_label("Your own sentence").fill(OWN)
    shown.page.get_by_role("button", name="Translate").click()
    expect(shown.widget.locator(".tfw-broken-text").first).to_contain_text(
        bench([OWN]).text(), timeout=PAGE_LIMIT
    )
    assert shown.complaints == []
