"""Heatmaps with tokens on both axes: masks, scores, attention weights."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer.figures.style import SEQUENTIAL, literal

MOST_ANNOTATED_CELLS = 100


def attention_heatmap(
    weights: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    ax: Axes | None = None,
    title: str = "",
    alignment: Sequence[tuple[int, int]] = (),
    annotate: bool | None = None,
    **heatmap: Any,
) -> Axes:
    """Draw who (rows) looks at whom (columns), and how much.

    Args:
        weights: (query, key) attention weights or scores.
        query_tokens, key_tokens: the labels of rows and columns.
        alignment: (row, column) pairs to frame, such as the true word alignment.
        annotate: write the numbers into the cells; by default where there are few.
        heatmap: goes to `seaborn.heatmap`; weights are drawn from 0 to 1 unless vmin, vmax say.

    Raises:
        ValueError: the shape does not fit the tokens, or a weight is NaN.
    """
    array = check_weights(weights, query_tokens, key_tokens)
    if ax is None:
        size = (2.2 + 0.55 * len(key_tokens), 1.6 + 0.5 * len(query_tokens))
        _, ax = plt.subplots(figsize=size)
    if annotate is None:
        annotate = array.size <= MOST_ANNOTATED_CELLS
    settings: dict[str, Any] = {
        "vmin": 0.0,
        "vmax": 1.0,
        "cmap": SEQUENTIAL,
        "square": True,
        "linewidths": 0.5,
        "annot": annotate,
        "fmt": ".2f",
        "cbar": False,
    }
    sns.heatmap(
        array,
        xticklabels=literal(key_tokens),
        yticklabels=literal(query_tokens),
        ax=ax,
        **(settings | heatmap),
    )
    for row, column in alignment:
        ax.add_patch(plt.Rectangle((column, row), 1, 1, fill=False, edgecolor="#D55E00", lw=2.5))
    ax.tick_params(axis="x", rotation=60)
    ax.tick_params(axis="y", rotation=0)
    for label in ax.get_xticklabels():
        label.set_horizontalalignment("right")
        label.set_rotation_mode("anchor")
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
            )
            # The figure is shown at the width of the page, so its letters grow with its width,
            # as far as one label fits into one cell.
            ax.tick_params(labelsize=letters)
            room = 72 * cell * len(key_tokens) / (0.7 * len(ax.get_title()))
            ax.title.set_fontsize(min(1.15 * letters, room))
    bar = figure.colorbar(axes[0][0].collections[0], ax=axes, shrink=0.6, pad=0.01)
    bar.set_label("attention weight", fontsize=letters)
    bar.ax.tick_params(labelsize=letters)
    return figure


def check_weights(
    weights: ArrayLike, query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> np.ndarray:
    """The weights as an array, if they fit the tokens."""
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
