"""Figures of heads show the numbers that they are given, each at its layer and head."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from transformer_book import use_style
from transformer_book.figures.head_measures import destinations, looks_and_matters


def test_the_parts_of_a_bar_follow_one_another_and_are_as_long_as_their_shares() -> None:
    shares = {"gold": [0.5, 0.25], "end mark": [0.3, 0.7], "elsewhere": [0.2, 0.05]}
    ax = destinations(shares, ["1.1", "1.2"])
    for head in range(2):
        bars = [container.patches[head] for container in ax.containers]
        widths = [part[head] for part in shares.values()]
        np.testing.assert_allclose([bar.get_width() for bar in bars], widths)
        ends = np.cumsum([bar.get_width() for bar in bars])
        np.testing.assert_allclose([bar.get_x() for bar in bars], [0, *ends[:-1]])
        assert ends[-1] == pytest.approx(1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(shares)
    # Numbers stand in all parts but the narrow one.
    assert sorted(text.get_text() for text in ax.texts) == ["0.20", "0.25", "0.30", "0.50", "0.70"]


def test_each_head_is_a_point_where_its_two_numbers_say() -> None:
    groups = {"layer 1": ([0.1, 0.2], [0.01, -0.02], [0.1, 0.1]), "layer 2": ([0.5], [0.3], [0])}
    axis = looks_and_matters(groups, x_label="looks", y_label="matters", baseline=(0.15, "uniform"))
    first, second = (container.lines[0] for container in axis.containers)
    np.testing.assert_array_equal(first.get_xydata(), [[0.1, 0.01], [0.2, -0.02]])
    np.testing.assert_array_equal(second.get_xydata(), [[0.5, 0.3]])
    assert first.get_marker() != second.get_marker()
    assert [text.get_text() for text in axis.texts] == ["1", "2", "1"]
    labels = {text.get_text() for text in axis.get_legend().get_texts()}
    assert labels == {"layer 1", "layer 2", "uniform"}


def test_the_number_of_a_head_does_not_stand_on_its_neighbour() -> None:
    looks, costs = [0.62, 0.64, 0.14, 0.82], [0.02, 0.025, 0.03, 0.11]
    groups = {"layer 2": (looks, costs, [0.01] * 4)}
    with plt.rc_context():
        use_style()
        axis = looks_and_matters(groups, x_label="looks", y_label="matters")
    axis.figure.canvas.draw()
    half = 4.5 * axis.figure.dpi / 72  # of a point
    for text in axis.texts:
        box = text.get_window_extent().padded(half)
        for at in axis.transData.transform(np.column_stack([looks, costs])):
            assert not box.contains(*at)
