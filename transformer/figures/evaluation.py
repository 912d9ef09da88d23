"""Figures of evaluation: scores with what chance may change, signs of errors, and sample cards."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from transformer.figures.style import PALETTE

_EDGE = "var(--pst-color-border, #888)"
_MUTED = "var(--pst-color-text-muted, #666)"


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
        places = np.arange(len(signs)) + (g - (len(groups) - 1) / 2) * height
        ax.barh(places, [values[s] for s in signs], height, color=PALETTE[g], label=group)
        for y, sign in zip(places, signs, strict=True):
            ax.text(values[sign] + 0.004, y, f"{values[sign]:.1%}", va="center", fontsize=11)
    ax.set_yticks(range(len(signs)), signs)
    ax.set_ylim(len(signs) - 0.5, -0.5)
    ax.set_xlim(0, 1.15 * max(0.01, *(v for values in shares.values() for v in values.values())))
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set_xlabel("share of the sentences")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(groups))
    return ax


def sample_cards(
    samples: Sequence[Mapping[str, Any]], names: Mapping[str, str], languages: tuple[str, str]
) -> str:
    """Translations as HTML: a card for each, which a phone can show and a screen reader can read.

    Words of a translation that its reference does not have are underlined. All text is escaped.

    Args:
        samples: each with line, source, reference, translations (system -> text), chrf (system ->
            number) and features.
        names: system -> what to call it, in the order in which to show them.
        languages: of the source and of the translations, as in HTML's `lang`: ("de", "en").
    """
    # In the dark, the book's theme puts HTML on a bright card, made for plots. Text stands on the
    # page's own background; the shadow covers the rim.
    page = "var(--pst-color-background, transparent)"
    return (
        f'<div style="background:{page};box-shadow:0 0 0 0.6rem {page};'
        'color:var(--pst-color-text-base, inherit);display:grid;gap:0.8rem">\n'
        + "\n".join(_card(sample, names, languages) for sample in samples)
        + "\n</div>"
    )


def _card(sample: Mapping[str, Any], names: Mapping[str, str], languages: tuple[str, str]) -> str:
    source, target = (escape(language, quote=True) for language in languages)
    rows = [
        ("source", f'<span lang="{source}">{escape(sample["source"])}</span>'),
        ("reference", f'<span lang="{target}">{escape(sample["reference"])}</span>'),
    ]
    # What several systems say alike is shown once.
    same: dict[str, list[str]] = {}
    for system, name in names.items():
        same.setdefault(sample["translations"][system], []).append(name)
    value = {text: sample["chrf"][s] for s, text in sample["translations"].items() if s in names}
    for text, systems in same.items():
        marked = _underlined(text, sample["reference"])
        term = f"{' and '.join(systems)}: chrF {value[text]:.0f}"
        rows.append((term, f'<span lang="{target}">{marked}</span>'))
    if sample["features"]:
        rows.append(("signs", escape(", ".join(sample["features"]))))
    # As many columns as there is room for: two beside each other, on a phone one.
    entries = "".join(
        f'<div><dt style="font-weight:normal;font-size:0.85em;color:{_MUTED}">{escape(term)}</dt>'
        f'<dd style="margin:0">{text}</dd></div>'
        for term, text in rows
    )
    return (
        f'<div style="border:1px solid {_EDGE};border-radius:0.4rem;padding:0.5rem 0.8rem;'
        f'margin:0"><p style="margin:0 0 0.3rem 0"><strong>Line {sample["line"]:,}'
        '</strong></p><dl style="margin:0;display:grid;gap:0.35rem 1.2rem;'
        f'grid-template-columns:repeat(auto-fit,minmax(min(19rem,100%),1fr))">{entries}</dl></div>'
    )


def _underlined(text: str, reference: str) -> str:
    """Escaped text, the words that the reference lacks underlined."""
    known = set(re.findall(r"\w+", reference.casefold()))
    parts = re.split(r"(\w+)", text)  # words at the odd places
    return "".join(
        f'<u style="text-decoration-style:dotted">{escape(part)}</u>'
        if i % 2 and part.casefold() not in known
        else escape(part)
        for i, part in enumerate(parts)
    )
