"""Pictures of positions: codes as tables, waves, rotations, and how far they carry."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import cells, colour_bar
from transformer_book.figures.matrices import Matrix, as_matrix, draw_equation, require_rows
from transformer_book.figures.style import DIVERGING, PALETTE, TWO_COLOURS

MARKERS = ("o", "s", "^", "D", "v")


def words_plus_positions(
    words: ArrayLike,
    positions: ArrayLike,
    tokens: Sequence[str],
    *,
    names: tuple[str, str, str] = ("words", "positions", "sum"),
    cell: float = 0.62,
) -> Figure:
    """The sum that enters the model, number by number: a word's vector and its position's.

    Args:
        words: (len, d_model), a row for each token.
        positions: (len, d_model), the codes of positions 0, 1, ...
        tokens: the labels of the words.
        names: of the three matrices.
        cell: inches for one number.

    Raises:
        ValueError: the two have different shapes, or not one row for each token.
    """
    vectors, codes = as_matrix("words", words), as_matrix("positions", positions)
    if vectors.shape != codes.shape:
        raise ValueError(
            f"words of shape {vectors.shape} and positions of shape {codes.shape} cannot be added; "
            "give both (len, d_model)"
        )
    require_rows("words", vectors, tokens)
    indices = [str(i) for i in range(len(tokens))]
    parts = zip(names, (vectors, codes, vectors + codes), (tokens, indices, tokens), strict=True)
    first, second, third = (Matrix(values, name, rows) for name, values, rows in parts)
    return draw_equation([[first, "+", second, "=", third]], cell)


def code_table(
    table: ArrayLike,
    *,
    column_labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str = "",
    low: float = -1.0,
    annotate: bool = False,
) -> Axes:
    """Draw a table of position codes: a row for each position, from `low` to 1.

    Args:
        table: (position, column).
        column_labels: labels of the columns; ticks at their numbers when None.
        ax: where to draw; a new figure when None.
        title: above the picture.
        low: the smallest value that a code can have: -1 for waves, 0 for bits.
        annotate: write the numbers into the cells.

    Raises:
        ValueError: the table is no table, or the labels do not fit it.
    """
    array = _table(table)
    if column_labels is not None and len(column_labels) != array.shape[1]:
        raise ValueError(f"{len(column_labels)} column labels do not fit {array.shape[1]} columns")
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.6))
    waves = low < 0
    cells(
        ax,
        array,
        colours=DIVERGING if waves else TWO_COLOURS,
        limits=(low, 1.0),
        rows=None,
        columns=column_labels,
        numbers="" if not annotate else ".2f" if waves else ".0f",
        size=11,
        slant=45,
        gap=0,
        square=False,
    )
    ax.set(xlabel="column", ylabel="position", title=title)
    if not annotate:
        colour_bar(ax, ticks=[-1, 0, 1] if waves else [0, 1])
    return ax


def binary_and_sinusoidal(bits: ArrayLike, sinusoids: ArrayLike) -> Figure:
    """Two codes for the same positions: bits, fastest first, and pairs of sine and cosine."""
    left, right = _table(bits), _table(sinusoids)
    if len(left) != len(right):
        raise ValueError(
            f"the tables have {len(left)} and {len(right)} positions; give the same ones"
        )
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 5.0), width_ratios=(1, 1.9))
    names = [f"bit {i}" for i in range(left.shape[1])]
    code_table(left, column_labels=names, ax=axes[0], title="binary", low=0.0, annotate=True)
    names = [f"{f} {i}" for i in range(right.shape[1] // 2) for f in ("sin", "cos")]
    code_table(right, column_labels=names, ax=axes[1], title="waves", annotate=True)
    for ax in axes:
        ax.set_xlabel("")
    axes[1].set_ylabel("")
    return figure


def column_curves(table: ArrayLike, columns: Sequence[int], *, ax: Axes | None = None) -> Axes:
    """Some columns as curves over the position: sines whole, cosines dashed, a colour a pair."""
    array = _table(table)
    if ax is None:
        _, ax = plt.subplots(figsize=(8.6, 4.4))
    for column in columns:
        ax.plot(
            array[:, column],
            color=PALETTE[(column // 2) % len(PALETTE)],
            linestyle="-" if column % 2 == 0 else (0, (4, 2)),
            label=f"column {column} ({'cos' if column % 2 else 'sin'})",
        )
    ax.axhline(0, color="#999999", linewidth=0.8)
    ax.set(xlabel="position", ylabel="PE(position, column)", xlim=(0, len(array) - 1))
    ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax


def wavelength_ladder(
    wavelengths: ArrayLike, *, bounds: tuple[float, float], ax: Axes | None = None
) -> Axes:
    """The wavelength of each pair; on its logarithmic scale a geometric progression is straight.

    Args:
        wavelengths: in positions, one for each pair of columns.
        bounds: two wavelengths to mark, the paper's shortest and longest.
        ax: where to draw; a new figure when None.
    """
    lengths = np.asarray(wavelengths, dtype=float)
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.2))
    ax.semilogy(lengths, marker="o", linestyle="none", markersize=5, clip_on=False)
    for bound, name, above in zip(bounds, ("2π", "10000 · 2π"), (False, True), strict=True):
        ax.axhline(bound, color=PALETTE[1], linestyle="--", linewidth=1.6)
        ax.annotate(
            name,
            (0 if above else len(lengths) - 1, bound),
            (0, -6 if above else 6),
            textcoords="offset points",
            ha="left" if above else "right",
            va="top" if above else "bottom",
            color=PALETTE[1],
            fontsize=14,
        )
    ax.set(xlabel="pair i (columns 2i and 2i + 1)", ylabel="wavelength, positions")
    return ax


def similarity_by_offset(
    table: ArrayLike, anchors: Sequence[int], reach: int, *, ax: Axes | None = None
) -> Axes:
    """The dot product of PE(p) and PE(p + k) over k, one set of marks for each p in `anchors`.

    Args:
        table: (position, column); it must reach from the smallest p - reach to the largest
            p + reach.
        anchors: the positions p.
        reach: the largest |k|.
        ax: where to draw; a new figure when None.

    Raises:
        ValueError: the table does not reach so far.
    """
    array = _table(table)
    if min(anchors) < reach or max(anchors) + reach >= len(array):
        raise ValueError(
            f"the table has {len(array)} positions, but {min(anchors) - reach} to "
            f"{max(anchors) + reach} are asked for"
        )
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.4))
    offsets = np.arange(-reach, reach + 1)
    for n, (colour, marker, anchor) in enumerate(zip(PALETTE, MARKERS, anchors, strict=False)):
        dots = array[anchor - reach : anchor + reach + 1] @ array[anchor]
        # Larger, hollow marks below smaller ones: equal values stay visible as nested rings.
        size = 5 + 4 * (len(anchors) - 1 - n)
        ax.plot(
            offsets, dots, color=colour, marker=marker, markersize=size, fillstyle="none",
            linewidth=0.8, markeredgewidth=1.6, label=f"p = {anchor}",
        )  # fmt: skip
    ax.set(xlabel="offset k", ylabel="PE(p) · PE(p + k)")
    ax.legend()
    return ax


def clock_hands(table: ArrayLike, positions: tuple[int, int], pairs: Sequence[int]) -> Figure:
    """Pairs of columns as hands on a unit circle at two positions, and the turn between them.

    The horizontal axis is the cosine (column 2i + 1), the vertical one the sine (column 2i), so
    hands turn anticlockwise as the position grows.

    Args:
        table: (position, column).
        positions: p and p + k.
        pairs: the pairs i to draw.
    """
    array = _table(table)
    figure, axes = plt.subplots(
        1, len(pairs), figsize=(2.9 * len(pairs), 3.4), squeeze=False, layout="constrained"
    )
    for ax, pair in zip(axes[0], pairs, strict=True):
        ax.add_patch(plt.Circle((0, 0), 1, fill=False, color="#AAAAAA", linewidth=1.5))
        for position, colour, style in zip(positions, PALETTE, ("-", "--"), strict=False):
            sine, cosine = array[position, 2 * pair : 2 * pair + 2]
            ax.plot([0, cosine], [0, sine], color=colour, linestyle=style, linewidth=3)
            ax.plot(
                cosine, sine, "o", color=colour, markersize=9, clip_on=False,
                label=f"position {position}",
            )  # fmt: skip
        ax.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal", title=f"pair {pair}")
        ax.set_xticks([-1, 0, 1])
        ax.set_yticks([-1, 0, 1])
        ax.set_xlabel("cos")
    axes[0, 0].set_ylabel("sin")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=14)
    return figure


def column_residuals(residuals: Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """What a linear map cannot explain of each column, on a logarithmic scale.

    Args:
        residuals: name -> root mean square error of each column.
        ax: where to draw; a new figure when None.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.2))
    series = zip(PALETTE, MARKERS, residuals.items(), strict=False)
    for colour, marker, (name, values) in series:
        # Rounding errors below the smallest float64 step are all the same to the eye.
        array = np.maximum(np.asarray(values, dtype=float), np.finfo(float).eps)
        ax.semilogy(array, color=colour, marker=marker, linewidth=1.2, markersize=8, label=name)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="column", ylabel="error of the best linear map")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def shares(
    x: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    xlabel: str,
    ylabel: str,
    seen_to: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Shares between 0 and 1 over x, one curve for each name.

    Args:
        x: the values on the horizontal axis, a tick at each.
        curves: name -> shares.
        xlabel: the name of the horizontal axis.
        ylabel: the name of the vertical axis.
        seen_to: shade what lies beyond, which was not seen in training.
        ax: where to draw; a new figure when None.

    Raises:
        ValueError: a share lies outside 0 to 1, or a curve has not one for each x.
    """
    ticks = np.asarray(x, dtype=float)
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.2))
    styles = zip(PALETTE, MARKERS, ("-", "--", "-.", ":"), curves.items(), strict=False)
    for colour, marker, line, (name, values) in styles:
        array = np.asarray(values, dtype=float)
        if array.shape != ticks.shape:
            raise ValueError(f"{name} has {array.size} shares for {ticks.size} values of x")
        if array.min() < 0 or array.max() > 1:
            raise ValueError(f"{name} holds {array.min()} to {array.max()}; shares are 0 to 1")
        ax.plot(
            ticks, array, color=colour, marker=marker, linestyle=line, markersize=8, label=name,
            clip_on=False,
        )  # fmt: skip
    if seen_to is not None:
        ax.axvspan(seen_to, ticks.max(), color="#EDEDED", zorder=0)
        ax.text(
            (seen_to + ticks.max()) / 2, 1.03, "never seen in training", ha="center",
            va="bottom", fontsize=13,
        )  # fmt: skip
    ax.set_xticks(ticks, [f"{value:g}" for value in ticks])
    ax.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, 1), xlim=(ticks.min(), ticks.max()))
    ax.legend(loc="best")
    return ax


def _table(table: ArrayLike) -> np.ndarray:
    array = np.asarray(table, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"a table of codes has shape (position, column), not {array.shape}")
    return array
