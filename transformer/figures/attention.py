"""Figures for section 3.2: equation 1 and the heads as matrices, and what scaling does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer.attention import scaled_dot_product_attention
from transformer.figures.style import DIVERGING, PALETTE, SEQUENTIAL, literal

# Inches: a letter of a token label, either side of an operator, above a matrix, at the edge.
LETTER, GAP, TITLE, MARGIN = 0.13, 0.27, 0.72, 0.1
STAGE_CELL = 0.7  # inches for a number of attention_stages
SQRT_D_K = r"$\sqrt{d_k}$"


@dataclass(frozen=True)
class Matrix:
    """A matrix in a figure: its numbers, its name above it, its labels, its colours."""

    values: np.ndarray
    name: str
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    is_weights: bool = False
    n_heads: int = 1

    @property
    def label_width(self) -> float:
        """Inches that the labels of the rows take on the left."""
        return MARGIN + LETTER * max((len(label) for label in self.rows), default=0)

    @property
    def label_height(self) -> float:
        """Inches that the slanting labels of the columns, or the heads' brackets, take below."""
        longest = max((len(label) for label in self.columns), default=0)
        return max(0.2 + 0.85 * LETTER * longest, 0.55 if self.n_heads > 1 else MARGIN)


def attention_pipeline(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    cell: float = 0.68,
) -> Figure:
    """Equation 1 in two lines of matrices: Q and K give scores, weights and V give the output.

    Args:
        query: (query, d_k).
        key: (key, d_k).
        value: (key, d_v).
        query_tokens: the labels of the queries.
        key_tokens: the labels of the keys and of their values.
        cell: inches for one number.

    Raises:
        ValueError: the shapes do not fit each other or the tokens.
    """
    q, k, v = _matrix("query", query), _matrix("key", key), _matrix("value", value)
    if q.shape[1] != k.shape[1]:
        raise ValueError(
            f"queries of width {q.shape[1]} cannot be compared with keys of width {k.shape[1]}; "
            "give both the same d_k"
        )
    _require_rows("query", q, query_tokens)
    _require_rows("key", k, key_tokens)
    _require_rows("value", v, key_tokens)
    output, weights = scaled_dot_product_attention(*(torch.from_numpy(x) for x in (q, k, v)))
    scores = q @ k.T / np.sqrt(q.shape[1])
    return _draw(
        [
            [
                Matrix(q, r"$\mathbf{Q}$", query_tokens),
                "×",
                Matrix(k.T, r"$\mathbf{K^T}$", columns=key_tokens),
                f"÷ {SQRT_D_K} =",
                Matrix(scores, "scores", columns=key_tokens),
            ],
            [
                "softmax →",
                Matrix(weights.numpy(), "weights", query_tokens, key_tokens, is_weights=True),
                "×",
                Matrix(v, r"$\mathbf{V}$", key_tokens),
                "=",
                Matrix(output.numpy(), "output"),
            ],
        ],
        cell,
    )


def projected_heads(
    x: ArrayLike,
    weight: ArrayLike,
    n_heads: int,
    tokens: Sequence[str],
    *,
    name: str = "Q",
    cell: float = 0.68,
) -> Figure:
    """One product that makes all heads: X, the projection, and the result cut into heads.

    Args:
        x: (len, d_model), a row for each token.
        weight: (d_model, n_heads * width), the projections of the heads side by side.
        n_heads: how many heads the columns are cut into.
        tokens: the labels of the rows of x.
        name: what is made: "Q", "K" or "V".
        cell: inches for one number.

    Raises:
        ValueError: the shapes do not fit, or the columns do not divide into heads.
    """
    inputs, projection = _matrix("x", x), _matrix("weight", weight)
    _require_rows("x", inputs, tokens)
    if inputs.shape[1] != projection.shape[0]:
        raise ValueError(
            f"x has vectors of width {inputs.shape[1]}, but weight has {projection.shape[0]} rows; "
            "weight must be (d_model, n_heads * width)"
        )
    if projection.shape[1] % n_heads:
        raise ValueError(
            f"weight has {projection.shape[1]} columns, which do not divide into {n_heads} heads"
        )
    return _draw(
        [
            [
                Matrix(inputs, r"$\mathbf{X}$", tokens),
                "×",
                Matrix(projection, rf"$\mathbf{{W^{name}}}$", n_heads=n_heads),
                "=",
                Matrix(inputs @ projection, rf"$\mathbf{{{name}}}$", n_heads=n_heads),
            ]
        ],
        cell,
    )


def curves_over_width(
    widths: Sequence[int], curves: Mapping[str, ArrayLike], *, ylabel: str, ax: Axes | None = None
) -> Axes:
    """How quantities change with d_k, on logarithmic axes.

    Args:
        widths: values of d_k.
        curves: name -> (widths,) values, or (widths, samples), drawn as the median with a band
            around the middle half of the samples.
        ylabel: what the curves show.
        ax: where to draw; a new figure when None.

    Raises:
        ValueError: a curve has not one value, or one row of samples, for each width.
    """
    if ax is None:
        _, ax = plt.subplots()
    for i, (name, curve) in enumerate(curves.items()):
        colour = PALETTE[i % len(PALETTE)]
        samples = np.asarray(curve, dtype=float)
        if len(samples) != len(widths):
            raise ValueError(f"{name!r} has {len(samples)} rows for {len(widths)} widths")
        if samples.ndim == 2:
            low, samples, high = np.quantile(samples, [0.25, 0.5, 0.75], axis=1)
            ax.fill_between(widths, low, high, color=colour, alpha=0.2, linewidth=0)
        ax.plot(widths, samples, "o-", color=colour)
        ax.annotate(
            name,
            (widths[-1], samples[-1]),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=13,
            fontweight="bold",
        )
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(list(widths), [str(width) for width in widths])
    ax.minorticks_off()
    ax.set_xlabel("$d_k$")
    ax.set_ylabel(ylabel)
    return ax


def temperature_curves(
    temperatures: Sequence[float],
    weights: ArrayLike,
    labels: Sequence[str],
    *,
    marks: Mapping[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The weight of each key while the temperature of the softmax rises.

    Args:
        temperatures: what the scores are divided by, rising.
        weights: (temperatures, keys).
        labels: a name for each key.
        marks: name -> temperature, drawn as a dotted line.
        ax: where to draw; a new figure when None.

    Raises:
        ValueError: the weights do not fit the temperatures and the labels.
    """
    array = np.asarray(weights, dtype=float)
    if array.shape != (len(temperatures), len(labels)):
        raise ValueError(
            f"weights of shape {array.shape} do not fit {len(temperatures)} temperatures and "
            f"{len(labels)} labels"
        )
    if ax is None:
        _, ax = plt.subplots()
    styles = ("-", "--", "-.", ":")
    for i, (label, weight) in enumerate(zip(labels, array.T, strict=True)):
        colour = PALETTE[i % len(PALETTE)]
        ax.plot(temperatures, weight, color=colour, linestyle=styles[i % len(styles)], label=label)
    for i, (name, temperature) in enumerate((marks or {}).items()):
        ax.axvline(temperature, color="0.4", linestyle=":", linewidth=1.5)
        # Alternately left and right of their lines, so that close neighbours stay apart.
        side, offset = ("left", 5) if i % 2 else ("right", -5)
        ax.annotate(
            name,
            (temperature, 1.0),
            xytext=(offset, 0),
            textcoords="offset points",
            ha=side,
            fontsize=13,
            color="0.25",
        )
    ax.set_xscale("log")
    ax.set_ylim(-0.03, 1.08)
    ax.set_xlabel("temperature")
    ax.set_ylabel("weight")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _matrix(name: str, values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}; give one matrix: (tokens, width)")
    return array


def _require_rows(name: str, matrix: np.ndarray, tokens: Sequence[str]) -> None:
    if len(matrix) != len(tokens):
        raise ValueError(f"{name} has {len(matrix)} rows for {len(tokens)} tokens: {list(tokens)}")


def _draw(lines: Sequence[Sequence[Matrix | str]], cell: float) -> Figure:
    """Lines of matrices with operators between them, every number in a cell of the same size."""
    matrices = [[part for part in line if isinstance(part, Matrix)] for line in lines]
    largest = max(np.abs(m.values).max() for line in matrices for m in line if not m.is_weights)
    ascents = [max(len(m.values) for m in line) * cell / 2 + TITLE for line in matrices]
    depths = [max(len(m.values) * cell / 2 + m.label_height for m in line) for line in matrices]
    width = max(sum(_width(part, cell) for part in line) for line in lines) + MARGIN
    height = sum(ascents) + sum(depths)
    figure = plt.figure(figsize=(width, height), layout="none")
    top = height
    for line, ascent, depth in zip(lines, ascents, depths, strict=True):
        middle = top - ascent
        left = 0.0
        for part in line:
            if isinstance(part, str):
                centre = (left + _width(part, cell) / 2) / width
                figure.text(centre, middle / height, part, ha="center", va="center", fontsize=20)
            else:
                _draw_matrix(figure, part, left + part.label_width, middle, cell, largest)
            left += _width(part, cell)
        top -= ascent + depth
    return figure


def _width(part: Matrix | str, cell: float) -> float:
    if isinstance(part, Matrix):
        return part.label_width + part.values.shape[1] * cell
    letters = len(part.replace(SQRT_D_K, "dk"))
    return 2 * GAP + (0.14 * letters if letters > 1 else 0.0)


def _draw_matrix(
    figure: Figure, matrix: Matrix, left: float, middle: float, cell: float, largest: float
) -> None:
    rows, columns = matrix.values.shape
    width, height = figure.get_size_inches()
    box = (left, middle - rows * cell / 2, columns * cell, rows * cell)
    ax = figure.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height))
    digits = 2 if matrix.is_weights else 1
    # Rounded before it is written, and + 0.0, so that no cell says -0.0.
    rounded = np.round(matrix.values, digits) + 0.0
    texts = np.array([[f"{x:.{digits}f}".replace("-", "−") for x in row] for row in rounded])
    sns.heatmap(
        matrix.values,
        ax=ax,
        annot=texts,
        fmt="",
        annot_kws={"size": 17},
        cmap=SEQUENTIAL if matrix.is_weights else DIVERGING,
        vmin=0.0 if matrix.is_weights else -largest,
        vmax=1.0 if matrix.is_weights else largest,
        cbar=False,
        linewidths=1.0,
        xticklabels=list(matrix.columns) or False,
        yticklabels=list(matrix.rows) or False,
    )
    ax.set_title(f"{matrix.name}\n{rows} × {columns}", fontsize=16)
    ax.tick_params(length=0, labelsize=15)
    ax.tick_params(axis="y", rotation=0)
    for label in ax.get_xticklabels():
        label.set(rotation=45, horizontalalignment="right", rotation_mode="anchor")
    if matrix.n_heads > 1:
        _mark_heads(ax, matrix.n_heads, rows, columns // matrix.n_heads)


def _mark_heads(ax: Axes, n_heads: int, rows: int, width: int) -> None:
    """A bracket under the columns of each head, and a line between heads."""
    for h in range(n_heads):
        colour = PALETTE[h % len(PALETTE)]
        ends = [h * width + 0.08, (h + 1) * width - 0.08]
        ax.plot(ends, [rows + 0.12] * 2, color=colour, linewidth=5, clip_on=False)
        ax.text(
            (h + 0.5) * width,
            rows + 0.25,
            f"head {h + 1}",
            color=colour,
            ha="center",
            va="top",
            fontsize=15,
            fontweight="bold",
        )
        if h:
            ax.axvline(h * width, color="black", linewidth=2.5)


def attention_stages(
    stages: Mapping[str, ArrayLike],
    weights: ArrayLike,
    output: ArrayLike,
    tokens: Sequence[str],
) -> Figure:
    """The scores of a head from step to step, then its weights and its output, side by side.

    Args:
        stages: name -> (tokens, tokens), where -inf is a masked score.
        weights: (tokens, tokens).
        output: (tokens, d_v); at most the first 4 columns are drawn.
        tokens: the labels.

    Raises:
        ValueError: a matrix has not one row for each token.
    """
    scores = {name: _matrix(name, values) for name, values in stages.items()}
    shares, outputs = _matrix("weights", weights), _matrix("output", output)
    panels = {**scores, "weights": shares, "output": outputs[:, :4]}
    for name, values in panels.items():
        _require_rows(name, values, tokens)
    # All zeros have no colour of their own, but a scale must have a length.
    largest = max(np.abs(v[np.isfinite(v)]).max() for v in scores.values()) or 1.0
    widths = [values.shape[1] * STAGE_CELL for values in panels.values()]
    figure, axes = plt.subplots(
        1,
        len(panels),
        figsize=(sum(widths) + 2.0, len(tokens) * STAGE_CELL + 1.2),
        width_ratios=widths,
        layout="constrained",
    )
    digits = 2 if largest < 10 else 1
    for i, (ax, (name, values)) in enumerate(zip(axes, panels.items(), strict=True)):
        is_weights, is_output = ax is axes[-2], ax is axes[-1]
        limit = (np.abs(values).max() or 1.0) if is_output else largest
        texts = [
            [_stage_text(x, 2 if is_weights or is_output else digits) for x in r] for r in values
        ]
        sns.heatmap(
            values,
            ax=ax,
            mask=~np.isfinite(values),  # seaborn neither colours nor writes what is masked
            annot=np.array(texts),
            fmt="",
            annot_kws={"size": 13},
            cmap=SEQUENTIAL if is_weights else DIVERGING,
            vmin=0.0 if is_weights else -limit,
            vmax=1.0 if is_weights else limit,
            cbar=False,
            linewidths=1.0,
            xticklabels=False if is_output else literal(tokens),
            yticklabels=False if i else literal(tokens),
        )
        for row, column in zip(*np.nonzero(~np.isfinite(values)), strict=True):
            ax.text(column + 0.5, row + 0.5, "−∞", ha="center", va="center", fontsize=13)
        ax.set_title(name)
        ax.tick_params(length=0)
        ax.tick_params(axis="y", rotation=0)
        for label in ax.get_xticklabels():
            label.set(rotation=45, horizontalalignment="right", rotation_mode="anchor")
    return figure


def _stage_text(x: float, digits: int) -> str:
    # Rounded before it is written, and + 0.0, so that no cell says -0.0.
    return f"{round(x, digits) + 0.0:.{digits}f}".replace("-", "−")
