"""Pictures of masks: the padded batch, who may attend to whom, and what leaks."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from transformer.figures.heatmaps import attention_heatmap, check_weights
from transformer.figures.style import PALETTE, literal

MAY_ATTEND, LATER, PADDING = "may attend", "hidden: a later token", "hidden: padding"
# Dark, light and white differ in lightness too, so the three survive a grey print.
COLOURS = {MAY_ATTEND: PALETTE[0], LATER: "#E3E3E3", PADDING: "#FFFFFF"}
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
    for row, sentence in enumerate(sentences):
        for column, token in enumerate(sentence):
            padding = token == pad
            ax.add_patch(
                plt.Rectangle(
                    (column, row),
                    1,
                    1,
                    facecolor=COLOURS[PADDING] if padding else COLOURS[MAY_ATTEND],
                    edgecolor="#BBBBBB" if padding else "white",
                    hatch=HATCH if padding else None,
                )
            )
            # Hatching behind letters is hard to read, so padding's label has a plate.
            plate = {"facecolor": "white", "edgecolor": "none", "pad": 1.5} if padding else None
            ax.text(
                column + 0.5,
                row + 0.5,
                token,
                ha="center",
                va="center",
                fontsize=14,
                color=GREY if padding else "white",
                bbox=plate,
            )
    ax.set(xlim=(0, width), ylim=(len(sentences), 0), xlabel="position", ylabel="sentence")
    ax.set_xticks(np.arange(width) + 0.5, [str(i) for i in range(width)])
    ax.set_yticks(np.arange(len(sentences)) + 0.5, [str(i) for i in range(len(sentences))])
    return _bare(ax)


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
    ax.pcolormesh(kinds, cmap=ListedColormap(list(COLOURS.values())), vmin=0, vmax=2)
    for row, column in np.ndindex(kinds.shape):
        hatch = HATCH if kinds[row, column] == 2 else None
        edge = "#BBBBBB" if kinds[row, column] == 2 else "white"
        ax.add_patch(plt.Rectangle((column, row), 1, 1, fill=False, edgecolor=edge, hatch=hatch))
    ax.set_aspect("equal")
    ax.set_ylim(len(query_tokens), 0)
    ax.set_xticks(np.arange(len(key_tokens)) + 0.5, literal(key_tokens))
    ax.set_yticks(np.arange(len(query_tokens)) + 0.5, literal(query_tokens))
    for label in ax.get_xticklabels():
        label.set(rotation=60, ha="right", rotation_mode="anchor")
    ax.set_title(title)
    return _bare(ax)


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
        rows, 2, figsize=(7.6, 4.0 * rows), squeeze=False, layout="constrained"
    )
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
        hidden = np.isneginf(array)
        brightness = np.where(hidden, 1.0, array / array.max())
        attention_heatmap(
            np.where(hidden, 0.0, brightness),
            tokens,
            tokens,
            ax=ax,
            title=title,
            annotate=False,
            mask=hidden,
        )
        _upright(ax, tokens)
        for row, column in np.ndindex(array.shape):
            ax.text(
                column + 0.5,
                row + 0.5,
                "-∞" if hidden[row, column] else format(array[row, column], spec),
                ha="center",
                va="center",
                fontsize=15,
                color="white" if brightness[row, column] < 0.6 else "#222222",
            )
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
    ax = attention_heatmap(
        array / largest,
        output_tokens,
        input_tokens,
        ax=ax,
        title=title,
        annotate=False,
        mask=array == 0,
        cbar=True,
        cbar_kws={"label": "share of the largest", "shrink": 0.8, "ticks": [0, 0.5, 1]},
    )
    _upright(ax, input_tokens)
    for row, column in np.argwhere(array == 0):
        ax.text(column + 0.5, row + 0.5, "0", ha="center", va="center", fontsize=12, color=GREY)
    ax.set(xlabel="input", ylabel="output")
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


def _upright(ax: Axes, tokens: Sequence[str]) -> None:
    """Labels of one or two letters need no slant."""
    if max(map(len, tokens)) <= 2:
        for label in ax.get_xticklabels():
            label.set(rotation=0, ha="center", rotation_mode="default")


def _bare(ax: Axes) -> Axes:
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax
