"""The attention stepper shows, step by step, the numbers that the module computes."""

import math
import re

import matplotlib
import numpy as np
import pytest
import torch
from traitlets import TraitError

from transformer.attention import scaled_dot_product_attention
from transformer.masks import causal_mask

from transformer_book.widgets.attention_stepper import AttentionStepper

HOSTILE = ["<b>x</b>", "<script>", "שלום", "قط"]
TABLES = {
    1: ("Q", "K", "V"),
    2: ("Q", "Kᵀ", "scores"),
    3: ("scores", "scaled"),
    4: ("scaled", "masked"),
    5: ("masked", "weights"),
    6: ("weights", "V", "output"),
}


def number(text):
    return -math.inf if text == "−∞" else float(text.replace("−", "-"))


def tables(shown):
    """The numbers of each table, by its caption."""
    found = shown.widget.evaluate(
        """(place) => [...place.querySelectorAll("table")].map((table) => [
          table.caption.firstChild.textContent,
          [...table.tBodies[0].rows].map((r) => [...r.querySelectorAll("td")].map(
            (cell) => cell.textContent))])"""
    )
    return [(name, np.array([[number(x) for x in row] for row in rows])) for name, rows in found]


def open_numbers(shown):
    shown.page.get_by_text("All numbers of this step").click()


def verdict(shown):
    return shown.widget.locator(".tfw-stepper-favourite").inner_text()


def handle(shown):
    return shown.page.get_by_role("slider", name="width d_k")


def shows(shown, widget):
    """Asserts that the page's tables hold what the widget computes."""
    found = widget.steps()
    vectors = {"Q": widget.query, "K": widget.key, "V": widget.value}
    arrays = {name: np.array(rows)[:, :4] for name, rows in vectors.items()} | found
    for name in "QK":
        arrays[name] = arrays[name][:, : widget.d_k]
    arrays |= {"Kᵀ": arrays["K"].T, "output": found["output"][:, :4]}
    *step, (_, sharp) = tables(shown)
    for name, (caption, shown_numbers) in zip(TABLES[widget.step], step, strict=True):
        if len(name) <= 2:
            assert caption.split(",")[0] == name
            assert caption.endswith((f"of {widget.d_k} columns", f"of {widget.d_k} rows")) == (
                widget.d_k > 4 and name != "V"
            )
        digits = 3 if name == "weights" else 2
        assert shown_numbers == pytest.approx(arrays[name], abs=0.5001 * 10**-digits), name
    assert sharp[:, 0] == pytest.approx(found["weights"].max(axis=1), abs=0.0005001)
    assert sharp[:, 1] == pytest.approx(found["gradient"], rel=0.005, abs=1e-15)


def test_every_step_shows_the_modules_numbers(show, look):
    widget = AttentionStepper()
    shown = show(widget, **look)
    open_numbers(shown)
    states = [(4, True, False), (128, False, True), (2, False, False), (16, True, True)]
    for d_k, scaling, causal in states:
        for name, value in {"d_k": d_k, "scaling": scaling, "causal": causal}.items():
            setattr(widget, name, value)
            shown.set(name, value)
        for step in TABLES:
            widget.step = step
            shown.set("step", step)
            shows(shown, widget)
            assert shown.page.get_by_role("radio").nth(step - 1).is_checked()
            assert shown.widget.locator("b").inner_text().startswith(f"Step {step}: ")
            if d_k == 128:
                shown.check()


def test_the_sentences_count_with_the_followed_query(show):
    widget = AttentionStepper(row=2, scaling=False, causal=True, d_k=8)
    shown = show(widget)
    steps = widget.steps()
    score, weight, output = (steps[n][2, 0] for n in ("scores", "weights", "output"))
    said = {}
    for step in TABLES:
        shown.set("step", step)
        said[step] = shown.readout().replace("−", "-")
    assert said[1].endswith("“sat” has 8 numbers in its query, 8 in its key and 4 in its value.")
    assert said[2].endswith(f" + … (4 more) = {score:.2f}.")
    first = sum(
        float(a.strip("()")) * float(b.strip("()"))
        for a, b in re.findall(r"(\(?-?[\d.]+\)?) × (\(?-?[\d.]+\)?)", said[2])
    )
    assert first == pytest.approx(np.dot(widget.query[2][:4], widget.key[0][:4]))
    assert said[3].endswith(f"still {score:.2f}.")
    assert said[4].endswith("“sat” may look at 3 of 4 tokens.")
    assert said[5].count("e^(-∞)") == 1
    assert said[5].endswith(f"= {weight:.3f}.")
    assert said[6].endswith(f"= {output:.2f}.")
    largest = steps["weights"][2].max()
    most = widget.tokens[int(steps["weights"][2].argmax())]
    assert verdict(shown) == f"d_k = 8, not scaled: “sat” gives most, {largest:.3f}, to “{most}”."
    means = (steps["weights"].max(axis=1).mean(), steps["gradient"].mean())
    folded = shown.widget.locator("details p").last.text_content()
    found = re.search(r"all queries: ([\d.]+) and ([\d.]+)\.", folded)
    assert tuple(float(x) for x in found.groups()) == pytest.approx(means, abs=0.0006)
    assert "“the” sees only itself" in folded
    shown.set("scaling", True)
    shown.set("step", 3)
    assert f"/ √8 = {score / math.sqrt(8):.2f}." in shown.readout().replace("−", "-")
    picture = shown.widget.locator(".tfw-stepper-lines")
    for key, row, column in (
        ("ArrowRight", 2, 1),
        ("ArrowDown", 3, 1),
        ("End", 3, 3),
        ("Home", 3, 0),
    ):
        picture.press(key)
        shown.frame()
        scaled = steps["scores"][row, column] / math.sqrt(8)
        assert shown.state("row") == row
        assert f"“{widget.tokens[row]}” asks “{widget.tokens[column]}”: " in shown.readout()
        assert shown.readout().replace("−", "-").endswith(f"/ √8 = {scaled:.2f}.")


def test_the_keyboard_moves_every_control(show):
    widget = AttentionStepper()
    shown = show(widget)
    back, on = (shown.page.get_by_role("button", name=n) for n in ("Previous", "Next"))
    assert (back.get_attribute("aria-disabled"), on.get_attribute("aria-disabled")) == (
        "true", "false"
    )  # fmt: skip
    back.press("Enter")
    on.press("Enter")
    on.press("Space")
    assert shown.state("step") == 3
    shown.page.get_by_role("radio", name="mask").press("ArrowRight")
    on.press("Enter")
    back.press("Enter")
    assert shown.state("step") == 5
    for key, d_k in (
        ("Home", 2),
        ("ArrowRight", 4),
        ("PageUp", 128),
        ("ArrowLeft", 64),
        ("End", 128),
    ):
        handle(shown).press(key)
        assert shown.state("d_k") == d_k
    shown.page.get_by_label("divide by").press("Space")
    shown.page.get_by_label("causal mask").press("Space")
    shown.widget.locator(".tfw-stepper-lines").press("ArrowDown")
    shown.frame()
    widget.step, widget.d_k, widget.scaling, widget.causal, widget.row = 5, 128, False, True, 2
    for name in ("d_k", "scaling", "causal", "row"):
        assert shown.state(name) == getattr(widget, name)
    shows(shown, widget)
    assert set(shown.widget.locator("tr.tfw-stepper-row th").all_text_contents()) == {"sat"}


def test_mouse_and_finger_move_every_control(show):
    widget = AttentionStepper()
    shown = show(widget, touch=True)
    for act in ("click", "tap"):
        getattr(shown.page.get_by_role("button", name="Next"), act)()
        getattr(shown.page.get_by_label("causal mask"), act)()
        getattr(shown.page.get_by_label("divide by"), act)()
    assert [shown.state(n) for n in ("step", "causal", "scaling")] == [3, False, True]
    for act, name in (("tap", "Next"), ("click", "Next"), ("click", "Previous"), ("tap", "Next")):
        getattr(shown.page.get_by_role("button", name=name), act)()
    assert shown.state("step") == 5
    shown.page.get_by_role("radio", name="scores").tap()
    box = shown.widget.locator(".tfw-stepper-cell").bounding_box()  # of "cat" and "the"
    place = {"x": box["x"] + 1.5 * box["width"], "y": box["y"] + 2.5 * box["height"]}
    shown.page.mouse.click(place["x"], place["y"])
    shown.frame()
    assert (shown.state("step"), shown.state("row")) == (2, 3)
    assert "“down” asks “cat”" in shown.readout()
    shown.page.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] - 0.5 * box["height"])
    shown.frame()
    assert shown.state("row") == 0
    assert "“the” asks “the”" in shown.readout()
    widget.step, widget.row, widget.causal, widget.scaling = 2, 0, False, True
    shows(shown, widget)


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_queries_are_dragged_wider_and_narrower(show, finger):
    """The chapter's question: unscaled, "cat" gives one token nearly all of its weight at 128."""
    widget = AttentionStepper(step=5, scaling=False)
    shown = show(widget, touch=True, width=390)
    height = shown.height()
    for by, d_k in ((22, 16), (200, 128), (-11, 64), (-200, 2)):
        shown.drag(handle(shown), by, 30, finger=finger)
        widget.d_k = d_k
        assert shown.state("d_k") == d_k
        assert handle(shown).get_attribute("aria-valuetext") == str(d_k)
        weights = widget.steps()["weights"][1]
        most = widget.tokens[int(weights.argmax())]
        assert verdict(shown).endswith(f"“cat” gives most, {weights.max():.3f}, to “{most}”.")
        drawn = shown.widget.locator(".tfw-stepper-number").all_text_contents()
        assert [float(x) for x in drawn] == pytest.approx(weights, abs=0.00501)
        shows(shown, widget)
    assert shown.height() == height < 1000
    shown.check()


@pytest.mark.parametrize("width", [390, 1000])
def test_no_step_and_no_setting_changes_how_tall_it_is(show, width):
    shown = show(AttentionStepper(), width=width)
    heights = set()
    for d_k, scaling, causal in ((4, True, False), (128, False, True)):
        for name, value in {"d_k": d_k, "scaling": scaling, "causal": causal}.items():
            shown.set(name, value)
        for step in TABLES:
            shown.set("step", step)
            heights.add(shown.height())
    assert len(heights) == 1


def test_a_cell_has_the_colour_of_its_number_and_goes_there_in_motion(show):
    colour = """place => {
      const canvas = place.querySelector("canvas");
      const a = canvas.getBoundingClientRect();
      const b = place.querySelector(".tfw-stepper-cell").getBoundingClientRect();
      const scale = canvas.width / a.width;
      const [x, y] = [(b.x + 5 - a.x) * scale, (b.y + 5 - a.y) * scale];
      return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)];
    }"""
    widget = AttentionStepper(d_k=128, scaling=False, row=3, step=5)
    shown = show(widget)
    weight = widget.steps()["weights"][3, 0]
    viridis = np.array(matplotlib.colormaps["viridis"](weight)[:3]) * 255
    assert shown.widget.evaluate(colour) == pytest.approx(viridis, abs=4)
    shown.in_motion()
    seen = shown.widget.evaluate(
        """async (place) => {
          const [colour, seen] = [COLOUR, new Set()];
          place.model.set("step", 2);
          for (let i = 0; i < 40; i += 1) {
            await new Promise(requestAnimationFrame);
            seen.add(String(colour(place)));
          }
          return [...seen];
        }""".replace("COLOUR", colour)
    )
    assert len(seen) > 2


def test_what_python_sets_is_shown_and_no_token_is_markup(show):
    shown = show(AttentionStepper(step=5))
    widget = AttentionStepper([[1.0, -2.0]] * 2, [[0.5, 3.0]] * 2, [[7.0]] * 2, HOSTILE[:2])
    # One by one: no state in between that does not fit may break the page.
    for name in ("tokens", "query", "d_k", "value", "key", "row"):
        shown.set(name, getattr(widget, name))
    for step in TABLES:
        widget.step = step
        shown.set("step", step)
        shows(shown, widget)
    assert handle(shown).get_attribute("aria-valuemax") == "2"
    handle(shown).press("End")
    assert shown.state("d_k") == 2
    shown.check()
    widget = AttentionStepper(tokens=HOSTILE, step=4, row=3)
    shown = show(widget, width=360)
    open_numbers(shown)
    assert shown.widget.locator("tbody th").all_inner_texts() == HOSTILE * 3
    assert "“قط” may look at 4 of 4 tokens." in shown.readout()
    assert shown.widget.locator(".tfw script").count() == 0
    assert shown.widget.locator(".tfw b").count() == 1  # the step's name
    shown.check()


def test_the_most_tokens_scroll_in_their_own_box(show):
    widget = AttentionStepper(tokens=[f"longtoken{i}" for i in range(12)], step=6, d_k=128)
    shown = show(widget, width=360)
    open_numbers(shown)
    shown.frame()
    shows(shown, widget)
    assert shown.widget.locator(".tfw-scroll[tabindex='0'][aria-label^=weights]").count() == 1
    shown.check()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d_k", [2, 4, 20, 128])
def test_the_steps_are_the_modules(d_k, causal):
    widget = AttentionStepper(d_k=d_k, causal=causal)
    query, key = (torch.tensor(m, dtype=torch.float64)[:, :d_k] for m in (widget.query, widget.key))
    value = torch.tensor(widget.value, dtype=torch.float64)
    mask = causal_mask(4)[0, 0] if causal else None
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    steps = widget.steps()
    np.testing.assert_allclose(steps["weights"], weights, atol=1e-12)
    np.testing.assert_allclose(steps["output"], output, atol=1e-12)
    np.testing.assert_allclose(steps["scaled"], steps["scores"] / math.sqrt(d_k))
    assert (np.isneginf(steps["masked"]).any(), steps["masked"][3, 3]) == (
        causal, steps["scaled"][3, 3]
    )  # fmt: skip
    np.testing.assert_allclose(
        torch.tensor(steps["masked"]).softmax(-1), steps["weights"], atol=1e-12
    )


@pytest.mark.parametrize("causal", [False, True])
def test_without_scaling_the_root_is_left_out(causal):
    steps = AttentionStepper(d_k=64, scaling=False, causal=causal).steps()
    assert np.array_equal(steps["scaled"], steps["scores"])
    np.testing.assert_allclose(
        torch.tensor(steps["masked"]).softmax(-1), steps["weights"], atol=1e-12
    )


@pytest.mark.parametrize("scaling", [True, False])
def test_the_gradient_is_that_of_the_softmax(scaling):
    steps = AttentionStepper(d_k=32, scaling=scaling, causal=True).steps()
    for row, gradient in zip(torch.tensor(steps["masked"]), steps["gradient"], strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda x: x.softmax(-1), row)
        assert gradient == pytest.approx(float(jacobian.abs().max()), abs=1e-12)


def test_the_chapters_question_has_its_answer():
    def cat(d_k, scaling):
        steps = AttentionStepper(d_k=d_k, scaling=scaling).steps()
        return steps["weights"][1].max(), steps["gradient"][1]

    widths = (2, 4, 8, 16, 32, 64, 128)  # where the slider stops
    assert [d_k for d_k in widths if cat(d_k, scaling=False)[0] > 0.99] == [128]
    assert cat(128, scaling=False)[1] == pytest.approx(0.00168, abs=1e-5)
    assert all(cat(d_k, scaling=True)[0] < 0.5 for d_k in widths)
    assert all(0.2 < cat(d_k, scaling=True)[1] <= 0.25 for d_k in widths)


@pytest.mark.parametrize(
    ("error", "settings", "named"),
    [
        (ValueError, {"query": [[1.0]]}, "1 of query, key and value are given"),
        (TraitError, {"tokens": []}, "there are 0 tokens"),
        (TraitError, {"tokens": ["a"] * 13}, "there are 13 tokens; the tables take 1 to 12"),
        (TraitError, {"d_k": 129}, r"d_k \(129\) must be at most 128"),
        (TraitError, {"d_k": 0}, "d_k"),
        (TraitError, {"row": 4}, r"row \(4\) must be below 4"),
        (TraitError, {"step": 7}, "step"),
        *(
            (ValueError, {"query": query, "key": [[1.0]], "value": [[1.0]], "tokens": ["a"]}, named)
            for query, named in [
                ([1.0], r"query has shape \(1,\)"),
                ([["x"]], "query is no matrix of numbers"),
                ([[math.nan]], "query holds NaN or infinity"),
                ([[]], r"query has shape \(1, 0\)"),
            ]
        ),
        *(
            (TraitError, {"query": query, "key": [[1.0]], "value": [[1.0]], "tokens": ["a"]}, named)
            for query, named in [
                ([[1.0], [2.0]], "query has 2 rows for 1 tokens; give a row for each"),
                ([[1.0, 2.0]], "queries of width 2 cannot be compared with keys of width 1"),
            ]
        ),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(error, settings, named):
    with pytest.raises(error, match=named):
        AttentionStepper(**settings)


def test_what_no_longer_fits_is_refused_and_what_changes_together_is_not():
    widget = AttentionStepper(row=3)
    for name, value, named in [
        ("tokens", ["a", "b"], "query has 4 rows for 2 tokens"),
        ("query", [[1.0, 2.0]] * 4, "queries of width 2 cannot be compared"),
        ("value", [[math.inf]] * 4, "value holds NaN"),
    ]:
        with pytest.raises(TraitError, match=named):
            setattr(widget, name, value)
    assert widget.tokens == ["the", "cat", "sat", "down"]
    with widget.hold_trait_notifications():
        widget.tokens, widget.row, widget.d_k = ["a", "b"], 0, 1
        widget.query = widget.key = widget.value = [[1.0], [2.0004]]
    assert widget.value == [[1.0], [2.0]]
    assert widget.steps()["scores"].tolist() == [[1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(("scaling", "causal"), [(True, False), (False, True)])
def test_the_twin_draws_the_same_steps(scaling, causal):
    widget = AttentionStepper(d_k=64, scaling=scaling, causal=causal)
    axes = widget.twin().axes
    assert [ax.get_title() for ax in axes] == [
        "scores",
        "scaled" if scaling else "not scaled",
        "masked" if causal else "no mask",
        "weights",
        "output",
    ]
    steps = widget.steps()
    for ax, name in zip(axes, ("scores", "scaled", "masked", "weights", "output"), strict=True):
        drawn = np.ma.filled(ax.collections[0].get_array(), -np.inf).reshape(4, 4)
        np.testing.assert_allclose(drawn, steps[name])
