"""Figures of beam search: the tree of its hypotheses, and what wider beams find."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from numpy.typing import ArrayLike

from transformer_book.figures.style import PALETTE, literal

# How a candidate is drawn: its frame, the colour of both, and a sign behind its token.
LOOKS = {
    "lives": ("-", PALETTE[0], ""),
    "finished": ("-", PALETTE[2], " ✓"),
    "dropped": ("--", "0.55", " ✗"),
}


def search_tree(
    parents: Sequence[int],
    tokens: Sequence[str],
    totals: Sequence[float],
    fates: Sequence[str],
    *,
    best: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The tree of a search: a column for each step, the first given candidate on top.

    Args:
        parents: the index of each node's parent; -1 for the first node, the root. Parents stand
            before their children.
        tokens: what is written into each node.
        totals: the sum of log-probabilities up to each node, written below.
        fates: of each node "lives", "finished" or "dropped".
        best: a node whose way from the root is drawn thick.

    Raises:
        ValueError: the lists differ in length, or a node is no tree's.
    """
    n = len(parents)
    if not n == len(tokens) == len(totals) == len(fates) or n == 0:
        raise ValueError(
            f"there are {n} parents, {len(tokens)} tokens, {len(totals)} totals and "
            f"{len(fates)} fates; give each node one of each"
        )
    step, row, counts = [0] * n, [0] * n, {0: 1}
    for node, parent in enumerate(parents):
        if (parent != -1) if node == 0 else not 0 <= parent < node:
            raise ValueError(f"node {node} has the parent {parent}; a parent stands before it")
        if fates[node] not in LOOKS:
            raise ValueError(f"node {node} has the fate {fates[node]!r}; give one of {[*LOOKS]}")
        if node:
            step[node] = step[parent] + 1
            row[node] = counts.get(step[node], 0)
            counts[step[node]] = row[node] + 1
    way = set()
    while best is not None and best >= 0:
        way.add(best)
        best = parents[best]
    if ax is None:
        size = (1.3 * max(counts) + 1.6, 0.62 * max(counts.values()) + 0.7)
        _, ax = plt.subplots(figsize=size)
    for node, parent in enumerate(parents):
        style, colour, sign = LOOKS[fates[node]]
        if node:
            ends = [step[parent] + 0.4, step[node] - 0.4], [-row[parent], -row[node]]
            thick = 4.5 if node in way else 1.3
            ax.plot(*ends, style, color=PALETTE[2] if node in way else colour, lw=thick, zorder=1)
        frame = FancyBboxPatch(
            (step[node] - 0.4, -row[node] - 0.3), 0.8, 0.6,
            boxstyle="round,pad=0,rounding_size=0.08", facecolor="white",
            edgecolor=PALETTE[2] if node in way else colour,
            linestyle=style, linewidth=2.5 if node in way else 1.5, zorder=2,
        )  # fmt: skip
        ax.add_patch(frame)
        text = f"{literal([tokens[node]])[0]}{sign}"
        text += f"\n{totals[node]:.2f}".replace("-", "−") if node else ""
        ax.text(step[node], -row[node], text, ha="center", va="center", fontsize=10.7, zorder=3)
    ax.set_xlim(-0.5, max(counts) + 0.5)
    ax.set_ylim(-max(counts.values()) + 0.5, 0.9)
    for x in range(max(counts) + 1):
        ax.text(x, 0.6, f"step {x}" if x else "start", ha="center", fontsize=11.3, color="0.35")
    ax.axis("off")
    return ax


def beam_curves(
    sizes: Sequence[int], curves: Mapping[str, ArrayLike], *, axes: Sequence[Axes] | None = None
) -> Sequence[Axes]:
    """What becomes of a beam that is made wider: one picture for each curve, side by side.

    Args:
        sizes: the beam sizes, rising; the axis is logarithmic.
        curves: what was measured -> a number for each beam size.

    Raises:
        ValueError: a curve does not fit the sizes.
    """
    if axes is None:
        _, axes = plt.subplots(1, len(curves), figsize=(4.6 * len(curves), 3.8))
        axes = list(np.atleast_1d(np.asarray(axes)))
    for i, (ax, (name, values)) in enumerate(zip(axes, curves.items(), strict=True)):
        y = np.asarray(values, dtype=float)
        if y.shape != (len(sizes),):
            raise ValueError(f"{name!r} has {y.size} values for {len(sizes)} beam sizes")
        ax.plot(sizes, y, "o-", color=PALETTE[i])
        ax.set_xscale("log", base=2)
        ax.set_xticks(list(sizes), [str(size) for size in sizes])
        ax.set_xlabel("beam size")
        ax.set_title(name, fontsize=13)
    return axes


def rerank_bars(
    texts: Sequence[str], costs: Sequence[Sequence[float]], *, ax: Axes | None = None
) -> Axes:
    """Candidates with what each costs to write and to be read back, in nats, the best on top.

    Args:
        texts: of each candidate.
        costs: of each the two costs, none below 0.

    Raises:
        ValueError: not two costs for each text.
    """
    if np.shape(costs) != (len(texts), 2):
        raise ValueError(f"{len(texts)} texts need as many pairs of costs")
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 0.8 + 0.4 * len(texts)), layout="constrained")
    write, read = np.transpose(np.asarray(costs, dtype=float))
    rows = np.arange(len(texts))
    ax.barh(rows, write, 0.35, color=PALETTE[0], label="to write it")
    ax.barh(rows, read, 0.35, left=write, color=PALETTE[1], label="to read the sentence back")
    for row, text in enumerate(literal(texts)):
        ax.annotate(text, (0, row - 0.25), (2, 0), textcoords="offset points", va="bottom")
    ax.set(xlabel="cost in nats", yticks=[], ylim=(len(texts) - 0.4, -0.9), xlim=(0, None))
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)  # above: the lowest bar is longest
    return ax
