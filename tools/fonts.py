"""Cuts the site's fonts down to what its pages show: `.venv/bin/python -m tools.fonts`.

Run it after `make book` when a test says that a page shows an icon or a letter that its font lacks.
The icons are the theme's (300 kB of them, of which pages show some 30), the letters of formulas
those of `tools/font_sources`; what is cut lies in `book/_static/fonts` and is committed.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from unicodedata import category

import pydata_sphinx_theme
from fontTools import subset
from fontTools.pens.basePen import NullPen
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parent.parent
SITE, OURS = ROOT / "_build" / "html", ROOT / "book" / "_static" / "fonts"
THEME = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
THEME_SHEET = "styles/pydata-sphinx-theme.css"
ICONS = {
    path.name: path for path in sorted((THEME / "vendor/fontawesome/webfonts").glob("*.woff2"))
}
MATHS = {"book-math.woff2": ROOT / "tools/font_sources/book-math.woff2"}

TAG = re.compile(r"<[^>]+>")
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]+)"')
ICON_NAME = re.compile(r"\bfa-([\w-]+)")
THEME_ICON = re.compile(r'--pst-icon-[\w-]+:\s*"([^"]+)"')
ESCAPE = re.compile(r'content:\s*"\\(f[0-9a-f]{3})"')
VARIABLE = re.compile(r"<mi>([^<]|&[^;<]+;)</mi>")
# A browser sets a letter that stands alone in italics by itself.
ITALICS = {
    **{chr(ord("A") + i): chr(0x1D434 + i) for i in range(26)},
    **{chr(ord("a") + i): chr(0x1D44E + i) for i in range(26)},
    **{chr(ord("Α") + i): chr(0x1D6E2 + i) for i in range(25)},
    **{chr(ord("α") + i): chr(0x1D6FC + i) for i in range(25)},
    "h": "\N{PLANCK CONSTANT}",
}
# What a font says of itself: its copyright and names, its address, its licence and where that is.
NAMES = [*range(7), 11, 13, 14]
# The names of variables that formulas to come may show without a new cut: 2 kB.
SPARE = {ord(slanted) for letter, slanted in ITALICS.items() if letter.islower() or letter < "a"}


def icons_shown(static: Path, pages: Iterable[str]) -> set[int]:
    """The code points of all icons that pages, the theme's script or a style sheet show.

    Raises ValueError where the theme's sheet has no rules of the form that is looked for.
    """
    sheet = (static / THEME_SHEET).read_text(encoding="utf-8")
    codes: dict[str, int] = {}
    for rule, code in ICON_RULE.findall(sheet):
        names = re.findall(r"\.fa-([\w-]+):before", rule)
        codes.update(dict.fromkeys(names, int(code, 16)))
    themes = {ord(value) for value in THEME_ICON.findall(sheet) if len(value) == 1}
    if not codes or not themes:
        raise ValueError(f"{THEME_SHEET} names its icons differently now: adapt tools/fonts.py")
    script = (static / "scripts/pydata-sphinx-theme.js").read_text(encoding="utf-8")
    used = {name for text in [*pages, script] for name in ICON_NAME.findall(text)}
    shown = {codes[name] for name in used if name in codes} | themes
    for path in static.rglob("*.css"):
        if path.name not in (Path(THEME_SHEET).name, "site.css"):  # which know all icons
            shown |= {int(code, 16) for code in ESCAPE.findall(path.read_text(encoding="utf-8"))}
    return shown


def letters_shown(pages: Iterable[str]) -> set[int]:
    """The code points that formulas show."""
    letters = {"\N{SQUARE ROOT}"}  # drawn by an element, it is in no text
    for page in pages:
        for formula in FORMULA.findall(page):
            for variable in map(unescape, VARIABLE.findall(formula)):
                letters.add(ITALICS.get(variable, variable))
            letters.update(unescape(TAG.sub("", VARIABLE.sub("", formula))))
    return {ord(letter) for letter in letters if not (letter.isspace() or category(letter) == "Cf")}


def letters_of(path: Path) -> set[int]:
    """The code points that a font has."""
    with TTFont(path) as font:
        return set(font.getBestCmap())


def shown_by(site: Path) -> dict[str, set[int]]:
    """The code points that the pages of a site show, by the source of the fonts for them.

    Raises ValueError where a source lacks a letter.
    """
    pages = [path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))]
    if not pages:
        raise ValueError(f"there are no pages in {site}: run make book first")
    icons, letters = icons_shown(site / "_static", pages), letters_shown(pages)
    wanted = {name: icons & letters_of(source) for name, source in ICONS.items()}
    wanted |= dict.fromkeys(MATHS, letters)
    for kind, shown in ((ICONS, icons), (MATHS, letters)):
        if strange := shown - set().union(*map(letters_of, kind.values())):
            raise ValueError(f"no source of {', '.join(kind)} has {named(strange)}")
    return wanted


def named(codes: Iterable[int]) -> str:
    """Characters with their numbers."""
    return ", ".join(f"{chr(code)} (U+{code:04X})" for code in sorted(codes))


def missing(site: Path, fonts: Path = OURS) -> list[str]:
    """A sentence for each font that lacks what the pages of a site show."""
    sentences = []
    for name, codes in shown_by(site).items():
        if lacking := codes - (letters_of(fonts / name) if (fonts / name).exists() else set()):
            sentences.append(f"{name} lacks {named(lacking)}: cut it with python -m tools.fonts")
    return sentences


def cut(source: Path, target: Path, codes: Iterable[int], family: str) -> None:
    """Writes a font with these letters only and what they grow into, under a name of its own.

    The licence of the fonts reserves their names for the whole ones.
    """
    options = subset.Options(
        flavor="woff2", notdef_outline=True, layout_features=["*"], name_IDs=NAMES
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    with subset.load_font(str(source), options) as font:
        subsetter.subset(font)
        settle_widths(font)
        for record in font["name"].names:
            if record.nameID in (1, 4, 6, 16):
                record.string = family.replace(" ", "") if record.nameID == 6 else family
        font["head"].modified = font["head"].created  # the same letters give the same file
        font.recalcTimestamp = False
        subset.save_font(font, str(target), options)


def settle_widths(font: TTFont) -> None:
    """Gives each outline the width that the font's table of widths has for it.

    Large root signs of the source have two, and a browser that goes by the outline's draws the root
    with a gap before what stands below it, or behind it.
    """
    if "CFF " not in font:
        return
    outlines = font["CFF "].cff.topDictIndex[0].CharStrings
    for name, (width, _) in font["hmtx"].metrics.items():
        outline = outlines[name]
        outline.draw(NullPen())  # which reads its width
        if outline.width == width:
            continue
        if outline.width == outline.private.defaultWidthX:
            outline.program.insert(0, outline.private.nominalWidthX)
        outline.program[0] = width - outline.private.nominalWidthX


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", type=Path, default=SITE, help="the built pages")
    site = parser.parse_args().site
    try:
        for name, codes in shown_by(site).items():
            source = (ICONS | MATHS)[name]
            if name in MATHS:
                codes |= SPARE & letters_of(source)
            cut(source, OURS / name, codes, "Book Math" if name in MATHS else "Book Icons")
            print(f"{name}: {len(codes)} characters, {(OURS / name).stat().st_size:,} bytes")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
