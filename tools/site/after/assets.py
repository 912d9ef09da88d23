"""What a page loads: one style sheet (`styles.py` makes it) and scripts that wait.

Scripts wait until the page is drawn; the options of Sphinx's own stand in the page, since a request
for their one line would hold up the drawing. Files that no page loads go. Each page says what may
be loaded (`policy.py`). Boxes that scroll are found by `book.js` alone, not by the theme's script.
"""

import hashlib
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from tools.site.after import policy, styles
from tools.site.after.edits import edited
from tools.site.pages import Site

from transformer_book.widgets.static_page import HOST

SITE = "styles/site.css"
# The theme's own, which its templates would link, and after all others those of the widgets.
THEME_SHEETS = ("basic.css", "styles/pydata-sphinx-theme.css")
# They are small, and their scripts put names of classes together: all their rules are kept.
OWN_SHEETS = ("widgets/widgets.css",)
OPTIONS = "documentation_options.js"
LOADED = re.compile(r'"([^"?:]*_static/[^"?]+\.(?:js|css))(?:\?v=\w+)?"')
THEME_SCRIPT, BOOTSTRAP = "scripts/pydata-sphinx-theme.js", "scripts/bootstrap.js"
# The theme's last statement measures each box of code between two changes, folded ones too, and so
# has the page laid out dozens of times when it has loaded, and after each change; book.js does it.
MEASURING = re.compile(
    r',"complete"===document\.readyState\?(\w+)\(\):window\.addEventListener\("load",\1\)'
)
# The button that leads to the top measures the page's head when the script is loaded, and has the
# page laid out between what other scripts change; its height is soon enough when the page scrolls.
AT_ONCE = re.compile(
    r'(getElementsByClassName\("bd-header"\)\[0\])\.getBoundingClientRect\(\)(;.{,100}?\.)bottom\b'
)
NEEDLESS = (
    "*webpack-macros.html",
    "scripts/fontawesome.js*",
    "vendor/fontawesome/webfonts/*",
    "**/*.map",
)


def names_of(sheets: list[Any]) -> list[str]:
    """The paths of style sheets in the folder of static files."""
    return [str(sheet.filename).removeprefix("_static/").split("?")[0] for sheet in sheets]


def all_sheets(app: Sphinx) -> list[str]:
    """The sheets of every page, in the order in which they apply.

    Sphinx keeps them apart from those that a page alone asks for.
    """
    sheets = app.builder._orig_css_files  # type: ignore[attr-defined]
    in_order = sorted(sheets, key=lambda sheet: sheet.priority)
    return [*THEME_SHEETS, *names_of(in_order), *OWN_SHEETS]


def link_one_sheet(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: object,
) -> None:
    """Links the merged sheet in the place of a page's own.

    Raises ExtensionError for a sheet that not all pages load: it would not be among those merged.
    """
    sheets = all_sheets(app)
    if more := set(names_of(context["css_files"])) - set(sheets):
        raise ExtensionError(
            f"{pagename} alone loads the style sheet {', '.join(more)}: name it in html_css_files "
            "in _config.yml, so that it becomes a part of the site's one sheet"
        )
    context["css_files"] = []
    context["site_sheet"] = f"_static/{SITE}"


def let_scripts_wait(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: object,
) -> None:
    """Defers a page's scripts and writes the options of Sphinx's into the page.

    Raises ExtensionError where there are no such options.
    """
    scripts = context["script_files"]
    found = [s for s in scripts if str(getattr(s, "filename", "")).endswith(OPTIONS)]
    if not found:
        raise ExtensionError(f"{pagename} has no script {OPTIONS}, which Sphinx's scripts need")
    text = Path(app.outdir, "_static", OPTIONS).read_text(encoding="utf-8").strip()
    inline = type(found[0])(None, body=text, priority=found[0].priority)
    context["script_files"] = [inline if script is found[0] else script for script in scripts]
    for script in context["script_files"]:
        if not getattr(script, "filename", None):
            continue
        # The search page's own scripts do not wait, and call the others.
        if pagename != "search":
            script.attributes["defer"] = "defer"
        else:
            script.attributes.pop("defer", None)  # the same objects serve all pages


def has_new_pages(app: Sphinx) -> bool:
    """Whether Sphinx has written any; else all of them are as an earlier build has left them."""
    return hasattr(app.builder, "globalcontext")


def merge_sheets(app: Sphinx, site: Site) -> None:
    """Writes the one style sheet."""
    if not has_new_pages(app):
        return
    static = site.out / "_static"
    pages = [page.text for page in site.pages.values()]
    scripts = {path: path.read_text(encoding="utf-8") for path in static.rglob("*.js")}
    words = styles.words_of(pages, scripts)
    read = styles.variables_of([*pages, *scripts.values()])
    text = styles.merged(static, all_sheets(app), SITE, words, read, whole=OWN_SHEETS)
    (static / SITE).write_text(text, encoding="utf-8")


def measure_less(app: Sphinx, site: Site) -> None:
    """Takes out of the theme's scripts what `book.js` does at less cost, and what can wait."""
    if not has_new_pages(app):
        return
    edits = (
        (THEME_SCRIPT, "MEASURING", MEASURING, ""),
        (BOOTSTRAP, "AT_ONCE", AT_ONCE, r"\1\2offsetHeight"),
    )
    for script, name, pattern, change in edits:
        path = site.out / "_static" / script
        text = path.read_text(encoding="utf-8")
        text = edited(f"assets.{name}", pattern, change, text, script)
        path.write_text(text, encoding="utf-8")


def remove_needless(app: Sphinx, site: Site) -> None:
    """Removes the files that no page loads."""
    for pattern in NEEDLESS if has_new_pages(app) else ():
        for path in (site.out / "_static").glob(pattern):
            site.remove(path)


def add_versions(app: Sphinx, site: Site) -> None:
    """Puts a hash of its content behind the address of each script and sheet that a page loads.

    So no page of a new edition meets a file of an old one that the browser has kept. The host of
    the widgets hands its version on to what it loads, and so stands for all front ends.
    """
    versions: dict[Path, str] = {}

    def version(path: Path) -> str:
        if path not in versions:
            ours = sorted((path.parent / "widgets").glob("*.js")) if path.name == HOST else []
            content = b"".join(each.read_bytes() for each in [path, *ours])
            versions[path] = hashlib.sha256(content).hexdigest()[:8]
        return versions[path]

    for page in site.pages.values():

        def versioned(match: re.Match[str], folder: Path = page.path.parent) -> str:
            path = (folder / match[1]).resolve()
            return f'"{match[1]}?v={version(path)}"' if path.is_file() else match[0]

        page.text = LOADED.sub(versioned, page.text)


def add_policies(app: Sphinx, site: Site) -> None:
    """Lets each page say what may be loaded for it."""
    for page in site.pages.values():
        page.text = policy.with_policy(page.text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.connect("html-page-context", link_one_sheet, priority=900)
    app.connect("html-page-context", let_scripts_wait, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
