"""Position figures draw what `sinusoidal_positions` computes."""

import matplotlib

matplotlib.use("agg")


import numpy as np
import pytest
import torch

from transformer.embedding import sinusoidal_positions

from transformer_book.figures import positions as figures


def test_the_table_is_drawn_as_computed_with_position_0_at_the_top() -> None:
    table = sinusoidal_positions(30, 16)
    ax = figures.code_table(table)
    grid = np.asarray(ax.collections[0].get_array()).reshape(30, 16)
    assert np.allclose(grid, table.numpy())
    assert ax.get_ylim() == (30, 0)


def test_bits_and_sinusoids_stand_side_by_side_with_their_names() -> None:
    bits = (torch.arange(4)[:, None] >> torch.arange(2)) & 1
    figure = figures.binary_and_sinusoidal(bits, sinusoidal_positions(4, 4))
    names = [[label.get_text() for label in ax.get_xticklabels()] for ax in figure.axes]
    assert names == [["bit 0", "bit 1"], ["sin 0", "cos 0", "sin 1", "cos 1"]]
    assert [t.get_text() for t in figure.axes[0].texts] == ["0", "0", "1", "0", "0", "1", "1", "1"]


def test_curves_are_the_columns_and_a_pair_shares_its_colour() -> None:
    table = sinusoidal_positions(100, 20)
    ax = figures.column_curves(table, [4, 5, 6, 7])
    curves = ax.lines[:4]
    for column, line in zip([4, 5, 6, 7], curves, strict=True):
        assert np.allclose(line.get_ydata(), table[:, column].numpy())
    colours = [line.get_color() for line in curves]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert next(t.get_text() for t in ax.get_legend().get_texts()) == "column 4 (sin)"


def test_similarity_shows_the_same_curve_for_every_anchor() -> None:
    table = sinusoidal_positions(200, 64)
    ax = figures.similarity_by_offset(table, [20, 90], reach=10)
    first, second = (np.asarray(line.get_ydata()) for line in ax.lines)
    assert np.allclose(first, second, atol=1e-4)
    assert np.isclose(first[10], 32) and np.isclose(first[13], table[20] @ table[23])


def test_an_offset_outside_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="-5 to 25 are asked for"):
        figures.similarity_by_offset(sinusoidal_positions(40, 8), [5, 15], reach=10)


def test_clock_hands_end_at_cosine_and_sine() -> None:
    table = sinusoidal_positions(10, 8)
    figure = figures.clock_hands(table, (5, 8), pairs=[0, 2])
    ends = [(line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[1].lines[1::2]]
    assert np.allclose(ends, [(table[p, 5], table[p, 4]) for p in (5, 8)])


def test_wavelengths_and_residuals_are_drawn_on_logarithmic_axes() -> None:
    ladder = figures.wavelength_ladder([6.3, 63.0], bounds=(6.28, 100.0))
    assert ladder.get_yscale() == "log" and list(ladder.lines[0].get_ydata()) == [6.3, 63.0]
    bars = figures.column_residuals({"right": [1e-8, 0.0], "wrong": [0.5, 0.1]})
    assert bars.get_yscale() == "log" and list(bars.lines[1].get_ydata()) == [0.5, 0.1]
    assert min(bars.lines[0].get_ydata()) > 0, "a zero has no place on a logarithmic axis"


def test_shares_outside_0_to_1_and_missing_values_are_errors() -> None:
    with pytest.raises(ValueError, match="shares are 0 to 1"):
        figures.shares([1, 2], {"a": [0.5, 1.5]}, xlabel="x", ylabel="y")
    with pytest.raises(ValueError, match="1 shares for 2 values"):
        figures.shares([1, 2], {"a": [0.5]}, xlabel="x", ylabel="y")


def test_tables_that_do_not_fit_are_errors() -> None:
    with pytest.raises(ValueError, match="shape \\(position, column\\)"):
        figures.code_table([1.0, 2.0])
    with pytest.raises(ValueError, match="give the same ones"):
        figures.binary_and_sinusoidal(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="1 column labels do not fit 2 columns"):
        figures.code_table(np.zeros((3, 2)), column_labels=["a"])


def test_words_and_positions_are_added_number_by_number() -> None:
    words, codes = torch.randn(3, 6), sinusoidal_positions(3, 6)
    figure = figures.words_plus_positions(words, codes, ["we", "see", "you"])
    first, second, third = (
        np.array([float(t.get_text().replace("−", "-")) for t in ax.texts]) for ax in figure.axes
    )
    assert np.allclose(third, (words + codes).flatten(), atol=0.051)
    assert np.allclose(first + second, third, atol=0.16)
    rows = [[label.get_text() for label in ax.get_yticklabels()] for ax in figure.axes]
    assert rows == [["we", "see", "you"], ["0", "1", "2"], ["we", "see", "you"]]
    assert [text.get_text() for text in figure.texts] == ["+", "="]


def test_words_and_positions_of_different_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(2, 4\) and positions of shape \(3, 4\) cannot be"):
        figures.words_plus_positions(np.ones((2, 4)), np.ones((3, 4)), ["a", "b"])
