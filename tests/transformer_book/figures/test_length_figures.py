"""A corpus by its lengths: the picture counts what it is given and draws the limits of `clean`."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from transformer_book.figures.lengths import pair_lengths
from transformer_book.figures.night import GROUND, contrast

LENGTHS = [[1, 2, 5], [10, 12, 3], [0, 4, 1], [31, 8, 2]]


def test_every_pair_is_counted_at_its_lengths_and_long_ones_are_left_out() -> None:
    mesh = pair_lengths(LENGTHS, max_ratio=1.5, slack=5).collections[0]
    counts = mesh.get_array().reshape(30, 30)
    assert (counts[1, 0], counts[11, 9], counts.sum()) == (5, 3, 8)


def test_the_lines_are_the_limits() -> None:
    ax = pair_lengths(LENGTHS, max_ratio=1.5, slack=5)
    strict, mirrored, allowed, _ = (line.get_xydata() for line in ax.lines)
    assert np.allclose(strict[:, 1], strict[:, 0] * 1.5)
    assert np.allclose(mirrored, strict[:, ::-1])
    at = {n: np.interp(n, *allowed.T) for n in (2, 20)}
    assert np.allclose([at[2], at[20]], [7, 30], atol=0.1)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["ratio 1.5", "ratio 1.5, or 5 words"]


@pytest.mark.parametrize("ground", ["white", GROUND])
def test_more_pairs_stand_out_more_on_white_and_by_night(ground: str) -> None:
    mesh = pair_lengths(LENGTHS, max_ratio=1.5, slack=5).collections[0]
    colours = mesh.cmap(np.linspace(0, 1, 9))
    alpha, below = colours[:, 3:], np.array(to_rgb(ground))
    contrasts = contrast(alpha * colours[:, :3] + (1 - alpha) * below, below)
    assert contrasts[0] > 1.2 and (np.diff(contrasts) > 0.05).all()
