"""The fonts that are cut once: what the pages need of them, and who says when something lacks."""

from pathlib import Path

import pytest
from fontTools.pens.basePen import NullPen
from fontTools.ttLib import TTFont

from tools import fonts

FORMULA = (
    '<math alttext="Z"><mi>x</mi><mi mathvariant="normal">y</mi><mo>∑</mo><mi>&alpha;</mi></math>'
)


def codes(text: str) -> set[int]:
    return set(map(ord, text))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site whose page shows a formula and an icon; the theme's sheet and our own show others."""
    static = tmp_path / "_static"
    (static / "styles").mkdir(parents=True)
    (static / "scripts").mkdir()
    (static / fonts.THEME_SHEET).write_text(
        '.fa-play:before{content:"\\f04b"}.fa-stop:before,.fa-halt:before{content:"\\f04d"}'
        '.fa-eye:before{content:"\\f06e"}:root{--pst-icon-note: "\uf05a"}'
    )
    (static / "book.css").write_text('.box::after{content: "\\f10d"}')
    (static / "scripts/pydata-sphinx-theme.js").write_text('icon("fa-halt")')
    (tmp_path / "page.html").write_text(f'<i class="fas fa-play"></i> abc {FORMULA}')
    return tmp_path


def test_icons_are_those_of_pages_scripts_and_sheets(site: Path) -> None:
    pages = [(site / "page.html").read_text()]
    assert fonts.icons_shown(site / "_static", pages) == codes("\uf04b\uf04d\uf05a\uf10d")


def test_a_theme_that_names_its_icons_differently_is_named(site: Path) -> None:
    (site / "_static" / fonts.THEME_SHEET).write_text(".icon-play::before{content:'x'}")
    with pytest.raises(ValueError, match="names its icons differently now"):
        fonts.icons_shown(site / "_static", [])


def test_letters_are_those_that_a_browser_shows_in_formulas() -> None:
    assert fonts.letters_shown([f"abc {FORMULA}"]) == codes("√𝑥y∑𝛼")
    assert fonts.letters_shown(["<math><mi>h</mi><mo>\N{FUNCTION APPLICATION}</mo></math>"]) == (
        codes("√ℎ")
    )


def test_what_a_font_lacks_is_named(site: Path, tmp_path: Path) -> None:
    (site / "page.html").write_text(f"{FORMULA}<math><mo>⟹</mo></math>")
    few = tmp_path / "fonts"
    few.mkdir()
    for name, source in (fonts.ICONS | fonts.MATHS).items():
        fonts.cut(source, few / name, codes("√𝑥y∑𝛼\uf04b\uf04d\uf05a\uf10d"), "Book Cut")
    assert fonts.missing(site, few) == [
        "book-math.woff2 lacks ⟹ (U+27F9): cut it with python -m tools.fonts"
    ]
    (few / "fa-solid-900.woff2").unlink()
    assert any("fa-solid-900.woff2 lacks" in line for line in fonts.missing(site, few))


def test_a_letter_that_no_source_has_is_an_error(site: Path) -> None:
    (site / "page.html").write_text("<math><mi>ß</mi></math>")
    with pytest.raises(ValueError, match=r"no source of book-math.woff2 has ß \(U\+00DF\)"):
        fonts.missing(site)


def test_a_site_that_is_not_built_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="run make book first"):
        fonts.missing(tmp_path)


def test_a_cut_font_has_these_letters_another_name_and_the_same_bytes_again(tmp_path: Path) -> None:
    source = fonts.ICONS["fa-solid-900.woff2"]
    for name in ("one.woff2", "two.woff2"):
        fonts.cut(source, tmp_path / name, codes("\uf04b\uf04d"), "Book Icons")
    assert (tmp_path / "one.woff2").read_bytes() == (tmp_path / "two.woff2").read_bytes()
    assert fonts.letters_of(tmp_path / "one.woff2") == codes("\uf04b\uf04d")
    with TTFont(tmp_path / "one.woff2") as font:
        names = {record.nameID: record.toUnicode() for record in font["name"].names}
    assert names[1] == names[4] == "Book Icons"
    assert names[11] == "https://fontawesome.com"


def test_a_cut_font_says_under_which_licence_it_is(tmp_path: Path) -> None:
    """As far as its source says so; the committed ones too."""
    for name, source in (fonts.ICONS | fonts.MATHS).items():
        with TTFont(source) as whole:
            said = {
                r.nameID: r.toUnicode() for r in whole["name"].names if r.nameID in (0, 11, 13, 14)
            }
        with TTFont(fonts.OURS / name) as font:
            kept = {r.nameID: r.toUnicode() for r in font["name"].names}
        assert said.items() <= kept.items()
    assert "stixfonts" in kept[14] and "license" in kept[13].lower()


def test_the_committed_fonts_are_small_and_have_room_for_other_variables() -> None:
    sizes = {path.name: path.stat().st_size for path in fonts.OURS.glob("*.woff2")}
    assert sizes.keys() == (fonts.ICONS | fonts.MATHS).keys()
    assert sum(sizes[name] for name in fonts.ICONS) < 8_000
    assert sizes["book-math.woff2"] < 25_000
    letters = fonts.letters_of(fonts.OURS / "book-math.woff2")
    assert codes("𝐴𝑍𝑎𝑧ℎ𝛼𝜔") <= letters
    assert (fonts.OURS / "LICENSE-book-icons.txt").exists()
    assert (fonts.OURS / "LICENSE-book-math.txt").exists()


def test_each_outline_of_a_formulas_font_is_as_wide_as_the_table_of_widths_says() -> None:
    """The source's large root signs are not, and browsers left a gap beside each root."""

    def two_widths(path: Path) -> list[str]:
        with TTFont(path) as font:
            outlines = font["CFF "].cff.topDictIndex[0].CharStrings
            for name in font.getGlyphOrder():
                outlines[name].draw(NullPen())
            widths = font["hmtx"].metrics
            return [name for name in widths if outlines[name].width != widths[name][0]]

    for name, source in fonts.MATHS.items():
        assert two_widths(source)  # else `settle_widths` can go
        assert two_widths(fonts.OURS / name) == []
