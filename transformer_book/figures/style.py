"""One look for all figures: legible from the back row, safe for colour-blind readers."""

from collections.abc import Sequence

import matplotlib as mpl
import seaborn as sns
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.typing import ColorType

Number = int | float

# Okabe and Ito's colours, which stay apart for all common kinds of colour blindness; without
# their yellow, too pale for a line on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SEQUENTIAL = "viridis"  # for weights and probabilities, 0 to 1
DIVERGING = "RdBu_r"  # for values around 0
EMPTY = "#E3E3E3"  # for cells that say no; light, so that it survives a grey print
TWO_COLOURS = (EMPTY, PALETTE[0])  # for no and yes, 0 and 1
FRAME = PALETTE[4]  # around cells that are true links: it stands out from all of viridis
BLANK_INK = "#555555"  # for what is written into a cell without a colour


def literal(tokens: Sequence[str]) -> list[str]:
    """Tokens as labels that show every letter: matplotlib reads a formula between two dollars."""
    return [token.replace("$", r"\$") for token in tokens]


def ink(color: ColorType) -> str:
    """White or black, whichever has the higher contrast on the colour (WCAG's luminance)."""
    red, green, blue = (
        x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(color)
    )
    return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 else "black"


def figure_of(ax: Axes) -> Figure:
    """The whole figure; `ax.figure` may be a part of one."""
    figure = ax.figure
    return figure if isinstance(figure, Figure) else figure.figure


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
