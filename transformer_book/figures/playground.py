"""A model that learns, on paper: its loss, how much it gets right, and where a head looks."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import attention_heatmap
from transformer_book.figures.style import PALETTE, literal


def learning_run(
    losses: Sequence[tuple[int, float]],
    right: Sequence[int],
    *,
    n_tests: int,
    judged_every: int,
    weights: ArrayLike,
    source: Sequence[str],
    written: Sequence[str],
) -> Figure:
    """A run: on the left its curves, on the right where a head of the cross-attention looks.

    Args:
        losses: (step, loss).
        right: how many of `n_tests` unseen sequences were right, each `judged_every` steps from 0.
        weights: (written, source), of the trained model; empty where it has no cross-attention.
        source, written: the tokens of one sequence, end mark included.
    """
    figure, (ax, looks) = plt.subplots(
        1, 2, figsize=(9.6, 3.6), width_ratios=(1.4, 1), layout="constrained"
    )
    steps, values = zip(*losses, strict=True)
    ax.plot(steps, values, color=PALETTE[0], label="loss")
    ax.set(xlabel="step", ylabel="loss", ylim=(0, None), xlim=(0, None))
    share = ax.twinx()
    seen_at = judged_every * np.arange(len(right))
    share.plot(
        seen_at, right, color=PALETTE[1], linestyle="--", label=f"right, of {n_tests} unseen"
    )
    share.set(ylim=(0, 1.05 * n_tests), ylabel="right")
    lines = [*ax.lines, *share.lines]
    names = [str(line.get_label()) for line in lines]
    ax.legend(lines, names, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    matrix = np.asarray(weights)
    if matrix.size:
        attention_heatmap(matrix, list(written), list(source), ax=looks, annotate=False)
        looks.set(xlabel="read", ylabel="written")
    else:
        looks.axis("off")
        read, made = literal([" ".join(source), " ".join(written)])
        looks.text(0, 0.5, f"reads   {read}\nwrites  {made}")
    return figure


def nothing_recorded(task: str) -> Figure:
    """What stands in the place of a run that nobody has recorded."""
    figure, ax = plt.subplots(figsize=(6.4, 1.2))
    ax.axis("off")
    ax.text(0, 0.5, f"A Transformer that learns in the page: {task}.", va="center")
    return figure
