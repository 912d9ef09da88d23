"""Figures for section 4: how a layer's costs grow with the sentence."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

LINES = ("-", "--", ":", "-.")


def complexity_curves(
    n: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    ylabel: str = "operations per layer",
    marked: Mapping[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Costs over sentence lengths, both axes logarithmic, so that a power is a straight line.

    Args:
        n: the lengths, above 0.
        curves: name -> the cost at each of the lengths, above 0.
        ylabel: what the costs are.
        marked: words -> a length that they stand beside.

    Raises:
        ValueError: a curve does not fit the lengths, or holds what has no logarithm.
    """
    if ax is None:
        _, ax = plt.subplots()
    x = np.asarray(n, dtype=float)
    if not (x > 0).all():
        raise ValueError("lengths have no logarithm unless they are above 0")
    for i, (name, values) in enumerate(curves.items()):
        y = np.asarray(values, dtype=float)
        if y.shape != x.shape:
            raise ValueError(f"curve {name!r} has {y.size} values for {x.size} lengths")
        if not (y > 0).all():
            raise ValueError(f"curve {name!r} has values that are not above 0")
        ax.plot(x, y, LINES[i % len(LINES)], label=name)
    for words, length in (marked or {}).items():
        ax.axvline(length, color="0.4", linewidth=1)
        ax.annotate(
            words,
            (length, 0.02),
            xycoords=("data", "axes fraction"),
            xytext=(5, 0),
            textcoords="offset points",
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("sentence length n")
    ax.set_ylabel(ylabel)
    ax.set_xlim(x[0], x[-1])
    ax.legend()
    return ax
