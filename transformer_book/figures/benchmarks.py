"""Figures of measured times: ratios, with their spread."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from transformer_book.figures.style import PALETTE

Ratio = Mapping[str, float]
MARKERS = "osD^v"
TICKS = (0.125, 0.25, 0.5, 1, 2, 4, 8, 16)


def time_ratios(
    labels: Sequence[str], ratios: Mapping[str, Sequence[Ratio]], *, ax: Axes | None = None
) -> Axes:
    """How many times as long others take: a row for each label, a colour and a mark for each.

    A point is the median of the rounds, the line through it goes from the lowest to the highest.
    At the vertical line both are equally fast; left of it the other one is faster.

    Args:
        labels: of what was timed.
        ratios: for each competitor "median", "lowest" and "highest" of each label.

    Raises:
        ValueError: there are more competitors than marks, or not as many ratios as labels.
    """
    if len(ratios) > len(MARKERS):
        raise ValueError(f"{len(ratios)} competitors are too many; at most {len(MARKERS)}")
    for name, values in ratios.items():
        if len(values) != len(labels):
            raise ValueError(f"{name} has {len(values)} ratios for {len(labels)} labels")
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 1.0 + 0.3 * len(labels) * (1 + len(ratios))))
    ax.axvline(1, color="0.3", lw=1.2, zorder=0)
    for k, (name, values) in enumerate(ratios.items()):
        shift = 0.7 * (k - (len(ratios) - 1) / 2) / len(ratios)
        ax.errorbar(
            [ratio["median"] for ratio in values],
            [row + shift for row in range(len(labels))],
            xerr=[
                [ratio["median"] - ratio["lowest"] for ratio in values],
                [ratio["highest"] - ratio["median"] for ratio in values],
            ],
            fmt=MARKERS[k],
            color=PALETTE[k],
            markersize=8,
            capsize=4,
            label=name,
        )
    ax.set_xscale("log")
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS], minor=False)
    ax.set_xticks([], minor=True)
    ends = [
        ratio[end]
        for values in ratios.values()
        for ratio in values
        for end in ("lowest", "highest")
    ]
    ax.set_xlim(min([0.8, *ends]) / 1.15, max([1.25, *ends]) * 1.15)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)  # the first label on top
    ax.set_xlabel("time over ours (1: as long as ours)")
    ax.figure.legend(loc="outside upper center", ncols=2)
    return ax
