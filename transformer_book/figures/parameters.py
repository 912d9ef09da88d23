"""Where a model's parameters are, and what the paper's Table 3 says about its vocabulary."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from transformer_book.figures.style import PALETTE, ink

MILLION = 1e6
SMALLEST_LABEL = 0.05  # share of a bar below which a number does not fit into its segment
INK = "#222222"


def parameter_bars(counts: Mapping[str, Mapping[str, int]], *, ax: Axes | None = None) -> Axes:
    """One bar for each model, stacked by component; every bar is 100 % of its model.

    Args:
        counts: model -> component -> number of parameters. The components come in the order of
            the first model and may not differ from model to model.
        ax: where to draw; a figure of its own when None.

    Raises:
        ValueError: there is no model, or two models have different components.
    """
    if not counts:
        raise ValueError("give at least one model")
    components = list(next(iter(counts.values())))
    for model, parts in counts.items():
        if list(parts) != components:
            raise ValueError(f"{model} has components {list(parts)}, the first has {components}")
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 1.9 + 1.15 * len(counts)))
    totals = {model: sum(parts.values()) for model, parts in counts.items()}
    left = dict.fromkeys(counts, 0.0)
    for k, component in enumerate(components):
        color = PALETTE[k % len(PALETTE)]
        shares = {model: parts[component] / totals[model] for model, parts in counts.items()}
        ax.barh(
            list(counts),
            [100 * share for share in shares.values()],
            left=[100 * value for value in left.values()],
            color=color,
            edgecolor="white",
            height=0.62,
            label=component,
        )
        for row, (model, share) in enumerate(shares.items()):
            if share >= SMALLEST_LABEL:
                middle = (100 * (left[model] + share / 2), row)
                number = f"{counts[model][component] / MILLION:.1f}"
                ax.text(*middle, number, ha="center", va="center", fontsize=13, color=ink(color))
            left[model] += share
    labels = [f"{model}\n{total / MILLION:.1f} M" for model, total in totals.items()]
    ax.set_yticks(range(len(counts)), labels, fontsize=14)
    ax.invert_yaxis()
    ax.set(xlim=(0, 100), xlabel="share of the parameters, %; numbers in millions")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.figure.legend(loc="outside lower center", ncols=2, fontsize=12)
    return ax


def vocabulary_intervals(
    intervals: Mapping[str, tuple[int, int]],
    *,
    stated: int,
    common: tuple[int, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """For each row of Table 3 the vocabularies that its rounded parameter count allows.

    Args:
        intervals: row -> smallest and largest vocabulary.
        stated: the size that the paper gives in words, drawn as a dashed line.
        common: the sizes that suit several rows at once, drawn as a band; a row that does not
            reach into it is drawn in another colour.
        ax: where to draw; a figure of its own when None.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 1.6 + 0.36 * len(intervals)))
    for row, (low, high) in enumerate(intervals.values()):
        inside = common is not None and low <= common[1] and high >= common[0]
        color = PALETTE[0] if inside or common is None else PALETTE[1]
        ax.plot([low, high], [row, row], color=color, lw=9, solid_capstyle="butt")
    if common is not None:
        ax.axvspan(*common, color=PALETTE[2], alpha=0.35, lw=0)
        _note(ax, sum(common) / 2, f"{common[0]:,} to {common[1]:,}", "#00654a")
    ax.axvline(stated, color=INK, ls="--", lw=1.8)
    _note(ax, stated, f"about {stated:,}\n(section 5.1)", INK)
    ax.set_yticks(range(len(intervals)), list(intervals))
    ax.set(ylim=(len(intervals) - 0.4, -0.6), xlabel="tokens in the shared vocabulary")
    ax.set_ylabel("row of Table 3")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="x", color="#e0e0e0", lw=0.8)
    ax.set_axisbelow(True)
    return ax


def _note(ax: Axes, x: int | float, words: str, color: str) -> None:
    """A label above the axes."""
    ax.annotate(
        words,
        (x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 5),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=12,
        color=color,
    )
