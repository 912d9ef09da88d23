"""Figures of translations: word alignments and what heads make of them."""

import textwrap
from collections.abc import Collection, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import check_weights
from transformer_book.figures.style import PALETTE, families, literal

FOLD = 62  # letters in a line of a table's translations
FAINTEST = 0.05  # a lighter line would not be seen


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
        for x, word in zip(where[side], literal(words), strict=True):
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


def translation_table(tables: Mapping[str, Mapping[str, str]]) -> Figure:
    """Below each sentence two columns, what was done and what was then written; lines are folded.

    Args:
        tables: sentence -> what was done -> the translation. Translations that differ from the
            sentence's first are set in bold.

    Raises:
        ValueError: there are no translations.
    """
    if not any(tables.values()):
        raise ValueError("there are no translations to draw; give at least one")
    lines: list[tuple[str, list[str], str]] = []  # what was done, the folded translation, weight
    for sentence, rows in tables.items():
        lines.append((sentence, [""], "normal"))
        first = next(iter(rows.values()))
        for name, text in rows.items():
            weight = "normal" if text == first else "bold"
            lines.append((name, textwrap.wrap(text, FOLD) or [""], weight))
    heights = np.cumsum([0, *(len(folded) + 0.5 for _, folded, _ in lines)])
    figure, ax = plt.subplots(figsize=(11.0, 0.24 * heights[-1] + 0.1))
    for (name, folded, weight), top in zip(lines, heights, strict=False):
        size = 13 if name in tables else 12
        ax.text(0.0, top, literal([name])[0], va="top", fontsize=size)
        ax.text(0.36, top, "\n".join(literal(folded)), va="top", fontsize=12, weight=weight)
        if name not in tables:
            ax.axhline(top - 0.25, color="0.8", lw=0.8)
    ax.set_xlim(0, 1)
    ax.set_ylim(heights[-1], -0.3)
    ax.axis("off")
    return figure


def moved_links(
    weights: Sequence[ArrayLike],
    rows: Sequence[Sequence[str]],
    columns: Sequence[Sequence[str]],
    *,
    titles: Sequence[str],
) -> Figure:
    """Pictures of the same head side by side: lines from the tokens that look to those looked at.

    Args:
        weights: of each picture (rows, columns); the more weight, the thicker a line.
        rows, columns: of each picture, the tokens.
        titles: what stands above each.

    Raises:
        ValueError: weights do not fit their tokens.
    """
    most = max(map(len, [*rows, *columns]))
    figure, axes = plt.subplots(
        1, len(weights), figsize=(4.6 * len(weights), 0.3 * most + 1.0), layout="constrained"
    )
    for ax, values, looks, seen, title in zip(
        np.atleast_1d(axes), weights, rows, columns, titles, strict=True
    ):
        cells = check_weights(values, looks, seen)
        for (row, column), weight in np.ndenumerate(cells):
            if weight >= FAINTEST:
                ax.plot([0, 1], [row, column], color=PALETTE[0], lw=0.75 + 5 * weight,
                        alpha=0.2 + 0.8 * weight, solid_capstyle="butt")  # fmt: skip
        for x, side, words in ((-0.05, "right", looks), (1.05, "left", seen)):
            for y, word in enumerate(literal(words)):
                ax.text(x, y, word, ha=side, va="center", fontsize=12)
        ax.set_title(literal([title])[0], fontsize=11, family=families())
        ax.set(xlim=(-0.9, 1.9), ylim=(most - 0.5, -0.5))
        ax.axis("off")
    return figure
