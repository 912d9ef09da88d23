"""Cells of colour: one function draws them for all figures; weights with tokens on both axes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.style import (
    BLANK_INK,
    FRAME,
    SEQUENTIAL,
    Number,
    families,
    figure_of,
    ink,
    literal,
)

MOST_ANNOTATED_CELLS = 100
SLANT = 60  # degrees: labels as high as a cell is wide still stand clear of each other
STEPS = [10**power * step for power in range(7) for step in (1, 2, 5)]  # between numbered cells
INCHES_OF_A_NUMBER = 0.3


def cells(
    ax: Axes,
    values: ArrayLike,
    *,
    colours: str | Sequence[str] = SEQUENTIAL,
    limits: tuple[Number, Number] = (0, 1),
    rows: Sequence[str] | None = (),
    columns: Sequence[str] | None = (),
    numbers: str | ArrayLike = "",
    size: Number = 13,
    label_size: Number | None = None,
    slant: Number = SLANT,
    gap: Number = 0.5,
    square: bool = True,
    frames: Iterable[tuple[int, int]] = (),
) -> Axes:
    """Draw a matrix as cells of colour, its first row on top. All heatmaps of the book are these.

    Args:
        ax: where to draw.
        values: (rows, columns). What is not finite stays blank.
        colours: the name of a colour map; or a list, whose i-th colour is that of the value i.
        limits: the ends of the colour map.
        rows: labels; None numbers them from 0, as many as fit.
        columns: labels; None numbers them from 0, as many as fit.
        numbers: what is written into the cells: a format such as ".2f", or (rows, columns) texts.
        size: of these numbers, in points.
        label_size: of the labels, in points; the style's when None.
        slant: degrees by which labels of columns are turned, unless they are short.
        gap: points between two cells.
        square: whether cells are as high as they are wide.
        frames: (row, column) of cells to frame.
    """
    array = np.asarray(values, dtype=float)
    cmap: str | ListedColormap
    if isinstance(colours, str):
        cmap = colours
    else:
        cmap, limits = ListedColormap(list(colours)), (-0.5, len(colours) - 0.5)
    blank = ~np.isfinite(array)
    mesh = ax.pcolormesh(
        np.ma.array(array, mask=blank),
        cmap=cmap,
        vmin=limits[0],
        vmax=limits[1],
        edgecolors="white" if gap else "none",
        linewidth=gap,
    )
    n_rows, n_columns = array.shape
    ax.set(xlim=(0, n_columns), ylim=(n_rows, 0), aspect="equal" if square else "auto")
    ax.spines[:].set_visible(False)
    for (row, column), text in np.ndenumerate(_texts(array, numbers)):
        if not text:
            continue
        fill = tuple(mesh.to_rgba(array[row, column]))
        color = BLANK_INK if blank[row, column] else ink(fill)
        middle = (column + 0.5, row + 0.5)
        ax.text(*middle, text, ha="center", va="center", fontsize=size, color=color)
    for row, column in frames:
        ax.add_patch(plt.Rectangle((column, row), 1, 1, fill=False, edgecolor=FRAME, lw=2.5))
    _label(ax.xaxis, n_columns, columns)
    _label(ax.yaxis, n_rows, rows)
    ax.tick_params(length=0, labelsize=label_size)
    if max(map(len, columns or ()), default=0) > 2:
        for label in ax.get_xticklabels():
            label.set(rotation=slant, ha="right" if slant else "center", rotation_mode="anchor")
    return ax


def colour_bar(axes: Axes | Sequence[Axes], label: str = "", **settings: Any) -> Axes:
    """The legend of the cells on some axes that share their limits, beside them.

    Args:
        axes: one or more; the first must hold cells.
        label: what the colours mean.
        settings: go to `Figure.colorbar`.
    """
    first = np.atleast_1d(np.asarray(axes)).flat[0]
    bar = figure_of(first).colorbar(first.collections[0], ax=axes, **({"pad": 0.01} | settings))
    bar.set_label(label)
    bar.outline.set_visible(False)
    return bar.ax


def attention_heatmap(
    weights: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    ax: Axes | None = None,
    title: str = "",
    alignment: Iterable[tuple[int, int]] = (),
    annotate: bool | None = None,
    **look: Any,
) -> Axes:
    """Draw who (rows) looks at whom (columns), and how much.

    Args:
        weights: (query, key) attention weights or scores.
        query_tokens, key_tokens: the labels of rows and columns.
        alignment: (row, column) pairs to frame, such as the true word alignment.
        annotate: write the numbers into the cells; by default where there are few.
        look: goes to `cells`; weights are coloured from 0 to 1 unless `limits` says otherwise.

    Raises:
        ValueError: the shape does not fit the tokens, or a weight is NaN.
    """
    array = check_weights(weights, query_tokens, key_tokens)
    if ax is None:
        figsize = (2.2 + 0.55 * len(key_tokens), 1.6 + 0.5 * len(query_tokens))
        _, ax = plt.subplots(figsize=figsize)
    if annotate is None:
        annotate = array.size <= MOST_ANNOTATED_CELLS
    written = ".2f" if annotate else ""
    cells(
        ax,
        array,
        rows=query_tokens,
        columns=key_tokens,
        numbers=written,
        frames=alignment,
        **look,
    )
    ax.set_title(title)
    return ax


def attention_heads(
    layers: Mapping[str, ArrayLike],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    alignment: Sequence[tuple[int, int]] = (),
    cell: float = 0.34,
) -> Figure:
    """Small multiples: one row for each layer, one column for each of its heads.

    Args:
        layers: name -> (heads, query, key) weights.
        cell: inches for one cell of a heatmap.

    Raises:
        ValueError: there are no layers, or a shape does not fit the tokens.
    """
    if not layers:
        raise ValueError("there are no layers to draw; record the attention first")
    arrays = {name: np.asarray(weights, dtype=float) for name, weights in layers.items()}
    n_heads = max(len(array) for array in arrays.values())
    width = 1.6 + n_heads * (0.4 + cell * len(key_tokens))
    # The figure is shown at the width of the page, so its letters grow with its width, as far as
    # one label fits into one cell.
    letters = min(width, 0.85 * 72 * cell)
    height = 0.1 * letters + len(arrays) * (0.04 * letters + cell * len(query_tokens))
    figure, axes = plt.subplots(len(arrays), n_heads, figsize=(width, height), squeeze=False)
    for row, (name, array) in zip(axes, arrays.items(), strict=True):
        for ax in row[len(array) :]:
            ax.set_visible(False)
        for h, (ax, weights) in enumerate(zip(row, array, strict=False)):
            attention_heatmap(
                weights,
                query_tokens if h == 0 else [""] * len(query_tokens),
                key_tokens if ax in axes[-1] else [""] * len(key_tokens),
                ax=ax,
                title=f"{name}, head {h + 1}",
                alignment=alignment,
                annotate=False,
                label_size=letters,
            )
            title_width = 72 * cell * len(key_tokens)
            widest = title_width / (0.7 * len(ax.get_title()))
            ax.title.set_fontsize(min(1.15 * letters, widest))
    bar = colour_bar(list(axes.flat), "attention weight", shrink=0.6)
    bar.tick_params(labelsize=letters)
    bar.yaxis.label.set_fontsize(letters)
    return figure


def check_weights(
    weights: ArrayLike, query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> np.ndarray:
    """The weights as an array, if they fit the tokens.

    Raises:
        ValueError: they do not, or a weight is NaN.
    """
    array = np.asarray(weights, dtype=float)
    expected = (len(query_tokens), len(key_tokens))
    if array.shape != expected:
        raise ValueError(
            f"weights of shape {array.shape} do not fit {expected[0]} query tokens and "
            f"{expected[1]} key tokens; give an array of shape {expected}"
        )
    if np.isnan(array).any():
        row = int(np.argwhere(np.isnan(array))[0][0])
        raise ValueError(f"the weights hold NaN, first in the row of query {row}")
    return array


def _label(axis: Axis, count: int, labels: Sequence[str] | None) -> None:
    """Labels in the middle of the cells; None: numbers from 0, as many as fit."""
    if labels is not None:
        axis.set_ticks(np.arange(len(labels)) + 0.5, literal(labels), family=families())
        return
    width, height = figure_of(axis.axes).get_size_inches()
    box = axis.axes.get_position()
    inches = box.width * width if axis is axis.axes.xaxis else box.height * height
    step = next(s for s in STEPS if count * INCHES_OF_A_NUMBER <= s * inches)
    axis.set_ticks(np.arange(0, count, step) + 0.5, [str(i) for i in range(0, count, step)])


def _texts(array: np.ndarray, numbers: str | ArrayLike) -> np.ndarray:
    """What is written into each cell; empty where nothing is."""
    if not isinstance(numbers, str):
        return np.asarray(numbers, dtype=str)
    return np.array([[_text(x, numbers) for x in row] for row in array] if numbers else [[]])


def _text(x: float, spec: str) -> str:
    """A number with a true minus sign, no minus before a zero, and nothing for NaN."""
    if not np.isfinite(x):
        return {np.inf: "∞", -np.inf: "−∞"}.get(x, "")
    text = format(x, spec)
    return (text if text.strip("-0.%") else text.removeprefix("-")).replace("-", "−")
