"""Figures for section 3.2.1: equation 1 as matrices, a head step by step, what scaling does."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import cells, check_weights
from transformer_book.figures.matrices import (
    SQRT_D_K,
    Matrix,
    as_matrix,
    draw_equation,
    require_rows,
)
from transformer_book.figures.style import DIVERGING, PALETTE, SEQUENTIAL

STAGE_CELL = 0.7  # inches for a number of attention_stages


def attention_pipeline(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    weights: ArrayLike,
    output: ArrayLike,
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
        weights: (query, key), the softmax of the scores.
        output: (query, d_v).
        query_tokens: the labels of the queries.
        key_tokens: the labels of the keys and of their values.
        cell: inches for one number.

    Raises:
        ValueError: the shapes do not fit each other or the tokens.
    """
    q, k, v = as_matrix("query", query), as_matrix("key", key), as_matrix("value", value)
    if q.shape[1] != k.shape[1]:
        raise ValueError(
            f"queries of width {q.shape[1]} cannot be compared with keys of width {k.shape[1]}; "
            "give both the same d_k"
        )
    require_rows("query", q, query_tokens)
    require_rows("key", k, key_tokens)
    require_rows("value", v, key_tokens)
    shares, outputs = check_weights(weights, query_tokens, key_tokens), as_matrix("output", output)
    require_rows("output", outputs, query_tokens)
    scores = q @ k.T / np.sqrt(q.shape[1])
    return draw_equation(
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
                Matrix(shares, "weights", query_tokens, key_tokens, is_weights=True),
                "×",
                Matrix(v, r"$\mathbf{V}$", key_tokens),
                "=",
                Matrix(outputs, "output"),
            ],
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
    scores = {name: as_matrix(name, values) for name, values in stages.items()}
    shares, outputs = as_matrix("weights", weights), as_matrix("output", output)
    panels = {**scores, "weights": shares, "output": outputs[:, :4]}
    for name, values in panels.items():
        require_rows(name, values, tokens)
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
        cells(
            ax,
            values,
            colours=SEQUENTIAL if is_weights else DIVERGING,
            limits=(0.0, 1.0) if is_weights else (-limit, limit),
            rows=() if i else tokens,
            columns=() if is_output else tokens,
            numbers=f".{2 if is_weights or is_output else digits}f",
            gap=1.0,
            slant=45,
            square=False,
        )
        ax.set_title(name)
    return figure
