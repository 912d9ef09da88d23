"""Figures of a search for heads: a sentence that looks at itself, and what a search found."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import check_weights
from transformer_book.figures.style import PALETTE, literal

FAINTEST = 0.05  # a lighter line would not be seen


def self_attention_lines(
    words: Sequence[str],
    heads: Mapping[str, ArrayLike],
    *,
    queries: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A sentence twice, one above the other, with a line from a word to each that it looks at.

    Args:
        words: the sentence; the upper line asks, the lower line is looked at.
        heads: name -> (words, words) weights. Each head has a colour; the more weight, the
            thicker and the darker is a line.
        queries: the words whose lines are drawn; all of them when None.

    Raises:
        ValueError: the weights do not fit the words, or a query is no position of the sentence.
    """
    chosen = range(len(words)) if queries is None else queries
    for query in chosen:
        if not 0 <= query < len(words):
            raise ValueError(f"query {query} is outside a sentence of {len(words)} words")
    middles = np.cumsum(
        [len(word) / 2 + 1.2 + (len(words[i - 1]) / 2 if i else 0) for i, word in enumerate(words)]
    )
    if ax is None:
        _, ax = plt.subplots(figsize=(max(6.0, 0.16 * middles[-1]), 2.9))
    for number, (name, values) in enumerate(heads.items()):
        weights = check_weights(values, words, words)
        colour = PALETTE[number % len(PALETTE)]
        shift = 0.35 * (number - (len(heads) - 1) / 2)  # lines of two heads lie side by side
        for query in chosen:
            for key, weight in enumerate(weights[query]):
                if weight >= FAINTEST:
                    ends = [middles[query] + shift, middles[key] + shift]
                    ax.plot(
                        ends,
                        [0.84, 0.16],
                        color=colour,
                        lw=1 + 6 * weight,
                        alpha=min(1.0, 0.25 + 0.75 * weight),
                        solid_capstyle="butt",
                    )
        ax.plot([], [], color=colour, lw=5, label=name)
    for y, asking in ((1.0, True), (0.0, False)):
        for i, (x, word) in enumerate(zip(middles, literal(words), strict=True)):
            weight = "bold" if asking and queries is not None and i in queries else "normal"
            ax.text(x, y, word, ha="center", va="center", fontsize=14, fontweight=weight)
    ax.set(xlim=(-1.5, middles[-1] + 2.5), ylim=(-0.2, 1.2))
    ax.axis("off")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=max(1, len(heads)))
    return ax


def found_heads(
    found: Mapping[str, tuple[float, float, float]],
    comparisons: Mapping[str, Sequence[float]],
    *,
    label: str = "weight on the linked word",
    ax: Axes | None = None,
) -> Axes:
    """A line for each kind of link: the head that was found, its mean and interval, and company.

    Args:
        found: kind of link -> mean and ends of the interval.
        comparisons: name -> a number for each kind.

    Raises:
        ValueError: a comparison has not a number for each kind.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, 1.3 + 0.66 * len(found)))
    rows = np.arange(len(found))
    means, lows, highs = np.array(list(found.values()), dtype=float).T
    for number, (name, values) in enumerate(comparisons.items()):
        if len(values) != len(found):
            raise ValueError(f"{name} has {len(values)} numbers for {len(found)} kinds of links")
        ax.plot(values, rows, "Ds^vX"[number % 5], color=PALETTE[1:][number % 6], ms=8, label=name)
    errors = np.array([means - lows, highs - means]).clip(0)
    ax.errorbar(
        means,
        rows,
        xerr=errors,
        fmt="o",
        color=PALETTE[0],
        ms=7,
        capsize=5,
        elinewidth=2.5,
        label="trained, best head",
    )
    for row, mean in enumerate(means):
        ax.text(mean, row - 0.18, f"{mean:.2f}", color=PALETTE[0], ha="center", va="bottom")
    ax.set_yticks(rows, list(found))
    ax.set(xlim=(0, 1.02), ylim=(len(found) - 0.5, -0.5), xlabel=label)
    ax.grid(axis="x", alpha=0.4)
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return ax
