"""How long the two sides of a parallel text are, and which pairs a limit would drop."""

from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgba

from transformer_book.figures.style import PALETTE

# The more, the less transparent: few pairs are near the ground, be it white or, by night, dark.
DENSER = LinearSegmentedColormap.from_list("denser", [to_rgba(PALETTE[0], a) for a in (0.3, 1)])


def pair_lengths(
    lengths: Iterable[Sequence[int]],
    *,
    max_ratio: float,
    slack: int,
    most: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """The pairs by the numbers of words of their sides, and the limits of a ratio.

    Args:
        lengths: [source words, target words, pairs] for each combination that occurs.
        max_ratio: how many times as many words the longer side may have; drawn as lines.
        slack: so many words of difference pass at any ratio; drawn as lines too.
        most: the words at which the picture ends; longer pairs are left out.
        ax: where to draw; a figure of its own when None.
    """
    counts = np.zeros((most, most))
    for source, target, count in lengths:
        if 0 < source <= most and 0 < target <= most:
            counts[target - 1, source - 1] += count
    if ax is None:
        _, ax = plt.subplots(figsize=(6.6, 5.6))
    edges = np.arange(most + 1) + 0.5
    seen = np.ma.masked_less(counts, 1)
    mesh = ax.pcolormesh(edges, edges, seen, cmap=DENSER, norm=LogNorm(1, max(2, counts.max())))
    ax.figure.colorbar(mesh, ax=ax, label="pairs")
    # Only what breaks both limits is dropped where a few words may pass.
    words = np.linspace(0.5, most + 0.5, 200)
    ratio, allowed = words * max_ratio, np.maximum(words * max_ratio, words + slack)
    for limit, label, colour, style in (
        (ratio, f"ratio {max_ratio:g}", PALETTE[1], "--"),
        (allowed, f"ratio {max_ratio:g}, or {slack} words", PALETTE[2], "-"),
    ):
        ax.plot(words, limit, color=colour, ls=style, lw=2.2, label=label)
        ax.plot(limit, words, color=colour, ls=style, lw=2.2)
    ax.set(xlim=(0.5, most + 0.5), ylim=(0.5, most + 0.5), aspect="equal")
    ax.set(xlabel="words of the source", ylabel="words of the target")
    ax.legend(loc="lower right")
    return ax
