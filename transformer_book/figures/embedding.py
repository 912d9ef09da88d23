"""Figures for section 3.4: look-up, neighbours and lengths, probabilities, the first loss."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch
from matplotlib.ticker import NullLocator, ScalarFormatter
from numpy.typing import ArrayLike

from transformer_book.figures.matrices import MARGIN, Matrix, as_matrix, draw_equation, require_rows
from transformer_book.figures.style import PALETTE, families, literal

MARKERS = ("o", "s", "^", "D")
HATCHES = ("", "//", "..", "xx")


def embedding_lookup(
    table: ArrayLike,
    vocabulary: Sequence[str],
    ids: Sequence[int],
    *,
    name: str = r"$\mathbf{E}$",
    cell: float = 0.62,
) -> Figure:
    """From ids to vectors: the embedding matrix, and the rows that a sentence takes from it.

    Args:
        table: (vocab, d_model), a row for each token.
        vocabulary: the tokens, by their ids.
        ids: the sentence.
        name: of the matrix.
        cell: inches for one number.

    Raises:
        ValueError: the table has not one row for each token, or an id is no token's.
    """
    rows = as_matrix("table", table)
    require_rows("table", rows, vocabulary)
    if strange := [i for i in ids if not 0 <= i < len(vocabulary)]:
        raise ValueError(f"there is no token {strange[0]} in a vocabulary of {len(vocabulary)}")
    matrix = Matrix(rows, name, [f"{token}   {i}" for i, token in enumerate(vocabulary)])
    # Room for the lines between a row and its copies.
    way = Matrix(rows[list(ids)], "sentence", [f"{i}   {vocabulary[i]}" for i in ids])
    figure = draw_equation([[matrix, " " * 8, way]], cell)
    taken, given = figure.axes
    edge = -(way.label_width - MARGIN / 2) / cell
    for line, i in enumerate(ids):
        figure.add_artist(
            ConnectionPatch(
                (rows.shape[1], i + 0.5),
                (edge, line + 0.5),
                taken.transData,
                given.transData,
                arrowstyle="-|>,head_length=0.6,head_width=0.3",
                color=PALETTE[sorted(set(ids)).index(i) % len(PALETTE)],
                linewidth=2.4,
                shrinkA=4,
                shrinkB=2,
            )
        )
    return figure


def nearest_bars(nearest: Mapping[str, Mapping[str, float]]) -> Figure:
    """The words whose vectors are most similar to a word's own, a panel of bars for each word.

    Args:
        nearest: title of a panel -> word -> cosine similarity, the most similar first.
    """
    longest = max(map(len, nearest.values()))
    size = (3.1 * len(nearest), 1.2 + 0.42 * longest)
    figure, axes = plt.subplots(1, len(nearest), figsize=size, sharex=True, squeeze=False)
    for ax, (title, similar) in zip(axes[0], nearest.items(), strict=True):
        bars = ax.barh(range(len(similar)), list(similar.values()), color=PALETTE[0])
        ax.bar_label(bars, fmt="%.2f", padding=4, fontsize=12)
        names = literal(list(similar))
        ax.set_yticks(range(len(similar)), names, fontsize=14, family=families())
        ax.invert_yaxis()
        ax.tick_params(axis="y", length=0)
        ax.set_title(literal([title])[0], family=families())
        ax.set_xlim(0, 1.25)
        ax.set_xticks([0, 0.5, 1])
    figure.supxlabel("cosine similarity", fontsize=14)
    return figure


def word_map(
    words: Mapping[str, Sequence[str]], positions: Mapping[str, Sequence[float]]
) -> Figure:
    """Words as points on a plane, each group in a colour and a marker of its own.

    Labels of the last of several groups are to the left of their points.

    Args:
        words: group -> its words.
        positions: word -> its two coordinates.
    """
    figure, ax = plt.subplots(figsize=(6.4, 8.6))
    order = sorted((w for group in words.values() for w in group), key=lambda w: positions[w][1])
    points = np.array([positions[w] for w in order], dtype=float)
    low, high = points.min(0), points.max(0)
    ax.set_xlim(low[0] - 0.15 * (high[0] - low[0]), high[0] + 0.2 * (high[0] - low[0]))
    ax.set_ylim(low[1] - 0.04 * (high[1] - low[1]), high[1] + 0.04 * (high[1] - low[1]))
    left = set(list(words.values())[-1]) if len(words) > 1 else set()
    sides = np.array([-1.0 if w in left else 1.0 for w in order])
    heights = _label_heights(order, points, sides, high - low)
    colour = {w: PALETTE[j] for j, group in enumerate(words.values()) for w in group}
    for (name, group), marker in zip(words.items(), MARKERS, strict=False):
        x, y = np.array([positions[w] for w in group], dtype=float).T
        ax.plot(x, y, marker, color=colour[group[0]], markersize=6, label=name)
    for word, (x, y), side, height in zip(order, points, sides, heights, strict=True):
        ax.annotate(
            literal([word])[0], (x, y), (x + side * 0.025 * (high[0] - low[0]), height),
            color=colour[word], fontsize=15, va="center", family=families(),
            ha="left" if side > 0 else "right",
            arrowprops={"arrowstyle": "-", "color": colour[word], "linewidth": 0.8, "shrinkA": 0,
                        "shrinkB": 0},
        )  # fmt: skip
    ax.set_xticks([])
    ax.set_yticks([])
    figure.legend(loc="outside upper center", ncols=len(words), fontsize=15)
    return figure


def _label_heights(
    words: Sequence[str], points: np.ndarray, sides: np.ndarray, spans: np.ndarray
) -> np.ndarray:
    """Heights at which labels hide neither each other nor a point; points from low to high."""
    widths = np.array([0.036 * len(w) + 0.05 for w in words]) * spans[0]
    starts, ends = points[:, 0] - widths * (sides < 0), points[:, 0] + widths * (sides > 0)
    heights = points[:, 1].copy()
    for _ in range(400):
        moved = False
        for i in range(len(words)):
            for x, y in np.delete(points, i, axis=0):
                missing = 0.015 * spans[1] - abs(heights[i] - y)
                if starts[i] < x < ends[i] and missing > 1e-6:
                    heights[i] += missing if heights[i] >= y else -missing
                    moved = True
            for j in range(i):
                separate = ends[j] < starts[i] or ends[i] < starts[j]
                missing = 0.032 * spans[1] - abs(heights[i] - heights[j])
                if not separate and missing > 1e-6:
                    up = 1.0 if heights[i] >= heights[j] else -1.0
                    heights[i] += up * missing / 2
                    heights[j] -= up * missing / 2
                    moved = True
        if not moved:
            break
    return heights


def lengths_over_width(
    widths: Sequence[int], lengths: Mapping[str, ArrayLike], *, ax: Axes | None = None
) -> Axes:
    """How long vectors are, for each d_model, on logarithmic axes.

    Args:
        widths: values of d_model.
        lengths: name -> one mean Euclidean length for each width.
        ax: where to draw; a new figure when None.
    """
    if ax is None:
        _, ax = plt.subplots()
    for (name, values), marker in zip(lengths.items(), MARKERS, strict=False):
        array = _one_each(name, values, len(widths), "widths")
        ax.plot(widths, array, marker=marker, markersize=8, label=name)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(ScalarFormatter())
    ax.set_xticks(widths)
    ax.set_xlabel(r"$d_{\mathrm{model}}$")
    ax.set_ylabel("length of a vector")
    ax.legend()
    return ax


def temperature_bars(
    tokens: Sequence[str], logits: ArrayLike, temperatures: Sequence[float]
) -> Figure:
    """softmax(logits / T) for several T, one panel each.

    Args:
        tokens: the names of the logits.
        logits: (vocab,) scores.
        temperatures: the values of T, each above 0.
    """
    scores = _one_each("logits", logits, len(tokens), "tokens")
    if min(temperatures) <= 0:
        raise ValueError(f"temperatures {list(temperatures)} must all be above 0")
    size = (3.0 * len(temperatures), 0.8 + 0.45 * len(tokens))
    figure, axes = plt.subplots(1, len(temperatures), figsize=size, sharey=True, squeeze=False)
    for ax, temperature in zip(axes[0], temperatures, strict=True):
        scaled = scores / temperature
        weights = np.exp(scaled - scaled.max())
        shares = weights / weights.sum()
        bars = ax.barh(range(len(tokens)), shares, color=PALETTE[0])
        ax.bar_label(bars, fmt="%.2f", padding=4, fontsize=12)
        ax.set_title(f"T = {temperature:g}")
        ax.set_xlim(0, 1.25)
        ax.set_xticks([0, 0.5, 1])
    axes[0, 0].set_yticks(range(len(tokens)), literal(tokens), family=families())
    axes[0, 0].invert_yaxis()  # shared by all panels
    figure.supxlabel("probability", fontsize=14)
    return figure


def first_loss_bars(losses: Mapping[int, Mapping[str, Mapping[str, float]]]) -> Figure:
    """Losses before training against log(vocab): a panel for each vocabulary, logarithmic axes.

    Args:
        losses: vocabulary size -> initialisation -> tying mode -> first loss, in nats per token.
    """
    size = (8.5, 4.4 * len(losses))
    with plt.rc_context({"figure.constrained_layout.h_pad": 0.15}):
        figure, axes = plt.subplots(len(losses), 1, figsize=size, squeeze=False)
    for ax, (vocab_size, table) in zip(axes[:, 0], losses.items(), strict=True):
        _loss_bars(ax, vocab_size, table)
    handles, modes = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].legend(handles, [f"tie = {mode}" for mode in modes], loc="upper left")
    return figure


def _loss_bars(ax: Axes, vocab_size: int, table: Mapping[str, Mapping[str, float]]) -> None:
    modes = list(next(iter(table.values())))
    width = 0.8 / len(modes)
    for j, mode in enumerate(modes):
        at = np.arange(len(table)) + (j - (len(modes) - 1) / 2) * width
        heights = [row[mode] for row in table.values()]
        style = {"color": PALETTE[j], "hatch": HATCHES[j], "edgecolor": "w"}
        bars = ax.bar(at, heights, width * 0.92, label=mode, **style)  # type: ignore[arg-type]
        ax.bar_label(bars, fmt="%.3g", padding=2, fontsize=11)
    uniform = float(np.log(vocab_size))
    ax.axhline(uniform, color="black", linestyle="--", linewidth=1.8, zorder=0)
    ax.set_yscale("log")
    highest = max(max(row.values()) for row in table.values())
    ax.set_ylim(min(1.0, 0.7 * uniform), 3.0 * highest)
    ax.set_yticks([t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if t <= 2 * highest])
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xticks(range(len(table)), list(table))
    ax.set_ylabel("first loss (nats)")
    ax.set_title(f"{vocab_size:,} tokens; dashed: log {vocab_size:,} = {uniform:.2f}")


def _one_each(name: str, values: ArrayLike, expected: int, what: str) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.shape != (expected,):
        raise ValueError(
            f"{name!r} has shape {array.shape}; give one number for each of the {expected} {what}"
        )
    return array
