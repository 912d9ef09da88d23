"""Figures of what heads do: a number for each head, where its weight goes, what it is worth."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import cells, colour_bar
from transformer_book.figures.style import PALETTE, ink

MARKERS = "osD^vPX"


def head_tables(
    kinds: Mapping[str, ArrayLike],
    *,
    label: str,
    baselines: Mapping[str, str] | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
) -> Figure:
    """A number for every head: a panel for each kind of attention, layers down, heads across.

    Args:
        kinds: name of the kind -> (layers, heads) numbers.
        label: what the numbers are; beside the colour bar.
        baselines: kind -> what to hold its numbers against, in words, under the panel.
        limits: the ends of the colour scale, the same for all panels.

    Raises:
        ValueError: there is nothing to draw, or a table is not (layers, heads).
    """
    tables = {name: np.asarray(values, dtype=float) for name, values in kinds.items()}
    if not tables:
        raise ValueError("there are no numbers to draw; give at least one kind of attention")
    for name, table in tables.items():
        if table.ndim != 2 or not table.size:
            raise ValueError(f"{name} has the shape {table.shape}; give (layers, heads)")
    columns = [table.shape[1] for table in tables.values()]
    rows = max(len(table) for table in tables.values())
    figure, axes = plt.subplots(
        1,
        len(tables),
        figsize=(1.6 + 0.64 * sum(columns), 1.6 + 0.56 * rows),
        width_ratios=columns,
        squeeze=False,
    )
    for ax, (name, table) in zip(axes[0], tables.items(), strict=True):
        cells(
            ax,
            table,
            limits=limits,
            rows=[str(i + 1) for i in range(len(table))] if ax is axes[0][0] else (),
            columns=[str(i + 1) for i in range(table.shape[1])],
            numbers=".2f",
            size=14,
            square=False,
        )
        ax.set_title(name)
        ax.set_xlabel("\n".join(filter(None, ["head", (baselines or {}).get(name)])))
    axes[0][0].set_ylabel("layer")
    colour_bar(list(axes[0]), label)
    return figure


def destinations(
    shares: Mapping[str, Sequence[float]], names: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """Where the weight of each head goes: bars, stacked up to 1.

    Args:
        shares: destination -> a share for each head.
        names: the heads.

    Raises:
        ValueError: a destination has not a share for each head.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(9.0, 4.8))
    left = np.zeros(len(names))
    for i, (destination, values) in enumerate(shares.items()):
        widths = np.asarray(values, dtype=float)
        if widths.shape != left.shape:
            raise ValueError(f"{destination} has {widths.size} shares for {len(names)} heads")
        colour = PALETTE[i % len(PALETTE)]
        bars = ax.barh(names, widths, left=left, color=colour, edgecolor="white", label=destination)
        for bar, width in zip(bars, widths, strict=True):
            if width >= 0.06:  # a narrower part has no room for its number
                middle = bar.get_x() + width / 2, bar.get_y() + bar.get_height() / 2
                text, color = f"{width:.2f}", ink(colour)
                ax.text(*middle, text, ha="center", va="center", color=color, size=11)
        left += widths
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of the weight")
    ax.tick_params(axis="y", length=0)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(shares), 5))
    return ax


def looks_and_matters(
    groups: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    x_label: str,
    y_label: str,
    baseline: tuple[float, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A point for each head: how it looks (across) against what is lost without it (up).

    Args:
        groups: name, such as a layer -> for its heads: across, up, and the standard error of up.
        baseline: a value across, and its name: what a head without knowledge would have.
    """
    if ax is None:
        _, ax = plt.subplots()
    points: list[tuple[str, tuple[float, float]]] = []
    for i, (name, (across, up, error)) in enumerate(groups.items()):
        xs, ys, errors = (np.asarray(values, dtype=float) for values in (across, up, error))
        ax.errorbar(
            xs,
            ys,
            yerr=errors,
            fmt=MARKERS[i % len(MARKERS)],
            color=PALETTE[i % len(PALETTE)],
            markersize=9,
            elinewidth=1.3,
            capsize=3,
            label=name,
        )
        points += [(str(head), (x, y)) for head, (x, y) in enumerate(zip(xs, ys, strict=True), 1)]
    everywhere = np.array([at for _, at in points])
    near = (0.04, 0.08) * np.ptp(everywhere, axis=0)
    for head, at in points:
        # Its number stands at the right of a point, or below where another point is there.
        right, up = (everywhere - at).T
        taken = ((right > 0) & (right < near[0]) & (abs(up) < near[1])).any()
        offset, side = ((-8, -13), "right") if taken else ((8, 4), "left")
        ax.annotate(head, at, xytext=offset, textcoords="offset points", size=11, ha=side)
    ax.axhline(0, color="black", lw=1)
    if baseline is not None:
        ax.axvline(baseline[0], color="black", ls="--", lw=1.5, label=baseline[1])
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.legend()
    return ax
