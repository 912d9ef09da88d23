"""Figures for subwords (section 5.1): words in pieces, and what a larger vocabulary saves."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from transformer_book.figures.style import PALETTE, families, literal

SIZE = 13  # of the letters, in points
LETTER = 0.13  # inches that a letter of that size takes, with a little room
MOST_PAIRS = 8


def merge_panels(
    words: Sequence[tuple[int, Sequence[str]]],
    pairs: Mapping[tuple[str, str], int],
    *,
    made: str | None = None,
    title: str = "",
) -> Figure:
    """Words in pieces with their counts, and beside them the pairs of neighbours as bars.

    Args:
        words: each word's count and its pieces.
        pairs: how often each pair occurs, the one to be merged next first; eight are drawn.
        made: the piece that the last merge has made, drawn in colour.
        title: of the whole figure.
    """
    rows = max(len(words), min(len(pairs), MOST_PAIRS))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 1.4 + 0.42 * rows))
    _pieces(left, words, made)
    left.set_ylim(rows - 0.5, -0.5)
    _pairs(right, pairs)
    figure.suptitle(literal([title])[0])
    return figure


def _monospace() -> dict[str, Any]:
    """How pieces are set, after `literal` has found the fonts for their letters."""
    return {"family": families("monospace"), "fontsize": SIZE}


def _pieces(ax: Axes, words: Sequence[tuple[int, Sequence[str]]], made: str | None) -> None:
    for row, (count, pieces) in enumerate(words):
        ax.text(0.45, row, f"{count:,}", ha="right", va="center", fontsize=13)
        x = 0.7
        for piece in pieces:
            new = piece == made
            ax.text(
                x,
                row,
                literal([piece])[0],
                va="center",
                weight="bold" if new else "normal",
                bbox={
                    "boxstyle": "round,pad=0.25",
                    "facecolor": "white",
                    "edgecolor": PALETTE[1] if new else "0.6",
                    "linewidth": 2 if new else 1,
                },
                **_monospace(),
            )
            x += LETTER * len(piece) + 0.2
    longest = max(sum(LETTER * len(p) + 0.2 for p in pieces) for _, pieces in words)
    ax.set_xlim(0, max(5.0, 0.7 + longest))
    ax.set_title("count and pieces")
    ax.axis("off")


def _pairs(ax: Axes, pairs: Mapping[tuple[str, str], int]) -> None:
    shown = list(pairs.items())[:MOST_PAIRS]
    labels = literal([f"{left} + {right}" for (left, right), _ in shown])
    colours = [PALETTE[1], *[PALETTE[0]] * len(shown)][: len(shown)]
    bars = ax.barh(range(len(shown)), [count for _, count in shown], color=colours)
    ax.bar_label(bars, [f"{count:,}" for _, count in shown], padding=4, fontsize=12)
    ax.set_yticks(range(len(shown)), labels, **_monospace())
    ax.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("how often the two are neighbours")
    ax.set_title("the first is merged next" if shown else "no two pieces are left")


def vocabulary_trade(
    sizes: ArrayLike,
    tokens: ArrayLike,
    rare: ArrayLike,
    *,
    words: float,
    unit: str = "tokens a sentence",
) -> Figure:
    """What a larger vocabulary saves and what it costs.

    Args:
        sizes: (n,) numbers of tokens in the vocabulary.
        tokens: (n,) the mean length of a text in tokens, for each of them.
        rare: (n,) the share of the vocabulary that a model would see only a few times.
        words: the mean length in words and punctuation marks.
        unit: what `tokens` counts.
    """
    x, lengths, shares = np.asarray(sizes), np.asarray(tokens), np.asarray(rare)
    if not x.size == lengths.size == shares.size:
        raise ValueError(f"{x.size} sizes, {lengths.size} lengths and {shares.size} shares")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    left.plot(x, lengths, "o-", color=PALETTE[0], label="subwords")
    left.axhline(words, color="0.4", linestyle="--", label="words and marks")
    left.set_ylabel(unit)
    left.set_ylim(0)
    left.legend()
    right.plot(x, shares, "s-", color=PALETTE[1])
    right.set_ylabel("share of rare tokens")
    right.set_ylim(0, 1)
    for ax in (left, right):
        ax.set_xlabel("vocabulary size")
        ax.set_xscale("log")
        ax.set_xticks(x, [f"{size:,}" for size in x])
        ax.minorticks_off()
    return figure


def ways_to_cut(
    ways: Mapping[str, Sequence[str]], *, marked: Sequence[str] = (), ax: Axes | None = None
) -> Axes:
    """One text in boxes, cut in several ways below each other, with the number of pieces.

    Args:
        ways: what to call a way -> its pieces, in order.
        marked: pieces that get a dashed frame of another colour.

    Raises:
        ValueError: there is no way to draw.
    """
    if not ways:
        raise ValueError("there is nothing to draw; give at least one way to cut")
    longest = max(map(_width, ways.values()))
    if ax is None:
        _, ax = plt.subplots(figsize=(longest + 2.2, 0.8 * len(ways) + 0.3))
    for row, (name, pieces) in enumerate(ways.items()):
        ax.text(0, row - 0.15, name, va="center", fontsize=14)
        ax.text(0, row + 0.2, f"{len(pieces)} tokens", va="center", fontsize=12, color="0.35")
        x = 1.9
        for piece in pieces:
            strange = piece in marked
            frame = {
                "boxstyle": "round,pad=0.2",
                "facecolor": "white",
                "edgecolor": PALETTE[1] if strange else PALETTE[0],
                "linestyle": "--" if strange else "-",
                "linewidth": 2 if strange else 1.2,
            }
            ax.text(x, row, literal([piece])[0], va="center", bbox=frame, **_monospace())
            x += _width([piece])
    ax.set_xlim(-0.1, longest + 2.0)
    ax.set_ylim(len(ways) - 0.4, -0.6)
    ax.axis("off")
    return ax


def _width(pieces: Sequence[str]) -> float:
    """In inches, of pieces in boxes beside each other."""
    return sum(LETTER * len(piece) + 0.17 for piece in pieces)
