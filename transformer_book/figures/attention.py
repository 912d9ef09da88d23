"""Figures for section 3.2.1: equation 1 as matrices, a head step by step, what scaling does."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.boxes import GREY, INK, arrow, lettering
from transformer_book.figures.figure2 import ROLES
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


def query_and_keys(
    query: ArrayLike,
    keys: ArrayLike,
    query_token: str,
    key_tokens: Sequence[str],
    components: Sequence[str],
    *,
    ax: Axes | None = None,
) -> Axes:
    """A query and its keys as arrows in a plane, each key dropped onto the query, with its score.

    Args:
        query: (2,), neither component negative.
        keys: (key, 2), the same; a key of length 0 is a point.
        query_token: the label of the query.
        key_tokens: the labels of the keys.
        components: a name for each of the two axes.
        ax: where to draw; a new figure when None.

    Raises:
        ValueError: the vectors are no arrows of a plane, or do not fit the labels.
    """
    q, k = np.asarray(query, dtype=float), as_matrix("keys", keys)
    require_rows("keys", k, key_tokens)
    if q.shape != (2,) or k.shape[1] != 2 or len(components) != 2:
        raise ValueError(
            f"a query of shape {q.shape}, keys of width {k.shape[1]} and {len(components)} names "
            "of components are no arrows in a plane; give two of each"
        )
    if ax is None:
        _, ax = plt.subplots(figsize=(6.0, 4.2))
    right, top = np.maximum(q, k.max(axis=0)) + 0.45
    for x, y in ((right, 0), (0, top)):
        ax.plot([0, x], [0, y], color="#c8c8c8", lw=1.5, zorder=0)
    ax.text(right, 0.03, components[0], **_set(GREY, "right", "bottom"))
    ax.text(0.06, top, components[1], **_set(GREY, "left", "top"))
    along = q / np.linalg.norm(q)
    across = np.array([-along[1], along[0]])
    scores = k @ q
    for token, tip, score in zip(key_tokens, k, scores, strict=True):
        x, y = tip
        foot = (tip @ along) * along
        if tip.any():
            arrow(ax, [(0, 0), (x, y)], ROLES["K"], 3)
            ax.plot(*zip(tip, foot, strict=True), color=GREY, lw=1.5, ls=":", zorder=0)
            ax.plot(*foot, "o", color=INK, markersize=6, zorder=4)
            beside, above = foot - 0.11 * along + 0.17 * across
            text = f"score {score:g}" if score == scores.max() else f"{score:g}"
            ax.text(beside, above, text, **_set(INK, "center", "center"))
        else:
            ax.plot(0, 0, "o", color=ROLES["K"], markersize=9, zorder=4)
        anchor = ("left", "center") if y > x else ("center", "top")
        x, y = (x + 0.08, y) if y > x else (x, y - 0.08)
        ax.text(x, y, token, **_set(ROLES["K"], *anchor, "bold"))
    arrow(ax, [(0, 0), (q[0], q[1])], ROLES["Q"], 3)
    ax.text(q[0], q[1] + 0.07, query_token, **_set(ROLES["Q"], "center", "bottom", "bold"))
    ax.set(xlim=(-0.4, right), ylim=(-0.4, top), aspect="equal")
    ax.axis("off")
    return ax


def _set(colour: str, across: str, along: str, weight: str = "normal") -> dict[str, Any]:
    """How a text of `query_and_keys` is set."""
    return lettering(14, across, colour, weight) | {"va": along}


def attention_pipeline(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    weights: ArrayLike,
    output: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    components: Sequence[str] = (),
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
        components: a name for each component of queries and keys, where they have names.
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
                Matrix(q, r"$\mathbf{Q}$", query_tokens, components),
                "×",
                Matrix(k.T, r"$\mathbf{K^T}$", components, key_tokens),
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
