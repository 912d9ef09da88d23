"""Runs by their curves: every point is drawn, every curve named at its end."""

import numpy as np
from matplotlib.text import Annotation

from transformer_book.figures.recipes import validation_curves

RUNS = {"first": [(1.0, 0.5), (20.0, 5.6)], "recipe": [(1.5, 3.0), (12.0, 9.0)]}


def test_a_curve_has_its_points_and_its_name_at_the_last_of_them() -> None:
    ax = validation_curves(RUNS)
    drawn = [np.asarray(line.get_xydata()).tolist() for line in ax.lines]
    assert drawn == [[list(point) for point in curve] for curve in RUNS.values()]
    names = [text for text in ax.texts if isinstance(text, Annotation)]
    assert {text.get_text(): text.xy for text in names} == {
        name: curve[-1] for name, curve in RUNS.items()
    }
    colours = [line.get_color() for line in ax.lines]
    assert len(set(colours)) == 2 and [text.get_color() for text in ax.texts] == colours


def test_the_axis_leaves_room_for_the_names_and_counts_no_passes_that_nobody_made() -> None:
    ax = validation_curves(RUNS)
    assert ax.get_xlim()[1] > 25 and max(ax.get_xticks()) <= 20 and ax.get_ylim()[0] == 0
    assert np.all(np.diff(ax.get_xticks()) > 0)
