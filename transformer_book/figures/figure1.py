"""Figure 1 redrawn (section 3), and the small map of it at the top of a chapter."""

import re
from collections.abc import Mapping
from html import escape
from io import StringIO
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from transformer_book.figures.boxes import (
    BLUE,
    FILL,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    arrow,
    lettering,
    rounded_box,
)
from transformer_book.figures.style import Number

Shapes = Mapping[str, tuple[int, ...]]

ROLES = {"K": ORANGE, "V": GREEN, "Q": BLUE}
WIDTH = 2.75  # of a box
HEIGHT = {"norm": 0.5, "output": 0.56}  # of a box; the others hold two lines
GAP = 0.46  # an arrow between two boxes

LIT = "#e69f00"  # orange, which stands out from white and from black
UNLIT = 0.45  # how much ink the rest of a map has
SVG = "{http://www.w3.org/2000/svg}"


def architecture(
    shapes: Shapes | None = None, *, n_layers: int = 6, ax: Axes | None = None
) -> Axes:
    """Figure 1 of the paper, drawn anew (post-norm): who gives queries, keys and values to whom.

    Args:
        shapes: the shape of each module's output by the module's name in the model ("encoder",
            "encoder.layers.0.self_attention", ...), of the attention weights by the names of
            `record_attention` ("decoder.0.cross"), of the tokens as "src" and "tgt". What is
            given is written at its arrow or into its box.
        n_layers: N, written beside both stacks.
        ax: where to draw; a figure of its own when None.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 10.6))
    ax.set(xlim=(0.15, 9.75), ylim=(-0.2, 12.75), aspect="equal")
    ax.axis("off")
    encoder = _Column(ax, 2.5, outside=-1, shapes=shapes or {}, stack="encoder")
    decoder = _Column(ax, 7.2, outside=1, shapes=shapes or {}, stack="decoder")

    for column, side, caption in (
        (encoder, "src", "source tokens"),
        (decoder, "tgt", "target tokens, shifted right"),
    ):
        column.text(caption)
        column.up(GAP, side)
        column.box("Embedding", "embedding", "times $\\sqrt{d_{\\mathrm{model}}}$")
        column.up(GAP, f"{side}_embedding")
        column.add_positions()
        column.open_frame()
        name = "Self-attention" if side == "src" else "Masked self-attention"
        column.self_attention(name, f"{side}_positions")

    encoder.feed_forward("layers.0.self_attention_residual")
    encoder.close_frame(f"{n_layers} ×")
    decoder.cross_attention(encoder)
    decoder.feed_forward("layers.0.cross_attention_residual")
    decoder.close_frame(f"× {n_layers}")

    decoder.up(GAP + 0.15, "decoder")
    decoder.box("Linear", "output")
    decoder.up(GAP, "output")
    decoder.box("Softmax", "output")
    decoder.up(GAP)
    decoder.y += 0.2
    decoder.text("probabilities of the next token")
    return ax


def figure1_map(*lit: str, here: str) -> HTML:
    """Figure 1 in small and without words, for the top of a chapter: "you are here".

    It is the drawing of `architecture`, as SVG with a caption. Its lines have the colour of the
    text around it, so that it can be seen on a dark page too.

    Args:
        lit: the boxes that are lit, by their words in Figure 1 in small letters, "positions" for
            the circles, "encoder" and "decoder" for the frames.
        here: what the chapter is about; the caption, and the words for who does not see it.

    Raises:
        ValueError: Figure 1 has no such box.
    """
    figure = Figure(figsize=(3.2, 3.3), frameon=False)
    figure.set_layout_engine("none")
    ax = architecture(ax=figure.add_axes((0.0, 0.0, 1.0, 1.0)))
    ax.set(xlim=(0.45, 9.25), ylim=(0.1, 12.4), aspect="auto")
    if unknown := {*lit} - {patch.get_gid() for patch in ax.patches}:
        raise ValueError(f"Figure 1 has no box called {', '.join(sorted(unknown))}")
    for text in [*ax.texts]:
        text.remove()
    for line in ax.lines:
        line.set(color=INK, alpha=UNLIT)
    for patch in ax.patches:
        name = patch.get_gid()  # None for an arrow
        fill = INK if name is None else LIT if name in lit else "none"
        alpha = 1.0 if name in lit and name not in ("encoder", "decoder") else UNLIT
        patch.set(facecolor=fill, edgecolor=INK, alpha=alpha, linewidth=1.3)
    alt = escape(f"Figure 1 of the paper in small; lit: {here}", quote=True)
    return HTML(
        '<figure class="figure1-map" style="max-width:11rem">'
        f"{_inline_svg(figure, alt)}<figcaption>{escape(here)}</figcaption></figure>"
    )


def _inline_svg(figure: Figure, alt: str) -> str:
    """A figure as an element of a page: no names that another one could have, no style for all."""
    written = StringIO()
    with mpl.rc_context({"svg.hashsalt": "figure 1"}):
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(written.getvalue())
    for parent in [*root.iter()]:
        parent.attrib.pop("id", None)
        parent.attrib.pop("clip-path", None)
        for child in [*parent]:
            if child.tag.removeprefix(SVG) in ("defs", "metadata") or "RDF" in child.tag:
                parent.remove(child)
    inner = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    inner = re.sub(r"(</?)ns\d+:", r"\1", re.sub(r' xmlns:ns\d+="[^"]*"', "", inner))
    inner = re.sub(r"\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}", inner)
    inner = re.sub(r"\s+", " ", inner).replace(INK, "currentColor")
    return f'<svg viewBox="{root.attrib["viewBox"]}" role="img" aria-label="{alt}">{inner}</svg>'


class _Column:
    """One of the two towers, drawn from the bottom up; `y` is how high it is so far."""

    def __init__(self, ax: Axes, x: Number, outside: int, shapes: Shapes, stack: str) -> None:
        self.ax, self.x, self.y = ax, x, 0.0
        self.outside = outside  # -1: shortcuts run on the left, 1: on the right
        self.shapes, self.stack = shapes, stack
        self.bottom = 0.0

    def shape(self, name: str) -> str:
        for key in (name, f"{self.stack}.{name}"):
            if name and key in self.shapes:
                return f"({', '.join(map(str, self.shapes[key]))})"
        return ""

    def detail(self, word: str, name: str) -> str:
        shape = self.shape(name)
        return f"{word} {shape}" if shape else ""

    def text(self, words: str) -> None:
        self.ax.text(self.x, self.y, words, **lettering(13))
        self.y += 0.2

    def note(self, height: Number, name: str, side: int = 1) -> None:
        """A shape beside the trunk, at the given height."""
        align = "left" if side > 0 else "right"
        style = lettering(11, align) | {"family": "monospace"}
        self.ax.text(self.x + side * 0.1, height, self.shape(name), **style)

    def up(self, length: Number, name: str = "", side: int = 1) -> None:
        arrow(self.ax, [(self.x, self.y), (self.x, self.y + length)])
        self.note(self.y + length / 2, name, side)
        self.y += length

    def box(self, name: str, kind: str, detail: str = "") -> None:
        height = HEIGHT.get(kind, 0.78)
        corner, size = (self.x - WIDTH / 2, self.y), (WIDTH, height)
        rounded_box(self.ax, corner, size, 0.14, FILL[kind], gid=name.lower())
        middle = self.y + height / 2
        self.ax.text(self.x, middle + (0.15 if detail else 0), name, **lettering(13))
        self.ax.text(self.x, middle - 0.2, detail, **lettering(11))
        self.y += height

    def add_positions(self) -> None:
        middle = self.y + 0.17
        style = {"facecolor": "white", "edgecolor": INK, "lw": 1.6, "gid": "positions"}
        self.ax.add_patch(Circle((self.x, middle), 0.17, **style))
        self.ax.text(self.x, middle - 0.01, "+", **lettering(15))
        far, near = (self.x + self.outside * d for d in (0.75, 0.17))
        arrow(self.ax, [(far, middle), (near, middle)])
        align = "left" if self.outside > 0 else "right"
        self.ax.text(far + self.outside * 0.08, middle, "positions", **lettering(12, align))
        self.y += 0.34

    def add_and_norm(self, shortcut: Number, name: str) -> None:
        """The box above a sub-layer, and the shortcut that left the trunk below the sub-layer."""
        self.up(GAP - 0.06, name)
        outer, edge = (self.x + self.outside * d for d in (1.6, WIDTH / 2))
        middle = self.y + HEIGHT["norm"] / 2
        corners = [(self.x, shortcut), (outer, shortcut), (outer, middle), (edge, middle)]
        arrow(self.ax, corners, GREY)
        self.box("Add & Norm", "norm")

    def self_attention(self, name: str, source: str) -> None:
        shortcut, fork, foot = self.y + 0.2, self.y + 0.42, self.y + 0.84
        self.ax.plot([self.x, self.x], [self.y, fork], color=INK, lw=1.6)
        self.ax.plot([self.x - 0.8, self.x + 0.8], [fork, fork], color=INK, lw=1.6)
        self.note(self.y + 0.24, source, -self.outside)
        for role, shift in zip(ROLES, (-0.8, 0.0, 0.8), strict=True):
            self.role(role, shift, fork, foot)
        self.y = foot
        self.box(name, "attention", self.detail("weights", f"{self.stack}.0.self"))
        self.add_and_norm(shortcut, "layers.0.self_attention")

    def cross_attention(self, encoder: "_Column") -> None:
        """Keys and values come from the memory, which leaves the encoder at its top."""
        shortcut, query, fork, foot = (self.y + d for d in (0.2, 0.42, 0.7, 1.12))
        x, ax = self.x, self.ax
        ax.plot([x, x, x + 0.8], [self.y, query, query], color=INK, lw=1.6)
        self.note(self.y + 0.22, "layers.0.self_attention_residual", -1)
        self.role("Q", 0.8, query, foot)
        lane, bend = (encoder.x + x) / 2, encoder.y + 0.5
        corners = [(encoder.x, encoder.y), (encoder.x, bend), (lane, bend), (lane, fork), (x, fork)]
        ax.plot(*zip(*corners, strict=True), color=INK, lw=2.6)
        ax.text(encoder.x, bend + 0.2, "memory", **lettering(14, weight="bold"))
        style = lettering(11) | {"family": "monospace"}
        ax.text(encoder.x, bend + 0.52, self.shape("encoder"), **style)
        self.role("K", -0.8, fork, foot)
        self.role("V", 0.0, fork, foot)
        self.y = foot
        self.box("Cross-attention", "attention", self.detail("weights", "decoder.0.cross"))
        self.add_and_norm(shortcut, "layers.0.cross_attention")

    def feed_forward(self, source: str) -> None:
        shortcut = self.y + 0.2
        self.up(GAP + 0.14, source, -self.outside)
        inner = self.detail("inner", "layers.0.feed_forward.inner")
        self.box("Feed-forward", "feed-forward", inner)
        self.add_and_norm(shortcut, "layers.0.feed_forward")

    def role(self, role: str, shift: Number, low: Number, high: Number) -> None:
        x = self.x + shift
        arrow(self.ax, [(x, low), (x, high)], ROLES[role], 2.6)
        style = lettering(13, "left", ROLES[role], "bold")
        self.ax.text(x + 0.1, (low + high) / 2 - 0.02, role, **style)

    def open_frame(self) -> None:
        self.bottom = self.y + 0.04

    def close_frame(self, times: str) -> None:
        top = self.y + 0.14
        size = (3.8, top - self.bottom)
        settings = {"zorder": -1, "gid": self.stack}
        rounded_box(self.ax, (self.x - 1.9, self.bottom), size, 0.22, PALE, GREY, **settings)
        align = "left" if self.outside > 0 else "right"
        beside = (self.x + self.outside * 2.0, (self.bottom + top) / 2)
        self.ax.text(*beside, times, **lettering(15, align, weight="bold"))
