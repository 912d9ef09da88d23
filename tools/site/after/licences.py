"""The licences of what others have made and the site is published with: their texts, and a list.

Each of the static files is ours or that of a work named here; a new one of which nobody has said
whose it is ends the build. The directive `licences` lists the works, each with the text of its
licence, which stands in `_static/licences`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from tools.site.pages import Site

ROOT = Path(__file__).resolve().parents[3]
FONTS = ROOT / "book/_static/fonts"
FOLDER = "licences"
OURS = (
    *("book.css", "book.js", "progress.js", "offline.js", "favicon.svg", "readme.png"),
    *(
        "social.png",
        "styles/site.css",
        "widgets.js",
        "widgets/*",
        "fonts/LICENSE-*.txt",
        f"{FOLDER}/*",
    ),
    "models/toy_*/*",
    *("deck.css", "deck.js"),
)


@dataclass(frozen=True)
class Work:
    """What somebody else has made and the site is published with.

    Attributes:
        name: as its authors call it.
        licence: by its SPDX identifiers, or, where it has none, as the package's metadata name it.
        text: where the licence's text stands: the name of an installed package, a file, or the line
            with the copyright where the licence is MIT's and no package brings its text.
        files: those of the static files that it is, or a part of.
    """

    name: str
    licence: str
    text: str | Path
    files: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name of the file with the text."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") + ".txt"


THEME = "styles/pydata-sphinx-theme.css"  # with the rules of Bootstrap and Font Awesome in it
BOOTSTRAP = "scripts/bootstrap.js"  # with Popper in it
SPHINX = (
    *("basic.css", "doctools.js", "documentation_options.js", "language_data.js", "searchtools.js"),
    *("sphinx_highlight.js", "file.png", "minus.png", "plus.png"),
)
PYDATA = ("scripts/pydata-sphinx-theme.js", THEME, "styles/theme.css", "webpack-macros.html")
BOOK_THEME = (
    *("scripts/sphinx-book-theme.js", "styles/sphinx-book-theme.css"),
    *("images/logo_*", "locales/*/booktheme.*", "sbt-webpack-macros.html"),
)
COPY_ICONS = ("check-solid.svg", "copy-button.svg")
WORKS = (
    Work("Sphinx", "BSD-2-Clause", "Sphinx", SPHINX),
    Work("PyData Sphinx Theme", "BSD-3-Clause", "pydata-sphinx-theme", PYDATA),
    Work("Sphinx Book Theme", "BSD-3-Clause", "sphinx-book-theme", BOOK_THEME),
    Work(
        "Bootstrap",
        "MIT",
        "Copyright (c) 2011-2024 The Bootstrap Authors",
        (BOOTSTRAP, f"{BOOTSTRAP}.LICENSE.txt", THEME),
    ),
    Work("Popper", "MIT", "Copyright (c) 2019 Federico Zivolo", (BOOTSTRAP,)),
    Work(
        "Font Awesome Free: icons and fonts",
        "CC-BY-4.0 AND OFL-1.1",
        FONTS / "LICENSE-book-icons.txt",
        ("fonts/fa-*.woff2",),
    ),
    Work("Font Awesome Free: rules", "MIT", "Copyright (c) 2024 Fonticons, Inc.", (THEME,)),
    Work(
        "STIX fonts, of which Book Math is cut",
        "OFL-1.1",
        FONTS / "LICENSE-book-math.txt",
        ("fonts/book-math.woff2",),
    ),
    Work("MyST-NB", "BSD-3-Clause", "myst-nb", ("mystnb.*.css",)),
    Work("Pygments", "BSD-2-Clause", "Pygments", ("pygments.css",)),
    Work("sphinx-copybutton", "MIT", "sphinx-copybutton", ("copybutton.*", "copybutton_funcs.js")),
    Work("clipboard.js", "MIT", "Copyright (c) Zeno Rocha", ("clipboard.min.js",)),
    Work("sphinx-design", "MIT", "sphinx-design", ("design-tabs.js", "sphinx-design.min.css")),
    Work("sphinx-exercise", "MIT", "sphinx-exercise", ("exercise.css",)),
    Work("sphinx-togglebutton", "MIT", "sphinx-togglebutton", ("togglebutton.*",)),
    Work("Tabler Icons", "MIT", "Copyright (c) 2020-2025 Paweł Kuna", COPY_ICONS),
    Work(
        "Tatoeba, MASSIVE, the African Storybook and CoCoA-MT, of the everyday model",
        "CC-BY-4.0",
        ROOT / "book/models/LICENSE-everyday.md",
        ("models/everyday/*",),
    ),
)
NOTES = "revealjs/plugin/notes/notes.js"  # with marked in it
OF_SLIDES = (
    Work(
        "reveal.js",
        "MIT",
        "Copyright (C) 2011-2024 Hakim El Hattab, and reveal.js contributors",
        ("revealjs/LICENSE", "revealjs/dist/reveal.js", "revealjs/dist/reveal.css", NOTES),
    ),
    Work(
        "marked",
        "MIT",
        "Copyright (c) 2018+, MarkedJS; Copyright (c) 2011-2018, Christopher Jeffrey",
        (NOTES,),
    ),
)


def text_of(work: Work) -> str:
    """The text of a work's licence, with its copyright.

    Raises ExtensionError where its package brings none.
    """
    if isinstance(work.text, Path):
        return work.text.read_text(encoding="utf-8")
    if work.text.startswith("Copyright"):
        _, permission, rest = (ROOT / "LICENSE").read_text(encoding="utf-8").partition("Permission")
        return f"{work.name}\n\nMIT License\n\n{work.text}\n\n{permission}{rest}"
    named = re.compile(r"(?:LICEN[CS]E|COPYING)[^/]*", re.IGNORECASE)
    files = metadata.files(work.text) or ()
    texts = [f.read_text() for f in files if ".dist-info" in str(f) and named.fullmatch(f.name)]
    if not texts:
        raise ExtensionError(f"the package {work.text} brings no licence: look in licences.py")
    return "\n\n".join(texts)


def strangers(static: Path) -> Iterator[str]:
    """The static files of which nobody has said whose they are."""
    known = [*OURS, *(pattern for work in (*WORKS, *OF_SLIDES) for pattern in work.files)]
    for path in sorted(static.rglob("*")):
        name = path.relative_to(static).as_posix()
        if path.is_file() and not any(fnmatch(name, pattern) for pattern in known):
            yield name


class Licences(Directive):
    """The list of works, each with the text of its licence."""

    def run(self) -> list[nodes.Node]:
        """HTML, since the texts lie beside the pages and nowhere else."""
        up = "../" * self.state.document.settings.env.docname.count("/")
        items = (
            f'<li><a href="{up}_static/{FOLDER}/{work.file}">{escape(work.name)}</a>: '
            f"{work.licence.replace('AND', 'and')}</li>"
            for work in WORKS
        )
        return [nodes.raw("", f'<ul class="simple">{"".join(items)}</ul>', format="html")]


def publish(app: Sphinx, site: Site) -> None:
    """Puts the texts beside the pages.

    Raises ExtensionError for a file of which nobody has said whose it is.
    """
    static = site.out / "_static"
    (static / FOLDER).mkdir(exist_ok=True)
    for work in (*WORKS, *OF_SLIDES):
        if any(any(static.glob(pattern)) for pattern in work.files):
            (static / FOLDER / work.file).write_text(text_of(work), encoding="utf-8")
    if unknown := list(strangers(static)):
        raise ExtensionError(
            f"whose are {', '.join(unknown)}? Name them in tools/site/after/licences.py, with the "
            "licence under which they may be published"
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Adds the directive."""
    app.add_directive("licences", Licences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
