"""One style sheet out of many: what stays, what goes, and where its addresses lead."""

from pathlib import Path

import pytest
import tinycss2
from sphinx.errors import ExtensionError

from tools.site.after.styles import (
    merged,
    moved,
    purged,
    variables_of,
    without_idle_variables,
    words_of,
)

PAGE = (
    '<nav id="menu"><a class="link bold" data-look="plain">.shadow</a></nav>'
    '<script>add("open")</script>'
)
WORDS = words_of([PAGE], {Path("site.js"): 'toggle("wide")', Path("bootstrap.js"): '"carousel"'})


def rules(text: str) -> list:
    return tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)


def test_words_are_those_of_tags_and_scripts_but_not_of_text_or_bootstrap() -> None:
    assert {"nav", "menu", "a", "link", "bold", "data-look", "plain", "open", "wide"} <= WORDS
    assert not {"shadow", "carousel"} & WORDS
    assert "collapsing" in WORDS, "bootstrap's script makes it on our pages"


@pytest.mark.parametrize(
    "selector",
    [
        "a",
        "NAV > a",
        ".link.bold",
        "#menu a:hover",
        "a::before",
        "[data-look]",
        '[data-look="other"]',
        ".open",
        ".wide",
        ".bs-tooltip-end",
        "a:not(.never)",
        "*",
    ],
)
def test_a_rule_that_something_could_match_stays(selector: str) -> None:
    text = f"{selector}{{color: red}}"
    assert purged(rules(text), WORDS) == text


@pytest.mark.parametrize(
    "selector", ["table", ".shadow", "#other", "nav .carousel", "[data-other]", "a.never:hover"]
)
def test_a_rule_that_nothing_could_match_goes(selector: str) -> None:
    text = f"{selector}{{color: red}}"
    assert purged(rules(text), WORDS) == ""
    assert purged(rules(text), None) == text, "without words all stay"


def test_of_a_list_of_selectors_those_stay_that_are_needed() -> None:
    assert purged(rules("a, table, .bold {x: y}"), WORDS) == "a,.bold{x: y}"


def test_groups_are_looked_into_and_go_when_they_are_empty() -> None:
    text = "@media print { a {x: y} table {x: y} } @supports (x: y) { table {x: y} }"
    assert purged(rules(text), WORDS) == "@media print{a{x: y}}"


def test_fonts_and_movements_stay() -> None:
    text = "@keyframes turn { to { rotate: 1turn } }"
    assert purged(rules(text), WORDS) == text
    assert purged(rules('@charset "utf-8"; a{x: y}'), WORDS) == "a{x: y}"


def test_a_sheet_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ExtensionError, match="a style sheet cannot be read"):
        purged(rules("a{x: y} }"), WORDS)


def test_variables_that_only_idle_ones_read_go_with_them() -> None:
    text = ":root{--a: 1px;--b: var(--a);--c: 2px;--d-x: 3px}p{width: var(--c)}"
    assert without_idle_variables(text, ()) == ":root{--c: 2px;}p{width: var(--c)}"
    script = "element.style.width = 'var(--d-' + name"
    read = variables_of([script])
    assert read == {"--d-"}
    assert without_idle_variables(text, read) == ":root{--c: 2px;--d-x: 3px}p{width: var(--c)}"


def test_addresses_are_seen_from_the_merged_sheets_folder() -> None:
    text = 'a{b: url(pic.svg) url("../up.svg") url(data:x) url(#here)}'
    seen = moved(text, "styles/theme.css", "styles/site.css", ())
    assert seen == 'a{b: url("pic.svg") url("../up.svg") url(data:x) url(#here)}'
    assert 'url("../pic.svg")' in moved(text, "basic.css", "styles/site.css", ())


def test_the_themes_fonts_give_way_to_ours() -> None:
    text = "@font-face{src: url(../vendor/icons/fa.woff2)}"
    seen = moved(text, "styles/theme.css", "styles/site.css", {"fa.woff2"})
    assert seen == '@font-face{src: url("../fonts/fa.woff2")}'
    with pytest.raises(ExtensionError, match=r"styles/theme.css loads the font fa.woff2, which is"):
        moved(text, "styles/theme.css", "styles/site.css", {"other.woff2"})


FONT = (
    '@font-face{font-display:block;src:url(a.woff2) format("woff2"),url(a.ttf) format("truetype")}'
)


def test_sheets_become_one_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts/a.woff2").touch()
    for name, text in {
        "1.css": FONT + "a{x: 1} table{x: 1}",
        "2.css": "table{x: 2} a{x: 2}",
    }.items():
        (tmp_path / name).write_text(text)
    text = merged(tmp_path, ["1.css", "2.css"], "styles/site.css", WORDS, (), whole=["2.css"])
    assert text.splitlines() == [
        '@font-face{font-display:swap;src:url("../fonts/a.woff2") format("woff2")}',
        "a{x: 1}",
        "table{x: 2}",
        "a{x: 2}",
    ]


@pytest.mark.parametrize(
    ("part", "name"), [(',url(a.ttf) format("truetype")', "TRUETYPE"), ("block", "BLOCKING")]
)
def test_a_theme_that_loads_its_fonts_differently_is_named(tmp_path: Path, part, name) -> None:
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts/a.woff2").touch()
    (tmp_path / "1.css").write_text(FONT.replace(part, ""))
    with pytest.raises(ExtensionError, match=rf"nothing matches styles\.{name}"):
        merged(tmp_path, ["1.css"], "styles/site.css", WORDS, ())
