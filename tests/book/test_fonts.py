"""The committed fonts, held against the pages of the book just built."""

from pathlib import Path

from tools import fonts

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"


def test_the_fonts_have_every_icon_and_letter_that_a_page_shows() -> None:
    assert fonts.missing(HTML) == []


def test_the_site_loads_no_other_fonts() -> None:
    published = {path.name: path.read_bytes() for path in HTML.rglob("*.woff2")}
    assert published == {path.name: path.read_bytes() for path in fonts.OURS.glob("*.woff2")}
