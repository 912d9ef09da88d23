"""A reader's own sentence on a page without a kernel: the page loads the model, and it answers."""

import base64
import zlib
from functools import cache

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.transformer_book.widgets.nasty import nasty
from tools.site.after import policy
from transformer.text import BOS_ID, EOS_ID

from transformer_book.page.model_scripts import (
    SCRIPT_TEXT,
    page_model,
    rounded_translator,
    shipped_pack,
)
from transformer_book.page.widget_pages import WidgetPage
from transformer_book.shipped import shipped_model
from transformer_book.widgets import AttentionHeads, BeamExplorer

TOY = "der Hund sieht die Katze ."
OWN = "die Frau hat den Mann gesehen ."
# What four readers typed.
KNOWN = ["Wo ist der Bahnhof?", "I have to get up early tomorrow."]
STRANGE = ["asdf qwer", "\u65e5\u672c\u8a9e\u306e\u6587"]
OFFER = "Try your own sentence: load the model"


@cache
def translator(name):
    return rounded_translator(shipped_model(name))


def heads(name="toy_german", sentence=TOY, **settings):
    return AttentionHeads(translator(name).attention(sentence), live=page_model(name), **settings)


def beams(name="toy_german", sentence=TOY, **settings):
    marks = {"bos_id": BOS_ID, "eos_id": EOS_ID}
    return BeamExplorer(translator(name), [sentence], live=page_model(name), **marks, **settings)


def requests_of(page: Page) -> list[str]:
    script = "performance.getEntriesByType('resource').map(({ name }) => name)"
    return page.evaluate(script)


def answer_beside(shown: WidgetPage) -> Locator:
    """What is said beside the field."""
    return shown.page.locator(".tfw-own-answer")


def load_model(shown: WidgetPage) -> None:
    shown.page.get_by_role("button", name=OFFER).click()
    expect(shown.page.get_by_label("Your own sentence")).to_be_visible(timeout=60_000)


def ask(shown: WidgetPage, text: str) -> None:
    field = shown.page.get_by_label("Your own sentence")
    field.fill(text)
    field.press("Enter")


def wait_for(shown: WidgetPage, examples: int) -> None:
    shown.page.wait_for_function(
        "n => document.querySelector('.widget-place').model.get('contents').examples.length === n",
        arg=examples,
    )


def cells_of(packed: bytes) -> np.ndarray:
    planes = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(2, -1).astype(int)
    return planes[0] + 256 * planes[1]


def packed_on(shown: WidgetPage) -> bytes:
    script = """place => { const view = place.model.get("packed");
      return [...new Uint8Array(view.buffer, view.byteOffset, view.byteLength)]; }"""
    return bytes(shown.widget.evaluate(script))


def test_nothing_of_the_model_is_asked_for_before_the_click(show):
    shown = show(heads(), width=360)
    size = f"{shipped_pack('toy_german').size / 1e6:.1f} MB"
    button = shown.page.get_by_role("button", name=OFFER)
    assert size in button.inner_text()
    assert shown.page.get_by_label("Your own sentence").count() == 0
    assert [url for url in requests_of(shown.page) if "live" in url or "models" in url] == []
    button.click()
    expect(shown.page.get_by_label("Your own sentence")).to_be_focused(timeout=60_000)
    asked = [url for url in requests_of(shown.page) if "models" in url]
    assert len(asked) == page_model("toy_german")["parts"]
    shown.check()


def test_the_heads_of_a_sentence_are_those_that_python_shows(show):
    expected, shown = heads(on_sentence=translator("toy_german").attention), show(heads())
    load_model(shown)
    expected.sentence = OWN
    assert expected.message == ""
    ask(shown, OWN)
    wait_for(shown, 2)
    assert shown.state("contents") == expected.contents
    assert shown.state("example") == expected.example == 1
    ours, theirs = cells_of(packed_on(shown)), cells_of(expected.packed)
    assert ours.shape == theirs.shape and np.abs(ours - theirs).max() <= 1
    assert (ours != theirs).mean() < 0.001  # a rounding that falls the other way
    heading = shown.page.locator(".tfw-rows span").all_inner_texts()
    assert heading == expected.contents["examples"][1]["source"]
    [said] = translator("toy_german").translate([OWN])
    expect(shown.page.locator(".tfw-heads-said")).to_have_text(f"{OWN} \u2192 {said}")
    shown.check()


@pytest.mark.parametrize("name", ["toy_german", "everyday"])
def test_rows_stand_under_the_token_that_is_about_to_be_written(name, show, look):
    sentence, own = {
        "toy_german": (TOY, OWN),
        "everyday": ("Zwei Hunde.", "Ein Kind spielt im Schnee."),
    }[name]
    expected = heads(name, sentence, written=True, on_sentence=translator(name).attention)
    shown = show(heads(name, sentence, written=True, view="lines"), **look)
    line = shown.page.locator(".tfw-heads-said")
    expect(line).to_have_text(expected.contents["examples"][0]["said"])
    load_model(shown)
    expected.sentence = own
    ask(shown, own)
    wait_for(shown, 2)
    contents, said = shown.state("contents"), translator(name).translate([own])[0]
    assert contents.pop("back", said) == said  # what a press translates back
    assert contents == expected.contents
    assert np.abs(cells_of(packed_on(shown)) - cells_of(expected.packed)).max() <= 1
    expect(line).to_have_text(f"{own} \u2192 {said}")
    shown.check()


@pytest.mark.parametrize("width", [390, 1000])
def test_who_does_not_know_what_to_ask_taps_a_sentence_and_is_told_when_the_model_is_unsure(
    show, width
):
    shown = show(heads("everyday", "Zwei Hunde."), width=width)
    load_model(shown)
    field = shown.page.get_by_label("Your own sentence, English or German")
    offered = field.get_attribute("placeholder")
    unsure = shown.page.get_by_text("The model is unsure")
    tapped = shown.page.get_by_role("button", name=offered)
    if width == 390:  # where the sentences would take the place of the picture
        expect(tapped).to_be_hidden()
        shown.page.get_by_text("Sentences to try").click()
    tapped.click()
    wait_for(shown, 2)
    expect(tapped).to_be_hidden()  # between the field and its answer nothing stands now
    assert field.input_value() == offered and unsure.count() == 0
    for number, text in enumerate(KNOWN + STRANGE, 3):
        ask(shown, text)
        wait_for(shown, number)
        assert unsure.count() == (text in STRANGE), text
    shown.set("example", 0)
    expect(answer_beside(shown)).to_have_text("")  # that is another sentence
    shown.set("example", number - 1)
    expect(unsure).to_have_count(1)
    ask(shown, "")
    expect(answer_beside(shown)).to_have_text("Nothing is written here yet.")  # and nothing else
    ask(shown, text)
    expect(unsure).to_have_count(1)  # once more, as the answer still stands below
    ask(shown, 600 * "x")
    expect(shown.page.get_by_role("alert")).to_be_visible()
    expect(answer_beside(shown)).to_have_text("")  # that was another sentence
    shown.check()


def test_the_field_of_a_small_language_says_which_and_is_honest_about_other_words(show):
    shown = show(heads(), width=390, touch=True)
    load_model(shown)
    field = shown.page.get_by_label("Your own sentence, in toy German")
    shown.page.get_by_text("Sentences to try").tap()
    offered = shown.widget.locator(".tfw-suggestions button")
    texts = offered.all_inner_texts()
    assert field.get_attribute("placeholder") == texts[0] and len(texts) == 3
    unknown = translator("toy_german").tokenizer.encode("Elefant")
    assert not set(unknown) & set(translator("toy_german").tokenizer.encode(" ".join(texts)))
    offered.last.tap()
    wait_for(shown, 2)
    expect(answer_beside(shown)).to_have_text("")
    some, one = (f"{n} not in the model's vocabulary (\u2068" for n in ("2 words are", "1 word is"))
    for number, (sentence, read, honest) in enumerate([
        ("Where is Rome?", "Where is Rome ?", f"{some}Where\u2069, \u2068Rome\u2069)"),
        ("die Maus sieht den Hund.", "die Maus sieht den Hund .", f"{one}Maus\u2069)"),
        ("Der Hund schläft.", "der Hund schläft .", None),
    ], start=3):  # fmt: skip
        ask(shown, sentence)
        wait_for(shown, number)
        if honest:
            expect(answer_beside(shown)).to_contain_text(honest)
            expect(answer_beside(shown)).to_contain_text("It reads toy German only.")
        else:
            expect(answer_beside(shown)).to_have_text("")
        assert field.input_value() == read
        [found] = translator("toy_german").translate([read])
        expect(shown.page.locator(".tfw-heads-said")).to_have_text(f"{read} \u2192 {found}")
    shown.check()


def test_a_translation_without_a_word_is_called_so(show):
    nothing = "nothing (the end mark comes first)"
    assert translator("everyday").translate(["a"]) == [""]
    shown = show(heads("everyday", "Zwei Hunde."))
    load_model(shown)
    ask(shown, "a")
    wait_for(shown, 2)
    expect(shown.page.locator(".tfw-heads-said")).to_have_text(f"a \u2192 {nothing}")
    shown = show(beams("everyday", "Zwei Hunde."))
    load_model(shown)
    ask(shown, "a")
    wait_for(shown, 2)
    expect(answer_beside(shown)).to_contain_text(f"The search ends with {nothing}.")


# Ten words each, the last one of many pieces.
TEN_WORDS = [
    "Could you please tell me where the nearest train station is?",
    "My brother bought an expensive motorcycle without asking his parents.",
]


@pytest.mark.parametrize("explorer", [heads, beams])
def test_on_a_phone_ten_words_of_ones_own_make_no_tall_figure(show, explorer):
    shown = show(explorer("everyday", "Zwei Hunde spielen im Schnee."), width=390, touch=True)
    load_model(shown)
    for number, sentence in enumerate(TEN_WORDS, start=2):
        before = shown.height()
        waiting = shown.widget.evaluate(
            """(place, sentence) => {
              const field = place.querySelector("input[type=text]");
              field.value = sentence;
              field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
              const { height } = place.querySelector(".tfw").getBoundingClientRect();
              return [place.querySelector(".tfw-own-answer").innerText, height];
            }""",
            sentence,
        )
        assert waiting[0].endswith("\u2026")
        assert waiting[1] == before
        wait_for(shown, number)
        shown.frame()
        heights = [shown.height()]
        for one in shown.widget.locator("input[type=radio]").all():
            one.check()
            shown.frame()
            heights.append(shown.height())
        assert max(heights) <= 1000, sentence
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_edge_beyond_which_a_picture_goes_on_is_pale(show):
    shown = show(heads("everyday", "Zwei Hunde.", view="lines"), width=390, touch=True)
    box = shown.page.locator(".tfw-heads-tall")
    expect(box).to_have_attribute("data-cut", "")
    load_model(shown)
    ask(shown, f"{TEN_WORDS[0][:-1]} and when the next train leaves?")
    wait_for(shown, 2)
    expect(box).to_have_attribute("data-cut", "bottom")
    assert box.evaluate("box => getComputedStyle(box).maskImage").count("2.5rem") == 0
    box.evaluate("box => box.scrollBy(0, 20)")
    expect(box).to_have_attribute("data-cut", "top bottom")
    box.evaluate("box => box.scrollBy(0, 2000)")
    expect(box).to_have_attribute("data-cut", "top")
    shown = show(beams("everyday", "Zwei Hunde spielen im Schnee."), width=390)
    tree = shown.page.locator(".tfw-scroll:has(.tfw-beam-tree)")
    expect(tree).to_have_attribute("data-cut", "")
    shown.page.get_by_role("slider", name="step").press("End")
    expect(tree).to_have_attribute("data-cut", "left")  # beyond the front nothing has grown
    tree.evaluate("box => box.scrollTo(0, 0)")
    expect(tree).to_have_attribute("data-cut", "right")


def test_the_trees_of_a_sentence_are_those_that_python_shows(show):
    expected, shown = beams(), show(beams())
    load_model(shown)
    expected.sentence = OWN
    ask(shown, OWN)
    wait_for(shown, 2)
    pieces = {}
    for name, contents in (("page", shown.state("contents")), ("python", expected.contents)):
        trees = contents["examples"][1]["trees"]
        pieces[name] = {
            size: [contents["pieces"][token] for token in tree["token"]]
            for size, tree in trees.items()
        }
        assert contents["pieces"][contents["end"]] == "</s>"
    assert pieces["page"] == pieces["python"]
    ours = shown.state("contents")["examples"][1]["trees"]
    [best] = translator("toy_german").translate([OWN], beam_size=expected.beam_size)
    found = shown.page.get_by_text("The search ends with")
    assert f"\u201c\u2068{best}\u2069\u201d" in found.inner_text()
    assert best.endswith(".") and "\u201d." not in found.inner_text()  # one full stop is enough
    for size, tree in expected.contents["examples"][1]["trees"].items():
        for name in ("parent", "fate", "cut"):
            assert ours[size][name] == tree[name]
        for name in ("log_prob", "total"):
            assert ours[size][name] == pytest.approx(tree[name], abs=3e-5)
    shown.check()


@pytest.mark.parametrize("strict", [False, True], ids=["the book's policy", "'self' alone"])
def test_the_everyday_model_answers_under_both_policies(show, monkeypatch, strict):
    if strict:
        monkeypatch.setitem(policy.POLICY, "script-src", "'self'")
    name = "everyday"
    shown = show(heads(name, "Zwei Hunde."))
    load_model(shown)
    engine = shown.widget.evaluate("async place => (await place.model.load(() => {})).engine")
    assert engine == ("plain" if strict else "simd")
    ask(shown, "Ein Kind spielt im Schnee.")
    wait_for(shown, 2)
    target = shown.state("contents")["examples"][1]["target"]
    said = translator(name).attention("Ein Kind spielt im Schnee.").target
    assert target == said
    # Where the browser refuses to compile, it may say so; nothing else is complained of.
    assert [c for c in shown.complaints if "WebAssembly" not in c and "wasm" not in c] == []


def test_it_answers_from_the_disk_too(from_disk):
    own = from_disk(heads())
    load_model(own)
    ask(own, OWN)
    wait_for(own, 2)
    assert own.complaints == []


def test_a_copy_that_lacks_a_part_or_has_it_damaged_says_so_from_the_disk(from_disk, site):
    own = from_disk(heads())
    *_, part = sorted(site.folder.glob("**/models/toy_german/*.js"))
    whole = part.read_text()
    try:
        part.write_text(one_letter_changed(whole))
        own.page.get_by_role("button", name=OFFER).click()
        said = own.page.get_by_text("Part of the model is damaged. Copy the folder again, whole.")
        expect(said).to_be_visible(timeout=60_000)
        part.unlink()
        own.page.reload()
        own.page.get_by_role("button", name=OFFER).click()
        expect(own.page.get_by_text("Part of the model is missing.")).to_be_visible(timeout=60_000)
    finally:
        part.write_text(whole)


def test_what_cannot_be_translated_is_said_and_nothing_is_lost(show):
    shown = show(heads())
    load_model(shown)
    ask(shown, "Hund " * 2000)
    alert = shown.page.get_by_role("alert")
    expect(alert).to_contain_text("and 120 can be shown")
    ask(shown, OWN)
    wait_for(shown, 2)
    expect(alert).to_be_hidden()


def test_where_data_are_dear_it_asks_twice(browser, show, site):
    show(heads())
    context = browser.new_context()
    context.add_init_script(
        "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
    )
    page = context.new_page()
    page.goto(site.address)
    own = WidgetPage(page, page.locator(".widget-place"), [])
    page.get_by_role("button", name=OFFER).click()
    expect(page.get_by_text("Press again to load")).to_be_visible()
    assert [url for url in requests_of(page) if "models" in url] == []
    load_model(own)
    context.close()


def test_a_model_that_does_not_come_is_asked_for_again(show):
    shown = show(heads())
    shown.page.context.route("**/models/**", lambda route: route.abort())
    button = shown.page.get_by_role("button", name=OFFER)
    button.click()
    expect(shown.page.get_by_text("could not be loaded")).to_be_visible()
    shown.page.context.unroute("**/models/**")
    load_model(shown)


def one_letter_changed(script: str) -> str:
    middle = len(script) // 2
    return script[:middle] + ("A" if script[middle] != "A" else "B") + script[middle + 1 :]


def other_weights(script: str) -> str:
    """A part with another byte in it, as sound as zlib can tell."""
    text = SCRIPT_TEXT.search(script)[1]
    content = bytearray(zlib.decompress(base64.b64decode(text)))
    content[-1] ^= 1
    return script.replace(text, base64.b64encode(zlib.compress(bytes(content))).decode())


@pytest.mark.parametrize(
    "damage", [one_letter_changed, other_weights, lambda script: script[: len(script) // 2]],
    ids=["one letter", "other weights", "half"],
)  # fmt: skip
def test_a_damaged_part_is_called_so_and_fetched_anew(show, damage):
    shown = show(heads())

    def damaged(route):
        route.fulfill(body=damage(route.fetch().text()), content_type="text/javascript")

    shown.page.context.route("**/models/**", damaged)
    shown.page.get_by_role("button", name=OFFER).click()
    expect(shown.page.get_by_text("Part of the model is damaged.")).to_be_visible(timeout=60_000)
    shown.page.context.unroute("**/models/**")
    load_model(shown)
    ask(shown, "der Mann sieht den Hund .")
    wait_for(shown, 2)


def test_what_another_figure_has_ended_can_be_asked_again(show):
    shown = show(heads())
    load_model(shown)
    text = "der Mann sieht den Hund ."
    shown.widget.evaluate(
        """async (place, text) => {
          const live = await place.model.load(() => {});
          place.model.set("sentence", text);
          await live.translate("die Frau sieht den Mann .");
        }""",
        text,
    )
    expect(shown.page.get_by_text("ask again")).to_be_visible()
    ask(shown, text)
    wait_for(shown, 2)
    expect(shown.page.get_by_text("ask again")).to_have_count(0)


def test_a_model_that_arrives_takes_nobodys_place(show):
    shown = show(heads())
    shown.page.evaluate(
        """() => {
          document.body.append(Object.assign(document.createElement("input"), { id: "other" }));
          new MutationObserver(() => document.getElementById("other").focus())
            .observe(document.querySelector(".widget-place [role=status]"), { childList: true });
        }"""
    )
    load_model(shown)
    assert shown.page.evaluate("document.activeElement.id") == "other"


@pytest.mark.slow
def test_nasty_texts_and_quick_changes_leave_the_page_whole(show):
    shown = show(heads("everyday", "Zwei Hunde."))
    load_model(shown)
    said = shown.widget.evaluate(
        """async (place, texts) => {
          const live = await place.model.load(() => {});
          const ends = [];
          for (const text of texts) {
            try {
              ends.push(typeof (await live.translate(text)).text);
            } catch (error) {
              ends.push(error.name);
            }
          }
          return ends;
        }""",
        nasty(),
    )
    assert len(said) == 200 and set(said) == {"string", "RangeError"}
    assert said.count("RangeError") < 10  # what is empty, or five thousand letters long
    shown.widget.evaluate(
        """async (place) => {
          for (let i = 0; i < 100; i += 1) {
            place.model.set("sentence", `Hund ${i} .`);
            if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve));
          }
        }"""
    )
    shown.page.wait_for_function(
        "() => document.querySelector('.widget-place').model.get('contents').examples.at(-1)"
        ".source.join('').includes('\u2581Hund\u258199')"
    )
    # Those within a turn are superseded; after each tenth one may come to its end.
    assert len(shown.state("contents")["examples"]) <= 12
    assert shown.complaints == []


@pytest.mark.slow
def test_fifty_sentences_leave_nothing_in_memory(show):
    shown = show(heads())
    load_model(shown)
    protocol = shown.page.context.new_cdp_session(shown.page)
    used = []
    for n_sentences in (5, 50):
        shown.widget.evaluate(
            """async (place, n) => {
              const live = await place.model.load(() => {});
              for (let i = 0; i < n; i += 1) await live.attention("die Katze sieht den Hund .");
            }""",
            n_sentences,
        )
        protocol.send("HeapProfiler.collectGarbage")
        used.append(protocol.send("Runtime.getHeapUsage")["usedSize"])
    assert used[1] - used[0] < 300_000  # bytes; the weights of one sentence's heads take 100,000
