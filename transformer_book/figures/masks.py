"""Pictures of masks: the padded batch, who may attend to whom, and what leaks."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike

from transformer_book.figures.heatmaps import cells, check_weights, colour_bar
from transformer_book.figures.style import EMPTY, PALETTE, literal

MAY_ATTEND, LATER, PADDING = "may attend", "hidden: a later token", "hidden: padding"
# Dark, light and white differ in lightness too, so the three survive a grey print.
COLOURS = {MAY_ATTEND: PALETTE[0], LATER: EMPTY, PADDING: "#FFFFFF"}
HATCH = "////"
GREY = "#6A6A6A"


def batch_grid(
    sentences: Sequence[Sequence[str]], *, pad: str = "<pad>", ax: Axes | None = None
) -> Axes:
    """Draw a batch as the rectangle that it is: a row for each sentence, padding hatched.

    Args:
        sentences: token lists, all of one length.
        pad: the token that fills up.
        ax: where to draw; a new figure when None.

    Raises:
        ValueError: the sentences differ in length.
    """
    lengths = {len(sentence) for sentence in sentences}
    if len(lengths) != 1:
        raise ValueError(
            f"the sentences have {sorted(lengths)} tokens; pad them to one length first"
        )
    width = lengths.pop()
    if ax is None:
        _, ax = plt.subplots(figsize=(1.2 * width + 0.8, 0.6 * len(sentences) + 0.7))
    kinds = [[2 if token == pad else 0 for token in sentence] for sentence in sentences]
    _cells(ax, kinds, rows=None, columns=None, square=False)
    for row, sentence in enumerate(sentences):
        for column, token in enumerate(sentence):
            padding = token == pad
            # Hatching behind letters is hard to read, so padding's label has a plate.
            plate = {"facecolor": "white", "edgecolor": "none", "pad": 1.5} if padding else None
            ax.text(
                column + 0.5,
                row + 0.5,
                literal([token])[0],
                ha="center",
                va="center",
                fontsize=14,
                color=GREY if padding else "white",
                bbox=plate,
            )
    ax.set(xlabel="position", ylabel="sentence")
    return ax


def mask_heatmap(
    mask: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    pad: str = "<pad>",
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Draw which query (row) may attend to which key (column), and why not where it may not.

    Args:
        mask: (query, key), True = may attend.
        query_tokens: the labels of the rows.
        key_tokens: the labels of the columns.
        pad: hidden columns with this label count as padding, all other hidden cells as later
            tokens.
        ax: where to draw; a new figure when None.
        title: above the picture.

    Raises:
        ValueError: the shape does not fit the tokens.
    """
    allowed = check_weights(mask, query_tokens, key_tokens).astype(bool)
    is_padding = np.array([token == pad for token in key_tokens])
    kinds = np.where(allowed, 0, np.where(is_padding[None, :], 2, 1))
    if ax is None:
        _, ax = plt.subplots(figsize=(2.0 + 0.5 * len(key_tokens), 1.6 + 0.5 * len(query_tokens)))
    _cells(ax, kinds, rows=query_tokens, columns=key_tokens)
    ax.set_title(title)
    return ax


def attention_masks(
    masks: Mapping[str, tuple[ArrayLike, Sequence[str], Sequence[str]]], *, pad: str = "<pad>"
) -> Figure:
    """Several masks with one legend, two in a row.

    Args:
        masks: title -> (mask, query tokens, key tokens), as for `mask_heatmap`.
        pad: the label of padding.
    """
    rows = (len(masks) + 2) // 2  # the legend takes one place
    figure, axes = plt.subplots(
        rows, 2, figsize=(7.6, 4.2 * rows), squeeze=False, layout="constrained"
    )
    figure.set_layout_engine("constrained", h_pad=0.15, w_pad=0.1)  # slides show them one by one
    panels = list(axes.flat)
    for ax, (title, (mask, query_tokens, key_tokens)) in zip(panels, masks.items(), strict=False):
        mask_heatmap(mask, query_tokens, key_tokens, pad=pad, ax=ax, title=title)
        ax.set_ylabel("query")
        ax.set_xlabel("key")
    for ax in panels[len(masks) :]:
        ax.axis("off")
    handles = [
        Patch(facecolor=colour, edgecolor="#999999", hatch=HATCH if kind == PADDING else None)
        for kind, colour in COLOURS.items()
    ]
    panels[len(masks)].legend(handles, list(COLOURS), loc="center", fontsize=14)
    return figure


def masked_softmax_steps(
    scores: ArrayLike, mask: ArrayLike, weights: ArrayLike, tokens: Sequence[str]
) -> Figure:
    """The scores, the scores after masking, and the weights, side by side.

    Args:
        scores: (query, key).
        mask: (query, key), True = may attend.
        weights: (query, key), what the softmax has made of the masked scores.
        tokens: the labels of rows and columns.
    """
    raw = check_weights(scores, tokens, tokens)
    allowed = check_weights(mask, tokens, tokens).astype(bool)
    shares = check_weights(weights, tokens, tokens)
    masked = np.where(allowed, raw, -np.inf)
    panels = (("scores", raw, ".1f"), ("masked", masked, ".1f"), ("softmax", shares, ".3f"))
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.7), layout="constrained")
    for ax, (title, array, spec) in zip(axes, panels, strict=True):
        limits = (0.0, array.max())
        cells(ax, array, limits=limits, rows=tokens, columns=tokens, numbers=spec, size=15)
        ax.set_title(title)
    axes[0].set_ylabel("query")
    axes[1].set_xlabel("key")
    return figure


def influence_heatmap(
    influence: ArrayLike,
    output_tokens: Sequence[str],
    input_tokens: Sequence[str],
    *,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """How strongly each output (row) depends on each input (column); exact zeros stay blank.

    Args:
        influence: (output, input), 0 or more, such as the norms of gradients. Each is drawn as a
            share of the largest.
        output_tokens: the labels of the rows.
        input_tokens: the labels of the columns.
        ax: where to draw; a new figure when None.
        title: above the picture.

    Raises:
        ValueError: the shape does not fit the tokens, or an influence is negative.
    """
    array = check_weights(influence, output_tokens, input_tokens)
    if array.min() < 0:
        raise ValueError(f"influence must be 0 or more, not {array.min()}; give norms")
    largest = array.max() or 1.0
    if ax is None:
        figsize = (3.2 + 0.55 * len(input_tokens), 1.6 + 0.5 * len(output_tokens))
        _, ax = plt.subplots(figsize=figsize)
    cells(
        ax,
        np.where(array > 0, array / largest, np.nan),
        rows=output_tokens,
        columns=input_tokens,
        numbers=np.where(array > 0, "", "0"),
    )
    colour_bar(ax, "share of the largest", shrink=0.8, ticks=[0, 0.5, 1])
    ax.set(xlabel="input", ylabel="output", title=title)
    return ax


def loss_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    floor: float,
    floor_label: str,
    ax: Axes | None = None,
) -> Axes:
    """Training losses, and a line below which nobody who plays fair can come.

    Args:
        curves: name -> (steps, losses in nats per token); each is labelled at its end.
        floor: the lowest loss that is honestly possible, in the same unit.
        floor_label: the name of that line.
        ax: where to draw; a new figure when None.
    """
    if ax is None:
        _, ax = plt.subplots()
    ax.axhline(floor, color="#222222", linestyle=":", linewidth=2)
    ax.annotate(floor_label, (0, floor), (4, -6), textcoords="offset points", va="top", fontsize=13)
    for colour, (name, (steps, losses)) in zip(PALETTE, curves.items(), strict=False):
        x, y = np.asarray(steps), np.asarray(losses)
        ax.plot(x, y, color=colour, marker="o", markersize=4)
        above = (0, 9) if y[-1] < floor / 2 else (0, 12)
        ax.annotate(
            name, (x[-1], y[-1]), above, textcoords="offset points", ha="right", color=colour,
            fontsize=14, fontweight="bold",
        )  # fmt: skip
    ax.set(xlabel="step", ylabel="loss, nats per token", ylim=(0, None), xlim=(0, None))
    return ax


def _cells(ax: Axes, kinds: ArrayLike, **settings: Any) -> None:
    """Cells by their kind's index in COLOURS, padding hatched."""
    cells(ax, kinds, colours=list(COLOURS.values()), gap=1.0, **settings)
    style: dict[str, Any] = {"edgecolor": "#BBBBBB", "hatch": HATCH}
    for row, column in np.argwhere(np.asarray(kinds) == list(COLOURS).index(PADDING)):
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=COLOURS[PADDING], **style))
