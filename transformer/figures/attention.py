"""Figures for section 3.2: the steps of equation 1 as matrices, and what scaling does to softmax."""

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
from transformer.figures.style import DIVERGING, PALETTE, SEQUENTIAL

LETTER = 0.125  # inches that a letter of a token label takes
GAP = 0.3  # inches on either side of an operator


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
        return 0.1 + LETTER * max((len(label) for label in self.rows), default=0)


def attention_pipeline(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    cell: float = 0.72,
) -> Figure:
    """Equation 1 in two lines of matrices: Q and K give scores, weights and V give the output.

    Args:
        query: (query, d_k).
        key: (key, d_k).
        value: (key, d_v).
        query_tokens, key_tokens: the labels of the queries, and of the keys and their values.
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
                Matrix(q, "$Q$", query_tokens),
                "×",
                Matrix(k.T, "$K^T$", columns=key_tokens),
                "÷ $\\sqrt{d_k}$ =",
                Matrix(scores, "scores", columns=key_tokens),
            ],
            [
                "softmax →",
                Matrix(weights.numpy(), "weights", query_tokens, key_tokens, is_weights=True),
                "×",
                Matrix(v, "$V$", key_tokens),
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
    cell: float = 0.72,
) -> Figure:
    """One product that makes all heads: X, the projection, and the result cut into heads.

    Args:
        x: (len, d_model), a row for each token.
        weight: (d_model, n_heads * width), the projections of the heads side by side.
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
                Matrix(inputs, "$X$", tokens),
                "×",
                Matrix(projection, f"$W^{name}$", n_heads=n_heads),
                "=",
                Matrix(inputs @ projection, f"${name}$", n_heads=n_heads),
            ]
        ],
        cell,
    )


def curves_over_width(
    widths: Sequence[int], curves: Mapping[str, ArrayLike], *, ylabel: str, ax: Axes | None = None
) -> Axes:
    """How quantities change with d_k, on logarithmic axes.

    Args:
        curves: name -> (widths,) values, or (widths, samples), drawn as the median with a band
            around the middle half of the samples.

    Raises:
        ValueError: a curve has not one value, or one row of samples, for each width.
    """
    if ax is None:
        _, ax = plt.subplots()
    for colour, (name, curve) in zip(PALETTE, curves.items(), strict=False):
        samples = np.asarray(curve, dtype=float)
        if len(samples) != len(widths):
            raise ValueError(f"{name!r} has {len(samples)} rows for {len(widths)} widths")
        if samples.ndim == 2:
            low, samples, high = np.quantile(samples, [0.25, 0.5, 0.75], axis=1)
            ax.fill_between(widths, low, high, color=colour, alpha=0.2, linewidth=0)
        ax.plot(widths, samples, "o-", color=colour)
        _name_line(ax, name, (widths[-1], samples[-1]), colour)
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
        weights: (temperatures, keys).
        labels: a name for each key.
        marks: name -> temperature, drawn as a dotted line.

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
    for name, temperature in (marks or {}).items():
        ax.axvline(temperature, color="0.4", linestyle=":", linewidth=1.5)
        ax.annotate(
            name,
            (temperature, 1.0),
            xytext=(4, 0),
            textcoords="offset points",
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


def _name_line(ax: Axes, name: str, point: tuple[float, float], colour: str) -> None:
    ax.annotate(
        name,
        point,
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        color=colour,
        fontsize=13,
        fontweight="bold",
    )


def _draw(lines: Sequence[Sequence[Matrix | str]], cell: float) -> Figure:
    """Lines of matrices with operators between them, every number in a cell of the same size."""
    matrices = [[part for part in line if isinstance(part, Matrix)] for line in lines]
    largest = max(np.abs(m.values).max() for line in matrices for m in line if not m.is_weights)
    heights = [max(len(m.values) for m in line) * cell for line in matrices]
    below = [
        max(0.15 + 0.9 * LETTER * max((len(c) for m in line for c in m.columns), default=0), 0.45)
        for line in matrices
    ]
    width = max(sum(_width(part, cell) for part in line) for line in lines)
    height = sum(heights) + sum(below) + 0.5 * len(lines)
    figure = plt.figure(figsize=(width, height), layout="none")
    top = height
    for line, tallest, labels in zip(lines, heights, below, strict=True):
        middle = top - 0.5 - tallest / 2
        left = 0.0
        for part in line:
            if isinstance(part, str):
                centre = (left + _width(part, cell) / 2) / width
                figure.text(centre, middle / height, part, ha="center", va="center", fontsize=19)
            else:
                _draw_matrix(figure, part, left + part.label_width, middle, cell, largest)
            left += _width(part, cell)
        top -= 0.5 + tallest + labels
    return figure


def _width(part: Matrix | str, cell: float) -> float:
    if isinstance(part, Matrix):
        return part.label_width + part.values.shape[1] * cell
    words = part.replace("$\\sqrt{d_k}$", "dk_")
    return 2 * GAP + (0.16 * len(words) if len(words) > 1 else 0.0)


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
        annot_kws={"size": 15},
        cmap=SEQUENTIAL if matrix.is_weights else DIVERGING,
        vmin=0.0 if matrix.is_weights else -largest,
        vmax=1.0 if matrix.is_weights else largest,
        cbar=False,
        linewidths=1.0,
        xticklabels=list(matrix.columns) or False,
        yticklabels=list(matrix.rows) or False,
    )
    ax.set_title(matrix.name, fontsize=16)
    ax.tick_params(length=0, labelsize=14)
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
            fontsize=14,
            fontweight="bold",
        )
        if h:
            ax.axvline(h * width, color="black", linewidth=2.5)
