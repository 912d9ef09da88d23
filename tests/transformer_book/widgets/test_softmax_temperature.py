"""The softmax with a temperature shows torch's numbers, whatever moves it."""

import re

import pytest
import torch
from traitlets import TraitError

from transformer_book.widgets import SoftmaxTemperature

SCORES = [("cat", 2.0), ("dog", 1.0), ("mat", -0.5)]


def expected(temperature: float, scores=SCORES):
    logits = torch.tensor([score for _, score in scores])
    return pytest.approx(torch.softmax(logits / temperature, 0).tolist(), abs=0.0006)


def shown_numbers(shown) -> list[float]:
    meters = shown.widget.locator("meter").evaluate_all("all => all.map((meter) => meter.value)")
    words = [float(n) for n in re.findall(r": (\d\.\d{3})", shown.readout())]
    assert words == pytest.approx(meters, abs=0.0006)
    return words


def test_the_numbers_are_torchs_and_keys_move_them(show, look):
    shown = show(SoftmaxTemperature(scores=SCORES), **look)
    assert shown_numbers(shown) == expected(1.0)
    assert shown.widget.locator(".tfw-question").inner_text().endswith("?")
    for key, temperature in (("Home", 0.1), ("ArrowRight", 0.2), ("End", 5.0)):
        shown.page.get_by_label("temperature").press(key)
        shown.frame()
        assert shown.state("temperature") == pytest.approx(temperature)
        assert shown_numbers(shown) == expected(temperature)
    shown.check()


def test_what_python_sets_is_shown(show):
    shown = show(SoftmaxTemperature(scores=SCORES))
    shown.set("temperature", 2.5)
    assert shown.page.get_by_label("temperature").get_attribute("aria-valuetext") == "2.5"
    assert shown_numbers(shown) == expected(2.5)
    shown.set("scores", [["huge", 1e5], ["small", -1e5]])
    assert shown_numbers(shown) == [1.0, 0.0]


def test_tokens_stay_text(show):
    tokens = ["<b>x</b>", "<script>fail()</script>", "שלום", "مرحبا"]
    shown = show(SoftmaxTemperature(scores=[(token, 0.0) for token in tokens]), width=360)
    assert shown.widget.locator("bdi").all_inner_texts() == tokens
    assert shown.widget.locator("b").count() == 0
    shown.check()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"temperature": 0.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature .nan. must be a finite number"),
        ({"scores": []}, "scores"),
        ({"scores": [("cat", float("nan"))]}, "scores must hold finite numbers"),
        ({"scores": [("cat", float("inf"))]}, "scores must hold finite numbers"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        SoftmaxTemperature(**settings)


def test_the_twin_draws_the_same_numbers():
    widget = SoftmaxTemperature(scores=SCORES, temperature=2.0)
    [axes] = widget.twin().axes
    assert [bar.get_width() for bar in axes.patches] == expected(2.0)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cat", "dog", "mat"]
