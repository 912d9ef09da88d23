"""The label-smoothing explorer shows the module's targets and losses, whatever moves it."""

import math
import re

import pytest
import torch
import torch.nn.functional as F
from traitlets import TraitError

from transformer.training.loss import label_smoothing_loss

from transformer_book.widgets.label_smoothing_explorer import LabelSmoothingExplorer

NUMBER = r"(−?[\d.]+(?:e−?\d+)?)"
SAYS = re.compile(
    rf"p = {NUMBER}\. Loss without smoothing: {NUMBER}; with ε = {NUMBER}: {NUMBER}\. "
    rf"Minimum with smoothing: {NUMBER} at p = {NUMBER}\."
)


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def says(shown) -> list[float]:
    """p, loss without smoothing, epsilon, loss with it, the minimum and where it lies."""
    match = SAYS.fullmatch(shown.readout())
    assert match, shown.readout()
    return [number(group) for group in match.groups()]


def expected(widget: LabelSmoothingExplorer) -> object:
    best, lowest = widget.minimum()
    values = [widget.p, widget.loss(smoothing=0.0), widget.smoothing, widget.loss(), lowest, best]
    return pytest.approx(values, rel=0.001, abs=1e-6)


def bars(shown) -> list[float]:
    texts = shown.widget.locator(".tfw-smoothing-bar > span:first-child").all_inner_texts()
    return [number(text) for text in texts]


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("vocab_size", [2, 8, 37_000])
def test_the_loss_is_lowest_where_the_model_gives_the_target(vocab_size, smoothing):
    widget = LabelSmoothingExplorer(vocab_size=vocab_size, smoothing=smoothing)
    best, lowest = widget.minimum()
    assert best == pytest.approx(1 - smoothing + smoothing / vocab_size)
    if smoothing:
        assert widget.loss(best) == pytest.approx(lowest, rel=1e-4)
    assert all(widget.loss(p) > lowest for p in (best / 2, (1 + 3 * best) / 4 - 1e-3, 0.999))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("vocab_size", [2, 8, 37_000])
@pytest.mark.parametrize("p", [0.01, 0.5, 0.99])
def test_the_loss_is_the_one_of_the_training(p, vocab_size, smoothing):
    widget = LabelSmoothingExplorer(vocab_size=vocab_size, smoothing=smoothing, p=p)
    rest = (1 - p) / (vocab_size - 1)
    probabilities = torch.full((1, vocab_size), rest, dtype=torch.float64)
    probabilities[0, 0] = p
    logits, target = probabilities.log(), torch.tensor([0])
    exact = float(F.cross_entropy(logits, target, label_smoothing=smoothing))
    assert widget.loss() == pytest.approx(exact, rel=1e-6, abs=1e-9)
    # In float32, how the sum over 37,000 words is rounded depends on the processor.
    loss, _ = label_smoothing_loss(logits, target, smoothing, pad_id=-1)
    assert float(loss) == pytest.approx(exact, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("vocab_size", [2, 8, 20, 37_000])
def test_starts_with_the_target_and_both_losses(show, look, vocab_size):
    widget = LabelSmoothingExplorer(vocab_size=vocab_size)
    shown = show(widget, **look)
    assert says(shown) == expected(widget)
    target = widget.target().tolist()
    assert bars(shown) == pytest.approx(target if vocab_size <= 20 else target[:2], rel=0.006)
    assert shown.widget.locator("polyline").count() == 2
    shown.check()


def test_the_keyboard_moves_every_control(show):
    widget = LabelSmoothingExplorer()
    shown = show(widget)
    shown.page.get_by_label("vocabulary size V").press("End")
    shown.page.get_by_label("smoothing ε").press("ArrowRight")
    shown.frame()
    widget.vocab_size, widget.smoothing = 37_000, 0.15
    assert (shown.state("vocab_size"), shown.state("smoothing")) == (37_000, 0.15)
    assert says(shown) == expected(widget)
    assert shown.widget.get_by_text("each of the other 36,999").is_visible()

    chart = shown.widget.locator(".tfw-chart")
    for key in ("Home", "PageUp", "End", "ArrowLeft"):
        chart.press(key)
        shown.frame()
        widget.p = shown.state("p")
        assert says(shown) == expected(widget)
    shown.page.get_by_role("button", name="Go to the minimum").press("Enter")
    shown.frame()
    best, lowest = widget.minimum()
    assert shown.state("p") == pytest.approx(best)
    assert says(shown)[3] == says(shown)[4] == pytest.approx(lowest, rel=0.001)


@pytest.mark.parametrize(("width", "most"), [(800, 760), (390, 860)])
def test_nothing_below_jumps(show, width, most):
    shown, heights = show(LabelSmoothingExplorer(vocab_size=5, smoothing=0.4), width=width), set()
    for name, value in (
        ("p", 0.123),
        ("vocab_size", 8),
        ("smoothing", 0.1),
        ("vocab_size", 37_000),
        ("smoothing", 0.0),
    ):
        shown.set(name, value)
        heights.add(round(shown.height()))
    assert len(heights) == 1
    assert heights.pop() < most


def test_without_smoothing_the_loss_has_no_place_to_stop(show):
    widget = LabelSmoothingExplorer(smoothing=0.0)
    shown = show(widget)
    assert says(shown) == expected(widget)
    assert shown.page.get_by_role("button", name="Go to the minimum", disabled=True).is_visible()
    assert "falls towards 0" in shown.widget.locator(".tfw-smoothing-note").inner_text()
    assert bars(shown) == [1, *[0] * 7]
    shown.check()


def test_what_python_sets_is_shown(show):
    widget = LabelSmoothingExplorer()
    shown = show(widget)
    for name, value in (("vocab_size", 21), ("smoothing", 0.9), ("p", 0.123), ("p", 0.9999)):
        setattr(widget, name, value)
        shown.set(name, value)
        assert says(shown) == expected(widget)
    assert len(bars(shown)) == 2
    shown.check()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"vocab_size": 1}, "vocab_size"),
        ({"smoothing": 1.0}, "smoothing"),
        ({"smoothing": math.nan}, "smoothing .nan. must be a finite number"),
        ({"p": 0.0}, r"p \(0.0\) must lie between 0 and 1"),
        ({"p": math.nan}, r"p \(nan\) must be a finite number"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        LabelSmoothingExplorer(**settings)


@pytest.mark.parametrize("vocab_size", [5, 37_000])
def test_the_twin_draws_the_same_numbers(vocab_size):
    widget = LabelSmoothingExplorer(vocab_size=vocab_size, smoothing=0.2)
    target, curves = widget.twin().axes
    written = [float(text.get_text()) for text in target.texts]
    assert written == pytest.approx(widget.target().tolist()[: len(written)], abs=0.006)
    assert len(written) == (5 if vocab_size == 5 else 2)
    marked = curves.lines[3]
    assert float(marked.get_xdata()[0]) == pytest.approx(widget.minimum()[0], abs=0.005)
    assert float(marked.get_ydata()[0]) == pytest.approx(widget.minimum()[1], rel=0.001)
