"""The learning-rate explorer shows the module's rates, whatever moves it."""

import re

import pytest
from traitlets import TraitError

from transformer.training import noam_rate
from transformer.widgets import ScheduleExplorer


def rates_shown(text: str) -> list[float]:
    """The rates that a read-out names."""
    return [float(n.replace("−", "-")) for n in re.findall(r": ([\d.]+(?:e−?\d+)?)[;.]", text)]


def expected(step: int, *curves: tuple[int, int, float]) -> list[float]:
    return pytest.approx([noam_rate(step, d, w, float(f)) for d, w, f in curves], rel=0.005)


def test_starts_with_the_three_curves_at_the_peak(show, look):
    widget = ScheduleExplorer()
    shown = show(widget, **look)
    assert shown.readout().startswith("Step 4,000.")
    assert rates_shown(shown.readout()) == pytest.approx(widget.rates(), rel=0.005)
    assert shown.widget.locator("polyline").count() == 3
    shown.check()


def test_the_keyboard_moves_sliders_and_cursor(show):
    shown = show(ScheduleExplorer(kept=[]))
    shown.page.get_by_label("width d_model").focus()
    shown.page.keyboard.press("ArrowLeft")
    shown.page.get_by_label("warm-up steps").press("Home")
    shown.page.get_by_label("factor").press("End")
    shown.frame()
    assert (shown.state("d_model"), shown.state("warmup"), shown.state("factor")) == (256, 100, 4)
    assert rates_shown(shown.readout()) == expected(4000, (256, 100, 4))

    chart = shown.widget.locator(".tfw-chart")
    for key, step in (("Home", 1), ("End", 20_000), ("ArrowLeft", None)):
        chart.press(key)
        shown.frame()
        step = step or shown.state("step")
        assert shown.readout().startswith(f"Step {step:,}.")
        assert rates_shown(shown.readout()) == expected(step, (256, 100, 4))


def test_mouse_and_finger_move_the_cursor_and_the_sliders(show):
    shown = show(ScheduleExplorer(kept=[]), touch=True)
    chart = shown.widget.locator(".tfw-chart")
    box = chart.bounding_box()
    chart.hover(position={"x": box["width"] / 2, "y": 100})
    shown.frame()
    by_mouse = shown.state("step")
    assert 8000 < by_mouse < 12_000
    assert rates_shown(shown.readout()) == expected(by_mouse, (512, 4000, 1))
    chart.tap(position={"x": box["width"] - 20, "y": 100})
    shown.frame()
    assert shown.state("step") > by_mouse

    slider = shown.page.get_by_label("warm-up steps")
    place = slider.bounding_box()
    slider.click(position={"x": place["width"] - 3, "y": place["height"] / 2})
    shown.frame()
    assert shown.state("warmup") == 16_000
    slider.tap(position={"x": 3, "y": place["height"] / 2})
    shown.frame()
    assert shown.state("warmup") == 100


def test_curves_are_kept_and_dropped(show):
    shown = show(ScheduleExplorer(kept=[]))
    shown.page.get_by_role("button", name="Keep this curve").click()
    shown.page.get_by_label("width d_model").press("End")
    shown.frame()
    assert shown.state("kept") == [[512, 4000, 1]]
    assert rates_shown(shown.readout()) == expected(4000, (2048, 4000, 1), (512, 4000, 1))
    shown.page.get_by_role("button", name="Drop the kept ones").click()
    shown.frame()
    assert shown.state("kept") == []


def test_what_python_sets_is_shown(show):
    shown = show(ScheduleExplorer())
    shown.set("warmup", 8000)
    assert shown.page.get_by_label("warm-up steps").get_attribute("aria-valuetext") == "8,000"
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
