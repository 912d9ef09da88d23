"""What diagrams are made of: colours, lettering, arrows and boxes with round corners."""

from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from transformer_book.figures.style import PALETTE, Number

Point = tuple[Number, Number]

BLUE, ORANGE, GREEN = PALETTE[:3]
INK, GREY, PALE = "#222222", "#5f5f5f", "#f3f3f3"
FILL = {
    "attention": "#fbdcc3",
    "feed-forward": "#cbe3f4",
    "norm": "#f5efc0",
    "embedding": "#f3d9e7",
    "output": "#cdebdd",
}
HEAD = "-|>,head_length=5,head_width=3"


def lettering(
    size: Number, align: str = "center", color: str = INK, weight: str = "normal"
) -> dict[str, Any]:
    """How a text is set whose point is at half its height; goes to `ax.text`."""
    return {"ha": align, "va": "center", "fontsize": size, "color": color, "fontweight": weight}


def arrow(ax: Axes, points: list[Point], color: str = INK, width: Number = 1.6) -> None:
    """A line through the points, with an arrow head at its end."""
    for (x0, y0), (x1, y1) in pairwise(points[:-1]):
        ax.plot([x0, x1], [y0, y1], color=color, lw=width, solid_capstyle="round")
    settings: dict[str, Any] = {"shrinkA": 0, "shrinkB": 0, "color": color, "lw": width}
    ax.add_patch(FancyArrowPatch(*points[-2:], arrowstyle=HEAD, **settings))


def rounded_box(
    ax: Axes,
    corner: Point,
    size: Point,
    radius: Number,
    fill: str,
    edge: str = INK,
    **settings: Any,
) -> None:
    """A box by its lower left corner, its (width, height) and the radius of its corners."""
    style = f"round,pad=0,rounding_size={radius}"
    settings = {"lw": 1.5} | settings
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, fc=fill, ec=edge, **settings))
