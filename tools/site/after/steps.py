"""What happens after Sphinx has made the pages: all steps, in their order.

Every step takes the application and the built pages, which it reads and changes in memory; they are
written after the last one. A step that raises ends the build.
"""

from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx

from tools.site.after import (
    assets,
    lecturers,
    licences,
    moved,
    offline,
    search,
    shipped_models,
    sitemap_and_404,
)
from tools.site.extensions import changes, notebook_links, widgets
from tools.site.pages import Site

Step = Callable[[Sphinx, Site], None]

AFTER_THE_PAGES: tuple[Step, ...] = (
    notebook_links.write_labels,
    widgets.add_front_ends,
    moved.write_pages,
    moved.write_anchors,
    sitemap_and_404.write_files,
    changes.write_feed,
    lecturers.write_sheets,
    assets.merge_sheets,  # reads all pages and scripts for the words that they use
    assets.measure_less,
    assets.remove_needless,
    assets.add_versions,  # when scripts and sheets are as they stay
    assets.add_policies,  # the scripts of a page are known now
    shipped_models.add_models,  # their words are none of a page's
    search.write_index,
    licences.publish,  # when what no page loads is gone
    offline.write_worker,  # when all files are as they will be served
)


def run(app: Sphinx, steps: tuple[Step, ...]) -> None:
    """Takes the steps, and writes the pages that they have changed."""
    site = Site(Path(app.outdir))
    for step in steps:
        step(app, site)
    site.write()


def finish(app: Sphinx, exception: Exception | None) -> None:
    """After the pages of the site; decks have steps of their own (`formats/decks.py`)."""
    if exception is None and app.builder.name == "html":
        run(app, AFTER_THE_PAGES)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.connect("build-finished", finish, priority=900)  # after those of the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
