"""The figures of sections 3.1 and 3.3 show the numbers they are given."""

import matplotlib
import pytest

matplotlib.use("Agg")

from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch

from transformer_book.figures.boxes import FILL
from transformer_book.figures.layers import (
    LINE,
    feed_forward_units,
    layer_stream,
    norm_axes,
)
from transformer_book.figures.style import PALETTE


def boxes(ax, kind):
    """(left, middle, width) of the boxes of this colour, from left to right."""
    patches = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    return sorted(
        (patch.get_x(), patch.get_y() + patch.get_height() / 2, patch.get_width())
        for patch in patches
        if patch.get_facecolor() == to_rgba(FILL[kind])
    )


@pytest.mark.parametrize(("norm", "height"), [("post", LINE), ("pre", 0)])
def test_norms_stand_on_the_line_in_post_norm_and_on_the_branches_in_pre_norm(norm, height):
    ax = layer_stream(norm)
    (attention,), (feed_forward,) = boxes(ax, "attention"), boxes(ax, "feed-forward")
    first, second = boxes(ax, "norm")
    assert [first[1], second[1]] == pytest.approx([height] * 2)
    assert attention[1] == feed_forward[1] == 0
    before = first[0] < attention[0] and second[0] < feed_forward[0]
    assert before == (norm == "pre")


def test_a_sub_layers_area_is_its_share_of_the_parameters():
    ax = layer_stream(shares={"self-attention": 0.25, "feed-forward": 0.75})
    (attention,), (feed_forward,) = boxes(ax, "attention"), boxes(ax, "feed-forward")
    assert feed_forward[2] == pytest.approx(3 * attention[2])
    assert {"25%", "75%"} <= {text.get_text() for text in ax.texts}


def test_layer_norm_colours_one_vector_and_batch_norm_one_column_padding_included():
    lengths, n_features = [3, 1], 5
    layer, batch = norm_axes(lengths, n_features).axes
    shared = to_rgba(PALETTE[5])
    coloured = [
        [patch for patch in ax.patches if patch.get_facecolor() == shared] for ax in (layer, batch)
    ]
    assert len({patch.get_y() for patch in coloured[0]}) == 1
    assert len(coloured[0]) == n_features
    assert len({patch.get_x() for patch in coloured[1]}) == 1
    assert len(coloured[1]) == 6  # two sentences, both of the longest's length
    assert sum(bool(patch.get_hatch()) for patch in coloured[1]) == 2


X, W_1, B_1 = [1.0, -1.0], [[1.0, 2.0, -1.0], [0.5, 3.0, 1.0]], [0.0, 0.0, 0.5]
W_2, B_2 = [[2.0, 0.0], [1.0, 1.0], [-1.0, 4.0]], [0.25, -1.0]


def test_every_unit_shows_its_number_of_equation_2():
    ax = feed_forward_units(X, W_1, B_1, W_2, B_2)
    numbers = [t.get_text() for t in ax.texts[:7]]
    # x W_1 + b_1 is 0.5, -1 and -1.5: two units are closed
    assert numbers == ["1.0", "−1.0", "0.5", "0.0", "0.0", "1.2", "−1.0"]
    titles = [t.get_text().splitlines()[1] for t in ax.texts[7:]]
    assert [title.split("= ")[1] for title in titles] == ["2", "3", "2"]


def test_lines_of_closed_units_are_grey_and_the_others_as_thick_as_their_weights():
    ax = feed_forward_units(X, W_1, B_1, W_2, B_2)
    first, second = ax.lines[:6], ax.lines[6:]
    grey = [line.get_color() == "#d9d9d9" for line in first]
    assert grey == [False, True, True] * 2
    assert [line.get_color() == "#d9d9d9" for line in second] == [False] * 2 + [True] * 4
    widths = [line.get_linewidth() for line in second]
    assert widths[0] > widths[1] and max(widths) == widths[5]
