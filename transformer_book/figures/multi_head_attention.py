"""Figures for section 3.2.2: the projections, cut into heads, and the heads, joined again."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.matrices import Matrix, as_matrix, draw_equation, require_rows
from transformer_book.figures.style import PALETTE


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
    inputs, projection = as_matrix("x", x), as_matrix("weight", weight)
    require_rows("x", inputs, tokens)
    if inputs.shape[1] != projection.shape[0]:
        raise ValueError(
            f"x has vectors of width {inputs.shape[1]}, but weight has {projection.shape[0]} rows; "
            "weight must be (d_model, n_heads * width)"
        )
    if projection.shape[1] % n_heads:
        raise ValueError(
            f"weight has {projection.shape[1]} columns, which do not divide into {n_heads} heads"
        )
    return draw_equation(
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


def joined_heads(
    heads: ArrayLike, weight: ArrayLike, tokens: Sequence[str], *, cell: float = 0.68
) -> Figure:
    """Concat and W^O: the heads' vectors side by side, times a matrix with a block for each head.

    Args:
        heads: (heads, len, d_v), what each head has found for each token.
        weight: (heads * d_v, d_model), W^O.
        tokens: the labels of the rows.
        cell: inches for one number.

    Raises:
        ValueError: the shapes do not fit.
    """
    values = np.asarray(heads, dtype=float)
    if values.ndim != 3:
        raise ValueError(f"heads has shape {values.shape}; give (heads, len, d_v)")
    n_heads, _, width = values.shape
    projection = as_matrix("weight", weight)
    joined = np.concatenate(list(values), axis=1)  # (len, heads * d_v)
    require_rows("each head", joined, tokens)
    if len(projection) != joined.shape[1]:
        raise ValueError(
            f"the joined heads are {joined.shape[1]} wide, but weight has {len(projection)} rows; "
            "weight must be (heads * d_v, d_model)"
        )
    blocks = [f"head {row // width + 1}" for row in range(len(projection))]
    figure = draw_equation(
        [
            [
                Matrix(joined, "heads, joined", tokens, n_heads=n_heads),
                "×",
                Matrix(projection, r"$\mathbf{W^O}$", blocks),
                "=",
                Matrix(joined @ projection, "output"),
            ]
        ],
        cell,
    )
    mixed = figure.axes[1]
    for row, label in enumerate(mixed.get_yticklabels()):
        label.set(color=PALETTE[row // width % len(PALETTE)], fontweight="bold")
        if row and row % width == 0:
            mixed.axhline(row, color="black", linewidth=2.5)
    return figure
