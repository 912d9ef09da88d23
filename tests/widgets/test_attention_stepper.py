"""The attention stepper shows, step by step, the numbers that the module computes."""

import math
import re

import numpy as np
import pytest

from transformer.widgets.attention_stepper import AttentionStepper

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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 360])
def test_every_step_shows_the_modules_numbers(show, width, theme):
    widget = AttentionStepper()
    shown = show(widget, width=width, theme=theme)
    states = [(4, True, False), (128, False, True), (2, False, False), (16, True, True)]
    for d_k, scaling, causal in states:
        for name, value in {"d_k": d_k, "scaling": scaling, "causal": causal}.items():
            setattr(widget, name, value)
            shown.set(name, value)
        for step in TABLES:
            widget.step = step
            shown.set("step", step)
            shows(shown, widget)
            assert shown.widget.locator("[aria-current=step]").count() == 1
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
    verdict = shown.readout(1)
    largest = steps["weights"][2].max()
    most = widget.tokens[int(steps["weights"][2].argmax())]
    assert verdict.startswith(
        f"d_k = 8, not scaled: “sat” gives most, {largest:.3f}, to “{most}”; its largest gradient"
    )
    means = (steps["weights"].max(axis=1).mean(), steps["gradient"].mean())
    found = re.search(r"all queries: ([\d.]+) and ([\d.]+)\.", verdict)
    assert tuple(float(x) for x in found.groups()) == pytest.approx(means, abs=0.0006)
    assert "“the” sees only itself" in verdict
    shown.set("scaling", True)
    shown.set("step", 3)
    assert f"/ √8 = {score / math.sqrt(8):.2f}." in shown.readout().replace("−", "-")


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
    shown.page.get_by_role("slider", name="step").press("End")
    on.press("Enter")
    back.press("Enter")
    assert shown.state("step") == 5
    shown.page.get_by_label("width d_k").press("End")
    shown.page.get_by_label("divide by").press("Space")
    shown.page.get_by_label("causal mask").press("Space")
    shown.page.get_by_label("follow the query of").press("ArrowDown")
    shown.frame()
    widget.step, widget.d_k, widget.scaling, widget.causal, widget.row = 5, 128, False, True, 2
    for name in ("d_k", "scaling", "causal", "row"):
        assert shown.state(name) == getattr(widget, name)
    shows(shown, widget)
    assert set(shown.widget.locator("tr.tfw-stepper-row th").all_inner_texts()) == {"sat"}


def test_mouse_and_finger_move_every_control(show):
    widget = AttentionStepper()
    shown = show(widget, touch=True)
    for act in ("click", "tap"):
        getattr(shown.page.get_by_role("button", name="Next"), act)()
        getattr(shown.page.get_by_label("causal mask"), act)()
        getattr(shown.page.get_by_label("divide by"), act)()
    assert [shown.state(n) for n in ("step", "causal", "scaling")] == [3, False, True]
    for label, name, ends in (("step", "step", (1, 6)), ("width d_k", "d_k", (2, 128))):
        slider = shown.page.get_by_role("slider", name=label)
        place = slider.bounding_box()
        slider.click(position={"x": place["width"] - 3, "y": place["height"] / 2})
        assert shown.state(name) == ends[1]
        slider.tap(position={"x": 3, "y": place["height"] / 2})
        assert shown.state(name) == ends[0]
    for act, name in (("tap", "Next"), ("click", "Next"), ("click", "Previous"), ("tap", "Next")):
        getattr(shown.page.get_by_role("button", name=name), act)()
    shown.page.get_by_role("button", name="Previous").tap()
    shown.page.get_by_label("follow the query of").select_option("down")
    shown.frame()
    assert (shown.state("step"), shown.state("row")) == (2, 3)
    widget.step, widget.d_k = 2, 2
    shows(shown, widget)


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
    labels = shown.page.get_by_label("follow the query of").locator("option").all_inner_texts()
    assert labels == HOSTILE[:2]
    assert shown.page.get_by_label("width d_k").get_attribute("max") == "0"
    shown.check()
    widget = AttentionStepper(tokens=HOSTILE, step=4, row=3)
    shown = show(widget, width=360)
    assert shown.widget.locator("tbody th").all_inner_texts() == HOSTILE * 3
    assert "“قط” may look at 4 of 4 tokens." in shown.readout()
    assert shown.widget.locator(".tfw script").count() == 0
    assert shown.widget.locator(".tfw b").count() == 1  # the step's name
    shown.check()


def test_the_most_tokens_scroll_in_their_own_box(show):
    widget = AttentionStepper(tokens=[f"longtoken{i}" for i in range(12)], step=6, d_k=128)
    shown = show(widget, width=360)
    shows(shown, widget)
    assert shown.widget.locator(".tfw-scroll[tabindex='0'][aria-label^=weights]").count() == 1
    shown.check()
