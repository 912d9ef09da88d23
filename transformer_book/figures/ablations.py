"""Figures of ablations: what each change does, with its interval, and what size buys."""

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from transformer_book.figures.style import PALETTE

DECIDED, OPEN = PALETTE[0], "#767676"
# Figures as narrow as they can be, because on a phone 360 px wide their letters shrink with them.
WIDTH, LETTERS, LONGEST = 5.6, 13, 25  # inches, points, letters of a label in one line


def effects(
    labels: Sequence[str],
    means: Sequence[float],
    half_widths: Sequence[float] | None = None,
    *,
    xlabel: str,
    others: Sequence[float | None] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A row for each change, the largest on top: its mean effect and the interval around it.

    Where the interval excludes 0 the point is filled; where it does not, hollow and grey. Effects
    of which nobody knows an interval are crosses.

    Args:
        labels: of the changes; a long one is broken after one of its commas.
        means: their effects.
        half_widths: from the mean to the end of the interval; None where there are none.
        xlabel: what an effect is, and in which direction it is worse.
        others: what the paper has for the same changes, None where it has nothing.

    Raises:
        ValueError: there are not as many of all.
    """
    beside = [None] * len(means) if others is None else others
    widths = [0.0] * len(means) if half_widths is None else half_widths
    if not len(labels) == len(means) == len(widths) == len(beside):
        raise ValueError(
            f"{len(labels)} labels, {len(means)} means, {len(widths)} intervals and {len(beside)} "
            "effects beside them; give as many of each"
        )
    if ax is None:
        _, ax = plt.subplots(figsize=(WIDTH, 1.6 + 0.34 * len(labels)))
    order = sorted(range(len(labels)), key=lambda i: -means[i])
    ax.axvline(0, color="0.3", lw=1.2, zorder=0)
    if half_widths is None:
        ax.plot([means[i] for i in order], range(len(order)), "X", color=DECIDED, markersize=9)
    else:
        if others is not None:
            there = [(row, at) for row, i in enumerate(order) if (at := beside[i]) is not None]
            ax.plot(
                [at for _, at in there],
                [row for row, _ in there],
                "X",
                color=PALETTE[1],
                markersize=9,
                zorder=3,
                label="the paper, one number each",
            )
        _with_intervals(ax, [means[i] for i in order], [widths[i] for i in order])
    ends = [m + sign * h for m, h in zip(means, widths, strict=True) for sign in (-1, 1)]
    ends += [effect for effect in beside if effect is not None]
    margin = 0.04 * (max([0.0, *ends]) - min([0.0, *ends]))
    ax.set_xlim(min([0.0, *ends]) - margin, max([0.0, *ends]) + margin)
    ax.set_yticks(range(len(labels)), [_broken(labels[i]) for i in order])
    ax.tick_params(labelsize=LETTERS)
    for label in ax.get_yticklabels():
        label.set_linespacing(1.0)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(axis="x", color="#e4e4e4", lw=0.8)
    ax.set_axisbelow(True)
    ax.set_xlabel(xlabel)
    return ax


def _broken(label: str) -> str:
    """A label in lines of `LONGEST` letters, broken only after commas."""
    parts = label.replace(" ", "\N{NO-BREAK SPACE}").replace(",\N{NO-BREAK SPACE}", ", ")
    lines = textwrap.wrap(parts, LONGEST, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _with_intervals(ax: Axes, means: Sequence[float], half_widths: Sequence[float]) -> None:
    """Points with their intervals, a row each from the top, and a legend above the figure."""
    decided = [abs(mean) > half for mean, half in zip(means, half_widths, strict=True)]
    for is_decided, color, name in (
        (True, DECIDED, "significant: the 95 % interval excludes 0"),
        (False, OPEN, "not significant"),
    ):
        rows = [row for row, found in enumerate(decided) if found == is_decided]
        ax.errorbar(
            [means[row] for row in rows],
            rows,
            xerr=[half_widths[row] for row in rows],
            fmt="o",
            color=color,
            markerfacecolor=color if is_decided else "white",
            markersize=8,
            capsize=4,
            lw=2,
            label=name,
        )
    ax.figure.legend(loc="outside upper center", ncols=2, fontsize=LETTERS)


def quality_by_size(
    points: Mapping[str, tuple[float, float]],
    *,
    base: str,
    xlabel: str,
    ylabel: str,
    half_widths: Mapping[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Each model where its size and its quality put it, with its name beside it.

    Args:
        points: name -> (parameters, quality).
        base: the model that the others are variations of; it is drawn in another colour.
        half_widths: of the intervals around the quality, by name; a model that has none is hollow.
        ax: where to draw; a figure of its own when None.

    Raises:
        ValueError: base is none of the points.
    """
    if base not in points:
        raise ValueError(f"{base!r} is none of the points: {', '.join(points)}")
    if ax is None:
        _, ax = plt.subplots(figsize=(WIDTH, 3.8))
    for name, (size, quality) in points.items():
        color = PALETTE[1] if name == base else PALETTE[0]
        spread = half_widths.get(name) if half_widths else None
        inside = "white" if half_widths and spread is None else color
        ax.errorbar(
            size,
            quality,
            yerr=spread,
            fmt="o",
            color=color,
            markerfacecolor=inside,
            markersize=8,
            capsize=3,
            lw=1.6,
        )
    by_size = sorted(points, key=lambda name: points[name])
    close = {
        i for i in range(1, len(by_size)) if points[by_size[i]][0] < 1.1 * points[by_size[i - 1]][0]
    }
    for i, name in enumerate(by_size):
        # Of two neighbours in size, which often are neighbours in quality, the upper one's name is
        # above: to the right, or to the left where the next model is close and the last one is not.
        two = by_size[i - i % 2 :][:2]
        upper = name == base or name == max(two, key=lambda each: points[each][1])
        left = not upper or (i + 1 in close and i not in close)
        ax.annotate(
            name,
            points[name],
            xytext=(-6 if left else 6, 5 if upper else -5),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom" if upper else "top",
            fontsize=LETTERS,
        )
    ax.set_xscale("log")
    sizes = sorted(size for size, _ in points.values())
    ticks = [tick for tick in SIZES if sizes[0] / 1.3 <= tick <= sizes[-1] * 1.3]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(sizes[0] / 1.4, sizes[-1] * 1.45)  # names stand beside their points
    ax.margins(y=0.15)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(color="#e4e4e4", lw=0.8)
    ax.set_axisbelow(True)
    return ax


SIZES = [digit * 10.0**power for power in range(-2, 4) for digit in (1, 2, 3, 5)]
