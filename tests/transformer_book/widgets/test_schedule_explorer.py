"""The learning-rate explorer shows the module's rates, whatever moves it."""

import functools
import re

import pytest
from traitlets import TraitError

from transformer.training import noam_rate

from transformer_book.widgets import ScheduleExplorer


def rates_shown(text: str) -> list[float]:
    """The rates that a read-out names."""
    return [float(n.replace("−", "-")) for n in re.findall(r": ([\d.]+(?:e−?\d+)?)[;.]", text)]


def expected(step: int, *curves: tuple[int, int, float]) -> list[float]:
    return pytest.approx([noam_rate(step, d, w, float(f)) for d, w, f in curves], rel=0.005)


def kept_rates(shown) -> list[float]:
    """The rates at the cursor that stand with the names of the kept curves."""
    return [
        rates_shown(f"{text};")[0]
        for text in shown.widget.locator(".tfw-key li").all_inner_texts()[1:]
    ]


def handle(shown, name):
    return shown.page.get_by_role("slider", name=name)


def place_of_the_handle(shown):
    box = handle(shown, "warm-up steps").locator("circle").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_starts_with_the_three_curves_at_the_peak(show, look):
    widget = ScheduleExplorer()
    shown = show(widget, **look)
    assert shown.readout().startswith("Step 4,000.")
    rates = [*rates_shown(shown.readout()), *kept_rates(shown)]
    assert rates == pytest.approx(widget.rates(), rel=0.005)
    assert shown.widget.locator("polyline").count() == 3
    assert shown.height() < 700
    shown.check()


def test_the_keyboard_moves_the_handle_the_slider_and_the_cursor(show):
    shown = show(ScheduleExplorer(kept=[]))
    shown.page.get_by_label("width d_model").focus()
    shown.page.keyboard.press("ArrowLeft")
    handle(shown, "warm-up steps").press("Home")
    handle(shown, "factor").press("End")
    shown.frame()
    assert (shown.state("d_model"), shown.state("warmup"), shown.state("factor")) == (256, 100, 4)
    assert rates_shown(shown.readout()) == expected(4000, (256, 100, 4))
    for key, warmup in (
        ("ArrowRight", 200),
        ("PageUp", 6000),
        ("End", 16_000),
        ("ArrowLeft", 12_000),
    ):
        handle(shown, "warm-up steps").press(key)
        assert shown.state("warmup") == warmup
    shown.frame()
    assert handle(shown, "warm-up steps").get_attribute("aria-valuetext") == "12,000"

    chart = shown.widget.locator(".tfw-chart")
    for key, step in (("Home", 1), ("End", 20_000), ("ArrowLeft", None)):
        chart.press(key)
        shown.frame()
        step = step or shown.state("step")
        assert shown.readout().startswith(f"Step {step:,}.")
        assert rates_shown(shown.readout()) == expected(step, (256, 12_000, 4))


def test_only_the_peak_looks_as_if_it_could_be_held(show):
    shown = show(ScheduleExplorer())
    assert shown.widget.locator(".tfw-grip-dot").count() == 1
    assert shown.widget.locator(".tfw-rule-foot").count() == 1


def test_nothing_below_jumps_on_a_phone(show):
    shown, heights = show(ScheduleExplorer(), width=320), set()
    for name, value in (
        ("warmup", 16_000),
        ("factor", 1.41),
        ("step", 14_000),
        ("d_model", 2048),
        ("warmup", 4000),
        ("factor", 2.0),
    ):
        shown.set(name, value)
        heights.add(shown.height())
    assert shown.readout().endswith("Its peak is the paper's.")
    assert len(heights) == 1


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_peak_is_dragged_along_its_curve_and_up_and_down(show, finger):
    """All warm-ups end on one falling curve: the handle never leaves it, whatever the hand does."""
    shown = show(ScheduleExplorer(kept=[]), touch=True, width=390)
    drag = functools.partial(shown.drag, finger=finger)
    height, before = shown.height(), place_of_the_handle(shown)
    drag(handle(shown, "warm-up steps"), 60, 30)
    warmup = shown.state("warmup")
    assert 7000 < warmup < 11_000
    assert (shown.state("d_model"), shown.state("factor")) == (512, 1)
    x, y = place_of_the_handle(shown)
    assert x - before[0] == pytest.approx(60, abs=3)
    assert rates_shown(shown.readout()) == expected(4000, (512, warmup, 1))

    drag(handle(shown, "factor"), 20, y - before[1], at=(0.5, 0.1))
    assert shown.state("warmup") == warmup
    assert 0.3 < shown.state("factor") < 0.9
    assert shown.height() == height
    drag(handle(shown, "warm-up steps"), -400)
    assert shown.state("warmup") < 1500  # the picture ends there
    drag(handle(shown, "warm-up steps"), 900)
    assert shown.state("warmup") == 20_000
    drag(handle(shown, "factor"), 0, 400, at=(0.5, 0.1))
    assert shown.state("factor") == 0.01
    shown.check()


def test_no_words_lie_under_the_handle_on_a_phone(show):
    shown = show(ScheduleExplorer(kept=[]), width=390)
    for factor in (0.5, 1, 1.4, 2, 4):
        shown.set("factor", factor)
        for warmup in (2000, 4000, 8000, 12_000, 16_000):
            shown.set("warmup", warmup)
            grip = handle(shown, "factor").bounding_box()
            for words in shown.widget.locator(".tfw-rate-name:not(:empty)").all():
                box = words.bounding_box()
                beside = box["x"] + box["width"] < grip["x"] or grip["x"] + 22 < box["x"]
                above = box["y"] + box["height"] < grip["y"] or grip["y"] + 60 < box["y"]
                assert beside or above, (factor, warmup, words.inner_html())


def test_half_the_width_meets_the_papers_peak_with_a_factor_of_071(show):
    shown = show(ScheduleExplorer(kept=[], d_model=256))
    ring = shown.widget.locator(".tfw-rate-paper")
    assert "tfw-rate-met" not in ring.get_attribute("class")
    handle(shown, "factor").press("ArrowDown")
    shown.frame()
    assert shown.state("factor") == 0.71
    assert "tfw-rate-met" in ring.get_attribute("class")
    assert shown.readout().endswith("Its peak is the paper's.")
    shown.set("warmup", 6000)
    assert "tfw-rate-met" not in ring.get_attribute("class")


def test_another_width_is_reached_in_motion_and_at_once_for_who_wants_none(show):
    def heights(shown):
        shown.set("d_model", 512)
        shown.page.wait_for_timeout(500)
        return shown.widget.evaluate(
            """async (place) => {
              const seen = new Set();
              place.model.set("d_model", 128);
              for (let i = 0; i < 40; i += 1) {
                await new Promise(requestAnimationFrame);
                const dot = place.querySelector("[role=slider] .tfw-grip-dot");
                seen.add(dot.getBoundingClientRect().y);
              }
              return [...seen];
            }"""
        )

    still, moving = show(ScheduleExplorer()), show(ScheduleExplorer())
    moving.in_motion()
    assert len(heights(still)) <= 2
    assert len(heights(moving)) > 2
    assert place_of_the_handle(moving) == pytest.approx(place_of_the_handle(still), abs=0.5)


def test_the_pointer_moves_the_cursor_beside_the_handle(show):
    shown = show(ScheduleExplorer(kept=[]), touch=True)
    chart = shown.widget.locator(".tfw-chart")
    box = chart.bounding_box()
    chart.hover(position={"x": 0.6 * box["width"], "y": 100})
    shown.frame()
    by_mouse = shown.state("step")
    assert 10_000 < by_mouse < 14_000
    assert rates_shown(shown.readout()) == expected(by_mouse, (512, 4000, 1))
    chart.tap(position={"x": box["width"] - 20, "y": 100})
    shown.frame()
    assert shown.state("step") > by_mouse
    shown.slide_to_ends("width d_model", "d_model", 64, 2048)


def test_curves_are_kept_and_dropped(show):
    shown = show(ScheduleExplorer(kept=[]))
    shown.page.get_by_role("button", name="Keep this curve").click()
    shown.page.get_by_label("width d_model").press("End")
    shown.frame()
    assert shown.state("kept") == [[512, 4000, 1]]
    assert rates_shown(shown.readout()) == expected(4000, (2048, 4000, 1))
    assert kept_rates(shown) == expected(4000, (512, 4000, 1))
    shown.page.get_by_role("button", name="Drop kept ones").click()
    shown.frame()
    assert shown.state("kept") == []


def test_what_python_sets_is_shown(show):
    shown = show(ScheduleExplorer())
    shown.set("warmup", 8000)
    assert handle(shown, "warm-up steps").get_attribute("aria-valuetext") == "8,000"
    assert rates_shown(shown.readout())[0] == pytest.approx(noam_rate(4000, 512, 8000), rel=0.005)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"warmup": 0}, "warmup"),
        ({"kept": [(512, 4000)]}, r"no \(d_model, warmup, factor\)"),
        ({"kept": [(0, 4000, 1.0)]}, r"d_model \(0\) must be at least 1"),
        ({"step": 0}, "step"),
        ({"factor": float("nan")}, "factor .nan. must be a finite number"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        ScheduleExplorer(**settings)


def test_the_twin_draws_the_same_curves():
    axes = ScheduleExplorer().twin().axes[0]
    peaks = sorted(line.get_ydata().max() for line in axes.lines if len(line.get_xdata()) > 1)
    expected_peaks = sorted([(512 * 4000) ** -0.5, (512 * 8000) ** -0.5, (256 * 4000) ** -0.5])
    assert peaks == pytest.approx(expected_peaks, rel=0.01)
