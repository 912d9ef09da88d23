"""What is changed in each page, and that no change misses its target without a word."""

import re
import struct
from pathlib import Path

import matplotlib as mpl
import pytest
from sphinx.errors import ExtensionError

from tools.site.after.edits import edited
from tools.site.after.template_edits import (
    DOTS,
    LEAST_LETTER,
    PHONE,
    SCROLLED_LETTER,
    USUAL,
    finished,
    size_of,
)

from transformer_book.figures import use_style

PAGE = """<html lang="en" data-theme="auto"><head>
    <script data-cfasync="false">theme = localStorage.getItem("theme") || "auto"</script>
    <script src="../_static/doctools.js"></script>
    <script src="../_static/searchtools.js"></script>
    <script src="../_static/language_data.js"></script>
    <script src="../searchindex.js"></script>
</head><body><div id="pst-primary-sidebar" class="bd-sidebar">menu</div>
<main>{content}</main></body></html>"""


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """The first bytes of a PNG file of 640 x 48 pixels."""
    path = tmp_path / "drawn.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 48) + b"rest")
    return path


def test_an_edit_changes_every_match() -> None:
    assert edited("x", re.compile("a."), "-", "abacus", "here") == "--us"


def test_an_edit_that_finds_nothing_says_which_pattern_and_where() -> None:
    with pytest.raises(ExtensionError, match=r"chapter: nothing matches pages.BAR, .*'<nav>'"):
        edited("pages.BAR", re.compile("<nav>"), "", "<div>", "chapter")


def test_the_side_bar_is_a_landmark_with_a_name() -> None:
    page = finished(PAGE, "chapter", {})
    assert (
        '<div id="pst-primary-sidebar" role="region" aria-label="Book" class="bd-sidebar">' in page
    )


def test_the_keyboard_skips_to_the_first_figure_that_can_be_operated() -> None:
    skip = '<div id="pst-skip-link" class="x"><a href="#main">Skip to main content</a></div>'
    question, figure = (
        f'<div class="widget-place" data-front-end="{name}"></div>'
        for name in ("self_check", "mask_explorer")
    )
    page = PAGE.replace("<body>", f"<body>{skip}")
    found = finished(page.replace("{content}", question + figure + figure), "chapter", {})
    link = '<a href="#first-figure">Skip to the first interactive figure</a></div>'
    assert f"Skip to main content</a>{link}" in found
    named = figure.replace('place"', 'place" id="first-figure"')
    assert f"{question}{named}{figure}</main>" in found
    assert "first-figure" not in finished(page.replace("{content}", question), "chapter", {})


def test_a_notebook_is_saved_where_a_server_knows_its_type() -> None:
    links = '<a href="../a.ipynb" target="_blank"\n class="b">a</a> <a class="c" href="b.ipynb">'
    others = (
        '<a href="https://colab.research.google.com/b.ipynb">a</a> <a href="a.html">b.ipynb</a>'
    )
    page = finished(PAGE.replace("{content}", links + others), "chapter", {})
    assert links.replace("<a ", "<a download ") + others in page


def test_only_the_search_page_loads_the_index() -> None:
    assert re.findall(r'src="(.*?)"', finished(PAGE, "chapter", {})) == ["../_static/doctools.js"]
    page = PAGE.replace("../searchindex.js", "searchindex.js")  # it stands beside it
    assert re.findall(r'src="(.*?)"', finished(page, "search", {}))[3:] == ["search/index.js"]


@pytest.mark.parametrize(
    "gone", ['id="pst-primary-sidebar" ', "searchtools.js|language_data.js|index.js"]
)
def test_a_page_without_what_is_to_be_changed_is_refused(gone: str) -> None:
    with pytest.raises(
        ExtensionError, match=r"chapter: nothing matches template_edits\.(SIDE_BAR|SEARCH)"
    ):
        finished(re.sub(gone, "", PAGE), "chapter", {})


def test_without_scripts_a_page_is_light() -> None:
    assert '<html lang="en" data-theme="light">' in finished(PAGE, "chapter", {})


def test_with_scripts_a_page_is_light_or_dark_at_once() -> None:
    page = finished(PAGE, "chapter", {})
    assert 'theme = localStorage.getItem("theme") || (matchMedia(' in page and '"auto"' not in page


def test_a_picture_waits_and_has_its_place_before_it_comes(picture: Path) -> None:
    assert size_of(picture) == (640, 48)
    content = '<img alt="a > b" src="../../_images/drawn.png" />'
    page = finished(PAGE.format(content=content), "chapter", {"drawn.png": picture})
    waiting = (
        '<img loading="lazy" width="640" height="48" alt="a > b" src="../../_images/drawn.png" />'
    )
    assert waiting in page


def test_the_figures_resolution_and_smallest_letters_are_those_of_the_books_style() -> None:
    with mpl.rc_context():
        use_style()
        assert min(mpl.rcParams[f"{axis}tick.labelsize"] for axis in "xy") == USUAL
        assert mpl.rcParams["savefig.dpi"] / 72 == DOTS


@pytest.mark.parametrize(
    ("width", "points"),
    [(640, None), (1029, None), (1030, None), (3532, None), (1029, 11), (3532, 20.8), (1700, 20.0)],
)
def test_a_picture_too_wide_for_a_phone_keeps_its_letters_legible(
    tmp_path: Path, width: int, points: float | None
) -> None:
    path = tmp_path / "drawn.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, 48))
    known = f' class="letters-{points} a"' if points else ""
    content = f'<img{known} alt="" src="../../_images/drawn.png" />'
    page = finished(PAGE.format(content=content), "chapter", {"drawn.png": path})
    box = re.search(r'<span class="wide-picture"><img [^>]*--least: (\d+)px[^>]*/></span>', page)
    letter = (points or USUAL) * DOTS
    assert bool(box) == (letter * PHONE / width < LEAST_LETTER)
    if box:
        assert int(box[1]) > PHONE
        assert letter * int(box[1]) / width == pytest.approx(SCROLLED_LETTER, abs=0.02)
    assert "letters-" not in page


PROSE, ROWS = "A  sentence in one line.", "base   27.3\n big  28.4"


@pytest.mark.parametrize(
    ("text", "rows"),
    [(ROWS, True), (PROSE, False), ("first line\n  second line", False), (f"one\n{PROSE}", True)],
)
def test_rows_that_a_cell_prints_are_told_from_prose(text: str, rows: bool) -> None:
    inner = f'output stream x"><div class="highlight"><pre><span></span>{text}\n</pre>'
    page = finished(PAGE.format(content=f'<div class="{inner}</div></div>'), "chapter", {})
    assert (f'<div class="rows {inner}' in page, f'<div class="{inner}' in page) == (rows, not rows)


def test_a_signature_has_no_element_without_a_style() -> None:
    named = '<span class="n"><span class="pre">step</span></span><span class="p">:</span>'
    rest = '<span class="w"> </span><span class="o">=</span>'
    code = '<code><span class="pre">step</span></code>'
    page = finished(PAGE.format(content=f'<dt class="sig x">{named}{rest}</dt>{code}'), "x", {})
    assert f'<dt class="sig x">step: <span class="o">=</span></dt>{code}' in page


def test_words_of_code_without_a_colour_are_no_elements() -> None:
    loop = '<span class="k">for</span><span class="w"> </span><span class="n">i</span>'
    code = f'<pre>{loop}<span class="p">:</span></pre>'
    page = finished(PAGE.format(content=code), "chapter", {})
    assert '<pre><span class="k">for</span> i:</pre>' in page


def test_the_box_of_a_wide_picture_is_shown_in_the_pictures_mode(tmp_path: Path) -> None:
    path = tmp_path / "drawn.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 3532, 48))
    content = '<img alt="only-light" class="only-dark" src="../../_images/drawn.png" />'
    page = finished(PAGE.format(content=content), "chapter", {"drawn.png": path})
    assert '<span class="wide-picture only-dark"><img ' in page


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            '<img loading="eager" src="_images/drawn.png">',
            '<img loading="eager" src="_images/drawn.png">',
        ),
        (
            '<img width="9" src="_images/drawn.png">',
            '<img loading="lazy" width="9" src="_images/drawn.png">',
        ),
        ('<img src="_static/logo.svg">', '<img loading="lazy" src="_static/logo.svg">'),
    ],
)
def test_what_a_picture_says_of_itself_stays(content: str, expected: str, picture: Path) -> None:
    page = finished(PAGE.format(content=content), "chapter", {"drawn.png": picture})
    assert f"<main>{expected}</main>" in page


def test_a_picture_that_sphinx_does_not_know_is_named() -> None:
    page = PAGE.format(content='<img src="../_images/other.png">')
    with pytest.raises(ExtensionError, match=r"chapter: the page shows other\.png"):
        finished(page, "chapter", {})
