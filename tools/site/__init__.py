"""The room that makes the site: text to pages, notebooks, slides and paper.

As an extension of Sphinx, which `_config.yml` names, it brings all of its own.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the key of the outputs is asked for before anything is installed
    from sphinx.application import Sphinx

EXTENSIONS = (
    "tools.site.extensions.mathml",
    "tools.site.extensions.descriptions",
    "tools.site.extensions.notebook_links",
    "tools.site.extensions.reading_aids",
    "tools.site.extensions.exercises",
    "tools.site.after.moved",
    "tools.site.extensions.widgets",
    "tools.site.after.assets",
    "tools.site.after.licences",
    "tools.site.extensions.night",
    "tools.site.extensions.gallery",
    "tools.site.extensions.slide_marks",
    "tools.site.extensions.coverage",
    "tools.site.extensions.of_chapters",
    "tools.site.extensions.back_matter",
    "tools.site.extensions.reference",
    "tools.site.after.sitemap_and_404",
    "tools.site.extensions.changes",
    "tools.site.after.steps",
)
# What slides do without: buttons, figures by night, old addresses, one style sheet, what is done
# to pages.
OF_PAGES = {
    "tools.site.extensions.descriptions",
    "tools.site.extensions.notebook_links",
    "tools.site.extensions.night",
    "tools.site.after.moved",
    "tools.site.after.assets",
    "tools.site.after.steps",
}


def is_book(root: Path) -> bool:
    """Whether a folder has a `_toc.yml`; where it has none, the user is told so."""
    found = (root / "_toc.yml").is_file()
    if not found:
        print(f"there is no book in {root} (no _toc.yml); name its folder", file=sys.stderr)
    return found


def setup(app: "Sphinx") -> dict[str, bool]:
    """Sets them up in this order."""
    for name in EXTENSIONS:
        app.setup_extension(name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
