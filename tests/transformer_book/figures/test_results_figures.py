"""The figures of section 6.1 draw the table's numbers, and keep apart what does not compare."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib.colors import to_hex

from transformer_book.figures.results import quality_and_cost, scores_by_compute

POINTS = {
    "German": {
        "old": (None, 20.0),
        "one": (1e19, 24.0),
        "many": (8e19, 25.0),
        "ours": (1e18, 26.0),
    },
    "French": {"one": (2e19, 30.0), "ours": (1e18, 31.0)},
}


def drawn(**changes):
    settings = {"singles": {"many": "one"}, "named": {"ours": "base"}} | changes
    return quality_and_cost(POINTS, **settings)


def marked(ax) -> dict[tuple[float, float], object]:
    return {
        (line.get_xdata()[0], line.get_ydata()[0]): line
        for line in ax.lines
        if line.get_marker() not in ("None", None)
    }


def test_each_system_is_a_point_and_cost_is_logarithmic() -> None:
    german, french = drawn()
    assert set(marked(german)) == {(1e19, 24.0), (8e19, 25.0), (1e18, 26.0)}
    assert set(marked(french)) == {(2e19, 30.0), (1e18, 31.0)}
    assert german.get_xscale() == french.get_xscale() == "log"
    assert [ax.get_title() for ax in (german, french)] == list(POINTS)
    assert [text.get_text() for text in german.texts] == ["base"]


def test_an_ensemble_is_hollow_in_its_single_models_colour_and_tied_to_it() -> None:
    german, _ = drawn()
    points = marked(german)
    one, many = points[1e19, 24.0], points[8e19, 25.0]
    assert one.get_color() == many.get_color() == one.get_markerfacecolor()
    assert many.get_markerfacecolor() == "white"
    ties = [line for line in german.lines if list(line.get_xdata()) == [1e19, 8e19]]
    assert [list(line.get_ydata()) for line in ties] == [[24.0, 25.0]]


def test_what_has_no_cost_is_a_line_at_its_score_and_says_so() -> None:
    german, _ = drawn()
    assert [20.0, 20.0] in [list(line.get_ydata()) for line in german.lines]
    legend = [text.get_text() for text in german.figure.legends[0].get_texts()]
    assert legend == ["old, cost not given", "one", "hollow: its ensemble"]


def test_an_ensemble_needs_its_single_model() -> None:
    with pytest.raises(ValueError, match="nobody"):
        drawn(singles={"many": "nobody"})


def test_panels_share_compute_and_no_scale_of_scores() -> None:
    panels = {
        "news": {"base": (1e18, 27.0), "big": (1e19, 28.0)},
        "toy": {"run": (np.array([1e12, 1e13]), np.array([80.0, 100.0]))},
    }
    news, toy = scores_by_compute(panels)
    assert news.get_xlim() == toy.get_xlim()
    assert news.get_ylim() != toy.get_ylim()
    assert [list(line.get_ydata()) for line in toy.lines] == [[80.0, 100.0]]
    assert [text.get_text() for text in news.texts] == ["base", "big"]
    assert to_hex(news.lines[0].get_color()) != to_hex(news.lines[1].get_color())
    with pytest.raises(ValueError, match="'run' has 1 scores for 2 costs"):
        scores_by_compute({"toy": {"run": ([1e12, 1e13], 80.0)}})
