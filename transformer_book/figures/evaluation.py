"""Figures of evaluation: scores with what chance may change, and signs of errors."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transformer_book.figures.style import PALETTE, families, literal

GAP = 0.16  # inches between two words


def score_intervals(
    scores: Mapping[str, float],
    half_widths: Mapping[str, float],
    *,
    label: str = "BLEU",
    ax: Axes | None = None,
) -> Axes:
    """A point for each system, the first on top, with a bar of twice the half width.

    Args:
        scores, half_widths: name of the system -> its score, and half of its interval.

    Raises:
        ValueError: the two do not name the same systems.
    """
    if scores.keys() != half_widths.keys():
        raise ValueError(f"scores of {sorted(scores)}, but intervals of {sorted(half_widths)}")
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 0.62 * len(scores) + 1.2))
    for y, (name, value) in enumerate(scores.items()):
        ax.errorbar(
            value, y, xerr=half_widths[name], fmt="o", ms=8, capsize=5, color=PALETTE[0], lw=2
        )
        ax.text(value, y - 0.18, f"{value:.1f}", ha="center", va="bottom", fontsize=12)
    ax.set_yticks(range(len(scores)), list(scores))
    ax.set_ylim(len(scores) - 0.5, -0.7)
    ax.set_xlabel(label)
    return ax


def score_histogram(
    values: ArrayLike,
    marks: Mapping[str, float],
    *,
    label: str = "BLEU",
    counted: str = "resampled test sets",
    ax: Axes | None = None,
) -> Axes:
    """How often each score occurs, with a dashed line and a name for each of the marks."""
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 4.0))
    ax.hist(np.asarray(values), bins=40, color=PALETTE[5], edgecolor="white")
    for i, (name, value) in enumerate(marks.items()):
        ax.axvline(
            value,
            color=PALETTE[(0, 1, 2, 3)[i % 4]],
            ls=("-", "--", ":", "-.")[i % 4],
            label=f"{name}: {value:.1f}",
        )
    ax.set_xlabel(label)
    ax.set_ylabel(counted)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(marks))
    return ax


def resampled_scores(
    values: Mapping[str, ArrayLike], *, label: str = "BLEU", axes: Sequence[Axes] | None = None
) -> Sequence[Axes]:
    """Two systems on the same resampled test sets: their scores, and the second minus the first.

    A point is as wide on the right as on the left, so that the humps can be compared.

    Args:
        values: system -> a score for each resampled test set; two systems.

    Raises:
        ValueError: there are not two systems with as many scores each.
    """
    scores = {name: np.asarray(found, dtype=float) for name, found in values.items()}
    if len(scores) != 2 or len({found.shape for found in scores.values()}) != 1:
        raise ValueError(f"give two systems with as many scores each, not {[*scores]}")
    if axes is None:
        _, made = plt.subplots(1, 2, figsize=(11.0, 4.0), sharey=True)
        axes = list(made)
    left, right = axes
    (first, ones), (second, others) = scores.items()
    bins = np.linspace(min(ones.min(), others.min()), max(ones.max(), others.max()), 41).tolist()
    for i, (name, found) in enumerate(scores.items()):
        left.hist(found, bins=bins, color=PALETTE[i], alpha=0.6, edgecolor="white", label=name)
    left.set_xlabel(label)
    left.set_ylabel("resampled test sets")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    step = bins[1] - bins[0]
    change = others - ones
    edges = np.arange(np.floor(change.min() / step), np.ceil(change.max() / step) + 1.5) * step
    right.hist(change, bins=edges, color=PALETTE[2], edgecolor="white")
    right.axvline(0, color="black", lw=1.5, ls="--")
    span = bins[-1] - bins[0]
    low = min(-span / 4, edges[0])
    left.set_xlim(bins[0], bins[-1])
    right.set_xlim(low, max(low + span, edges[-1]))
    right.set_xlabel(f"{second} minus {first}, in {label}")
    return axes


def scores_by_verdict(
    groups: Mapping[str, ArrayLike], *, label: str, ax: Axes | None = None
) -> Axes:
    """A row of points for each group of sentences, the first on top, and the group's median.

    Args:
        groups: verdict -> the score of each of its sentences; points that meet lie side by side.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 0.7 * len(groups) + 1.2))
    for y, values in enumerate(groups.values()):
        scores = np.asarray(values, dtype=float)
        shift = np.resize([0.0, 0.1, -0.1, 0.2, -0.2], scores.size)  # in the order of the scores
        ax.plot(np.sort(scores), y + shift, "o", ms=6, color=PALETTE[0], alpha=0.5, mew=0)
        ax.plot([np.median(scores)] * 2, [y - 0.35, y + 0.35], color="black", lw=2.5)
    ax.set_yticks(range(len(groups)), [f"{name} ({np.size(v)})" for name, v in groups.items()])
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.set_xlabel(label)
    return ax


def feature_shares(shares: Mapping[str, Mapping[str, float]], *, ax: Axes | None = None) -> Axes:
    """Horizontal bars: for each sign of an error its share in each group of sentences.

    Args:
        shares: group -> sign -> share, 0 to 1; all groups have the same signs.

    Raises:
        ValueError: a group lacks a sign.
    """
    groups = list(shares)
    signs = list(shares[groups[0]])
    if any(list(values) != signs for values in shares.values()):
        raise ValueError("all groups must have the same signs in the same order")
    if ax is None:
        _, ax = plt.subplots(figsize=(8.0, 0.75 * len(signs) + 1.2))
    height = 0.8 / len(groups)
    for g, (group, values) in enumerate(shares.items()):
        ys = np.arange(len(signs)) + (g - (len(groups) - 1) / 2) * height
        ax.barh(ys, [values[s] for s in signs], height, color=PALETTE[g], label=group)
        for y, sign in zip(ys, signs, strict=True):
            ax.text(values[sign] + 0.004, y, f"{values[sign]:.1%}", va="center", fontsize=11)
    ax.set_yticks(range(len(signs)), signs)
    ax.set_ylim(len(signs) - 0.5, -0.5)
    ax.set_xlim(0, 1.15 * max(0.01, *(v for values in shares.values() for v in values.values())))
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_xlabel("share of the sentences")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(groups))
    return ax


def marked_ngrams(
    reference: Sequence[str],
    candidates: Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]], float]],
) -> Figure:
    """Candidates below their reference, with a line for each of their n-grams, and their scores.

    Args:
        reference: its words.
        candidates: each a name, its words, for n = 1, 2, ... a mark for each n-gram from left to
            right, and its BLEU. A mark is "found" (a thick line), "clipped" (a dashed one, and a
            single word is struck through) or "absent" (a thin one).
    """
    rows = [("reference", reference, [["found"] * len(reference)], None), *candidates]
    longest = max(sum(map(_width, words)) for _, words, *_ in rows)
    figure, ax = plt.subplots(figsize=(longest + 3.4, 1.0 * len(rows) - 0.3))
    for y, (name, words, marks, score) in enumerate(rows):
        lefts = np.cumsum([0.0, *map(_width, words)]).tolist()
        ax.text(-0.2, y, name, ha="right", va="center", fontsize=13)
        for x, word, mark in zip(lefts, words, marks[0], strict=False):
            colour = {"found": PALETTE[0], "clipped": PALETTE[1]}.get(mark, "0.35")
            (text,) = literal([word])
            family = families("monospace")
            ax.text(x, y, text, va="center", fontsize=14, family=family, color=colour)
            if mark == "clipped":
                ax.plot([x, x + _width(word) - GAP], [y, y], color=colour, lw=1.5)
        lane = 0
        for n, row in enumerate(marks[1:], start=2):
            for i, mark in enumerate(row):
                below = y + 0.24 + 0.055 * (lane + i % n)
                wide, style = {"found": (3.0, "-"), "clipped": (1.5, "--")}.get(mark, (0.5, "-"))
                colour = PALETTE[n] if mark == "found" else "0.5"
                ends = [lefts[i], lefts[i + n] - GAP / 2]
                ax.plot(ends, [below] * 2, color=colour, lw=wide, ls=style, solid_capstyle="butt")
            lane += n
        if score is not None:
            ax.text(longest + 0.1, y, f"BLEU {score:.1f}", va="center", fontsize=13)
    ax.set_xlim(-2.0, longest + 1.4)
    ax.set_ylim(len(rows) - 0.2, -0.5)
    ax.axis("off")
    return figure


def _width(word: str) -> float:
    """In inches, of a word in monospace and the gap behind it."""
    return 0.14 * len(word) + GAP
