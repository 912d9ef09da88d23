"""Figures for what has changed since the paper: two layers side by side, and turned vectors."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.boxes import FILL, GREY, INK, ORANGE, arrow, lettering, rounded_box
from transformer_book.figures.heatmaps import cells
from transformer_book.figures.style import DIVERGING, PALETTE

WIDTH, HEIGHT, STEP = 4.6, 0.72, 1.12  # of a box, and from one to the next


class Part(NamedTuple):
    """A box of a layer.

    Attributes:
        text: what stands in it.
        kind: "attention", "feed-forward", "norm" or "embedding", which says its colour.
        changed: whether it is drawn with a frame that stands out.
    """

    text: str
    kind: str
    changed: bool = False


def layers_compared(layers: dict[str, Sequence[Part]]) -> tuple[Axes, ...]:
    """Layers side by side as boxes on a line that runs upwards; what has changed is framed.

    Args:
        layers: title -> its parts, from the bottom up.
    """
    most = max(len(parts) for parts in layers.values())
    size = (4.6 * len(layers), 0.75 * most + 0.9)
    _, axes = plt.subplots(1, len(layers), figsize=size, squeeze=False)
    for ax, (title, parts) in zip(axes[0], layers.items(), strict=True):
        ax.set_xlim(-0.2, WIDTH + 0.2)
        ax.set_ylim(-0.9, most * STEP + 0.2)
        ax.set_axis_off()
        ax.set_title(title, fontsize=15)
        middle = WIDTH / 2
        for i, part in enumerate(parts):
            bottom = i * STEP
            arrow(ax, [(middle, bottom - STEP + HEIGHT if i else -0.6), (middle, bottom)], GREY)
            edge, width = (ORANGE, 3.2) if part.changed else (INK, 1.5)
            rounded_box(ax, (0, bottom), (WIDTH, HEIGHT), 0.12, FILL[part.kind], edge, lw=width)
            style = lettering(14, weight="bold" if part.changed else "normal")
            ax.text(middle, bottom + HEIGHT / 2, part.text, **style)
        top = (len(parts) - 1) * STEP + HEIGHT
        arrow(ax, [(middle, top), (middle, top + 0.42)], GREY)
    return tuple(axes[0])


def products_by_position(
    products: dict[str, ArrayLike], *, xlabel: str = "position of the key"
) -> tuple[Axes, ...]:
    """Dot products of one query with one key, for each pair of positions: stripes or none.

    Args:
        products: title -> (query position, key position).

    Raises:
        ValueError: a title has no square of products.
    """
    _, axes = plt.subplots(1, len(products), figsize=(5.0 * len(products), 5.0), squeeze=False)
    for ax, (title, values) in zip(axes[0], products.items(), strict=True):
        array = np.asarray(values, dtype=float)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ValueError(f"{title!r} has shape {array.shape}; give as many queries as keys")
        limit = float(np.abs(array).max()) or 1.0
        cells(
            ax, array, colours=DIVERGING, limits=(-limit, limit), rows=None, columns=None, gap=0.2
        )
        ax.set_title(title, fontsize=15)
        ax.set_xlabel(xlabel)
    axes[0][0].set_ylabel("position of the query")
    return tuple(axes[0])


def rotary_clocks(
    hands: Mapping[str, Sequence[float]], frequencies: Sequence[float], *, title: str
) -> Figure:
    """A clock for each pair of components, with a hand for each vector.

    Args:
        hands: name of a vector -> the angle of each of its pairs, in radians.
        frequencies: by which each clock turns from one place to the next.
        title: of them all.
    """
    size = (2.4 * len(frequencies), 3.2)
    figure, axes = plt.subplots(1, len(frequencies), figsize=size, squeeze=False)
    for i, (ax, frequency) in enumerate(zip(axes[0], frequencies, strict=True)):
        ax.add_patch(plt.Circle((0, 0), 1.1, facecolor="none", edgecolor=GREY))
        for (name, angles), colour, mark in zip(hands.items(), PALETTE, "osD^v", strict=False):
            x, y = np.cos(angles[i]), np.sin(angles[i])
            ax.plot([0, x], [0, y], colour, marker=mark, markevery=[1], markersize=9, label=name)
        ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
        ax.set_axis_off()
        ax.set_title(f"pair {i + 1}, ω = {frequency:g}", fontsize=12)
    figure.suptitle(title, fontsize=15)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
