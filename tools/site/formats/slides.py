"""Makes the slides: `.venv/bin/python -m tools.site.formats.slides`. `make slides` calls it.

With `--publish` they also go beside the book, where the published site has them.

One deck a chapter, from the marks in it (`extensions/slide_marks.py`), with the outputs that the
book's build has left in its cache: nothing is executed here. What comes out, `_build/slides`, needs
no network and no server.
"""

import argparse
import shutil
import sys
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from tools.site import EXTENSIONS, OF_PAGES, is_book
from tools.site.chapters import notebooks

# What only the site has: its theme, buttons, folds, menus. Of ours decks take what they need.
SITE_ONLY = {
    "sphinx_book_theme",
    "sphinx_copybutton",
    "sphinx_togglebutton",
    "sphinxext.opengraph",
    "tools.site",
}
FOLDER = "slides"  # on the published site; `tools/site/book.py` forgets it
OF_SITE = ("html_", "ogp_", "templat", "comments_", "moved_")  # how their settings begin
# Which form of an output is shown, as on the site.
PRIORITY = (
    "application/vnd.jupyter.widget-view+json",
    "application/javascript",
    "text/html",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "text/markdown",
    "text/latex",
    "text/plain",
)
REVEAL = {
    "width": 1280,
    "height": 720,
    "margin": 0,
    "center": False,
    "hash": True,
    "transition": "none",
    "controlsTutorial": False,
    # With it the speaker's view has the pace: ahead of, or behind, the minutes that each slide has.
    "defaultTiming": 120,
}


def settings(root: Path) -> dict[str, Any]:
    """Sphinx' settings: the book's, with the builder of decks in the place of its theme."""
    from jupyter_book.config import get_final_config

    with redirect_stdout(StringIO()):
        config, _ = get_final_config(
            user_yaml=root / "_config.yml",
            sourcedir=root,
            cli_config={"latex_individualpages": False},
        )
    config["extensions"] = [name for name in config["extensions"] if name not in SITE_ONLY]
    config["extensions"] += [name for name in EXTENSIONS if name not in OF_PAGES]
    config["extensions"] += ["sphinx_revealjs", "tools.site.formats.decks"]
    kept = ("html_title", "html_math_renderer")
    config = {k: v for k, v in config.items() if k in kept or not k.startswith(OF_SITE)}
    static = root / "book" / "_static"
    return config | {
        "html_copy_source": False,
        "html_use_index": False,
        "html_context": {"project_title": config["html_title"]},
        "nb_execution_cache_path": str(root / "_build" / ".jupyter_cache"),
        "nb_mime_priority_overrides": [
            ("revealjs", form, 10 * rank) for rank, form in enumerate(PRIORITY, 1)
        ],
        "revealjs_html_theme": "deck",
        "revealjs_style_theme": "book.css",
        "revealjs_static_path": [str(static)] if static.exists() else [],
        "revealjs_css_files": ["pygments.css", "widgets/widgets.css", "deck.css"],
        "revealjs_script_conf": REVEAL,
        "revealjs_script_plugins": [
            {"src": "revealjs/plugin/notes/notes.js", "name": "RevealNotes"}
        ],
    }


def not_executed(root: Path) -> list[str]:
    """The chapters whose outputs are not in the cache."""
    from tools.site.durations import Durations
    from tools.site.execute import Execution

    cache = root / "_build" / ".jupyter_cache"
    return sorted(Execution(cache, notebooks(root), Durations.read()).due)


def make_slides(root: Path) -> int:
    """Makes the decks of a book in `_build/slides`; 0 when all is well."""
    from sphinx.application import Sphinx
    from sphinx.util.console import strip_colors
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    started = time.monotonic()
    out = root / "_build" / "slides"
    if missing := not_executed(root):
        print(f"No outputs yet of {', '.join(missing)}: run `make book` first.", file=sys.stderr)
        return 1
    said = StringIO()
    with patch_docutils(str(root)), docutils_namespace():
        app = Sphinx(
            root,
            None,
            out,
            root / "_build" / ".doctrees_of_slides",
            "revealjs",
            confoverrides=settings(root),
            status=None,
            warning=said,
        )
        app.build()
    if warnings := strip_colors(said.getvalue()):
        print("The slides were NOT made:", warnings, sep="\n", file=sys.stderr)
        return 1
    from tools.site.formats.decks import decks_of

    decks = list(decks_of(app.env))
    minutes = sum(deck.minutes for deck in decks)
    print(
        f"The slides: {len(decks)} decks of {minutes:g} minutes in all "
        f"({time.monotonic() - started:.0f} s).\n  open {(out / 'index.html').as_uri()}",
    )
    return 0


def publish(root: Path) -> None:
    """Puts the decks into the folder `slides` of the built site, in the place of earlier ones.

    They stay apart from the book there: no page keeps them for reading without a network, the
    sitemap does not name them, and the next build of the book begins without them.
    """
    target = root / "_build" / "html" / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root / "_build" / "slides", target)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the folder with _toc.yml")
    parser.add_argument(
        "--publish", action="store_true", help="put them on the built site, too, under slides/"
    )
    options = parser.parse_args()
    root = options.root.resolve()
    if not is_book(root):
        return 1
    status = make_slides(root)
    if options.publish and status == 0:
        publish(root)
    return status


if __name__ == "__main__":
    sys.exit(main())
