"""The heads explorer draws and says the weights that the model has, head by head."""

import re

import numpy as np
import pytest
import torch

from tests.widgets.heads_examples import LINKS, made, real, true
from transformer.widgets.attention_heads import KINDS, AttentionHeads

SAID = {
    "entropy in bits": "entropy",
    "weight on the previous token": "previous",
    "weight on the diagonal": "diagonal",
    "weight on the true links": "aligned",
}
FRAME = [0xE6, 0x9F, 0x00]


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


def all_drawn(shown):
    for _ in range(4):  # a layer of small pictures in each frame
        shown.frame()


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_and_cell_is_the_models(show, kind):
    widget = AttentionHeads(real(), kind=kind, layer=1, head=2)
    shown = show(widget)
    shown.widget.locator("summary").click()
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
    assert spoken(shown.widget.locator(".tfw-heads-numbers").inner_text()) == pytest.approx(
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
    edges = np.array(pixels(shown, ".tfw-cells", 0.02))[0]
    framed = {(int(r), int(c)) for r, c in np.argwhere((edges == FRAME).all(-1))}
    assert framed == (set(LINKS) if kind == "cross" else set())
    assert shown.page.get_by_text("Orange frames mark").is_visible() == (kind == "cross")


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 360)])
def test_lines_are_the_heads_weights(show, theme, width):
    shown = show(
        AttentionHeads([real(), real()], kind="cross", view="lines", layer=2, head=1),
        theme=theme, width=width,
    )  # fmt: skip
    shown.check()
    weights = true("cross", 2, 1)
    paths = "paths => paths.map(p => [p.dataset.weight / 1000, p.getAttribute('d')])"
    drawn = shown.widget.locator(".tfw-heads-lines:not(.tfw-heads-strong) path")
    every = [(w, d) for w, ds in drawn.evaluate_all(paths) for d in re.findall("M[^M]+", ds)]
    lines = {(q, k): 26 + 22 * (k + 0.5) for q, k in np.argwhere(weights.numpy() >= 0.05)}
    assert len(every) == len(lines) > 7
    place = {f"M112 {37 + 22 * q}L218 {37 + 22 * k}": weights[q, k] for q, k in lines}
    for weight, d in every:
        assert weight == pytest.approx(float(place[d]), abs=0.011)
    truth = shown.widget.locator(".tfw-heads-truth").get_attribute("d")
    assert truth == "".join(f"M112 {37 + 22 * q}L218 {37 + 22 * k}" for q, k in LINKS)
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
        "Layer 1, head 2: decoder, self-attention"
    )
    one.click()
    page.get_by_role("radio", name="encoder").click()
    page.get_by_role("radio", name="lines").click()
    page.get_by_label("sentence").select_option("0")
    assert now() == [0, "encoder self", 0, 0, "lines"]
    picture = shown.widget.locator(".tfw-heads-picture")
    box = picture.bounding_box()
    scale = box["width"] / 330
    picture.hover(position={"x": 60 * scale, "y": (26 + 22 * 1.5) * scale})
    assert shown.readout().startswith('"s1" looks at ')
    picture.tap(position={"x": 60 * scale, "y": (26 + 22 * 3.5) * scale})
    assert shown.readout().startswith('"s3" looks at ')
    two.tap()
    page.get_by_role("radio", name="cross").tap()
    page.get_by_role("radio", name="matrix").tap()
    assert now() == [0, "cross", 0, 1, "matrix"]
    field = shown.widget.locator(".tfw-field")
    cell = field.bounding_box()["width"] / 5
    field.hover(position={"x": 2.5 * cell, "y": 1.5 * cell})
    assert shown.readout().startswith('"t1" looks at "s2" with ')
    field.tap(position={"x": 4.5 * cell, "y": 3.5 * cell})
    assert shown.readout().startswith('"t3" looks at "s4" with ')
    shown.widget.locator("summary").press("Enter")
    shown.page.wait_for_selector("tbody tr")
    assert shown.widget.locator("tbody tr").count() == 2
    shown.check()


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
    shown.page.wait_for_function("document.querySelector('select')?.value === '1'")
    assert shown.widget.locator(".tfw-rows span").all_inner_texts() == ["t0", "t1"]
    one = [s for s in widget.statistics() if s["kind"] == "cross"][1]
    assert spoken(shown.widget.locator(".tfw-heads-numbers").inner_text()) == pytest.approx(
        {name: one[name] for name in ("entropy", "diagonal")}, abs=0.00051
    )
    shown.set("message", "<i>no</i>")
    assert shown.page.get_by_role("alert").inner_text() == "<i>no</i>"


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
