"""The progress line and the curves: in a terminal, in a notebook, and nowhere."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import IPython.display
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transformer.training.trainers import small_trainer
from transformer.training import progress as module
from transformer.training.curves import BLEU, BOTTOM, LEFT, LOSS, RIGHT, TOP, curves_svg
from transformer.training.progress import (
    LoggedProgress,
    NotebookProgress,
    Progress,
    TerminalProgress,
    duration,
    progress,
)


class Page:
    """Stands for a notebook's page: the first display and its later versions."""

    def __init__(self):
        self.versions = []

    def display(self, data, raw, display_id):
        assert raw and display_id
        self.versions.append(data)
        return self

    def update(self, data, raw):
        assert raw
        self.versions.append(data)


@pytest.fixture
def page(monkeypatch):
    page = Page()
    monkeypatch.setattr(module, "_in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", page.display)
    return page


def test_the_place_decides_the_kind(page, monkeypatch):
    assert isinstance(progress(10), NotebookProgress)
    assert type(progress(10, show=False)) is Progress
    monkeypatch.setattr(module, "_in_notebook", lambda: False)
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: True, raising=False)
    bar = progress(10)
    assert isinstance(bar, TerminalProgress)
    bar.close()
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: False, raising=False)
    assert isinstance(progress(10), LoggedProgress)


def test_a_file_or_a_pipe_gets_a_line_for_each_entry_of_the_log_and_no_bar(capsys):
    trainer = small_trainer(steps=25, log_every=10)
    trainer.show_progress = True
    trainer.train()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"step {step} of 25" for step in (10, 20, 25)]
    assert all(": loss " in line for line in lines)


def test_without_a_kernel_it_is_no_notebook():
    assert module._in_notebook() is False


def test_hidden_it_prints_nothing(capfd):
    bar = progress(3, show=False)
    bar.update("loss 1.0")
    bar.close()
    assert capfd.readouterr() == ("", "")
    assert bar.step == 1


def test_a_terminal_sees_steps_and_facts_on_standard_error(capfd):
    bar = TerminalProgress(10, 4)
    for _ in range(6):
        bar.update("loss 1.234")
    bar.close()
    out, err = capfd.readouterr()
    assert out == ""
    assert "10/10" in err
    assert "loss 1.234" in err


def test_a_notebook_keeps_one_output_that_ends_in_the_last_state(page, capfd):
    bar = NotebookProgress(2000, 500)
    for i in range(1500):
        bar.update(f"loss {i}")
    bar.close()
    last = page.versions[-1]
    assert "step 2,000 of 2,000" in last["text/plain"]
    assert "loss 1499" in last["text/plain"]
    assert 'max="2000" value="2000"' in last["text/html"]
    assert len(page.versions) < 100  # not one a step
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_facts_as_text_not_as_markup(page):
    bar = NotebookProgress(1, 0)
    bar.update("loss <b>1</b>")
    bar.close()
    assert "&lt;b&gt;1&lt;/b&gt;" in page.versions[-1]["text/html"]


# Time left and curves ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185.0, "3 min 05 s"),
        (3599.7, "1 h 00 min"),
        (7805.0, "2 h 10 min"),
    ],
)
def test_a_time_as_people_say_it(seconds, text):
    assert duration(seconds) == text


def test_the_time_left_counts_from_where_the_run_was_resumed(page, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    bar = NotebookProgress(1000, 400)
    for _ in range(200):
        now[0] += 0.5
        bar.update("loss 1.0")
    assert "step 600 of 1,000 · 1 min 40 s · 3 min 20 s left" in page.versions[-1]["text/plain"]
    for _ in range(400):
        now[0] += 0.5
        bar.update("loss 1.0")
    bar.close()
    assert page.versions[-1]["text/plain"] == "step 1,000 of 1,000 · loss 1.0"


def test_a_run_that_was_stopped_early_leaves_neither_a_time_nor_one_that_is_left(page):
    bar = NotebookProgress(1000, 0)
    for _ in range(3):
        bar.update("loss 1.0")
    bar.close()
    assert page.versions[-1]["text/plain"] == "step 3 of 1,000 · loss 1.0"


METRICS = [
    {"step": step, "loss": 6.0 - step / 100, "tokens_per_second": 1}
    | ({"bleu": step / 20, "valid_loss": 5.0 - step / 200} if step % 100 == 0 else {})
    for step in range(50, 301, 50)
]


def drawn(metrics, total):
    """The SVG as a tree; it must be well-formed."""
    return ElementTree.fromstring(curves_svg(metrics, total))


def lines(svg):
    """The curves: lists of (x, y), by colour and dashes."""
    return {
        (line.get("stroke"), line.get("stroke-dasharray")): [
            tuple(map(float, pair.split(","))) for pair in line.get("points").split()
        ]
        for line in svg.iter("polyline")
    }


def test_the_curves_stand_where_the_numbers_are():
    svg = drawn(METRICS, 600)
    (loss, valid, bleu) = lines(svg).values()
    assert [len(curve) for curve in (loss, valid, bleu)] == [6, 3, 3]
    # The axis ends at the last step of the run, of which half is done.
    assert loss[-1][0] == pytest.approx((LEFT + RIGHT) / 2, abs=0.1)
    steps = [entry["step"] for entry in METRICS]
    assert [x for x, _ in loss] == pytest.approx(
        [LEFT + (RIGHT - LEFT) * step / 600 for step in steps], abs=0.1
    )
    assert all(upper[1] < lower[1] for upper, lower in pairwise(loss))  # down is larger y
    assert all(upper[1] > lower[1] for upper, lower in pairwise(bleu))


def test_ticks_stand_at_their_values():
    svg = drawn(METRICS, 600)
    left = {
        float(text.text): float(text.get("y")) - 4
        for text in svg.iter("text")
        if text.get("text-anchor") == "end" and text.text[0].isdigit()
    }
    assert len(left) >= 3
    curve = next(iter(lines(svg).values()))
    (v0, y0), *_, (v1, y1) = left.items()
    for (_, y), entry in zip(curve, METRICS, strict=True):
        assert y == pytest.approx(y0 + (y1 - y0) * (entry["loss"] - v0) / (v1 - v0), abs=0.2)


def test_axes_are_labelled_and_the_text_alternative_says_the_numbers():
    svg = drawn(METRICS, 600)
    words = {text.text for text in svg.iter("text")}
    assert {"step", "loss", "BLEU", "training", "validation"} <= words
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == (
        "Loss against the step: 5.5 at step 50, 3 at step 300. "
        "Validation loss: 3.5 at step 300. BLEU: 15 at step 300."
    )


def test_without_evaluations_there_is_one_curve_and_before_two_points_none():
    assert curves_svg([], 10) == curves_svg(METRICS[:1], 10) == ""
    svg = drawn([{"step": 1, "loss": 2.0}, {"step": 2, "loss": 2.0}], 2)
    assert len(lines(svg)) == 1
    assert "BLEU" not in {text.text for text in svg.iter("text")}


@settings(max_examples=30)
@given(
    losses=st.lists(st.floats(0, 1e6), min_size=2, max_size=200),
    bleu=st.floats(0, 100),
    more=st.integers(0, 10**6),
)
def test_any_curve_stays_inside_and_small(losses, bleu, more):
    metrics = [{"step": i, "loss": loss} for i, loss in enumerate(losses, 1)]
    metrics[-1]["bleu"] = bleu
    svg = drawn(metrics, len(metrics) + more)
    for curve in lines(svg).values():
        assert len(curve) <= 200
        assert all(LEFT <= x <= RIGHT and TOP <= y <= BOTTOM for x, y in curve)
    assert len(list(svg.iter("text"))) < 40


def test_the_colours_show_on_white_and_on_black():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colour in (LOSS, BLEU):
        assert 1.05 / (luminance(colour) + 0.05) >= 3  # WCAG's ratio for graphics
        assert (luminance(colour) + 0.05) / (luminance("#121212") + 0.05) >= 3
    # Text and axes take the colour of the page.
    colours = set(re.findall(r"#[0-9a-f]{6}", curves_svg(METRICS, 600)))
    assert colours == {LOSS, BLEU}


def test_training_in_a_notebook_draws_its_loss_and_its_bleu(page):
    trainer = small_trainer(steps=20, evaluate=lambda model: {"bleu": 3.0}, evaluate_every=10)
    trainer.show_progress = True
    trainer.train()
    last = page.versions[-1]
    assert "step 20 of 20" in last["text/plain"]
    assert "BLEU 3.0" in last["text/plain"]
    assert "tokens/s" in last["text/plain"]
    svg = ElementTree.fromstring(re.search("<svg.*</svg>", last["text/html"])[0])
    assert "BLEU: 3 at step 20." in svg.get("aria-label")
