"""The extensions together, on a site of two pages that Sphinx builds with the book's theme."""

import re
import subprocess
import sys
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import cast

import pytest
from PIL import Image
from sphinx.application import Sphinx

from tools.site.after.assets import add_versions
from tools.site.after.policy import with_policy
from tools.site.pages import Site

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]
SETTINGS = f"""
import re
from pathlib import Path
extensions = ["sphinxcontrib.bibtex", "sphinxext.opengraph"]
names = ("descriptions", "notebook_links", "widgets")
extensions += [f"tools.site.extensions.{{name}}" for name in names]
extensions += [f"tools.site.after.{{name}}" for name in ("moved", "assets", "sitemap_and_404")]
extensions += ["tools.site.after.steps"]
template_bridge = "tools.site.after.template_edits.Pages"
templates_path = ["{ROOT}/tools/site/templates"]
html_theme = "sphinx_book_theme"
html_theme_options = {{"repository_url": "https://github.com/owner/book"}}
html_context = {{"default_mode": "auto"}}
html_baseurl = "https://owner.example/book/"
html_title = "The book"
html_static_path = ["{ROOT}/book/_static"]
html_css_files = ["book.css"]
bibtex_bibfiles = ["works.bib"]
"""
FIRST = "Twelve words & a sign <like this> are repeated, until no line holds them any more, " * 4
PAGES = {
    "index.rst": f"""
The first page
==============

.. note:: A box comes first.

{FIRST} :cite:p:`one`.

.. image:: drawn.png
   :alt: a box

.. toctree::

   second
""",
    "second.rst": "The second page\n===============\n\nShort.\n\n.. bibliography::\n   :all:\n",
    "works.bib": "@book{one, title={One}, author={A B}, year={2001}, publisher={C}}\n"
    "@book{two, title={Two}, author={D E}, year={2002}, publisher={F}}\n",
}


def build(folder: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    """Builds the site, with some lines more in its settings."""
    source = folder / "source"
    source.mkdir()
    (source / "conf.py").write_text(SETTINGS + more)
    for name, text in PAGES.items():
        (source / name).write_text(text)
    Image.new("RGB", (30, 20)).save(source / "drawn.png")
    command = [sys.executable, "-m", "sphinx", "-W", "-T", str(source), str(folder / "html")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def meta(page: str) -> dict[str, str]:
    return dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="(.*?)" />', page))


def test_every_page_is_edited(html: Path) -> None:
    for name in ("index", "second", "search", "genindex"):
        page = (html / f"{name}.html").read_text()
        assert 'id="pst-primary-sidebar" role="region"' in page
        assert ("search/index.js" in page) == (name == "search")
        assert "<script>const DOCUMENTATION_OPTIONS" in page
        assert "documentation_options.js" not in page
        assert page == with_policy(page)
        assert page.count("Content-Security-Policy") == 1
        assert re.findall(r'<link [^>]*href="([^"]*)\?v=\w+" rel="stylesheet"', page) == [
            "_static/styles/site.css"
        ]
    index = (html / "index.html").read_text()
    assert re.search(r'<img loading="lazy" width="30" height="20" [^>]*drawn.png', index)
    waiting = re.findall(r"<script ([^>]*)src=", index)
    assert waiting and all("defer" in attributes for attributes in waiting)


def test_scripts_and_sheets_are_loaded_by_their_content(html: Path) -> None:
    for name in ("index", "second", "search"):
        page = (html / f"{name}.html").read_text()
        loaded = re.findall(r'"([^"?:]*_static/[^"?]+\.(?:js|css))(?:\?v=(\w+))?"', page)
        assert {"scripts/bootstrap.js", "styles/site.css"} <= {
            path.removeprefix("_static/") for path, _ in loaded
        }
        for path, version in loaded:
            assert version == sha256((html / path).read_bytes()).hexdigest()[:8]


def test_a_changed_front_end_changes_what_a_page_loads(tmp_path: Path) -> None:
    widgets = tmp_path / "_static/widgets"
    widgets.mkdir(parents=True)
    (tmp_path / "_static/widgets.js").write_text("host")
    page = '<script defer src="_static/widgets.js"></script><script src="_static/no.js"></script>'
    (tmp_path / "page.html").write_text(page)
    seen = set()
    for text in ("old", "new", "new"):
        (widgets / "mask_explorer.js").write_text(text)
        site = Site(tmp_path)
        add_versions(cast(Sphinx, None), site)
        site.write()
        seen.add((tmp_path / "page.html").read_text())
    assert len(seen) == 2
    plain = {re.sub(r"\?v=\w{8}", "", text) for text in seen}
    assert plain == {page} and not seen & plain


def test_a_page_is_described_by_its_first_paragraph_in_whole_words(html: Path) -> None:
    tags = meta((html / "index.html").read_text())
    shown = unescape(tags["description"]).removesuffix(" …")
    assert shown != tags["description"], "marks of HTML are escaped"
    assert FIRST.startswith(f"{shown} ")
    assert 180 < len(shown) <= 200
    assert tags["og:description"] == tags["description"]
    assert tags["og:title"] == "The first page"
    assert tags["og:site_name"] == "The book"
    assert tags["og:url"] == "https://owner.example/book/index.html"
    assert meta((html / "second.html").read_text())["description"] == "Short."


def test_nothing_is_asked_of_another_host(html: Path) -> None:
    for name in ("index", "second", "search"):
        page = (html / f"{name}.html").read_text()
        links = re.findall(r"<(?:script|link|img|iframe)[^>]*>", page)
        asked = [link for link in links if re.search('(?:src|href)="(?:https?:)?//', link)]
        assert all('rel="canonical"' in link for link in asked)


def test_the_bibliography_has_no_roles_that_contradict_each_other(html: Path) -> None:
    page = (html / "second.html").read_text()
    assert page.count('<div class="citation-list">') == 1
    assert page.count('<div class="citation" id=') == 2
    assert "doc-biblioentry" not in page and 'role="list"' not in page
    assert page.count("<div") == page.count("</div>")


def test_the_one_sheet_has_the_rules_of_all(html: Path) -> None:
    sheet = (html / "_static/styles/site.css").read_text()
    for rule in (".bd-sidebar", ".tfw", "Book Math", "pst-color-primary", ".highlight"):
        assert rule in sheet
    assert len(sheet) < 0.4 * (html / "_static/styles/pydata-sphinx-theme.css").stat().st_size
    for address in re.findall(r'url\("([^"]*\.woff2)"\)', sheet):
        assert (html / "_static/styles" / address).exists()
    assert not (html / "_static/scripts/fontawesome.js").exists()
    assert (html / "_static/fonts/LICENSE-book-icons.txt").exists()


def test_pages_are_written_by_several_processes_as_by_one(html: Path, tmp_path: Path) -> None:
    source = html.parent / "source"
    command = [sys.executable, "-m", "sphinx", "-W", "-j", "2", str(source), str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    for name in ("index.html", "second.html", "_static/styles/site.css"):
        assert (tmp_path / name).read_text() == (html / name).read_text()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            "from tools.site.after import template_edits as edits\n"
            "edits.SIDE_BAR = re.compile('gone')\n",
            r"nothing matches template_edits\.SIDE_BAR, the pattern 'gone'",
        ),
        (
            "def setup(app):\n"
            "    def add(app, name, *more):\n"
            "        if name == 'index': app.add_css_file('copybutton.css')\n"
            "    app.connect('html-page-context', add)\n",
            r"index alone loads the style sheet copybutton\.css: name it in html_css_files",
        ),
        (
            "Path(__file__).with_name('static').mkdir()\n"
            "Path(__file__).with_name('static').joinpath('book.css').touch()\n"
            "html_static_path = ['static']\n",
            r"loads the font fa-solid-900\.woff2, which is not in book/_static/fonts",
        ),
    ],
    ids=["pattern", "sheet", "font"],
)
def test_what_no_longer_fits_the_theme_fails_the_build(tmp_path: Path, settings, sentence) -> None:
    done = build(tmp_path, settings)
    assert done.returncode != 0
    assert re.search(rf"ExtensionError: .*{sentence}", done.stderr), done.stderr[-2000:]
