"""One look for all figures: legible from the back row, safe for colour-blind readers."""

from collections.abc import Sequence

import matplotlib as mpl
import seaborn as sns
from cycler import cycler

# Okabe and Ito's colours, which stay apart for all common kinds of colour blindness; without
# their yellow, too pale for a line on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SEQUENTIAL = "viridis"  # for weights and probabilities, 0 to 1
DIVERGING = "RdBu_r"  # for values around 0


def literal(tokens: Sequence[str]) -> list[str]:
    """Tokens as labels that show every letter: matplotlib reads a formula between two dollars."""
    return [token.replace("$", r"\$") for token in tokens]


def use_style() -> None:
    """Set the book's style for every figure that follows."""
    sns.set_theme(
        context="notebook",
        style="ticks",
        palette=PALETTE,
        rc={
            "figure.figsize": (8.0, 4.5),
            "figure.dpi": 110,
            "savefig.dpi": 160,
            "figure.constrained_layout.use": True,
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 15,
            "axes.titleweight": "bold",
            "axes.labelsize": 14,
            "xtick.labelsize": 12,
            "ytick.labelsize": 12,
            "legend.fontsize": 12,
            "legend.frameon": False,
            "lines.linewidth": 2.4,
            "image.cmap": SEQUENTIAL,
        },
    )
    # One resolution that is sharp on a phone and on a projector.
    mpl.rcParams["figure.facecolor"] = "white"
