"""What a position of the decoder reads, and how much each step of generation costs (3.1, 3.2.3)."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
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
from transformer_book.figures.heatmaps import cells, check_weights
from transformer_book.figures.style import EMPTY, TWO_COLOURS, literal


def decoder_step(
    src_tokens: Sequence[str],
    tgt_tokens: Sequence[str],
    step: int,
    *,
    start: str = "<s>",
    ax: Axes | None = None,
) -> Axes:
    """One step of generation: what the position reads, and the token that it yields.

    Args:
        src_tokens: the source, one vector of memory each.
        tgt_tokens: the whole target, its end mark included.
        step: which target token is being made, from 0.
        start: the token that the decoder reads first.
        ax: where to draw; a figure of its own when None.

    Raises:
        ValueError: there is no such step.
    """
    if not 0 <= step < len(tgt_tokens):
        raise ValueError(f"step ({step}) must be between 0 and {len(tgt_tokens) - 1}")
    columns = max(len(src_tokens), len(tgt_tokens))
    if ax is None:
        _, ax = plt.subplots(figsize=(0.2 + columns, 4.2))
    ax.set(xlim=(-0.55, columns - 0.45), ylim=(-0.55, 3.1))
    ax.axis("off")
    inputs = [start, *tgt_tokens[:-1]]
    for i, token in enumerate(src_tokens):
        _reads(ax, (i, 2.26), (step, 1.49), ORANGE)
        _cell(ax, (i, 2.5), token, FILL["attention"])
    for i, (read, made) in enumerate(zip(inputs, tgt_tokens, strict=True)):
        known = i <= step
        if known:
            _reads(ax, (i, 0.24), (step, 1.01), BLUE)
        if i < step:  # what was made is what is read next
            arrow = FancyArrowPatch((i + 0.1, 1.01), (i + 0.75, 0.24), arrowstyle=HEAD, ls=":")
            arrow.set(color=GREY, lw=1.6)
            ax.add_patch(arrow)
        _cell(ax, (i, 0.0), read if known else "", FILL["feed-forward"] if known else "white")
        fill = FILL["output"] if i == step else PALE if known else "white"
        _cell(ax, (i, 1.25), made if known else "", fill, bold=i == step)
    for y, name in ((2.95, "memory: all of the source"), (-0.44, "what the decoder reads")):
        ax.text(-0.45, y, name, **lettering(13, "left", GREY))
    ax.text(-0.45, 1.66, "what it yields", **lettering(13, "left", GREY))
    return ax


def _cell(ax: Axes, centre: Point, token: str, fill: str, bold: bool = False) -> None:
    x, y = centre
    edge, line = (INK, "-") if token else ("#bbbbbb", "--")
    settings = {"lw": 2.6 if bold else 1.4, "linestyle": line, "zorder": 3}
    rounded_box(ax, (x - 0.45, y - 0.24), (0.9, 0.48), 0.08, fill, edge, **settings)
    style = lettering(
        13 if len(token) <= 7 else 12 if len(token) <= 9 else 10,
        weight="bold" if bold else "normal",
    )
    ax.text(x, y, literal([token])[0], **style, zorder=4)


def _reads(ax: Axes, start: Point, end: Point, color: str) -> None:
    """An arrow to the reader, the ends of neighbours a little apart."""
    shift = 0.24 * float(np.clip(start[0] - end[0], -1.5, 1.5))
    tip = (end[0] + shift, end[1])
    ax.add_patch(FancyArrowPatch(start, tip, arrowstyle=HEAD, color=color, lw=2.0))


def reach(matrices: Mapping[str, ArrayLike], tokens: Sequence[str], columns: int = 3) -> Figure:
    """Small multiples: which inputs (columns) can change which outputs (rows).

    Args:
        matrices: title -> (output, input) booleans.
        tokens: the labels of both axes.
        columns: how many panels stand side by side.
    """
    rows = -(-len(matrices) // columns)
    side = 0.27 * len(tokens)
    size = (columns * (side + 0.35) + 1.0, rows * (side + 0.6) + 1.0)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
    for ax in axes.flat[len(matrices) :]:
        ax.axis("off")
    blank = [""] * len(tokens)
    for k, (ax, (title, matrix)) in enumerate(zip(axes.flat, matrices.items(), strict=False)):
        left, bottom = k % columns == 0, k + columns >= len(matrices)
        cells(
            ax,
            check_weights(matrix, tokens, tokens),
            colours=TWO_COLOURS,
            rows=tokens if left else blank,
            columns=tokens if bottom else blank,
        )
        ax.set_title(title, fontsize=13)
    return figure


def positions_processed(counts: Mapping[str, Sequence[int]]) -> Figure:
    """How many positions each step of generation passes through the decoder.

    Args:
        counts: way of decoding -> for each step, from 1 on, the number of positions processed.
            The newest position is drawn blue, those that were processed before orange.

    Raises:
        ValueError: a step processes more positions than there are.
    """
    figure, axes = plt.subplots(1, len(counts), figsize=(4.0 * len(counts), 4.4), squeeze=False)
    for ax, (name, steps) in zip(axes[0], counts.items(), strict=True):
        n = len(steps)
        for t, count in enumerate(steps, start=1):
            if not 0 <= count <= t:
                raise ValueError(f"step {t} has {t} positions, so it cannot process {count}")
            for position in range(1, t + 1):
                old = ORANGE if position > t - count else EMPTY
                color = BLUE if position == t and count else old
                ax.add_patch(plt.Rectangle((position - 0.45, t - 0.45), 0.9, 0.9, color=color))
        ax.set(xlim=(0.4, n + 0.6), ylim=(n + 0.6, 0.4), aspect="equal", xlabel="position")
        ax.set_title(f"{name}: {sum(steps)}", fontsize=14)
        ticks = range(1, n + 1, max(1, n // 6))
        ax.set_xticks(ticks)
        ax.set_yticks(ticks)
    axes[0][0].set_ylabel("step")
    return figure
