"""Translation before the Transformer: how a source reaches the decoder, and what that costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.patches import FancyArrowPatch
from numpy.typing import ArrayLike

from transformer_book.figures.boxes import (
    BLUE,
    FILL,
    GREY,
    HEAD,
    INK,
    ORANGE,
    PALE,
    Point,
    lettering,
    rounded_box,
)
from transformer_book.figures.style import PALETTE, ink, literal

LINES, MARKERS = ("-", "--", "-."), "osD"
HALF = (0.4, 0.24)  # of a state's box
BOTTOM, MIDDLE, TOP = 0.0, 1.25, 2.5
FADING = LinearSegmentedColormap.from_list("fading", ["white", ORANGE])


def exact_over_length(
    lengths: Sequence[int],
    shares: Mapping[str, ArrayLike],
    *,
    ax: Axes | None = None,
) -> Axes:
    """How much of a task is right at each length: a point for each run, a line through the means.

    Args:
        shares: model -> (runs, lengths), 0 to 1. The band is from the worst run to the best.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(9, 4.6))
    for i, (name, runs) in enumerate(shares.items()):
        array = np.atleast_2d(np.asarray(runs, dtype=float))
        if array.shape[1] != len(lengths):
            raise ValueError(f"{name!r} has {array.shape[1]} shares for {len(lengths)} lengths")
        color = PALETTE[i]
        ax.fill_between(lengths, array.min(0), array.max(0), color=color, alpha=0.18, lw=0)
        for run in array:
            ax.plot(lengths, run, MARKERS[i % 3], color=color, ms=5, alpha=0.6)
        ax.plot(lengths, array.mean(0), LINES[i % 3], color=color, label=name)
    ax.set(ylim=(-0.03, 1.05), xticks=lengths)
    ax.set_xlabel("length of the sequence")
    ax.set_ylabel("copied without a mistake")
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.legend(loc="center right")
    return ax


def time_over_length(
    lengths: Sequence[int],
    ratios: Mapping[str, ArrayLike],
    *,
    ax: Axes | None = None,
) -> Axes:
    """How many times as long a step takes in longer sequences, both axes logarithmic.

    Args:
        ratios: model -> the ratio to the first length, at each length.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(9, 4.6))
    for i, (name, values) in enumerate(ratios.items()):
        ax.plot(lengths, values, LINES[i % 3] + MARKERS[i % 3], color=PALETTE[i], label=name)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xticks(list(lengths), [str(n) for n in lengths])
    ax.yaxis.set_major_formatter(lambda ratio, _: f"{ratio:g} ×")
    ax.set_xlabel("length of the sequences; equally many tokens")
    ax.set_ylabel("time of a training step")
    ax.legend(loc="upper left")
    return ax


def recurrent_states(
    words: Sequence[str], shares: Sequence[float], *, ax: Axes | None = None
) -> Axes:
    """A recurrent network that reads words from left to right: a state for each.

    Args:
        shares: of the first state, in each; written into its box, whose colour fades with it.

    Raises:
        ValueError: there is not a share for each word.
    """
    if len(shares) != len(words):
        raise ValueError(f"{len(shares)} shares for {len(words)} words")
    if ax is None:
        _, ax = plt.subplots(figsize=(len(words) + 1.2, 2.6))
    ax.set(xlim=(-1.3, len(words) - 0.4), ylim=(-1.35, 0.75))
    ax.axis("off")
    for i, (word, share) in enumerate(zip(literal(words), shares, strict=True)):
        fill = to_hex(FADING(share))
        _state(ax, (i, BOTTOM), fill)
        ax.text(i, BOTTOM, f"{share:.2f}", **lettering(16, color=ink(fill)), zorder=4)
        ax.text(i, BOTTOM + 0.5, f"$h_{{{i + 1}}}$", **lettering(17))
        ax.text(i, BOTTOM - 1.1, word, **lettering(16, color=INK if i else ORANGE))
        _arrow(ax, (i, BOTTOM - 0.85), (i, BOTTOM - HALF[1]), INK if i else ORANGE)
        if i:
            _arrow(ax, (i - 1 + HALF[0], BOTTOM), (i - HALF[0], BOTTOM), INK)
    for y, name in ((BOTTOM, "state"), (BOTTOM - 1.1, "word")):
        ax.text(-0.65, y, name, **lettering(16, "right", GREY))
    return ax


def source_to_decoder(
    source: Sequence[str],
    target: Sequence[str],
    step: int,
    weights: Sequence[float] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Two recurrent networks at one step of a translation, and the way between them.

    Args:
        source: its words, one state of the encoder each.
        target: its words; those after `step` are not there yet.
        step: which word is being made, from 0.
        weights: how much of each state goes into the mixture for this step; None draws the one
            fixed vector, made of the two ends, which serves all steps alike.

    Raises:
        ValueError: there is no such step, or not a weight for each word.
    """
    if not 0 <= step < len(target):
        raise ValueError(f"step ({step}) must be between 0 and {len(target) - 1}")
    if weights is not None and len(weights) != len(source):
        raise ValueError(f"{len(weights)} weights for {len(source)} words of the source")
    columns = max(len(source), len(target))
    if ax is None:
        _, ax = plt.subplots(figsize=(columns + 1.6, 4.6))
    ax.set(xlim=(-2.1, columns - 0.4), ylim=(-0.75, 3.2))
    ax.axis("off")
    for i, word in enumerate(literal(source)):
        _state(ax, (i, BOTTOM), FILL["attention"])
        ax.text(i, BOTTOM - 0.48, word, **lettering(13))
        if i:
            _arrow(ax, (i - 1 + HALF[0], BOTTOM), (i - HALF[0], BOTTOM), INK, style="<|-|>")
    for i, word in enumerate(literal(target)):
        there = i <= step
        _state(ax, (i, TOP), FILL["feed-forward"] if there else "white", bold=i == step)
        if there:
            bold = "bold" if i == step else "normal"
            ax.text(i, TOP + 0.46, word, **lettering(13, weight=bold))
        if i and there:
            _arrow(ax, (i - 1 + HALF[0], TOP), (i - HALF[0], TOP), INK)
    if weights is None:
        _fixed(ax, len(source), step)
    else:
        _mixture(ax, step, weights)
    between = "one vector" if weights is None else "a mixture\nfor this step"
    for y, name in ((BOTTOM, "encoder"), (MIDDLE, between), (TOP, "decoder")):
        ax.text(-0.65, y, name, **lettering(13, "right", GREY))
    return ax


def _fixed(ax: Axes, n_source: int, step: int) -> None:
    middle = (n_source - 1) / 2
    _state(ax, (middle, MIDDLE), PALE, bold=True)
    for end in sorted({0, n_source - 1}):
        _arrow(ax, (end, BOTTOM + HALF[1]), (middle, MIDDLE - HALF[1]), ORANGE)
    for i in range(step + 1):
        _arrow(ax, (middle, MIDDLE + HALF[1]), (i, TOP - HALF[1]), BLUE)


def _mixture(ax: Axes, step: int, weights: Sequence[float]) -> None:
    _state(ax, (step, MIDDLE), PALE, bold=True)
    for i, weight in enumerate(weights):
        _arrow(ax, (i, BOTTOM + HALF[1]), (step, MIDDLE - HALF[1]), ORANGE, width=0.6 + 7 * weight)
        ax.text(i, BOTTOM, f"{weight:.2f}", **lettering(13), zorder=4)
    _arrow(ax, (step, MIDDLE + HALF[1]), (step, TOP - HALF[1]), BLUE)


def _state(ax: Axes, centre: Point, fill: str, bold: bool = False) -> None:
    corner = (centre[0] - HALF[0], centre[1] - HALF[1])
    edge = INK if fill != "white" else "#bbbbbb"
    settings = {"lw": 2.6 if bold else 1.4, "zorder": 3}
    rounded_box(ax, corner, (2 * HALF[0], 2 * HALF[1]), 0.1, fill, edge, **settings)


def _arrow(
    ax: Axes, start: Point, end: Point, color: str, width: float = 1.6, style: str = HEAD
) -> None:
    if style != HEAD:
        style += ",head_length=4,head_width=2.5"
    settings: dict[str, Any] = {"shrinkA": 0, "shrinkB": 0, "color": color, "lw": width}
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle=style, **settings))
