"""Figures for sections 3.1 and 3.3: feed-forward networks, shortcuts, norms."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import MaxNLocator, ScalarFormatter, StrMethodFormatter
from numpy.typing import ArrayLike

from transformer_book.figures.boxes import FILL, INK, ORANGE, arrow, lettering, rounded_box
from transformer_book.figures.style import PALETTE, Number

MARKERS = ("o", "s", "^", "D", "v")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (2, 1)))
LINE = 1.5  # height of the line that the shortcuts make, above the middle of the sub-layers
GAP, NORM = 0.45, 0.95  # between two boxes; width of a norm


def feed_forward_units(
    x: ArrayLike,
    w_1: ArrayLike,
    b_1: ArrayLike,
    w_2: ArrayLike,
    b_2: ArrayLike,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Equation 2 for the vector of one position: every unit with its number, closed ones grey.

    A line is as thick as its weight is large, red for positive and blue for negative weights.

    Args:
        x: (d_model,).
        w_1: (d_model, d_ff).
        b_1: (d_ff,).
        w_2: (d_ff, d_model).
        b_2: (d_model,).
        ax: where to draw; a new figure when None.

    Raises:
        ValueError: the shapes do not fit.
    """
    vector, first, second = (np.asarray(values, dtype=float) for values in (x, w_1, w_2))
    d_model, d_ff = (*first.shape, 0, 0)[:2]
    shapes = {"x": (d_model,), "w_1": (d_model, d_ff), "b_1": (d_ff,), "w_2": (d_ff, d_model)}
    shapes["b_2"] = (d_model,)
    for (name, shape), values in zip(shapes.items(), (x, w_1, b_1, w_2, b_2), strict=True):
        if np.shape(values) != shape:
            found = np.shape(values)
            raise ValueError(f"{name} has shape {found}, but w_1 of {first.shape} needs {shape}")
    before = vector @ first + np.asarray(b_1, dtype=float)
    inner = np.maximum(before, 0)
    output = inner @ second + np.asarray(b_2, dtype=float)
    if ax is None:
        _, ax = plt.subplots(figsize=(9.0, 0.9 + 0.72 * max(d_ff, d_model)), layout="constrained")
    columns = {"x": vector, "inner": inner, "output": output}
    points = {
        name: [(4.2 * i, (len(values) - 1) / 2 - row) for row in range(len(values))]
        for i, (name, values) in enumerate(columns.items())
    }
    for source, target, weights in (("x", "inner", first), ("inner", "output", second)):
        largest = np.abs(weights).max() or 1.0
        for (i, j), weight in np.ndenumerate(weights):
            closed = inner[j if target == "inner" else i] == 0
            (x0, y0), (x1, y1) = points[source][i], points[target][j]
            colour = "#d9d9d9" if closed else "#b2182b" if weight > 0 else "#2166ac"
            width = 0.5 + 3.5 * abs(weight) / largest
            ax.plot([x0, x1], [y0, y1], color=colour, linewidth=width, zorder=0 if closed else 1)
    for name, values in columns.items():
        for point, value in zip(points[name], values, strict=True):
            closed = name == "inner" and value == 0
            edge, fill = ("#8a8a8a", "#efefef") if closed else ("#222222", "white")
            ax.add_patch(
                Circle(point, 0.4, facecolor=fill, edgecolor=edge, linewidth=1.8, zorder=2)
            )
            text = f"{value:.1f}".replace("-0.0", "0.0").replace("-", "−")
            ink = "#5f5f5f" if closed else "#222222"
            ax.text(*point, text, ha="center", va="center", fontsize=14, color=ink, zorder=3)
    top = max(d_ff, d_model) / 2 + 0.15
    titles = {
        "x": f"$x$\n$d_{{\\mathrm{{model}}}}$ = {d_model}",
        "inner": f"$\\max(0,\\; x\\,W_1 + b_1)$\n$d_{{ff}}$ = {d_ff}",
        "output": f"FFN($x$)\n$d_{{\\mathrm{{model}}}}$ = {d_model}",
    }
    for name, title in titles.items():
        ax.text(points[name][0][0], top, title, ha="center", va="bottom", fontsize=16)
    ax.set(xlim=(-1.1, 9.5), ylim=(-top, top + 1.1), aspect="equal")
    ax.axis("off")
    return ax


def relu_fits(x: ArrayLike, target: ArrayLike, fits: Mapping[str, ArrayLike]) -> Figure:
    """A curve and what networks of several widths make of it, one panel each.

    Args:
        x: (n,) inputs.
        target: (n,) the curve's values there.
        fits: title -> the network's output at each x.
    """
    figure, axes = plt.subplots(
        1, len(fits), figsize=(2.9 * len(fits), 3.8), sharey=True, squeeze=False
    )
    for ax, (title, fit) in zip(axes[0], fits.items(), strict=True):
        ax.plot(x, target, color="0.6", linewidth=5, label="target")
        ax.plot(x, fit, color=PALETTE[1], label="network")
        ax.set_title(title)
        ax.set_xlabel("x")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def layer_stream(
    norm: str = "post",
    *,
    shares: Mapping[str, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """One encoder layer: the shortcuts make a straight line, and each sub-layer hangs below it.

    Args:
        norm: "post" puts the norms on the line, "pre" on the branches.
        shares: sub-layer -> its share of the layer's parameters, which is drawn as the area of
            its box; boxes of one size when None.
        title: above the picture.
        ax: where to draw; a new figure when None.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(9.0, 2.9))
    right = -0.5
    for name in ("self-attention", "feed-forward"):
        width = 2.9 if shares is None else 8.7 * shares[name]
        note = "" if shares is None else f"{shares[name]:.0%}"
        right = _sublayer(ax, right, name, note, width, norm)
    arrow(ax, [(right, LINE), (right + 0.8, LINE)], ORANGE, 4)
    ax.text(-0.7, LINE, "x", **lettering(16, "right"))
    ax.set(xlim=(-1.1, right + 0.9), ylim=(-0.7, LINE + 0.5), aspect="equal", title=title)
    ax.axis("off")
    return ax


def _sublayer(ax: Axes, left: Number, name: str, note: str, width: Number, norm: str) -> Number:
    """A sub-layer with its shortcut, from `left` on; gives back where they end."""
    start = left + 0.3
    box = start + GAP + (NORM + GAP if norm == "pre" else 0)
    plus = box + width + GAP
    ax.plot([left, plus], [LINE, LINE], color=ORANGE, lw=4, zorder=1)
    arrow(ax, [(start, LINE), (start, 0), (start + GAP, 0)])
    if norm == "pre":
        _norm_box(ax, start + GAP, 0)
        arrow(ax, [(box - GAP, 0), (box, 0)])
    rounded_box(ax, (box, -0.5), (width, 1), 0.14, FILL[name.removeprefix("self-")])
    ax.text(box + width / 2, 0.17 if note else 0, name, **lettering(14))
    ax.text(box + width / 2, -0.2, note, **lettering(14, weight="bold"))
    arrow(ax, [(box + width, 0), (plus, 0), (plus, LINE - 0.2)])
    ax.add_patch(Circle((plus, LINE), 0.2, facecolor="white", edgecolor=INK, lw=1.6, zorder=3))
    ax.text(plus, LINE - 0.02, "+", zorder=4, **lettering(16))
    if norm == "pre":
        return plus
    ax.plot([plus, plus + GAP], [LINE, LINE], color=ORANGE, lw=4, zorder=1)
    _norm_box(ax, plus + GAP, LINE)
    return plus + GAP + NORM


def _norm_box(ax: Axes, left: Number, middle: Number) -> None:
    rounded_box(ax, (left, middle - 0.3), (NORM, 0.6), 0.14, FILL["norm"], zorder=2)
    ax.text(left + NORM / 2, middle, "norm", zorder=3, **lettering(13))


def over_depth(
    depths: Sequence[int],
    curves: Mapping[str, ArrayLike],
    *,
    ylabel: str = "training loss",
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """One number for stacks of several depths.

    Args:
        depths: numbers of blocks or layers.
        curves: name -> one number for each depth.
        ylabel: what the numbers are.
        log: whether the vertical axis is logarithmic too; otherwise it begins at 0.
        ax: where to draw; a new figure when None.
    """
    if ax is None:
        _, ax = plt.subplots()
    for i, (name, values) in enumerate(curves.items()):
        style = {"linestyle": DASHES[i], "marker": MARKERS[i]}
        ax.plot(depths, values, markersize=9, label=name, **style)
    ax.set_xscale("log", base=2)
    ax.set_xticks(depths)
    ax.xaxis.set_major_formatter(ScalarFormatter())
    if log:
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel("blocks or layers, one above the other")
    ax.set_ylabel(ylabel)
    ax.legend()
    return ax


def by_layer(
    values: Mapping[str, ArrayLike],
    *,
    ax: Axes | None = None,
    ylabel: str = "gradient norm",
    title: str = "",
) -> Axes:
    """One number for each layer, input side on the left, on a logarithmic axis.

    Args:
        values: name -> one number above 0 for each layer.
        ax: where to draw; a new figure when None.
        ylabel: what the numbers are.
        title: above the axes.
    """
    if ax is None:
        _, ax = plt.subplots()
    for i, (name, row) in enumerate(values.items()):
        array = np.asarray(row, dtype=float)
        if (array <= 0).any() or not np.isfinite(array).all():
            raise ValueError(f"{name!r} holds numbers that a logarithmic axis cannot show")
        layers = np.arange(1, len(array) + 1)
        style = {"linestyle": DASHES[i], "marker": MARKERS[i]}
        ax.plot(layers, array, markersize=7, label=name, **style)
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("layer, from the input upwards")
    ax.set_ylabel(ylabel)
    ax.set_title(title)
    ax.legend()
    return ax


def norm_axes(lengths: Sequence[int], n_features: int = 6) -> Figure:
    """Which numbers share a mean and a variance: a vector (layer norm) or a column (batch norm).

    Args:
        lengths: words in each sentence of the batch; shorter ones are padded to the longest.
        n_features: columns to draw.
    """
    width = max(lengths)
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 1.4 + 0.36 * width * len(lengths)))
    n_rows = width * len(lengths)
    chosen = {"layer norm: one vector": (2, None), "batch norm: one feature": (None, 2)}
    for ax, (title, (row, column)) in zip(axes, chosen.items(), strict=True):
        for i in range(n_rows):
            sentence, position = divmod(i, width)
            padding = position >= lengths[sentence]
            for j in range(n_features):
                inside = i == row or j == column
                ax.add_patch(
                    Rectangle(
                        (j, i + 0.5 * sentence),
                        1,
                        1,
                        facecolor=PALETTE[5] if inside else "white",
                        edgecolor="0.25",
                        hatch="////" if padding else "",
                    )
                )
        middles = [s * (width + 0.5) + width / 2 for s in range(len(lengths))]
        ax.set_yticks(middles, [f"sentence {s + 1}" for s in range(len(lengths))])
        ax.set_xticks([])
        ax.set_xlim(-0.1, n_features + 0.1)
        ax.set_ylim(n_rows + 0.5 * len(lengths), -0.1)
        ax.tick_params(axis="y", length=0)
        for side in ax.spines.values():
            side.set_visible(False)
        ax.set_title(title)
        ax.set_xlabel("features; hatched: padding")
    return figure


def smoothed_losses(
    curves: Mapping[str, ArrayLike],
    *,
    references: Mapping[str, float] | None = None,
    window: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Losses over steps, smoothed by the mean of the last `window` steps.

    Args:
        curves: name -> the loss of each step.
        references: name -> a loss to draw as a thin horizontal line.
        window: how many steps are averaged.
        ax: where to draw; a new figure when None.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 5.0))
    for i, (name, losses) in enumerate(curves.items()):
        array = np.asarray(losses, dtype=float)
        smooth = [array[max(0, k - window + 1) : k + 1].mean() for k in range(len(array))]
        steps = range(1, len(array) + 1)
        ax.plot(steps, smooth, linestyle=DASHES[i % 4], color=PALETTE[i], label=name)
    for name, value in (references or {}).items():
        ax.axhline(value, color="0.45", linewidth=1.2, zorder=0)
        beside = ax.get_yaxis_transform()
        ax.text(1.01, value, name, transform=beside, va="center", fontsize=12, color="0.25")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("step")
    ax.set_ylabel("loss (nats per token)")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return ax
