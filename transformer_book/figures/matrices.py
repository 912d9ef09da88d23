"""Equations drawn as matrices: every number in its cell, operators between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import cells
from transformer_book.figures.style import DIVERGING, PALETTE, SEQUENTIAL

# Inches: a letter of a token label, either side of an operator, above a matrix, at the edge.
LETTER, GAP, TITLE, MARGIN = 0.13, 0.27, 0.72, 0.1
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


def as_matrix(name: str, values: ArrayLike) -> np.ndarray:
    """The values as a matrix.

    Raises:
        ValueError: they are none.
    """
    array = np.asarray(values, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}; give one matrix: (tokens, width)")
    return array


def require_rows(name: str, matrix: np.ndarray, tokens: Sequence[str]) -> None:
    """A matrix with one row for each token.

    Raises:
        ValueError: it has more or fewer.
    """
    if len(matrix) != len(tokens):
        raise ValueError(f"{name} has {len(matrix)} rows for {len(tokens)} tokens: {list(tokens)}")


def draw_equation(lines: Sequence[Sequence[Matrix | str]], cell: float) -> Figure:
    """Lines of matrices with operators between them, every number in a cell of the same size.

    Args:
        lines: each of matrices and operators, from left to right.
        cell: inches for one number.
    """
    matrices = [[part for part in line if isinstance(part, Matrix)] for line in lines]
    largest = max(np.abs(m.values).max() for line in matrices for m in line if not m.is_weights)
    ascents = [max(len(m.values) for m in line) * cell / 2 + TITLE for line in matrices]
    depths = [max(len(m.values) * cell / 2 + m.label_height for m in line) for line in matrices]
    width = max(sum(_part_width(part, cell) for part in line) for line in lines) + MARGIN
    height = sum(ascents) + sum(depths)
    figure = plt.figure(figsize=(width, height), layout="none")
    top = height
    for line, ascent, depth in zip(lines, ascents, depths, strict=True):
        middle = top - ascent
        left = 0.0
        for part in line:
            if isinstance(part, str):
                centre = (left + _part_width(part, cell) / 2) / width
                figure.text(centre, middle / height, part, ha="center", va="center", fontsize=20)
            else:
                _draw_matrix(figure, part, left + part.label_width, middle, cell, largest)
            left += _part_width(part, cell)
        top -= ascent + depth
    return figure


def _part_width(part: Matrix | str, cell: float) -> float:
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
    limits = (0.0, 1.0) if matrix.is_weights else (-largest, largest)
    cells(
        ax,
        matrix.values,
        colours=SEQUENTIAL if matrix.is_weights else DIVERGING,
        limits=limits,
        rows=matrix.rows,
        columns=matrix.columns,
        numbers=".2f" if matrix.is_weights else ".1f",
        size=17,
        label_size=17,
        gap=1.0,
        slant=45,
        square=False,  # the axes have the shape already
    )
    ax.set_title(f"{matrix.name}\n{rows} × {columns}", fontsize=17)
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
            fontsize=17,
            fontweight="bold",
        )
        if h:
            ax.axvline(h * width, color="black", linewidth=2.5)
