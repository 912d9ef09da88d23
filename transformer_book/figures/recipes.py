"""How far several training runs come on the same validation text."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from transformer_book.figures.style import PALETTE

MARKERS = ("o", "s", "^", "D", "v", "P")


def validation_curves(
    runs: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str = "BLEU on the validation pairs",
    passes: str = "passes over the training pairs",
    ax: Axes | None = None,
) -> Axes:
    """A score over the passes, a curve for each run, with its name at its end.

    Args:
        runs: name -> (passes, score), in order.

    Raises:
        ValueError: there are more runs than can be told apart, or one has no points.
    """
    if not 0 < len(runs) <= len(MARKERS) or not all(runs.values()):
        raise ValueError(f"give 1 to {len(MARKERS)} runs, each with a point at least")
    if ax is None:
        _, ax = plt.subplots(figsize=(9.0, 4.8))
    longest = max(curve[-1][0] for curve in runs.values())
    for i, (name, curve) in enumerate(runs.items()):
        x, y = zip(*curve, strict=True)
        colour = PALETTE[i % len(PALETTE)]
        ax.plot(x, y, color=colour, marker=MARKERS[i], ms=6, lw=2.2)
        ax.annotate(
            name, (x[-1], y[-1]), (8, 0), textcoords="offset points", va="center", color=colour
        )
    ax.set(xlim=(0, 1.32 * longest), ylim=(0, None), xlabel=passes, ylabel=label)
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= longest])
    return ax
