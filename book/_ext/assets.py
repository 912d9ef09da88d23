"""What a page loads: one style sheet, scripts that wait, few icons.

The theme and the extensions bring ten style sheets, of which a page uses a small part, and scripts
that stop the page from being drawn until they have come. Here:

- the sheets are merged into `_static/styles/site.css`, without the rules of which no page and no
  script has the classes, ids and elements, and without the variables that no rule uses;
- scripts wait until the page is drawn; the search index is loaded by the search page only;
- the fonts of icons and formulas are cut down to the characters that the pages show;
- pictures are loaded when they come near the window; files that no page loads go.
"""

import hashlib
import posixpath
import re
import struct
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import tinycss2
from fontTools import subset
from sphinx.application import Sphinx

SITE = "styles/site.css"
# The theme's own, which its templates would link, and after all others those of the widgets.
THEME_SHEETS = ("basic.css", "styles/pydata-sphinx-theme.css")
OWN_SHEETS = ("widgets/widgets.css",)
# Bootstrap knows many components; of those that only its script can make, the theme uses one.
BOOTSTRAP = "bootstrap.js"
MADE_BY_BOOTSTRAP = {"show", "fade", "collapsing", "tooltip", "tooltip-inner", "tooltip-arrow"}
ASSEMBLED = "bs-tooltip-"  # and a direction
GROUPS = ("media", "supports", "layer", "container")
TAG, URL = re.compile(r"<[^>]+>"), re.compile(r"url\((['\"]?)(?!data:|#)([^)'\"]+)\1\)")
WORD = re.compile(r"[\w-]+")
VARIABLE = re.compile(r"(?<=[{;\s])(--[\w-]+)\s*:(?:[^;{}\"']|\"[^\"]*\"|'[^']*')*(?:;|(?=\}))")
READ = re.compile(r"var\(\s*(--[\w-]+)")
SEARCH = re.compile(
    r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js"></script>'
)
OPTIONS = re.compile(r'<script src="[^"]*documentation_options\.js[^"]*"></script>')
IMAGE = re.compile(r"<img (?!loading=|[^>]*\sloading=)([^>]*>)")
ICON_RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]+)"')
FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
ITALICS: tuple[tuple[str, str, str], ...] = (("A", "Z", "\U0001d434"), ("a", "z", "\U0001d44e"))
ITALICS += (("\u0391", "\u03a9", "\U0001d6e2"), ("\u03b1", "\u03c9", "\U0001d6fc"))
NEEDLESS = ("scripts/fontawesome.js", "*.map", "*.ttf", "*LICENSE.txt")


def link_one_sheet(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: object,
) -> None:
    """Notes the sheets of a page and links the merged one; the page's scripts wait."""
    names = [str(sheet.filename) for sheet in context["css_files"]]
    others = (name.removeprefix("_static/").split("?")[0] for name in names)
    sheets = [*THEME_SHEETS, *others, *OWN_SHEETS]
    app.env.book_sheets = sheets  # type: ignore[attr-defined]
    context["css_files"] = []
    version = hashlib.sha256(" ".join(names).encode())
    for folder in app.config.html_static_path:
        for path in sorted(Path(app.confdir, folder).glob("*.css")):
            version.update(path.read_bytes())
    context["site_sheet"] = f"_static/{SITE}?v={version.hexdigest()[:8]}"
    for script in context["script_files"]:
        name = str(getattr(script, "filename", None) or "")
        # Lines of script in a page need the options at once; the search page's own scripts do not
        # wait, and call the others.
        if name and "documentation_options" not in name and pagename != "search":
            script.attributes["defer"] = "defer"
        elif name:
            script.attributes.pop("defer", None)  # the same objects serve all pages


def words_of(pages: list[str], scripts: dict[Path, str]) -> set[str]:
    """All that could be a class, an id, an attribute or an element, in tags and in scripts."""
    words: set[str] = set()
    for page in pages:
        for tag in set(TAG.findall(page)):
            words.update(WORD.findall(tag))
        for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL):
            words.update(WORD.findall(script))
    for path, script in scripts.items():
        if path.name != BOOTSTRAP:
            words.update(WORD.findall(script))
    words |= MADE_BY_BOOTSTRAP
    return words | {word.lower() for word in words}


def variables_of(texts: list[str]) -> set[str]:
    """What scripts and pages read of the sheets' variables; a name may go on behind these."""
    return {name for text in texts for name in READ.findall(text)}


def needed(selector: list[Any], words: set[str]) -> bool:
    """Whether something on the pages could match; what stands in brackets is not looked at."""
    before = ""
    for token in selector:
        name = None
        if token.type == "ident" and before != ":":
            name = token.value if before == "." else token.lower_value
        elif token.type == "hash":
            name = token.value
        elif token.type == "[] block" and token.content:
            name = getattr(token.content[0], "value", None)
        if name and name not in words and not name.startswith(ASSEMBLED):
            return False
        before = token.value if token.type == "literal" else ""
    return True


def selectors(prelude: list[Any]) -> Iterator[list[Any]]:
    """The parts between commas."""
    part: list[Any] = []
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            yield part
            part = []
        else:
            part.append(token)
    yield part


def purged(rules: list[Any], words: set[str] | None) -> str:
    """The rules that something on the pages could use; without words, all of them."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            parts = [p for p in selectors(rule.prelude) if words is None or needed(p, words)]
            if parts:
                heads = ",".join(tinycss2.serialize(part).strip() for part in parts)
                kept.append(f"{heads}{{{tinycss2.serialize(rule.content).strip()}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in GROUPS and rule.content:
            nested = tinycss2.parse_rule_list(
                rule.content, skip_comments=True, skip_whitespace=True
            )
            inside = purged(nested, words)
            if inside:
                prelude = tinycss2.serialize(rule.prelude).strip()
                kept.append(f"@{rule.at_keyword} {prelude}{{{inside}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword != "charset":
            kept.append(rule.serialize())
        elif rule.type == "error":
            raise ValueError(f"a style sheet cannot be read: {rule.message}")
    return "\n".join(kept)


def merge_sheets(static: Path, sheets: list[str], words: set[str], variables: set[str]) -> None:
    """Writes the merged sheet; addresses in it are seen from its folder.

    `variables` are the beginnings of the names that scripts and pages read.
    """
    merged = []
    for name in sheets:

        def moved(match: re.Match[str], folder: str = posixpath.dirname(name)) -> str:
            target = posixpath.normpath(posixpath.join(folder, match[2]))
            return f'url("{posixpath.relpath(target, posixpath.dirname(SITE))}")'

        text = URL.sub(moved, (static / name).read_text(encoding="utf-8"))
        # Our own sheets are small, and our scripts put names of classes together.
        used = None if name in OWN_SHEETS else words
        merged.append(purged(tinycss2.parse_stylesheet(text, True, True), used))
    text = without_idle_variables("\n".join(merged), variables)
    # Nobody waits for a font.
    text = re.sub(r"font-display:\s*block", "font-display:swap", text)
    (static / SITE).write_text(text, encoding="utf-8")


def without_idle_variables(text: str, variables: set[str]) -> str:
    """Drops custom properties that nothing reads, and then those that only these have read."""
    elsewhere = tuple(variables)
    while True:
        read = set(READ.findall(text))

        def kept(match: re.Match[str], read: set[str] = read) -> str:
            return match[0] if match[1] in read or match[1].startswith(elsewhere) else ""

        shorter = VARIABLE.sub(kept, text)
        if shorter == text:
            return text
        text = shorter


def lighten(path: Path, options: str) -> None:
    """What a page need not load at once, or not at all."""
    page = path.read_text(encoding="utf-8")
    lighter = page if path.name == "search.html" else SEARCH.sub("", page)
    # The options are a line; a request of its own would hold up the drawing.
    lighter = OPTIONS.sub(lambda match: f"<script>{options}</script>", lighter)

    def waits(match: re.Match[str]) -> str:
        source = re.search(r'src="([^"]+\.png)"', match[0])
        picture = path.parent / source[1] if source else None
        size = ""
        if picture and picture.exists() and " width=" not in match[0]:
            # With its size the picture has its place before it has come.
            width, height = struct.unpack(">II", picture.read_bytes()[16:24])
            size = f' width="{width}" height="{height}"'
        return f'<img loading="lazy"{size} {match[1]}'

    lighter = IMAGE.sub(waits, lighter)
    if lighter != page:
        path.write_text(lighter, encoding="utf-8")


def icons_shown(static: Path, pages: list[str]) -> set[int]:
    """The code points of all icons that the pages or the style sheets put on a page."""
    sheet = (static / "styles" / "pydata-sphinx-theme.css").read_text()
    named: dict[str, str] = {}
    for rule, code in ICON_RULE.findall(sheet):
        named.update(dict.fromkeys(re.findall(r"\.fa-([\w-]+):before", rule), code))
    text = "".join(pages)
    text += (static / "scripts" / "pydata-sphinx-theme.js").read_text()
    codes = {int(named[name], 16) for name in re.findall(r"fa-([\w-]+)", text) if name in named}
    # Icons that the style sheets give to boxes and links: literal characters or escapes.
    others = re.findall(r'--pst-icon-[\w-]+:\s*"([^"]+)"', sheet)
    codes |= {ord(character) for value in others for character in value if len(value) == 1}
    for path in static.rglob("*.css"):
        if path.name not in ("pydata-sphinx-theme.css", Path(SITE).name):
            escapes = re.findall(r'content:\s*"\\(f[0-9a-f]{3})"', path.read_text())
            codes |= {int(code, 16) for code in escapes}
    return codes


def characters_of_formulas(pages: list[str]) -> set[int]:
    """The code points that formulas show; a browser sets a single letter in italics by itself."""
    characters: set[str] = set()
    for page in pages:
        for formula in FORMULA.findall(page):
            characters.update(unescape(TAG.sub("", formula)))
    slanted = {"h": "\N{PLANCK CONSTANT}"}
    for first, last, name in ITALICS:
        for code in range(ord(first), ord(last) + 1):
            slanted.setdefault(chr(code), chr(ord(name) + code - ord(first)))
    characters.add("\N{SQUARE ROOT}")  # drawn by an element, it is in no text
    return {ord(c) for c in characters} | {ord(slanted[c]) for c in characters if c in slanted}


def shrink_fonts(static: Path, pages: list[str]) -> None:
    """Cuts the fonts of icons and formulas down to the characters that are shown."""
    icons = sorted((static / "vendor" / "fontawesome" / "webfonts").glob("*.woff2"))
    codes = icons_shown(static, pages) if icons else set()
    for path in icons:
        cut(path, codes)
    for path in (static / "fonts").glob("book-math.woff2"):
        cut(path, characters_of_formulas(pages))


def cut(path: Path, codes: set[int]) -> None:
    """A font with these characters only, and what they grow into."""
    options = subset.Options(flavor="woff2", notdef_outline=True, layout_features=["*"])
    font = subset.load_font(str(path), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    subset.save_font(font, str(path), options)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """After the pages."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    static = folder / "_static"
    options = (static / "documentation_options.js").read_text(encoding="utf-8").strip()
    for path in folder.rglob("*.html"):
        lighten(path, options)
    pages = [path.read_text(encoding="utf-8") for path in folder.rglob("*.html")]
    scripts = {path: path.read_text(encoding="utf-8") for path in static.rglob("*.js")}
    sheets = getattr(app.env, "book_sheets", None)
    if sheets:
        variables = variables_of([*pages, *scripts.values()])
        merge_sheets(static, sheets, words_of(pages, scripts), variables)
    shrink_fonts(static, pages)
    for pattern in NEEDLESS:
        for path in static.rglob(pattern):
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.connect("html-page-context", link_one_sheet, priority=900)
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
