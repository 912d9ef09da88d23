"""Figure 2 redrawn (sections 3.2.1 and 3.2.2), both halves, with a shape at every arrow."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from transformer_book.figures.boxes import (
    BLUE,
    FILL,
    GREEN,
    GREY,
    INK,
    ORANGE,
    arrow,
    lettering,
    rounded_box,
)
from transformer_book.figures.style import Number

Shape = Sequence[int | str]
Shapes = Mapping[str, Shape]

ROLES = {"Q": BLUE, "K": ORANGE, "V": GREEN}
HEIGHT = 0.86  # of a box, which holds two lines
GAP = 0.74  # an arrow between two boxes, with a shape of two lines beside it
CARD = 0.13  # by which the box of each further head peeps out
MOST_CARDS = 3  # however many heads there are
LONGEST = 16  # characters of a shape in one line

# What stands at the arrows where no numbers are given: the names of section 3.2's sizes.
ONE_HEAD: Shapes = {
    "query": ("query", "d_k"),
    "key": ("key", "d_k"),
    "value": ("key", "d_v"),
    "scores": ("query", "key"),
    "weights": ("query", "key"),
    "output": ("query", "d_v"),
}
ALL_HEADS: Shapes = {
    "query": ("query", "d_model"),
    "key": ("key", "d_model"),
    "value": ("key", "d_model"),
    "q": ("heads", "query", "d_k"),
    "k": ("heads", "key", "d_k"),
    "v": ("heads", "key", "d_v"),
    "weights": ("heads", "query", "key"),
    "heads": ("heads", "query", "d_v"),
    "joined": ("query", "heads · d_v"),
    "output": ("query", "d_model"),
}


def scaled_dot_product_boxes(
    shapes: Shapes | None = None, *, mask: bool = True, ax: Axes | None = None
) -> Axes:
    """Figure 2, left: equation 1 as boxes, from Q, K and V at the bottom to the output on top.

    Args:
        shapes: of "query", "key", "value", "scores", "weights" and "output", as numbers or as
            names of sizes; what is given is written at its arrow. The sizes' names when None.
        mask: whether the optional step is drawn.
        ax: where to draw; a figure of its own when None.

    Raises:
        ValueError: a shape is given for something that the figure does not have.
    """
    written = _known(shapes, ONE_HEAD)
    if ax is None:
        _, ax = plt.subplots(figsize=(7.6, 8.8 if mask else 7.5), layout="none")
        ax.set_position((0, 0, 1, 1))
    left, lane, middle = 3.0, 7.0, 4.35  # the column of steps, the values' way, the output
    height = 0.0
    for role, x, name in (
        ("Q", left - 1.1, "query"),
        ("K", left + 1.1, "key"),
        ("V", lane, "value"),
    ):
        _input(ax, x, role, written.get(name))
    height += GAP
    for role, x in (("Q", left - 1.1), ("K", left + 1.1)):
        arrow(ax, [(x, 0), (x, height)], ROLES[role], 2.6)
    wide = 4.2
    steps = [
        ("MatMul", "attention", "each query · each key:  $QK^{\\mathsf{T}}$", "scores"),
        ("Scale", "norm", "divide by $\\sqrt{d_k}$", "scores"),
        ("Mask (optional)", "embedding", "−∞ where a query may not look", "scores"),
        ("Softmax", "output", "each query's row: positive, sum 1", "weights"),
    ]
    for name, kind, detail, result in steps:
        if name.startswith("Mask") and not mask:
            continue
        line = "--" if name.startswith("Mask") else "-"
        _box(ax, left, height, wide, name, FILL[kind], detail, linestyle=line)
        height += HEIGHT
        height = _up(ax, left, height, written.get(result))
    arrow(ax, [(lane, 0), (lane, height)], ROLES["V"], 2.6)
    right = lane + 0.75
    width = right - (left - wide / 2)
    centre = left - wide / 2 + width / 2
    _box(ax, centre, height, width, "MatMul", FILL["attention"], "mix the values:  weights · $V$")
    height += HEIGHT
    _output(ax, middle, height, written.get("output"))
    ax.set_xlim(0.4, 8.6)
    return ax


def multi_head_boxes(
    shapes: Shapes | None = None, *, n_heads: int | None = None, ax: Axes | None = None
) -> Axes:
    """Figure 2, right: projections, attention in h heads side by side, joined and mixed by W^O.

    Args:
        shapes: of "query", "key", "value" (the inputs), "q", "k", "v" (projected and cut into
            heads), "weights", "heads", "joined" and "output", as numbers or as names of sizes;
            what is given is written at its arrow. The sizes' names when None.
        n_heads: h, written beside the boxes of which each head has its own.
        ax: where to draw; a figure of its own when None.

    Raises:
        ValueError: a shape is given for something that the figure does not have.
    """
    written = _known(shapes, ALL_HEADS)
    if ax is None:
        _, ax = plt.subplots(figsize=(8.4, 8.3), layout="none")
        ax.set_position((0, 0, 1, 1))
    columns = dict(zip("QKV", (1.75, 4.75, 7.75), strict=True))
    names = {"Q": ("query", "q"), "K": ("key", "k"), "V": ("value", "v")}
    cards = min(n_heads or MOST_CARDS, MOST_CARDS)
    deck = (cards - 1) * CARD
    linear = GAP
    attend = linear + HEIGHT + deck + GAP
    for role, x in columns.items():
        given, projected = names[role]
        _input(ax, x, role, written.get(given))
        arrow(ax, [(x, 0), (x, linear)], ROLES[role], 2.6)
        detail = f"$W^{role}$, cut into heads"
        _box(ax, x, linear, 2.5, "Linear", "white", detail, cards=cards)
        foot = linear + HEIGHT + deck
        arrow(ax, [(x, foot), (x, attend)], ROLES[role], 2.6)
        _shape(ax, x + 0.14, (foot + attend) / 2, written.get(projected))
    middle = columns["K"]
    weights = written.get("weights")
    detail = f"weights {_line(weights)}" if weights else "in each head by itself"
    name = "Scaled dot-product attention"
    _box(ax, middle, attend, 8.5, name, FILL["attention"], detail, cards=cards)
    heads = f"{n_heads} heads" if n_heads else "h heads"
    ax.text(9.0, attend + HEIGHT + deck + 0.26, heads, **lettering(15, "right", GREY, "bold"))
    height = attend + HEIGHT + deck
    for name, kind, detail, source in (
        ("Concat", "norm", "the heads' vectors side by side", "heads"),
        ("Linear", "output", "$W^O$ mixes the heads", "joined"),
    ):
        height = _up(ax, middle, height, written.get(source))
        _box(ax, middle, height, 4.2, name, FILL[kind], detail)
        height += HEIGHT
    _output(ax, middle, height, written.get("output"))
    ax.set_xlim(0.25, 9.65)
    return ax


def _known(shapes: Shapes | None, names: Shapes) -> Shapes:
    if shapes is None:
        return names
    if strange := [name for name in shapes if name not in names]:
        raise ValueError(
            f"the figure has no {', '.join(map(repr, strange))}; it has {', '.join(names)}"
        )
    return shapes


def _input(ax: Axes, x: Number, role: str, shape: Shape | None) -> None:
    """A letter at the foot of an arrow, its shape below it."""
    ax.text(x, -0.28, f"${role}$", **lettering(20, color=ROLES[role], weight="bold"))
    _shape(ax, x, -0.85, shape, "center")


def _up(ax: Axes, x: Number, y: Number, shape: Shape | None) -> float:
    """An arrow to the next step with the shape of what flows; returns where it ends."""
    arrow(ax, [(x, y), (x, y + GAP)])
    _shape(ax, x + 0.14, y + GAP / 2, shape)
    return y + GAP


def _output(ax: Axes, x: Number, y: Number, shape: Shape | None) -> None:
    """The last arrow, what it leads to, and the end of the picture."""
    top = _up(ax, x, y, shape)
    ax.text(x, top + 0.24, "output: one vector for each query", **lettering(15))
    ax.set(ylim=(-1.35, top + 0.6), aspect="equal")
    ax.axis("off")


def _line(shape: Shape | None) -> str:
    return "" if shape is None else f"({', '.join(map(str, shape))})"


def _shape(ax: Axes, x: Number, y: Number, shape: Shape | None, align: str = "left") -> None:
    """A shape beside an arrow, in two lines where it is long."""
    text = _line(shape)
    if len(text) > LONGEST and shape is not None:
        half = (len(shape) + 1) // 2
        first, second = (", ".join(map(str, part)) for part in (shape[:half], shape[half:]))
        text = f"({first},\n {second})"
    style = lettering(13, align) | {"family": "monospace", "linespacing": 1.0}
    ax.text(x, y, text, **style)


def _box(
    ax: Axes,
    x: Number,
    y: Number,
    width: Number,
    name: str,
    fill: str,
    detail: str,
    *,
    cards: int = 1,
    linestyle: str = "-",
) -> None:
    """A step by the middle of its lower edge; of a deck of cards, the front one."""
    for i in reversed(range(cards)):
        corner = (x - width / 2 + i * CARD, y + i * CARD)
        rounded_box(ax, corner, (width, HEIGHT), 0.14, fill, INK, linestyle=linestyle)
    middle = y + HEIGHT / 2
    ax.text(x, middle + 0.17, name, **lettering(16))
    ax.text(x, middle - 0.21, detail, **lettering(13))
