"""One sentence on its way through the model: words, tokens, ids, vectors, and the next word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from transformer_book.figures.boxes import (
    BLUE,
    FILL,
    GREEN,
    GREY,
    INK,
    PALE,
    Point,
    arrow,
    lettering,
    rounded_box,
)
from transformer_book.figures.style import DIVERGING, Number, literal

SLOT = 1.4  # the width of a token
GAP = 2.5  # between the two sides; names of the rows stand in it
TEXT, TOKENS, IDS, VECTORS, BOX, ABOVE, TOP = 0.0, 0.75, 1.7, 2.15, 4.25, 5.9, 7.5
STRIP = 1.6  # the height of a vector
ROWS = {"text": TEXT, "tokens": TOKENS + 0.27, "ids": IDS, "vectors": VECTORS + STRIP / 2}


@dataclass(frozen=True)
class Side:
    """What enters the model on one side.

    Attributes:
        text: as one writes it.
        tokens, ids: what the tokenizer makes of it.
        vectors: (tokens, numbers), the first few numbers of each token's vector.
    """

    text: str
    tokens: Sequence[str]
    ids: Sequence[int]
    vectors: ArrayLike


def journey(
    source: Side,
    written: Side,
    memory: ArrayLike,
    candidates: Mapping[str, float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """The way from a sentence to the next word of its translation, from the bottom up.

    Args:
        source: the sentence.
        written: what the decoder has read so far.
        memory: (source tokens, numbers), the first few numbers of what the encoder yields.
        candidates: tokens -> how probable each is as the next one.
        ax: where to draw; a figure of its own when None.

    Raises:
        ValueError: a side has not as many tokens as ids or vectors.
    """
    arrays = [np.asarray(values, dtype=float) for values in (source.vectors, written.vectors)]
    arrays.append(np.asarray(memory, dtype=float))
    for side, vectors in ((source, arrays[0]), (written, arrays[1]), (source, arrays[2])):
        if not len(side.tokens) == len(side.ids) == len(vectors):
            raise ValueError(
                f"{len(side.tokens)} tokens, {len(side.ids)} ids and {len(vectors)} vectors do "
                "not belong together; give one of each for each token"
            )
    limit = float(max(np.abs(array).max() for array in arrays))
    left, right = SLOT * len(source.tokens), SLOT * max(4, len(written.tokens))
    start = left + GAP
    width, height = start + right + 0.2, TOP + 0.75
    if ax is None:
        _, ax = plt.subplots(figsize=(0.58 * (width + 0.2), 0.58 * (height + 0.5)))
    ax.set(xlim=(-0.2, width), ylim=(-0.5, height), aspect="equal")
    ax.axis("off")

    _entrance(ax, source, 0.0, arrays[0], limit)
    _entrance(ax, written, start, arrays[1], limit)
    _box(ax, "Encoder", 0.0, left, FILL["attention"])
    _box(ax, "Decoder", start, right, FILL["feed-forward"])
    for centre, vector in zip(_centres(0.0, len(source.tokens)), arrays[2], strict=True):
        arrow(ax, [(centre, BOX + 1.0), (centre, ABOVE - 0.06)], GREY, 1.2)
        _strip(ax, (centre, ABOVE), vector, limit)
    lane, middle = left + GAP / 2, ABOVE + STRIP / 2
    corners = [(left, middle), (lane, middle), (lane, BOX + 0.5), (start, BOX + 0.5)]
    arrow(ax, corners, INK, 2.6)
    for name, y in ROWS.items():
        ax.text(lane, y, name, **lettering(13, color=GREY))
    ax.text(left / 2, TOP + 0.3, "vectors that know the whole sentence", **lettering(13))
    _candidates(ax, candidates, start, right)
    return ax


def _centres(x: Number, count: int) -> list[float]:
    return [x + SLOT * (i + 0.5) for i in range(count)]


def _entrance(ax: Axes, side: Side, x: float, vectors: np.ndarray, limit: float) -> None:
    """The words of a side, and what becomes of them below the box."""
    (text, *tokens) = literal([side.text, *side.tokens])
    middle = x + SLOT * len(side.tokens) / 2
    ax.text(middle, TEXT, text, **lettering(15, weight="bold"))
    for centre, token, number, vector in zip(
        _centres(x, len(tokens)), tokens, side.ids, vectors, strict=True
    ):
        corner, shape = (centre - SLOT / 2 + 0.04, TOKENS), (SLOT - 0.08, 0.54)
        rounded_box(ax, corner, shape, 0.1, PALE, GREY, lw=1.2)
        ax.text(
            centre,
            TOKENS + 0.26,
            token,
            **lettering(12 if len(token) < 7 else 11 if len(token) < 9 else 10),
        )
        ax.text(centre, IDS, str(number), **(lettering(12) | {"family": "monospace"}))
        _strip(ax, (centre, VECTORS), vector, limit)
        arrow(ax, [(centre, VECTORS + STRIP + 0.04), (centre, BOX - 0.06)], GREY, 1.2)


def _strip(ax: Axes, foot: Point, vector: np.ndarray, limit: float) -> None:
    """A vector as a column of colours."""
    x, y = foot
    edges = np.linspace(y, y + STRIP, len(vector) + 1)
    colours: dict[str, Any] = {"cmap": DIVERGING, "vmin": -limit, "vmax": limit}
    ax.pcolormesh([x - 0.3, x + 0.3], edges, vector[:, None], edgecolors="white", lw=0.5, **colours)


def _box(ax: Axes, name: str, x: float, size: float, fill: str) -> None:
    rounded_box(ax, (x, BOX), (size, 1.0), 0.2, fill)
    ax.text(x + size / 2, BOX + 0.48, name, **lettering(17, weight="bold"))


def _candidates(ax: Axes, candidates: Mapping[str, float], x: float, size: float) -> None:
    """The most probable next tokens as bars, the first of them in colour."""
    arrow(ax, [(x + size / 2, BOX + 1.0), (x + size / 2, ABOVE - 0.12)], INK, 2.0)
    step = STRIP / max(len(candidates), 1)
    ranked = sorted(candidates.items(), key=lambda item: -item[1])
    zero, longest = x + 1.7, (size - 2.7) / max([share for _, share in ranked], default=1)
    for i, (token, share) in enumerate(ranked):
        y = ABOVE + STRIP - step * (i + 0.5)
        bar = plt.Rectangle((zero, y - 0.38 * step), longest * share, 0.76 * step)
        bar.set(facecolor=GREEN if i == 0 else BLUE, edgecolor="none")
        ax.add_patch(bar)
        ax.text(zero - 0.1, y, literal([token])[0], **lettering(12, "right"))
        ax.text(zero + longest * share + 0.1, y, f"{share:.0%}", **lettering(12, "left"))
    ax.text(x + size / 2, TOP + 0.3, "the next word, by its probability", **lettering(13))
