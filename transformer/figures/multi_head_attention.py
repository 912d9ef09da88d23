"""Figures for section 3.2.2: the projections, cut into heads."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer.figures.matrices import Matrix, as_matrix, draw_equation, require_rows


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
