"""A step of a decoder: what it considers, and where it looks."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.style import PALETTE, families, literal

LEAST = 0.05  # weaker lines would only be a haze
WIDEST = 18.0  # inches, however long a sentence is


def decoder_steps(steps: Sequence[Mapping[str, Any]], *, head: str) -> Figure:
    """One step of a decoder, or the same step for several sentences, one below the other.

    Args:
        steps: of each sentence "source" and "target" (the tokens, the last one just written),
            "weights" (of a head over the source) and "likely" (token -> probability, best first).
        head: the head's name.

    Raises:
        ValueError: there is no step, or one has not a weight for each token of its source.
    """
    if not steps:
        raise ValueError("there are no steps to draw; give at least one")
    longest = max(_ends(step[side])[-1] for step in steps for side in ("source", "target"))
    size = (min(max(7.0, 0.11 * longest), WIDEST), 5.6 * len(steps))
    figure, axes = plt.subplots(2 * len(steps), 1, figsize=size, squeeze=False)
    for i, step in enumerate(steps):
        looked, bars = axes[2 * i : 2 * i + 2, 0]
        look_lines(step["source"], step["target"], step["weights"], ax=looked)
        looked.set_title(f"cross-attention of {head}", fontsize=13)
        candidate_bars(step["likely"], step["target"][-1], ax=bars)
    return figure


def look_lines(
    source: Sequence[str], target: Sequence[str], weights: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """The source above, the output below, and lines from its last token to where a head looks.

    Raises:
        ValueError: there are not as many weights as source tokens.
    """
    strengths = np.asarray(weights, dtype=float)
    if strengths.shape != (len(source),):
        raise ValueError(f"there are {strengths.size} weights for {len(source)} source tokens")
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 2.8))
    above, below = _middles(source), _middles(target)
    for x, weight in zip(above, strengths, strict=True):
        if weight >= LEAST:
            ax.plot([x, below[-1]], [0.85, 0.15], color=PALETTE[0], alpha=weight,
                    lw=1 + 4 * weight)  # fmt: skip
            ax.text(x, 1.14, f"{weight:.2f}", ha="center", fontsize=10)
    for tokens, middles, y in ((source, above, 1.0), (target, below, 0.0)):
        for x, token in zip(middles, literal(tokens), strict=True):
            last = tokens is target and x == middles[-1]
            ax.text(x, y, token, ha="center", va="center", fontsize=12,
                    fontweight="bold" if last else "normal")  # fmt: skip
    ax.set_xlim(-1, max(_ends(source)[-1], _ends(target)[-1]) + 1)
    ax.set_ylim(-0.15, 1.25)
    ax.axis("off")
    return ax


def candidate_bars(likely: Mapping[str, float], written: str, *, ax: Axes | None = None) -> Axes:
    """The most probable tokens of a step as bars, the written one in another colour.

    Args:
        likely: token -> probability, best first.
        written: the token that was written; it need not be among them.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 2.8))
    tokens, probabilities = list(likely), np.array(list(likely.values()), dtype=float)
    colours = [PALETTE[1] if token == written else PALETTE[0] for token in tokens]
    rows = np.arange(len(tokens))
    ax.barh(rows, probabilities, color=colours)
    for row, probability in enumerate(probabilities):
        ax.text(probability + 0.01, row, f"{probability:.3f}", va="center", fontsize=11)
    names = [f"{t} (written)" if t == written else t for t in tokens]
    ax.set_yticks(rows, literal(names), family=families())
    ax.invert_yaxis()
    ax.set_xlim(0, 1.1)
    ax.set_xlabel("probability of the next token")
    return ax


def _ends(tokens: Sequence[str]) -> np.ndarray:
    """Where each token ends when all are set in one line, in widths of a letter."""
    return np.cumsum([len(token) + 3 for token in tokens])


def _middles(tokens: Sequence[str]) -> np.ndarray:
    widths = np.array([len(token) + 3 for token in tokens])
    return _ends(tokens) - widths / 2
