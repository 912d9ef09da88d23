"""Trees of sentences, parsers beside each other, and how well they do with the length."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from transformer_book.figures.boxes import BLUE, GREY, INK, ORANGE, lettering
from transformer_book.figures.style import PALETTE, literal

Span = tuple[str, int, int]
LINES, MARKERS = ("-", "--", "-."), "osD"
STEP = 0.8  # from one level of a tree to the next


def constituency_tree(
    tree: tuple[str, Sequence[Any]],
    *,
    wrong: Collection[Span] = (),
    ax: Axes | None = None,
) -> Axes:
    """A tree with its words in a row at the bottom; each constituent stands over their middle.

    Args:
        tree: a label and parts, each a word or a tree of this form.
        wrong: constituents to point out, as (label, first word, last word + 1).
    """
    words: list[str] = []
    drawn: list[tuple[float, float, list[tuple[float, float]], Span]] = []

    def arrange(part: Any) -> tuple[float, float]:
        """Where a part's name stands; the words' own row is 0, and a parent is above its parts."""
        if isinstance(part, str):
            words.append(part)
            return float(len(words) - 1), 0.0
        label, parts = part
        start = len(words)
        below = [arrange(inner) for inner in parts]
        x = (start + len(words) - 1) / 2  # over its own words
        y = STEP + max(height for _, height in below)
        drawn.append((x, y, below, (label, start, len(words))))
        return x, y

    _, top = arrange(tree)
    if ax is None:
        width = max(5.2, len(words) * max(0.7, 0.25 + 0.1 * max(map(len, words))))
        _, ax = plt.subplots(figsize=(width, 1.0 + 0.62 * top / STEP))
    ax.set(xlim=(-0.6, len(words) - 0.4), ylim=(-0.45, top + 0.4))
    ax.axis("off")
    for x, y, below, span in drawn:
        odd = span in wrong
        line: dict[str, Any] = {"color": ORANGE if odd else GREY, "lw": 2.0 if odd else 1.3}
        bar = y - 0.45 * STEP  # lines at right angles cannot cross
        columns = [x, *(i for i, _ in below)]
        ax.plot([x, x], [y, bar], zorder=1, **line)
        ax.plot([min(columns), max(columns)], [bar, bar], zorder=1, **line)
        for i, j in below:
            ax.plot([i, i], [bar, j], zorder=1, **line)
        name = lettering(14, color=ORANGE if odd else BLUE, weight="bold")
        mark = f"{span[0]} ✗" if odd else span[0]
        ax.text(x, y, mark, **name, bbox={"fc": "white", "ec": "none", "pad": 1.5}, zorder=2)
    for i, word in enumerate(literal(words)):
        box = {"fc": "white", "ec": "none", "pad": 1.5}
        ax.text(i, 0, word, **lettering(14, color=INK), bbox=box, zorder=2)
    return ax


def parsers(rows: Sequence[tuple[str, str, float]], ours: str, *, ax: Axes | None = None) -> Axes:
    """A table of parsers as points on one axis, grouped by what they were trained on.

    Args:
        rows: name, training and F1 of each, from the top down.
        ours: how the names begin that are pointed out.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 0.45 * len(rows) + 1.2))
    kinds = list(dict.fromkeys(training for _, training, _ in rows))
    for y, (name, training, f1) in enumerate(rows):
        mine = name.startswith(ours)
        color, marker = PALETTE[kinds.index(training)], "osD^"[kinds.index(training) % 4]
        ax.plot([f1], [y], marker, color=color, ms=11 if mine else 8)
        label = lettering(12, "left", weight="bold" if mine else "normal")
        ax.text(f1 + 0.18, y, f"{f1:.1f}", **label)
    for kind in kinds:
        color, marker = PALETTE[kinds.index(kind)], "osD^"[kinds.index(kind) % 4]
        ax.plot([], [], marker, color=color, ms=8, label=kind)
    ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    for text, (name, _, _) in zip(ax.get_yticklabels(), rows, strict=True):
        text.set_fontweight("bold" if name.startswith(ours) else "normal")
    values = [f1 for _, _, f1 in rows]
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlim=(min(values) - 0.5, max(values) + 1.0))
    ax.set_xlabel("bracketing F1 (WSJ, section 23)")
    ax.legend(loc="upper center", bbox_to_anchor=(0.3, -0.14), ncol=2, columnspacing=1.0)
    return ax


def f1_over_length(
    lengths: Sequence[int],
    scores: Mapping[str, ArrayLike],
    longest: int,
    *,
    ax: Axes | None = None,
) -> Axes:
    """F1 of sentences of each length: a band from the worst run to the best, a line for the mean.

    Args:
        lengths: numbers of words.
        scores: parser -> (runs, lengths), 0 to 100.
        longest: the most words that a sentence of training has; a line stands behind it.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.2))
    for i, (name, runs) in enumerate(scores.items()):
        array = np.atleast_2d(np.asarray(runs, dtype=float))
        if array.shape[1] != len(lengths):
            raise ValueError(f"{name!r} has {array.shape[1]} scores for {len(lengths)} lengths")
        color = PALETTE[i]
        ax.fill_between(lengths, array.min(0), array.max(0), color=color, alpha=0.18, lw=0)
        ax.plot(lengths, array.mean(0), LINES[i % 3] + MARKERS[i % 3], color=color, label=name)
    ax.axvline(longest + 0.5, color=GREY, lw=1.4, ls=":")
    ax.text(longest + 0.7, 104, "longer than\nin training", **(lettering(12, "left", GREY)))
    ax.set(ylim=(0, 112), yticks=range(0, 101, 20), xticks=lengths[::2])
    ax.set_xlabel("words of the sentence")
    ax.set_ylabel("bracketing F1")
    ax.legend(loc="lower left")
    return ax
