"""Figures of training: learning rates, batches, label smoothing, and how a run went."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import cells
from transformer_book.figures.style import PALETTE, TWO_COLOURS, families, literal

PADDED = TWO_COLOURS[::-1]  # words blue, padding grey


def learning_rates(
    steps: ArrayLike, curves: Mapping[str, ArrayLike], *, ax: Axes | None = None
) -> Axes:
    """Learning rates over steps, each curve with its name at its peak.

    Args:
        steps: the steps, counted from 1.
        curves: name -> the rate at each of the steps.
    """
    if ax is None:
        _, ax = plt.subplots()
    x = np.asarray(steps)
    for name, rates in curves.items():
        y = np.asarray(rates)
        if y.shape != x.shape:
            raise ValueError(f"curve {name!r} has {y.size} rates for {x.size} steps")
        (line,) = ax.plot(x, y, label=name)
        peak = int(y.argmax())
        ax.plot(x[peak], y[peak], "o", color=line.get_color())
    ax.set_xlabel("step")
    ax.set_ylabel("learning rate")
    ax.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    ax.set_xlim(0, x[-1])
    ax.set_ylim(0)
    ax.legend(title="$d_{model}$ : warm-up" if all(":" in name for name in curves) else None)
    return ax


def batch_rectangles(
    batches: Mapping[str, Sequence[ArrayLike]], pad_id: int, *, columns: int = 4
) -> Figure:
    """Token batches as rectangles: words blue, padding grey.

    Args:
        batches: a name for each row of the figure -> token arrays (sentences, length).
        columns: how many batches to draw of each.
    """
    figure, axes = plt.subplots(
        len(batches), columns, figsize=(2.6 * columns, 2.9 * len(batches)), squeeze=False
    )
    shown = [[np.asarray(b) for b in rows[:columns]] for rows in batches.values()]
    width = max(b.shape[1] for row in shown for b in row)
    for row, name, arrays in zip(axes, batches, shown, strict=True):
        for ax, tokens in zip(row, arrays, strict=False):
            padding = tokens == pad_id
            cells(ax, padding, colours=PADDED, rows=None, columns=None, gap=0, square=False)
            ax.set_xlim(0, width)
            ax.set_title(f"{padding.mean():.0%} padding", fontsize=13)
            ax.set_xlabel("position")
        row[0].set_ylabel(f"{name}\nsentence")
    return figure


def target_distributions(
    distributions: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """What the model is asked for: a probability for each token (columns) at each target (rows)."""
    array = np.asarray(distributions, dtype=float)
    if array.shape != (len(rows), len(columns)):
        raise ValueError(f"{array.shape} does not fit {len(rows)} rows and {len(columns)} columns")
    if ax is None:
        _, ax = plt.subplots(figsize=(1.1 * len(columns) + 2, 0.7 * len(rows) + 1.4))
    cells(ax, array, rows=rows, columns=columns, numbers=".2f", slant=0, square=False)
    ax.set_xlabel("token of the vocabulary")
    ax.set_ylabel("true token")
    return ax


def confidence_curves(
    confidence: ArrayLike, losses: Mapping[str, ArrayLike], *, ax: Axes | None = None
) -> Axes:
    """The loss of a model that gives the true token so much probability, the rest evenly.

    Args:
        confidence: probabilities of the true token, inside (0, 1).
        losses: name -> the loss at each confidence, in nats. Each minimum is marked.
    """
    if ax is None:
        _, ax = plt.subplots()
    x = np.asarray(confidence, dtype=float)
    for name, values in losses.items():
        y = np.asarray(values, dtype=float)
        (line,) = ax.plot(x, y, label=name)
        lowest = int(y.argmin())
        ax.plot(x[lowest], y[lowest], "o", color=line.get_color(), clip_on=False)
    ax.set_xlabel("probability of the true token")
    ax.set_ylabel("loss in nats")
    ax.set_xlim(0, 1)
    ax.legend()
    return ax


def training_curves(metrics: Sequence[Mapping[str, Any]], *, score: str = "exact") -> Figure:
    """Loss and learning rate over the steps of a run; its scores too, where it was scored.

    Args:
        metrics: what `Trainer.train` returns, or the lines of a run's metrics.jsonl.
        score: which score to draw: "exact" (a share), "bleu", or any other by its name.
    """
    if not metrics:
        raise ValueError("there are no metrics to draw; train for at least one step")
    steps = [m["step"] for m in metrics]
    scored = [m for m in metrics if score in m]
    figure, axes = plt.subplots(1, 3 if scored else 2, figsize=(15 if scored else 12, 4.2))
    axes[0].plot(steps, [m["loss"] for m in metrics], color=PALETTE[0])
    axes[0].set_ylabel("training loss, nats a token")
    axes[0].set_ylim(0)
    axes[1].plot(steps, [m["rate"] for m in metrics], color=PALETTE[2])
    axes[1].set_ylabel("learning rate")
    axes[1].set_ylim(0)
    axes[1].ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    if scored:
        xs, ys = [m["step"] for m in scored], [m[score] for m in scored]
        axes[2].plot(xs, ys, "o-", color=PALETTE[1])
        axes[2].set_ylabel({"bleu": "BLEU", "exact": "exactly right"}.get(score, score))
        axes[2].set_ylim(0)
    for ax in axes:
        ax.set_xlabel("step")
    return figure


def word_chances(
    words: Sequence[str], stages: Mapping[str, ArrayLike], *, ax: Axes | None = None
) -> Axes:
    """How probable each word of a sentence is to a model: a group of bars for each word.

    Args:
        words: what is asked for, place by place; a word may come twice.
        stages: name -> the probability of each word at that stage of the training.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(11, 4.2))
    positions, width = np.arange(len(words)), 0.8 / len(stages)
    for i, (name, values) in enumerate(stages.items()):
        chances = np.asarray(values, dtype=float)
        if chances.shape != positions.shape:
            raise ValueError(f"stage {name!r} has {chances.size} chances for {len(words)} words")
        xs = positions + (i - (len(stages) - 1) / 2) * width
        ax.bar(xs, chances, width=width, color=PALETTE[i % len(PALETTE)], label=name)
    ax.set_xticks(positions, literal(words), family=families())
    ax.set_ylim(0, 1)
    ax.set_ylabel("probability of the word\nthat is asked for")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(stages))
    return ax


def symbol_rows(rows: Mapping[str, Sequence[str]], n_symbols: int) -> Axes:
    """Sequences of digits below each other; what differs from the first, or lacks, is framed.

    Args:
        rows: name -> symbols; a row may be shorter or longer than the others. A symbol that is no
            number, such as "<unk>", has no colour.
        n_symbols: how many numbers there are, each with its own shade.
    """
    longest = max(map(len, rows.values()))
    first = list(next(iter(rows.values())))
    values = np.full((len(rows), longest), np.nan)
    written = np.full((len(rows), longest), "", dtype=object)
    wrong = []
    for i, symbols in enumerate(rows.values()):
        for position, symbol in enumerate(symbols):
            written[i, position] = symbol
            values[i, position] = int(symbol) if symbol.isdigit() else np.nan
            if first[position : position + 1] != [symbol]:
                wrong.append((i, position))
        wrong += [(i, position) for position in range(len(symbols), len(first))]
    _, ax = plt.subplots(figsize=(0.62 * longest + 3, 0.62 * len(rows) + 0.6))
    positions = [str(position) for position in range(1, longest + 1)]
    numbers = written.astype(str)
    limits = (0, n_symbols - 1)
    return cells(
        ax, values, limits=limits, rows=list(rows), columns=positions, numbers=numbers, frames=wrong
    )


def shared_steps(layouts: Mapping[str, tuple[int, int]]) -> Figure:
    """One step of training as blocks: how many devices compute it, in how many turns.

    Args:
        layouts: name -> (devices, turns); the blocks of each are equal parts of the step.
    """
    devices = max(n for n, _ in layouts.values())
    widths = [max(turns + 0.4, 4.0) for _, turns in layouts.values()]
    figure, axes = plt.subplots(
        1,
        len(layouts),
        figsize=(0.62 * sum(widths) + 1, 0.34 * devices + 1.6),
        sharey=True,
        width_ratios=widths,
    )
    panels = zip(np.atleast_1d(axes), widths, layouts.items(), strict=True)
    for ax, width, (name, (rows, columns)) in panels:
        for turn in range(columns):
            for device in range(rows):
                ax.add_patch(
                    plt.Rectangle(
                        (turn + 0.06, device + 0.06), 0.88, 0.88, color=PALETTE[0], alpha=0.85
                    )
                )
        ax.plot([columns + 0.12] * 2, [0, rows], color=PALETTE[1], lw=4, solid_capstyle="butt")
        ax.set(xlim=(0, width), ylim=(devices, 0))
        ax.set_title(name, loc="left")
        ax.set_xlabel("time →", loc="left")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
    np.atleast_1d(axes)[0].set_ylabel("devices")
    return figure


def memory_bars(rows: Mapping[str, Mapping[str, float]], *, memory: int, most: int) -> Figure:
    """What is kept in the memory, a bar a row, and the memory of a device as a line.

    Args:
        rows: name -> GB of the model with Adam's averages, of the loss, and of what layers keep.
        memory: of the device, in GB.
        most: GB at the end of the axis.
    """
    figure, ax = plt.subplots(figsize=(8.0, 2.9))
    parts = {
        "model": ("weights, gradients, averages", PALETTE[2], "xx"),
        "loss": ("the loss", PALETTE[1], "//"),
        "layers": ("what the layers keep", PALETTE[0], ""),
    }
    left = np.zeros(len(rows))
    for part, (name, color, hatch) in parts.items():
        sizes = np.array([row[part] for row in rows.values()])
        label = f"{name}, {sizes[-1]:.1f} GB"
        ax.barh([*rows], sizes, left=left, color=color, hatch=hatch, edgecolor="white", label=label)
        left += sizes
    ax.axvline(memory, color="black", lw=2.5)
    ax.invert_yaxis()
    ax.set(xlim=(0, most), xlabel="GB in the memory at a time")
    ax.set_title(f"a device of {memory} GB")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
