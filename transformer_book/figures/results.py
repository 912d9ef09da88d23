"""Figures for section 6.1: quality against what the training cost, and where that goes."""

from collections.abc import Collection, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from transformer_book.figures.style import PALETTE, Number

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#555555"
COST = "training cost in FLOPs"
Values = Number | ArrayLike  # one, or as many as there are points


def quality_and_cost(
    points: Mapping[str, Mapping[str, tuple[float | None, float]]],
    *,
    singles: Mapping[str, str],
    named: Mapping[str, str],
    label: str = "BLEU",
    axes: Sequence[Axes] | None = None,
) -> Sequence[Axes]:
    """A panel for each test set: systems by cost (logarithmic) and score; up and left is better.

    An ensemble is hollow and tied to its single model by a thin line, in that model's colour and
    shape. A system without a cost is a dashed line at its score.

    Args:
        points: test set -> system -> its cost, or None, and its score.
        singles: ensemble -> its single model.
        named: system -> words to write beside its point, and a common colour, that of the first
            system of the palette, for all of them.

    Raises:
        ValueError: an ensemble's single model is not there.
    """
    if axes is None:
        _, made = plt.subplots(1, len(points), figsize=(9.0, 4.8), sharex=True)
        axes = list(np.atleast_1d(made))
    systems = dict.fromkeys(name for panel in points.values() for name in panel)
    missing = {singles[name] for name in systems if name in singles} - set(systems)
    if missing:
        raise ValueError(f"ensembles of {sorted(missing)}, which are not among the systems")
    others = [name for name in systems if name not in singles and name not in named]
    looks = {name: (PALETTE[1 + i % 6], MARKERS[1 + i % 6]) for i, name in enumerate(others)}
    looks |= dict.fromkeys(named, (PALETTE[0], MARKERS[0]))
    for ax, (test_set, panel) in zip(axes, points.items(), strict=True):
        for name, (cost, score) in panel.items():
            color, marker = looks[singles.get(name, name)]
            if cost is None:
                ax.axhline(score, color=color, ls="--", lw=1.6)
                continue
            if name in singles and singles[name] in panel:
                first, height = panel[singles[name]]
                ax.plot([first or cost, cost], [height, score], color=color, lw=1.2, zorder=1)
            face = "white" if name in singles else color
            ax.plot(cost, score, marker, ms=11, color=color, mfc=face, mew=2, zorder=2)
            if name in named:
                ax.annotate(
                    named[name],
                    (cost, score),
                    xytext=(0, 11),
                    textcoords="offset points",
                    ha="center",
                    fontsize=13,
                    color=color,
                )
        ax.set_xscale("log")
        ax.set_title(test_set, pad=12)
        ax.set_xlabel(COST)
        ax.margins(0.12, 0.14)
    axes[0].set_ylabel(label)
    costless = {name for panel in points.values() for name, (cost, _) in panel.items() if not cost}
    axes[0].figure.legend(
        handles=_legend(others, looks, costless), loc="outside lower center", ncols=3
    )
    return axes


def _legend(
    names: Sequence[str], looks: Mapping[str, tuple[str, str]], costless: Collection[str]
) -> list[Line2D]:
    """One entry for each system, and one that says what hollow means."""
    handles = []
    for name in names:
        color, marker = looks[name]
        if name in costless:
            handles.append(Line2D([], [], color=color, ls="--", label=f"{name}, cost not given"))
        else:
            handles.append(Line2D([], [], color=color, marker=marker, ms=10, ls="", label=name))
    hollow = Line2D([], [], color=GREY, marker="o", ms=10, ls="", mfc="white", mew=2)
    hollow.set_label("hollow: its ensemble")
    return [*handles, hollow]


def scores_by_compute(
    panels: Mapping[str, Mapping[str, tuple[Values, Values]]],
    *,
    label: str = "BLEU",
    xlabel: str = "operations of training, in FLOPs",
    axes: Sequence[Axes] | None = None,
) -> Sequence[Axes]:
    """One axis of compute for all, and below one another a panel with its own scale for each test.

    Heights can be compared within a panel, and only there.

    Args:
        panels: test set -> run -> FLOPs, and the score after so many; one of each for a run that
            was scored once.

    Raises:
        ValueError: a run has not a score for each of its FLOPs.
    """
    if axes is None:
        _, made = plt.subplots(len(panels), 1, figsize=(8.0, 1.1 + 1.75 * len(panels)), sharex=True)
        axes = list(np.atleast_1d(made))
    for ax, (test_set, runs) in zip(axes, panels.items(), strict=True):
        for i, (name, (cost, score)) in enumerate(runs.items()):
            x, y = (np.atleast_1d(np.asarray(values, dtype=float)) for values in (cost, score))
            if x.shape != y.shape:
                raise ValueError(f"run {name!r} has {y.size} scores for {x.size} costs")
            marker = MARKERS[i % len(MARKERS)]
            color = PALETTE[i % len(PALETTE)]
            ax.plot(x, y, marker=marker, ms=8, color=color)
            ax.annotate(
                name,
                (x[-1], y[-1]),
                xytext=(10, 0),
                textcoords="offset points",
                va="center",
                fontsize=13,
                color=color,
            )
        ax.set_xscale("log")
        ax.set_title(test_set, fontsize=13, loc="left")
        ax.set_ylabel(label)
        ax.margins(x=0.1, y=0.25)
        ax.grid(axis="x", color="#e0e0e0", lw=0.8)
        ax.set_axisbelow(True)
    axes[-1].set_xlabel(xlabel)
    return axes


def operations_by_length(
    lengths: Sequence[int], parts: Mapping[str, Sequence[int]], *, at: int, title: str
) -> Figure:
    """Shares of the operations over the length, as bands, with a line at one of the lengths.

    Args:
        lengths: rising; their axis is logarithmic.
        parts: four names -> the operations of each at each length, from the bottom up.
        at: the length of the line, one of them.
        title: of the figure; the length is added.
    """
    counts = np.array([*parts.values()], dtype=float)
    shares = 100 * counts / counts.sum(axis=0)
    figure, ax = plt.subplots(figsize=(8.0, 4.6))
    colors = [PALETTE[i] for i in (1, 4, 0, 2)]  # those of the bands that move
    bands = ax.stackplot(lengths, shares, colors=colors, edgecolor="white", lw=1.5)
    here = shares[:, lengths.index(at)]
    for band, hatch, name, share in zip(bands, ("", "//", "..", "xx"), parts, here, strict=True):
        band.set(hatch=hatch, label=f"{name}, {share:.1f}%")
    ax.axvline(at, color="black", lw=2.5)
    ax.set(xscale="log", xlim=(lengths[0], lengths[-1]), ylim=(0, 100))
    ax.set(xlabel="tokens on each side of a pair", ylabel="% of the operations")
    ax.set_title(f"{title}, {at:,} tokens")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
