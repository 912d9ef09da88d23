"""The stages of a head on paper hold the numbers they are given."""

from itertools import pairwise

import numpy as np

from transformer_book.figures.attention import attention_stages

SCORES = np.array([[1.5, -np.inf], [-0.004, 2.25]])
WEIGHTS = np.array([[1.0, 0.0], [0.096, 0.904]])
OUTPUT = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, 0.0, 0.0, 0.0, 0.0]])


def cells(ax) -> list[str]:
    """The texts of the cells, row by row."""
    by_place = sorted(ax.texts, key=lambda text: text.get_position()[::-1])
    return [text.get_text() for text in by_place]


def draw(scores=SCORES, tokens=("a", "b")):
    return attention_stages({"scores": scores, "masked": scores}, WEIGHTS, OUTPUT, tokens).axes


def test_every_stage_has_its_numbers_its_name_and_its_labels():
    axes = draw()
    assert [ax.get_title() for ax in axes] == ["scores", "masked", "weights", "output"]
    assert cells(axes[0]) == cells(axes[1]) == ["1.50", "−∞", "0.00", "2.25"]
    assert cells(axes[2]) == ["1.00", "0.00", "0.10", "0.90"]
    assert cells(axes[3]) == ["1.00", "2.00", "3.00", "4.00", "−1.00", "0.00", "0.00", "0.00"]
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["a", "b"]
    assert [[t.get_text() for t in ax.get_xticklabels()] for ax in axes[:3]] == [["a", "b"]] * 3


def test_a_scale_of_colours_is_shared_by_the_scores_and_no_other():
    axes = draw()
    assert [ax.collections[0].get_clim() for ax in axes] == [
        (-2.25, 2.25), (-2.25, 2.25), (0.0, 1.0), (-4.0, 4.0)
    ]  # fmt: skip
    assert draw(np.zeros((2, 2)))[0].collections[0].get_clim() == (-1.0, 1.0)


def test_large_scores_have_one_digit():
    assert cells(draw(10 * SCORES)[0]) == ["15.0", "−∞", "0.0", "22.5"]


def test_numbers_and_labels_stay_apart_for_many_tokens():
    n = 12
    scores = np.full((n, n), -18.2)
    tokens = [f"token{i}" for i in range(n)]
    figure = attention_stages({"scores": scores}, np.full((n, n), 1 / n), scores, tokens)
    figure.canvas.draw()
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts[:n]]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
