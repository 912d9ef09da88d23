"""Figures of translations: word alignments and what heads make of them."""

from collections.abc import Collection, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from transformer.figures.style import PALETTE


def alignment_lines(
    source: Sequence[str],
    target: Sequence[str],
    links: Collection[tuple[int, int]],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Two sentences, one above the other, with a line from each word to its translation.

    Args:
        source, target: the words.
        links: (source position, target position) pairs. Lines that cross others are drawn in
            the second colour: there word order differs.

    Raises:
        ValueError: a link lies outside the sentences.
    """
    for s, t in links:
        if not (0 <= s < len(source) and 0 <= t < len(target)):
            raise ValueError(
                f"link {(s, t)} is outside sentences of {len(source)} and {len(target)} words"
            )
    if ax is None:
        width = 0.95 * max(len(source), len(target)) + 1
        _, ax = plt.subplots(figsize=(max(6.0, width), 2.6))
    columns = (_columns(source), _columns(target))
    shift = (columns[0][-1] - columns[1][-1]) / 2 if source and target else 0.0
    where = {0: columns[0] - min(shift, 0.0), 1: columns[1] + max(shift, 0.0)}
    for s, t in sorted(links):
        crosses = any((s - a) * (t - b) < 0 for a, b in links)
        ax.plot(
            [where[0][s], where[1][t]],
            [0.86, 0.14],
            color=PALETTE[1] if crosses else PALETTE[0],
            alpha=0.85,
            lw=2,
        )
    for side, words, y in ((0, source, 1.0), (1, target, 0.0)):
        for x, word in zip(where[side], words, strict=True):
            ax.text(x, y, word, ha="center", va="center", fontsize=14)
    ax.set_ylim(-0.2, 1.2)
    ax.set_xlim(-1, max(where[0][-1], where[1][-1]) + 1)
    ax.axis("off")
    return ax


def _columns(words: Sequence[str]) -> np.ndarray:
    """The middle of each word when all are set in one line."""
    widths = np.array([0.62 * len(word) + 1.1 for word in words])
    return np.cumsum(widths) - widths / 2


def head_scores(
    scores: Mapping[str, ArrayLike],
    *,
    baseline: float | None = None,
    label: str = "mean weight on the true links",
    ax: Axes | None = None,
) -> Axes:
    """Bars: one group for each layer, one bar for each head.

    Args:
        scores: name of the layer -> a number for each head, 0 to 1.
        baseline: what a head without knowledge would reach, drawn as a line.
    """
    if ax is None:
        _, ax = plt.subplots()
    heights = {name: np.asarray(values, dtype=float) for name, values in scores.items()}
    start, ticks = 0.0, []
    for i, values in enumerate(heights.values()):
        xs = start + np.arange(len(values))
        ax.bar(xs, values, color=PALETTE[i % len(PALETTE)], width=0.8)
        for h, (x, value) in enumerate(zip(xs, values, strict=True), 1):
            ax.text(x, value + 0.015, f"{value:.2f}", ha="center", fontsize=11)
            ax.text(x, -0.03, f"{h}", ha="center", va="top", fontsize=13)
        ticks.append(xs.mean())
        start = xs[-1] + 2
    if baseline is not None:
        ax.axhline(baseline, color="black", ls="--", lw=1.5, label=f"uniform: {baseline:.2f}")
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
    ax.set_xticks(ticks, [f"\nhead of {name}" for name in heights])
    ax.tick_params(axis="x", length=0)
    ax.set_ylim(0, 1.08)
    ax.set_ylabel(label)
    return ax
