"""Figure 1 redrawn, and what a position of the decoder reads (sections 3, 3.1 and 3.2.3)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from numpy.typing import ArrayLike

from transformer.figures.heatmaps import attention_heatmap
from transformer.figures.style import PALETTE

Number = int | float
Point = tuple[Number, Number]
Shapes = Mapping[str, tuple[int, ...]]

BLUE, ORANGE, GREEN = PALETTE[:3]
INK, GREY, PALE, EMPTY = "#222222", "#5f5f5f", "#f3f3f3", "#e9e9e9"
ROLES = {"K": ORANGE, "V": GREEN, "Q": BLUE}
FILL = {
    "attention": "#fbdcc3",
    "feed-forward": "#cbe3f4",
    "norm": "#f5efc0",
    "embedding": "#f3d9e7",
    "output": "#cdebdd",
}
WIDTH = 2.75  # of a box
HEIGHT = {"norm": 0.5, "output": 0.56}  # of a box; the others hold two lines
GAP = 0.46  # an arrow between two boxes
HEAD = "-|>,head_length=5,head_width=3"


def architecture(
    shapes: Shapes | None = None, *, n_layers: int = 6, ax: Axes | None = None
) -> Axes:
    """Figure 1 of the paper, drawn anew (post-norm): who gives queries, keys and values to whom.

    Args:
        shapes: the shape of each module's output by the module's name in the model ("encoder",
            "encoder.layers.0.self_attention", ...), of the attention weights by the names of
            `record_attention` ("decoder.0.cross"), of the tokens as "src" and "tgt". What is
            given is written at its arrow or into its box.
        n_layers: N, written beside both stacks.
        ax: where to draw; a figure of its own when None.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 10.6))
    ax.set(xlim=(0.15, 9.75), ylim=(-0.2, 12.75), aspect="equal")
    ax.axis("off")
    encoder = _Column(ax, 2.5, outside=-1, shapes=shapes or {}, stack="encoder")
    decoder = _Column(ax, 7.2, outside=1, shapes=shapes or {}, stack="decoder")

    for column, side, caption in (
        (encoder, "src", "source tokens"),
        (decoder, "tgt", "target tokens, shifted right"),
    ):
        column.text(caption)
        column.up(GAP, side)
        column.box("Embedding", "embedding", "times $\\sqrt{d_{\\mathrm{model}}}$")
        column.up(GAP, f"{side}_embedding")
        column.add_positions()
        column.open_frame()
        name = "Self-attention" if side == "src" else "Masked self-attention"
        column.self_attention(name, f"{side}_positions")

    encoder.feed_forward("layers.0.residuals.0")
    encoder.close_frame(f"{n_layers} ×")
    decoder.cross_attention(encoder)
    decoder.feed_forward("layers.0.residuals.1")
    decoder.close_frame(f"× {n_layers}")

    decoder.up(GAP + 0.15, "decoder")
    decoder.box("Linear", "output")
    decoder.up(GAP, "output")
    decoder.box("Softmax", "output")
    decoder.up(GAP)
    decoder.y += 0.2
    decoder.text("probabilities of the next token")
    return ax


class _Column:
    """One of the two towers, drawn from the bottom up; `y` is how high it is so far."""

    def __init__(self, ax: Axes, x: Number, outside: int, shapes: Shapes, stack: str) -> None:
        self.ax, self.x, self.y = ax, x, 0.0
        self.outside = outside  # -1: shortcuts run on the left, 1: on the right
        self.shapes, self.stack = shapes, stack
        self.bottom = 0.0

    def shape(self, name: str) -> str:
        for key in (name, f"{self.stack}.{name}"):
            if name and key in self.shapes:
                return f"({', '.join(map(str, self.shapes[key]))})"
        return ""

    def detail(self, word: str, name: str) -> str:
        shape = self.shape(name)
        return f"{word} {shape}" if shape else ""

    def text(self, words: str) -> None:
        self.ax.text(self.x, self.y, words, **_style(13))
        self.y += 0.2

    def note(self, height: Number, name: str, side: int = 1) -> None:
        """A shape beside the trunk, at the given height."""
        align = "left" if side > 0 else "right"
        style = _style(11, align) | {"family": "monospace"}
        self.ax.text(self.x + side * 0.1, height, self.shape(name), **style)

    def up(self, length: Number, name: str = "", side: int = 1) -> None:
        _path(self.ax, [(self.x, self.y), (self.x, self.y + length)])
        self.note(self.y + length / 2, name, side)
        self.y += length

    def box(self, name: str, kind: str, detail: str = "") -> None:
        height = HEIGHT.get(kind, 0.78)
        _rounded(self.ax, (self.x - WIDTH / 2, self.y), (WIDTH, height), 0.14, FILL[kind])
        middle = self.y + height / 2
        self.ax.text(self.x, middle + (0.15 if detail else 0), name, **_style(13))
        self.ax.text(self.x, middle - 0.2, detail, **_style(11))
        self.y += height

    def add_positions(self) -> None:
        middle = self.y + 0.17
        self.ax.add_patch(Circle((self.x, middle), 0.17, facecolor="white", edgecolor=INK, lw=1.6))
        self.ax.text(self.x, middle - 0.01, "+", **_style(15))
        far, near = (self.x + self.outside * d for d in (0.75, 0.17))
        _path(self.ax, [(far, middle), (near, middle)])
        align = "left" if self.outside > 0 else "right"
        self.ax.text(far + self.outside * 0.08, middle, "positions", **_style(12, align))
        self.y += 0.34

    def add_and_norm(self, shortcut: Number, name: str) -> None:
        """The box above a sub-layer, and the shortcut that left the trunk below the sub-layer."""
        self.up(GAP - 0.06, name)
        outer, edge = (self.x + self.outside * d for d in (1.6, WIDTH / 2))
        middle = self.y + HEIGHT["norm"] / 2
        corners = [(self.x, shortcut), (outer, shortcut), (outer, middle), (edge, middle)]
        _path(self.ax, corners, GREY)
        self.box("Add & Norm", "norm")

    def self_attention(self, name: str, source: str) -> None:
        shortcut, fork, foot = self.y + 0.2, self.y + 0.42, self.y + 0.84
        self.ax.plot([self.x, self.x], [self.y, fork], color=INK, lw=1.6)
        self.ax.plot([self.x - 0.8, self.x + 0.8], [fork, fork], color=INK, lw=1.6)
        self.note(self.y + 0.24, source, -self.outside)
        for role, shift in zip(ROLES, (-0.8, 0.0, 0.8), strict=True):
            self.role(role, shift, fork, foot)
        self.y = foot
        self.box(name, "attention", self.detail("weights", f"{self.stack}.0.self"))
        self.add_and_norm(shortcut, "layers.0.self_attention")

    def cross_attention(self, encoder: "_Column") -> None:
        """Keys and values come from the memory, which leaves the encoder at its top."""
        shortcut, query, fork, foot = (self.y + d for d in (0.2, 0.42, 0.7, 1.12))
        x, ax = self.x, self.ax
        ax.plot([x, x, x + 0.8], [self.y, query, query], color=INK, lw=1.6)
        self.note(self.y + 0.22, "layers.0.residuals.0", -1)
        self.role("Q", 0.8, query, foot)
        lane, bend = (encoder.x + x) / 2, encoder.y + 0.5
        corners = [(encoder.x, encoder.y), (encoder.x, bend), (lane, bend), (lane, fork), (x, fork)]
        ax.plot(*zip(*corners, strict=True), color=INK, lw=2.6)
        ax.text(encoder.x, bend + 0.2, "memory", **_style(14, weight="bold"))
        style = _style(11) | {"family": "monospace"}
        ax.text(encoder.x, bend + 0.52, self.shape("encoder"), **style)
        self.role("K", -0.8, fork, foot)
        self.role("V", 0.0, fork, foot)
        self.y = foot
        self.box("Cross-attention", "attention", self.detail("weights", "decoder.0.cross"))
        self.add_and_norm(shortcut, "layers.0.cross_attention")

    def feed_forward(self, source: str) -> None:
        shortcut = self.y + 0.2
        self.up(GAP + 0.14, source, -self.outside)
        inner = self.detail("inner", "layers.0.feed_forward.inner")
        self.box("Feed-forward", "feed-forward", inner)
        self.add_and_norm(shortcut, "layers.0.feed_forward")

    def role(self, role: str, shift: Number, low: Number, high: Number) -> None:
        x = self.x + shift
        _path(self.ax, [(x, low), (x, high)], ROLES[role], 2.6)
        style = _style(13, "left", ROLES[role], "bold")
        self.ax.text(x + 0.1, (low + high) / 2 - 0.02, role, **style)

    def open_frame(self) -> None:
        self.bottom = self.y + 0.04

    def close_frame(self, times: str) -> None:
        top = self.y + 0.14
        size = (3.8, top - self.bottom)
        _rounded(self.ax, (self.x - 1.9, self.bottom), size, 0.22, PALE, GREY, zorder=-1)
        align = "left" if self.outside > 0 else "right"
        place = (self.x + self.outside * 2.0, (self.bottom + top) / 2)
        self.ax.text(*place, times, **_style(15, align, weight="bold"))


def _style(
    size: Number, align: str = "center", color: str = INK, weight: str = "normal"
) -> dict[str, Any]:
    return {"ha": align, "va": "center", "fontsize": size, "color": color, "fontweight": weight}


def _path(ax: Axes, points: list[Point], color: str = INK, width: Number = 1.6) -> None:
    """A line through the points, with an arrow head at its end."""
    for (x0, y0), (x1, y1) in pairwise(points[:-1]):
        ax.plot([x0, x1], [y0, y1], color=color, lw=width, solid_capstyle="round")
    settings: dict[str, Any] = {"shrinkA": 0, "shrinkB": 0, "color": color, "lw": width}
    ax.add_patch(FancyArrowPatch(*points[-2:], arrowstyle=HEAD, **settings))


def _rounded(
    ax: Axes,
    corner: Point,
    size: Point,
    radius: Number,
    fill: str,
    edge: str = INK,
    **settings: Any,
) -> None:
    style = f"round,pad=0,rounding_size={radius}"
    settings = {"lw": 1.5} | settings
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, fc=fill, ec=edge, **settings))


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
        ax.text(-0.45, y, name, **_style(13, "left", GREY))
    ax.text(-0.45, 1.66, "what it yields", **_style(13, "left", GREY))
    return ax


def _cell(ax: Axes, centre: Point, token: str, fill: str, bold: bool = False) -> None:
    x, y = centre
    edge, line = (INK, "-") if token else ("#bbbbbb", "--")
    settings = {"lw": 2.6 if bold else 1.4, "linestyle": line, "zorder": 3}
    _rounded(ax, (x - 0.45, y - 0.24), (0.9, 0.48), 0.08, fill, edge, **settings)
    style = _style(
        13 if len(token) <= 7 else 12 if len(token) <= 9 else 10,
        weight="bold" if bold else "normal",
    )
    ax.text(x, y, token, **style, zorder=4)


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
        attention_heatmap(
            np.asarray(matrix, dtype=float),
            tokens if k % columns == 0 else blank,
            tokens if k + columns >= len(matrices) else blank,
            ax=ax,
            annotate=False,
            cmap=ListedColormap([EMPTY, BLUE]),
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
