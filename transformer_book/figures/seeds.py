"""Simulated experiments: what each finds of a true effect."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from transformer_book.figures.style import PALETTE

KINDS = (
    ("not significant", "#767676"),
    ("significant", PALETTE[0]),
    ("significant, in the wrong direction", PALETTE[1]),
)


def simulated_experiments(
    estimates: Sequence[float],
    half_widths: Sequence[float],
    *,
    effect: float,
    rule: float,
    ylabel: str,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A point with its interval for each experiment, beside the line of the true effect.

    Args:
        estimates: what each finds, in the order in which they are drawn.
        half_widths: from there to the end of its interval.
        effect: what is true.
        rule: the effect that four experiments of five find.
        ylabel: what is measured.

    Raises:
        ValueError: there are not as many intervals as estimates.
    """
    if len(estimates) != len(half_widths):
        raise ValueError(f"{len(estimates)} estimates do not fit {len(half_widths)} intervals")
    if ax is None:
        _, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
    kinds = [
        0 if abs(x) <= half else 2 if x * effect < 0 else 1
        for x, half in zip(estimates, half_widths, strict=True)
    ]
    for kind, (name, color) in enumerate(KINDS):
        these = [i for i, own in enumerate(kinds) if own == kind]
        if these:
            ax.errorbar(
                [i + 1 for i in these],
                [estimates[i] for i in these],
                yerr=[half_widths[i] for i in these],
                fmt="o", color=color, markersize=3.5, elinewidth=0.9, label=name,
            )  # fmt: skip
    ax.axhline(0, color="0.3", lw=1)
    ax.axhline(effect, color="black", lw=2, label="true effect")
    ax.axhline(rule, color="black", lw=1.4, ls="--", label="2.8 s/√n")
    ends = [x + sign * h for x, h in zip(estimates, half_widths, strict=True) for sign in (-1, 1)]
    # An interval of two seeds may be as long as ten others: it goes on outside.
    low, high = sorted(ends)[len(ends) // 20], sorted(ends)[-1 - len(ends) // 20]
    ax.set_ylim(min(low, -0.1 * rule, *estimates), max(high, 1.1 * rule, 1.1 * effect, *estimates))
    ax.set(xlabel="experiment, sorted by its result", ylabel=ylabel, xlim=(0, len(estimates) + 1))
    if title:
        ax.set_title(title, fontsize=13)
    ax.figure.legend(loc="outside lower center", ncols=3, fontsize=11)
    return ax
