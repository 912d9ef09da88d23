"""Yours beside the target: the same colours, the same numbers, frames around what differs."""

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from transformer_book.figures.exercises import yours_beside_target
from transformer_book.figures.style import FRAME

TARGET = np.array([[0.1, 0.9], [0.5, 0.5], [0.7, 0.3]])


def frames(ax) -> list[tuple[float, float]]:
    found = [p for p in ax.patches if isinstance(p, Rectangle)]
    assert all(to_hex(p.get_edgecolor()).upper() == FRAME for p in found)
    return [p.get_xy() for p in found]


def test_both_have_the_same_colours_and_their_own_numbers() -> None:
    yours = TARGET.copy()
    yours[1] = 0.4, 0.6
    left, right, *_ = yours_beside_target(yours, TARGET).axes
    assert [ax.collections[0].get_clim() for ax in (left, right)] == [(0.0, 0.9)] * 2
    assert [t.get_text() for t in left.texts] == ["0.10", "0.90", "0.40", "0.60", "0.70", "0.30"]
    assert [t.get_text() for t in right.texts][2:4] == ["0.50", "0.50"]


def test_what_differs_is_framed_unless_nearly_all_does() -> None:
    yours = TARGET.copy()
    yours[1, 0] = 0.4
    left, right, *_ = yours_beside_target(yours, TARGET).axes
    assert frames(left) == [(0, 1)]
    assert frames(right) == []
    assert frames(yours_beside_target(1 - TARGET, TARGET).axes[0]) == []


def test_negative_numbers_have_a_scale_around_0() -> None:
    left, *_ = yours_beside_target(-TARGET, TARGET - 0.6).axes
    low, high = left.collections[0].get_clim()
    assert low == -high


def test_other_shapes_and_what_is_no_number_are_drawn_too() -> None:
    left, right, *_ = yours_beside_target([[np.nan, np.inf, -np.inf]], TARGET).axes
    assert [t.get_text() for t in left.texts] == ["NaN", "∞", "−∞"]
    assert left.get_xlim() == (0, 3)
    assert right.get_xlim() == (0, 2)


def test_many_cells_have_no_numbers() -> None:
    left, *_ = yours_beside_target(np.zeros((20, 20)), np.eye(20) / 2).axes
    assert len(left.texts) == 0
