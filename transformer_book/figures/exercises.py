"""A reader's answer beside what it should be."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import cells, colour_bar
from transformer_book.figures.style import DIVERGING, SEQUENTIAL, TWO_COLOURS

MOST_NUMBERED = 48  # cells of a matrix in which there is space for a number
DIFFERENT = 1e-3  # relative to the largest number of the target


def yours_beside_target(yours: ArrayLike, target: ArrayLike) -> Figure:
    """Draw two matrices in the same colours; what differs is framed in the first.

    Args:
        yours: (rows, columns); not a number, or infinite, stays blank.
        target: the same, if the shape is right.
    """
    pair = np.asarray(yours, dtype=float), np.asarray(target, dtype=float)
    known = pair[1][np.isfinite(pair[1])]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    yes_or_no = set(np.unique(np.concatenate([x.ravel() for x in pair]))) <= {0.0, 1.0}
    if low < 0:
        high = max(-low, high)
        low = -high
    frames = _different(*pair)
    columns = sum(x.shape[1] for x in pair)
    size = (min(11.0, 2.4 + 0.62 * columns), min(8.0, 1.2 + 0.55 * max(len(x) for x in pair)))
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    ratios = [x.shape[1] for x in pair]
    axes = figure.subplots(1, 2, width_ratios=ratios)
    for ax, matrix, title in zip(axes, pair, ("yours", "target"), strict=True):
        numbered = max(x.size for x in pair) <= MOST_NUMBERED
        cells(
            ax,
            matrix,
            colours=TWO_COLOURS if yes_or_no else DIVERGING if low < 0 else SEQUENTIAL,
            limits=(min(0.0, low), high if high > min(0.0, low) else low + 1),
            rows=None,
            columns=None,
            numbers=_numbers(matrix, yes_or_no) if numbered else "",
            size=10,
            label_size=9,
            gap=0.5 if max(x.size for x in pair) <= 400 else 0,
            square=False,
            frames=frames if title == "yours" else (),
        )
        ax.set_title(title, fontsize=13)
    if not yes_or_no:
        colour_bar(list(axes)).tick_params(labelsize=9)
    return figure


def _different(yours: np.ndarray, target: np.ndarray) -> list[tuple[int, int]]:
    if yours.shape != target.shape:
        return []
    scale = np.abs(target[np.isfinite(target)]).max(initial=1e-12)
    close = np.isclose(yours, target, rtol=DIFFERENT, atol=DIFFERENT * scale, equal_nan=True)
    if close.mean() < 0.5:  # frames around nearly all cells would show nothing
        return []
    return [(int(row), int(column)) for row, column in np.argwhere(~close)]


def _numbers(matrix: np.ndarray, yes_or_no: bool) -> np.ndarray:
    write = np.vectorize(lambda x: _number(x, yes_or_no), otypes=[str])
    return np.asarray(write(matrix))


def _number(x: float, yes_or_no: bool) -> str:
    if np.isnan(x):
        return "NaN"
    if np.isinf(x):
        return "∞" if x > 0 else "−∞"
    text = f"{x:.0f}" if yes_or_no else f"{x:.3g}" if abs(x) >= 100 else f"{x:.2f}"
    return text.replace("-", "−")
