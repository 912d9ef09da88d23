"""Tables and cards that a cell of the book shows: HTML in the colours of the book's theme.

They follow the page's light and dark looks, and fit a phone. All text is escaped.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_EDGE = "var(--pst-color-border, #888)"
_MUTED = "var(--pst-color-text-muted, #666)"


def table(header: Sequence[str], rows: Mapping[str, Sequence[object]]) -> str:
    """A table with a line for each row, its name first.

    Raises:
        ValueError: a row has not a cell for each column.
    """
    for name, cells in rows.items():
        if len(cells) + 1 != len(header):
            raise ValueError(f"{name} has {len(cells)} cells for {len(header) - 1} columns")
    lines = [_line("th", header), *(_line("td", [name, *cells]) for name, cells in rows.items())]
    return f"<table>{''.join(lines)}</table>"


def _line(tag: str, cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


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
