"""One look for all figures: legible from the back row, safe for colour-blind readers."""

import unicodedata
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
import seaborn as sns
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.typing import ColorType

Number = int | float

# Okabe and Ito's colours, which stay apart for all common kinds of colour blindness; without
# their yellow, too pale for a line on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SEQUENTIAL = "viridis"  # for weights and probabilities, 0 to 1
DIVERGING = "RdBu_r"  # for values around 0
EMPTY = "#E3E3E3"  # for cells that say no; light, so that it survives a grey print
TWO_COLOURS = (EMPTY, PALETTE[0])  # for no and yes, 0 and 1
FRAME = PALETTE[4]  # around cells that are true links: it stands out from all of viridis
BLANK_INK = "#555555"  # for what is written into a cell without a colour


NO_FONT = "\ufffd"  # drawn in the place of a letter that no font has

SHOWN = 10  # of these letters, in a warning
_scripts_without_font: set[str] = set()  # that a warning has named


def literal(tokens: Sequence[str]) -> list[str]:
    """Tokens as labels that show every letter: matplotlib reads a formula between two dollars.

    Texts that are made from now on take letters that the font lacks from others that are installed;
    what there is already, such as a title or the first label of an axis, needs `families`. Letters
    that no font has become `NO_FONT`, and one warning for each script says so.
    """
    without = _without_font("".join(tokens))
    table = str.maketrans({"$": r"\$", **dict.fromkeys(without, NO_FONT)})
    return [token.translate(table) for token in tokens]


def families(*first: str) -> list[str]:
    """The families of fonts in which `literal` has found its letters, behind others."""
    return [*first, *mpl.rcParams["font.family"]]


def _without_font(text: str) -> set[str]:
    """The letters that no font has; those that have the rest come behind the style's own."""
    if text.isascii() and text.isprintable():
        return set()
    lacking = set(text) - {"\n"}
    lacking -= set().union(*map(_letters_of, families()))
    if lacking:
        _add_fonts_of_the_system()
    while lacking and (best := max(_fonts(lacking), default=(0, False, "")))[0]:
        mpl.rcParams["font.family"] = [*families(), best[2]]
        lacking -= _letters_of(best[2])
    scripts = {unicodedata.name(letter, "unnamed").split()[0] for letter in lacking}
    if new := scripts - _scripts_without_font:
        _scripts_without_font.update(new)
        seen = [letter for letter in sorted(lacking) if letter.isprintable()]
        shown = " ".join(seen[:SHOWN]) + (" ..." if len(seen) > SHOWN else "")
        warnings.warn(
            f"no font that is installed has these letters of {', '.join(sorted(new))}: {shown}; "
            f"{NO_FONT} stands for them: install one that has them, such as Google's Noto fonts, "
            "and start Python anew",
            stacklevel=3,
        )
    return lacking


def _letters_of(family: str) -> frozenset[str]:
    return _letters(findfont(FontProperties(family=[family])))


def _fonts(letters: set[str]) -> list[tuple[int, bool, str]]:
    """Of each font how many of the letters it has, whether it is without serifs, and its name."""
    own = mpl.get_data_path()  # but for DejaVu these are for formulas
    names = {
        font.name
        for font in fontManager.ttflist
        if font.name.startswith("DejaVu") or not font.fname.startswith(own)
    }
    return [(len(letters & _letters_of(name)), "Sans" in name, name) for name in names]


@cache
def _letters(path: str) -> frozenset[str]:
    with suppress(OSError, RuntimeError):
        font = FT2Font(path)
        if font.scalable:  # matplotlib draws no others
            return frozenset(map(chr, font.get_charmap()))
    return frozenset()


@cache
def _add_fonts_of_the_system() -> None:
    """Those that were installed since matplotlib has listed its fonts."""
    for path in {*findSystemFonts()} - {font.fname for font in fontManager.ttflist}:
        with suppress(OSError, RuntimeError):
            fontManager.addfont(path)


def linear(rgb: Any) -> np.ndarray:
    """(..., 3) values of sRGB, 0 to 1, as amounts of light."""
    values = np.asarray(rgb, dtype=float)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(rgb: Any) -> Any:
    """(..., 3) values of sRGB, 0 to 1, to (...): how bright each is, as WCAG has it."""
    return linear(rgb) @ [0.2126, 0.7152, 0.0722]


def ink(color: ColorType) -> str:
    """White or black, whichever has the higher contrast on the colour (WCAG's luminance)."""
    return "white" if luminance(to_rgb(color)) < 0.179 else "black"


def figure_of(ax: Axes) -> Figure:
    """The whole figure; `ax.figure` may be a part of one."""
    figure = ax.figure
    return figure if isinstance(figure, Figure) else figure.figure


def use_style() -> None:
    """Set the book's style for every figure that follows."""
    sns.set_theme(
        context="notebook",
        style="ticks",
        palette=PALETTE,
        rc={
            "figure.figsize": (8.0, 4.5),
            "figure.dpi": 110,
            "savefig.dpi": 160,
            "figure.constrained_layout.use": True,
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 15,
            "axes.titleweight": "bold",
            "axes.labelsize": 14,
            "xtick.labelsize": 12,
            "ytick.labelsize": 12,
            "legend.fontsize": 12,
            "legend.frameon": False,
            "lines.linewidth": 2.4,
            "image.cmap": SEQUENTIAL,
        },
    )
    # One resolution that is sharp on a phone and on a projector.
    mpl.rcParams["figure.facecolor"] = "white"
