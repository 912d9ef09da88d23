"""Cells show the numbers they are given, in the right place, colour and lettering."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from transformer_book.figures.heatmaps import (
    SLANT,
    attention_heads,
    attention_heatmap,
    cells,
    colour_bar,
)
from transformer_book.figures.masks import attention_masks
from transformer_book.figures.style import BLANK_INK, FRAME, PALETTE, ink, literal
from transformer_book.widgets.base import FRONT_ENDS

QUERIES, KEYS = ["we", "see"], ["wir", "sehen", "euch"]


@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def labels(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


# Cells


def test_the_first_row_is_on_top_and_every_number_in_its_cell(ax):
    cells(ax, [[1, 2, 3], [4, 5, 6]], limits=(0, 6), numbers=".0f", rows="ab", columns="xyz")
    assert ax.get_ylim() == (2, 0) and ax.get_xlim() == (0, 3)
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert places == {str(3 * r + c + 1): (c + 0.5, r + 0.5) for r in range(2) for c in range(3)}
    assert labels(ax.yaxis) == ["a", "b"] and labels(ax.xaxis) == ["x", "y", "z"]
    assert list(ax.get_yticks()) == [0.5, 1.5]


def test_what_is_not_finite_has_no_colour_but_may_have_a_text(ax):
    cells(ax, [[-np.inf, np.nan, 0.5]], numbers=".1f")
    assert texts(ax) == ["−∞", "0.5"]
    assert list(ax.collections[0].get_array().mask.flat) == [True, True, False]
    assert ax.texts[0].get_color() == BLANK_INK


def test_numbers_have_a_true_minus_sign_and_zero_has_none(ax):
    cells(ax, [[-1.25, -0.001, 0.0]], limits=(-2, 2), numbers=".1f")
    assert texts(ax) == ["−1.2", "0.0", "0.0"]


def test_texts_of_ones_own_stand_in_the_cells(ax):
    cells(ax, [[0.0, np.nan]], numbers=[["all", "none"]])
    assert texts(ax) == ["all", "none"]


def test_numbers_can_be_read_on_their_colour(ax):
    cells(ax, [[0.0, 1.0]], numbers=".0f")  # the ends of viridis: dark violet, yellow
    assert [text.get_color() for text in ax.texts] == ["white", "black"]
    assert ink("#ffffff") == "black" and ink("#000000") == "white"


def test_a_list_of_colours_gives_each_value_its_own(ax):
    colours = ["#111111", "#222222", "#333333"]
    cells(ax, [[2, 0, 1]], colours=colours)
    mesh = ax.collections[0]
    assert [to_hex(mesh.to_rgba(x)) for x in (0, 1, 2)] == colours
    assert mesh.get_clim() == (-0.5, 2.5)  # so that a legend has each value in its colour's middle


def test_cells_without_labels_have_none(ax):
    cells(ax, np.zeros((2, 3)))
    assert labels(ax.xaxis) == labels(ax.yaxis) == []


def test_frames_have_one_colour_of_the_palette(ax):
    cells(ax, np.zeros((2, 3)), frames=[(0, 2)])
    [frame] = ax.patches
    assert frame.get_xy() == (2, 0)
    assert to_hex(frame.get_edgecolor()) == FRAME.lower() and FRAME in PALETTE


def test_frames_on_the_page_have_the_colour_of_those_on_paper():
    assert f'"{FRAME.lower()}"' in (FRONT_ENDS / "kit" / "colours.js").read_text()


@pytest.mark.parametrize(("count", "step"), [(5, 1), (24, 2), (128, 10)])
def test_numbered_cells_have_as_many_numbers_as_fit(ax, count, step):
    cells(ax, np.zeros((2, count)), rows=None, columns=None, square=False)
    assert labels(ax.xaxis) == [str(i) for i in range(0, count, step)]
    assert list(ax.get_xticks()) == [i + 0.5 for i in range(0, count, step)]
    assert labels(ax.yaxis) == ["0", "1"]
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


@pytest.mark.parametrize(
    ("columns", "slant", "turned"),
    [(["word", "a"], SLANT, SLANT), (["a", "b"], SLANT, 0), (["word", "a"], 0, 0)],
)
def test_only_long_labels_slant(ax, columns, slant, turned):
    cells(ax, np.zeros((1, 2)), columns=columns, slant=slant)
    assert [label.get_rotation() for label in ax.get_xticklabels()] == [turned] * 2


def test_a_colour_bar_has_the_limits_of_the_cells_and_its_label(ax):
    cells(ax, [[0.5]], limits=(-3, 3))
    bar = colour_bar(ax, "score", ticks=[-3, 0, 3])
    assert bar.get_ylabel() == "score" and bar.get_ylim() == (-3, 3)
    assert labels(bar.yaxis) == ["−3", "0", "3"]


# Attention


def test_heatmap_puts_queries_in_rows_and_keys_in_columns():
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    ax = attention_heatmap(weights, QUERIES, KEYS, title="head 1")
    assert labels(ax.yaxis) == QUERIES and labels(ax.xaxis) == KEYS
    assert texts(ax) == ["0.10", "0.20", "0.70", "0.50", "0.25", "0.25"]
    assert ax.get_title() == "head 1"


def test_heatmap_colours_weights_from_0_to_1_unless_told_otherwise():
    weights = np.full((2, 3), 1 / 3)
    assert attention_heatmap(weights, QUERIES, KEYS).collections[0].get_clim() == (0, 1)
    scores = attention_heatmap(weights, QUERIES, KEYS, limits=(-2, 2))
    assert scores.collections[0].get_clim() == (-2, 2)


def test_heatmap_frames_the_aligned_cells():
    ax = attention_heatmap(np.zeros((2, 3)), QUERIES, KEYS, alignment=[(0, 2), (1, 1)])
    assert [patch.get_xy() for patch in ax.patches] == [(2, 0), (1, 1)]


def test_heatmap_refuses_weights_that_do_not_fit_the_tokens():
    with pytest.raises(ValueError, match=r"do not fit 2 query tokens and 3 key tokens"):
        attention_heatmap(np.zeros((3, 2)), QUERIES, KEYS)


def test_heatmap_names_the_query_whose_weights_are_nan():
    weights = np.zeros((2, 3))
    weights[1, 0] = np.nan
    with pytest.raises(ValueError, match="row of query 1"):
        attention_heatmap(weights, QUERIES, KEYS)


@pytest.mark.slow
def test_heads_get_one_panel_each_and_one_row_a_layer():
    layers = {"encoder": np.zeros((3, 2, 3)), "decoder": np.ones((3, 2, 3))}
    figure = attention_heads(layers, QUERIES, KEYS)
    *panels, legend = figure.axes
    titles = [f"{name}, head {h}" for name in layers for h in (1, 2, 3)]
    assert [ax.get_title() for ax in panels] == titles
    assert legend.get_ylabel() == "attention weight"
    assert labels(figure.axes[0].yaxis) == QUERIES
    assert labels(figure.axes[3].xaxis) == KEYS
    assert figure.axes[5].collections[0].get_array().min() == 1


def test_layers_may_have_different_numbers_of_heads():
    layers = {"one": np.zeros((1, 2, 3)), "two": np.ones((2, 2, 3))}
    axes = attention_heads(layers, QUERIES, KEYS).axes
    shown = [ax.get_title() for ax in axes if ax.get_visible()]
    assert shown == ["one, head 1", "two, head 1", "two, head 2", ""]


def test_heads_of_no_layer_are_refused():
    with pytest.raises(ValueError, match="no layers to draw"):
        attention_heads({}, QUERIES, KEYS)


def test_dollar_signs_in_tokens_are_letters() -> None:
    """Between two of them matplotlib reads a formula, and fails at what is none."""
    tokens = ["$x_$", "$", r"\frac$"]
    ax = attention_heatmap(np.eye(3), tokens, tokens)
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels()] == literal(tokens)
    mask = np.ones((3, 3), dtype=bool)
    attention_masks({"mask": (mask, tokens, tokens)}).draw_without_rendering()
    broken = attention_heatmap(np.eye(3), list("abc"), list("abc"), title="$x_$")
    with pytest.raises(ValueError, match="x_"):
        broken.figure.draw_without_rendering()
