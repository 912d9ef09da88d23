"""The heads explorer draws and says the weights that the model has, head by head."""

import gzip
import math
import re

import numpy as np
import pytest
import torch
import traitlets
from matplotlib.colors import to_rgb
from playwright.sync_api import expect

from tests.transformer_book.widgets.heads_examples import LINKS, made, real, true
from transformer.introspect import mass_on

from transformer_book.figures.style import FRAME
from transformer_book.widgets.attention_heads import KINDS, AttentionHeads
from transformer_book.widgets.static_page import element_of_widget

SAID = {
    "entropy in bits": "entropy",
    "weight on the previous token": "previous",
    "weight on the diagonal": "diagonal",
    "weight on the true links": "aligned",
}


def spoken(text):
    """The names and numbers of the sentence over the enlarged head."""
    found = {SAID[name]: float(n) for name, n in re.findall(r"([a-z][a-z ]+) (\d\.\d{3})", text)}
    assert found
    return found


def pixels(shown, selector=".tfw-heads-one canvas", share=None):
    """Red, green, blue of all dots of each canvas; or of one place of each of 7 x 7 cells."""
    return shown.widget.evaluate(
        """(place, [selector, share]) => [...place.querySelectorAll(selector)].map((canvas) => {
          const { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          const [rows, columns] = share ? [7, 7] : [height, width];
          const size = share ? width / 7 : 1;
          return Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, c) => {
            const x = Math.floor((c + (share ?? 0)) * size);
            const y = Math.floor((r + (share ? 0.45 : 0)) * size);
            return [...data.slice(4 * (y * width + x), 4 * (y * width + x) + 3)];
          }));
        })""",
        [selector, share],
    )


def colours(shown, weights):
    """The colour of the common scale for each weight."""
    found = shown.widget.evaluate(
        """async (place, weights) => {
          const { sequential } = await import("/modules/kit/colours.js");
          return weights.map((weight) => sequential(weight));
        }""",
        weights.flatten().tolist(),
    )
    return np.array(found).reshape(*weights.shape, 3)


def words(shown):
    """The tokens beside the lines: those that look, and those that are looked at."""
    return shown.widget.locator(".tfw-heads-picture text:not(.tfw-heads-title)")


def all_drawn(shown):
    for _ in range(4):  # a layer of small pictures in each frame
        shown.frame()


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_and_cell_is_the_models(show, kind):
    widget = AttentionHeads(real(), kind=kind, layer=1, head=2)
    shown = show(widget)
    expect(shown.widget.locator(".tfw-heads-numbers")).to_be_hidden()  # the picture comes first
    shown.widget.get_by_text("All heads in numbers").click()
    shown.page.wait_for_selector("tbody tr")
    rows = shown.widget.locator("tbody tr").all_inner_texts()
    mine = [one for one in widget.statistics() if one["kind"] == kind]
    assert len(rows) == len(mine) == 12
    for text, one in zip(rows, mine, strict=True):
        layer, head, *numbers = text.split("\t")
        assert (int(layer), int(head)) == (one["layer"] + 1, one["head"] + 1)
        for number, name in zip(numbers, SAID.values(), strict=True):
            assert (number == "–") == (one[name] is None)
            assert number == "–" or float(number) == pytest.approx(one[name], abs=0.00051)
    one = mine[6]
    assert spoken(shown.widget.locator(".tfw-heads-numbers").text_content()) == pytest.approx(
        {name: one[name] for name in SAID.values() if one[name] is not None}, abs=0.00051
    )

    weights = true(kind, 1, 2)
    field = shown.widget.locator(".tfw-field")
    row_tokens, column_tokens = (real()[side] for side in KINDS[kind])
    for q in range(7):
        field.press("ArrowDown" if q else "Home")
        field.press("Home")
        for k in range(7):
            if k:
                field.press("ArrowRight")
            said = re.fullmatch(r'"(\w+)" looks at "(\w+)" with ([\d.]+)(.*)\.', shown.readout())
            assert said[1] == row_tokens[q]
            assert said[2] == column_tokens[k]
            assert float(said[3]) == pytest.approx(float(weights[q, k]), abs=0.00051)
            assert bool(said[4]) == (kind == "cross" and (q, k) in LINKS)
    all_drawn(shown)
    drawn = np.array(pixels(shown))
    expected = colours(shown, torch.cat([true(kind, i) for i in range(3)]))
    assert np.abs(drawn - expected).max() <= 1  # a thousandth of weight is less than a step
    large = np.array(pixels(shown, ".tfw-cells", 0.45))[0]
    assert np.abs(large - colours(shown, weights)).max() <= 1
    orange = np.rint(np.array(to_rgb(FRAME)) * 255)
    edges = np.array(pixels(shown, ".tfw-cells", 0.02))[0]
    framed = {(int(r), int(c)) for r, c in np.argwhere((edges == orange).all(-1))}
    assert framed == (set(LINKS) if kind == "cross" else set())
    assert shown.page.get_by_text("Orange frames mark").is_visible() == (kind == "cross")


def test_lines_are_the_heads_weights(show, look):
    shown = show(
        AttentionHeads([real(), real()], kind="cross", view="lines", layer=2, head=1), **look
    )
    shown.check()
    weights = true("cross", 2, 1)
    # A line leads from the height of a word on the left to that of a word on the right.
    heights = words(shown).evaluate_all("all => all.map(word => Number(word.getAttribute('y')))")
    left, right = heights[:7], heights[7:]

    def links(path):
        ends = re.findall(r"M[\d.]+ ([\d.]+)L[\d.]+ ([\d.]+)", path)
        return [(left.index(float(q)), right.index(float(k))) for q, k in ends]

    paths = "paths => paths.map(p => [Number(p.dataset.weight), p.getAttribute('d')])"
    drawn = shown.widget.locator(".tfw-heads-lines:not(.tfw-heads-strong) path")
    every = {link: weight for weight, d in drawn.evaluate_all(paths) for link in links(d)}
    lines = {(int(q), int(k)) for q, k in np.argwhere(weights.numpy() >= 0.05)}
    assert every.keys() == lines
    assert len(lines) > 7
    for link, weight in every.items():
        assert weight == pytest.approx(float(weights[link]), abs=0.011)
    truth = shown.widget.locator(".tfw-heads-truth")
    assert links(truth.get_attribute("d")) == LINKS
    assert truth.get_attribute("stroke").upper() == FRAME
    picture = shown.widget.locator(".tfw-heads-picture")
    for q in range(7):
        picture.press("ArrowDown" if q else "Home")
        seen = {k: float(w) for k, w in re.findall(r'"s(\d)" with ([\d.]+\d)', shown.readout())}
        strong = {str(k): w.item() for k, w in enumerate(weights[q]) if round(w.item(), 3) >= 0.05}
        assert shown.readout().startswith(f'"t{q}" looks at ')
        assert seen == pytest.approx(strong, abs=0.00051)
        assert list(seen.values()) == sorted(seen.values(), reverse=True)
    shown.set("view", "matrix")
    shown.check()


def test_keyboard_mouse_and_finger_move_every_control(show):
    shown = show(AttentionHeads([made(), made(6, 3, seed=1)], kind="cross"), touch=True)
    page = shown.page

    def now():
        shown.frame()
        return [shown.state(name) for name in ("example", "kind", "layer", "head", "view")]

    page.get_by_label("sentence").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("radio", name="lines").press("ArrowLeft")
    page.get_by_role("radio", name="cross").press("ArrowLeft")
    one, two = (page.get_by_role("button", name=f"Layer 1, head {i}") for i in (1, 2))
    one.press("ArrowRight")
    page.keyboard.press("Enter")
    assert now() == [1, "decoder self", 0, 1, "matrix"]
    assert two.get_attribute("aria-pressed") == "true"
    assert shown.widget.locator(".tfw-heading").inner_text() == (
        "Layer 1, head 2: decoder self-attention"
    )
    page.get_by_role("radio", name="cross").check()
    assert now() == [1, "cross", 0, 1, "matrix"]
    field = shown.widget.locator(".tfw-field")
    cell = field.bounding_box()["width"] / 6
    field.hover(position={"x": 2.5 * cell, "y": 1.5 * cell})
    assert shown.readout().startswith('"t1" looks at "s2" with ')
    page.get_by_role("radio", name="lines").check()
    words(shown).nth(1).hover()
    assert shown.readout().startswith('"t1" looks at ')
    words(shown).nth(0).tap()
    assert shown.readout().startswith('"t0" looks at ')
    shown.widget.get_by_text("All heads in numbers").press("Enter")
    shown.page.wait_for_selector("tbody tr")
    assert shown.widget.locator("tbody tr").count() == 2
    shown.check()


def test_the_words_beside_the_small_pictures_take_no_more_than_they_need(show, look):
    shown = show(AttentionHeads(real(), kind="cross"), **look)
    name = shown.widget.locator(".tfw-heads-layer").first
    needed = name.evaluate(
        "(name) => { const range = document.createRange(); range.selectNodeContents(name);"
        " return range.getBoundingClientRect().width; }"
    )
    assert name.bounding_box()["width"] <= needed + 8


def test_on_a_phone_it_keeps_its_height_and_each_head_has_room_for_a_thumb(show):
    words = {"source": [f"\u2581beautiful{i}" for i in range(12)], "alignment": LINKS[:3]}
    examples = [made(n_layers=2, n_heads=8), made(12, 9, n_layers=2, n_heads=8, **words)]
    shown = show(AttentionHeads(examples, kind="cross"), width=390, touch=True)
    heights = set()
    for example in range(2):
        for kind in KINDS:
            for view in ("matrix", "lines"):
                for name, value in (("example", example), ("kind", kind), ("view", view)):
                    shown.set(name, value)
                all_drawn(shown)
                heights.add(shown.height())
    assert len(heights) == 1
    heads = shown.widget.locator(".tfw-heads-one")
    assert min(one.bounding_box()["height"] for one in heads.all()) >= 40


def test_what_python_adds_and_sets_is_shown(show):
    widget = AttentionHeads(made(), kind="cross")
    shown = show(widget)
    assert shown.page.get_by_label("sentence").count() == 0
    widget.add(made(3, 2, seed=5))
    assert widget.example == 1
    shown.set("contents", widget.contents)  # the names come first: the weights are still old
    assert shown.complaints == []
    shown.widget.evaluate(
        "(place, bytes) => place.model.set('packed', new Uint8Array(bytes))", list(widget.packed)
    )
    shown.set("head", 1)
    shown.set("example", 1)
    expect(shown.page.locator("select")).to_have_value("1")
    assert shown.widget.locator(".tfw-rows span").all_inner_texts() == ["t0", "t1"]
    one = [s for s in widget.statistics() if s["kind"] == "cross"][1]
    assert spoken(shown.widget.locator(".tfw-heads-numbers").text_content()) == pytest.approx(
        {name: one[name] for name in ("entropy", "diagonal")}, abs=0.00051
    )
    shown.set("message", "<i>no</i>")
    assert shown.page.get_by_role("alert").inner_text() == "<i>no</i>"


def test_what_is_written_next_stands_beside_its_row():
    example = made(2, 3, seed=1)
    pieces = {"source": ["\u2581Zwei", "</s>"], "target": ["<s>", "\u2581Two", "\u2581"]}
    widget = AttentionHeads({**example, **pieces, "alignment": [(0, 0)]}, written=True)
    [shown] = widget.contents["examples"]
    assert shown["source"] == ["Zwei", "</s>"]
    assert shown["target"] == ["Two", "\u2581", "</s>"]
    assert shown["alignment"] == [[0, 0]]
    assert shown["said"] == "Zwei \u2192 Two"
    assert widget.kind == "cross" and widget.contents["heads"].keys() == {"cross"}
    cross = example["weights"]["decoder.0.cross"]
    np.testing.assert_allclose(widget.weights("cross", 0, 0), cross[0], atol=0.00051)
    words = {"source": ["zwei", "Hunde"], "target": ["<s>", "two", "dogs"]}
    [shown] = AttentionHeads({**example, **words}, written=True).contents["examples"]
    assert shown["said"] == "zwei Hunde \u2192 two dogs"
    asked = {"source": ["\u2581\u2192en", "\u2581Hunde"], "target": ["<s>", "\u2581Dogs", "."]}
    [shown] = AttentionHeads({**example, **asked}, written=True).contents["examples"]
    assert shown["said"] == "Hunde \u2192 Dogs."
    assert shown["source"] == ["\u2192en", "Hunde"]  # the heads look at it as at any other
    typed = {"source": ["\u2581", "<0xC3>", "<0xA4>", "<0x3C>"], "target": ["<s>", "\u2581a"]}
    [shown] = AttentionHeads({**made(4, 2, seed=1), **typed}, written=True).contents["examples"]
    assert shown["said"] == "ä< \u2192 a"
    with pytest.raises(traitlets.TraitError, match="read-only"):
        widget.written = False
    encoder = {k: w for k, w in example["weights"].items() if k.startswith("encoder")}
    alone = {"source": ["\u2581Zwei", "</s>"], "weights": encoder}
    assert AttentionHeads(alone).contents["examples"][0]["said"] == "Zwei"
    with pytest.raises(ValueError, match="example 0 has no cross-attention"):
        AttentionHeads({**example, "weights": encoder}, written=True)


def test_the_marks_say_what_they_mark_and_sentences_are_listed_as_they_were_written(show):
    example = made(3, 2, seed=1)
    pieces = {"source": ["\u2581Zwei", "\u2581Hund", "e"], "target": ["<s>", "\u2581Two"]}
    example = {**example, **pieces, "alignment": [(0, 0)]}
    read = show(AttentionHeads([example, example], kind="cross"))
    expect(read.page.locator(".tfw-heads-said")).to_have_text("Zwei Hunde \u2192 Two")
    assert read.page.get_by_text("Orange frames mark what the next word translates.").is_visible()
    assert read.page.locator("option", has_text="1. Zwei Hunde").count() == 1
    read.set("kind", "encoder self")
    assert not read.page.get_by_text("Orange frames").is_visible()
    written = show(AttentionHeads([example, example], kind="cross", written=True))
    said = written.page.get_by_text("Orange frames mark the words that truly belong together.")
    assert said.is_visible()
    assert written.page.locator("option", has_text="1. Zwei Hunde").count() == 1


def test_a_sentence_of_the_readers_own(show):
    def translate(sentence):
        if sentence == "bad":
            raise ValueError("there is no word <b>bad</b>")
        return made(len(sentence.split()), 2, seed=7)

    widget = AttentionHeads(made(), on_sentence=translate)
    widget.sentence = "bad"
    assert widget.message == "there is no word <b>bad</b>"
    assert (widget.example, len(widget.contents["examples"])) == (0, 1)
    widget.sentence = "one two three"
    assert (widget.message, widget.example, widget.can_translate) == ("", 1, True)
    assert len(widget.contents["examples"][1]["source"]) == 3
    shown = show(widget)
    field = shown.page.get_by_label("Your own sentence")
    assert field.count() == 0  # on a page nobody is there to translate
    shown.render_with_kernel("attention_heads")
    field.fill("  four words of text ")
    field.press("Enter")
    assert shown.state("sentence") == "four words of text"
    assert shown.page.get_by_text("The model translates it").is_visible()
    shown.set("message", "there is no word <b>bad</b>")
    assert shown.page.get_by_role("alert").last.inner_text() == "there is no word <b>bad</b>"
    field.fill("again")
    shown.page.get_by_role("button", name="Translate").click()
    assert shown.state("sentence") == "again"


def test_hostile_tokens_stay_text(show):
    tokens = ["<b>x</b>", "<script>alert(1)</script>", "שלום", "مرحبا", "$x_$", "$", "$"]
    changes = {"source": tokens, "target": tokens[:3], "alignment": [(0, 1)]}
    widget = AttentionHeads([made(7, 3, **changes)] * 2, kind="cross")
    shown = show(widget)
    field = shown.widget.locator(".tfw-field")
    field.press("End")
    assert '"<b>x</b>" looks at "$" (token 7) with ' in shown.readout()
    assert shown.widget.locator(".tfw-columns span").all_inner_texts() == tokens
    shown.set("view", "lines")
    shown.widget.locator(".tfw-heads-picture").press("End")
    assert shown.readout().startswith('"\u2068שלום\u2069" looks at ')
    assert shown.widget.locator(".tfw :is(b, script)").count() == 0
    shown.check()
    widget.twin().canvas.draw()


def test_long_sentences_stay_usable(show):
    widget = AttentionHeads(made(200, 200, sharp=4.0), kind="cross")
    shown = show(widget, width=360)
    field = shown.widget.locator(".tfw-field")
    field.press("End")
    weight = widget.weights("cross", 0, 0)[0, 199]
    assert shown.readout() == f'"t0" looks at "s199" with {weight:.3f}.'
    scroll = shown.widget.locator(".tfw-heads-large .tfw-scroll").bounding_box()
    marker = shown.widget.locator(".tfw-marker").bounding_box()
    assert scroll["x"] < marker["x"] < scroll["x"] + scroll["width"]
    shown.check()
    shown.set("view", "lines")
    shown.widget.locator(".tfw-heads-picture").press("End")
    assert shown.readout().startswith('"t199" looks at ')
    band = shown.widget.locator(".tfw-heads-band").bounding_box()
    box = shown.widget.locator(".tfw-heads-tall").bounding_box()
    assert box["y"] < band["y"] < box["y"] + box["height"]
    shown.check()
    figure = widget.twin()
    assert max(figure.get_size_inches()) < 30
    mesh = figure.axes[0].collections[0].get_array()
    assert np.asarray(mesh).ravel() == pytest.approx(widget.weights("cross", 0, 0).ravel())


def test_statistics_are_what_torch_computes():
    widget = AttentionHeads(real())
    for one in widget.statistics():
        weights = true(one["kind"], one["layer"], one["head"])
        shown = widget.weights(one["kind"], one["layer"], one["head"])
        assert np.abs(shown - weights.numpy()).max() <= 0.000501
        entropy = torch.special.entr(weights).sum(-1).mean() / math.log(2)
        assert one["entropy"] == pytest.approx(entropy.item(), abs=0.01)
        assert one["diagonal"] == pytest.approx(weights.diagonal().mean().item(), abs=0.0005)
        if one["kind"] == "cross":
            assert one["previous"] is None
            found = mass_on(weights[None], LINKS).item()
            assert one["aligned"] == pytest.approx(found, abs=0.001)
        else:
            assert one["aligned"] is None
            before = weights.diagonal(-1).mean().item()
            assert one["previous"] == pytest.approx(before, abs=0.0005)


@pytest.mark.parametrize("sharp", [1.0, 2.0, 4.0])
def test_a_big_models_weights_are_light(sharp):
    widget = AttentionHeads(made(30, 30, n_layers=6, n_heads=8, sharp=sharp))
    assert len(gzip.compress(element_of_widget(widget).encode())) < 150_000


@pytest.mark.parametrize("kind", KINDS)
def test_the_twin_draws_the_same_heads(kind):
    figure = AttentionHeads(real(), kind=kind).twin()
    axes = [ax for ax in figure.axes if ax.get_title().startswith("layer")]
    assert [ax.get_title() for ax in axes[:2]] == ["layer 1, head 1", "layer 1, head 2"]
    for n, ax in enumerate(axes):
        drawn = np.asarray(ax.collections[0].get_array()).reshape(7, 7)
        assert np.abs(drawn - true(kind, n // 4, n % 4).numpy()).max() < 0.00051


GOOD = made()["weights"]
DROPPED = {name: weights / 0.9 for name, weights in GOOD.items()}  # of what was not taken out
NAN = {**GOOD, "encoder.0.self": GOOD["encoder.0.self"] * np.nan}


@pytest.mark.parametrize(
    ("examples", "settings", "named"),
    [
        ([], {}, "no examples"),
        (3, {}, "examples is 3; give one"),
        ({"source": ["a"]}, {}, "example 0 has no weights"),
        (made(weights={}), {}, "are empty; record the attention"),
        (made(source=["a"]), {}, r"has the shape \(2, 5, 5\).* need \(heads, 1, 1\)"),
        (made(weights={"encoder.0.self": [[1, 2], [3]]}), {}, "no array of numbers"),
        (made(source=[]), {}, "source of example 0 is empty"),
        (made(target=()), {}, "target of example 0 is empty"),
        (made(source="s0 s1 s2"), {}, "give a list of its tokens"),
        (made(source=None), {}, "give a list of its tokens"),
        (made(weights=NAN), {}, "NaN or infinite"),
        (made(weights={n: w - 0.5 for n, w in GOOD.items()}), {}, "not scores"),
        (made(weights={n: w / 2 for n, w in GOOD.items()}), {}, "sums to 0.500, not to 1"),
        (made(weights=DROPPED), {}, r"model.eval\(\) first.* the weights after the softmax"),
        (made(weights={"encoder.self": GOOD["encoder.0.self"]}), {}, "unknown kind"),
        (made(weights={"encoder.1.self": GOOD["encoder.0.self"]}), {}, "lacks a layer"),
        (made(alignment=[(4, 0)]), {}, r"\(4, 0\), outside its 4 target and 5 source"),
        (made(alignment=[(1, 2, 3)]), {}, r"has \(1, 2, 3\); give"),
        ([made(), made(n_heads=3)], {}, "example 1 has other layers or heads"),
        (made(), {"kind": "decoder"}, "no attention of kind 'decoder'"),
        (made(), {"layer": 1}, "layer 1 is not there; choose from 0 to 0"),
        (made(), {"head": -1}, "head -1 is not there"),
        (made(), {"example": 1}, "example 1 is not there"),
        (made(), {"view": "graph"}, "view"),
    ],
)  # fmt: skip
def test_input_that_makes_no_sense_is_a_sentence(examples, settings, named):
    with pytest.raises(Exception, match=named) as error:
        AttentionHeads(examples, **settings)
    assert type(error.value).__name__ in ("ValueError", "TraitError")
    assert "\n" not in str(error.value)


def test_weights_of_one_kind_leave_nothing_to_choose_and_lines_stand_beside_the_heads(show):
    cross = {name: w for name, w in real()["weights"].items() if name.endswith("cross")}
    widget = AttentionHeads({**real(), "weights": cross}, view="lines")
    assert widget.kind == "cross"
    shown = show(widget, width=760)
    expect(shown.page.get_by_label("lines", exact=True)).to_be_checked()
    assert shown.page.get_by_label("cross-attention").count() == 0
    small, large = (
        shown.widget.locator(f".tfw-heads-{name}").bounding_box() for name in ("all", "large")
    )
    assert small["x"] + small["width"] <= large["x"] and large["y"] < small["y"] + small["height"]
    shown.check()
