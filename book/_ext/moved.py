"""Pages that have moved: at the old address stands a page that leads to the new one.

`moved_pages` in _config.yml maps old documents to new ones. A link into the middle of a page keeps
its place: the script passes on what stands behind the `#`. Without scripts the top is reached.

`moved_anchors` maps an address within a page, `book/a#old`, to where its text is now, `book/b#new`.
Whoever comes to the old one reads that, with a link, and is led on by `book.js`.
"""

import os
import re
from html import escape
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from book._ext.edits import edited

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<title>{title}</title>
<meta name="robots" content="noindex" />
<meta http-equiv="refresh" content="1; url={url}" />
<link rel="canonical" href="{canonical}" />
<script>location.replace("{url}" + location.hash);</script>
</head>
<body>
<p>This page has moved: <a href="{url}">{title}</a>.</p>
</body>
</html>
"""

ANCHOR = '<p class="moved-anchor" id="{name}">This has moved: <a href="{url}">{title}</a>.</p>\n'
ARTICLE_END = re.compile(r"(?=</article>)")


def write_anchors(app: Sphinx, exception: Exception | None) -> None:
    """After the book's own pages: puts the old anchors of each page at its end.

    Raises ExtensionError for an old anchor that is there still, or a new one that is not.
    """
    if exception is not None or app.builder.name != "html":
        return
    for old, new in app.config.moved_anchors.items():
        (page, name), (target, anchor) = old.split("#"), new.split("#")
        path, goal = (Path(app.outdir, f"{each}.html") for each in (page, target))
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        line = ANCHOR.format(
            name=escape(name),
            url=escape(os.path.relpath(goal, path.parent) + f"#{anchor}"),
            title=escape(app.env.titles[target].astext()) if target in app.env.titles else "",
        )
        if line in text:
            continue  # an earlier build has written it
        if not text or f'id="{name}"' in text:
            wrong = f"{old} is there still" if text else f"there is no page {page}"
        elif not goal.exists() or f'id="{anchor}"' not in goal.read_text(encoding="utf-8"):
            wrong = f"there is no {new}"
        else:
            edit = edited("moved.ARTICLE_END", ARTICLE_END, line.replace("\\", "\\\\"), text, page)
            path.write_text(edit, encoding="utf-8")
            continue
        raise ExtensionError(f"moved_anchors in _config.yml sends {old} to {new}: {wrong}")


def write_pages(app: Sphinx, exception: Exception | None) -> None:
    """After the book's own pages, before each page gets its policy.

    Raises ExtensionError for an old address that is a page still, or a new one that is none.
    """
    if exception is not None or app.builder.format != "html":
        return
    documents = app.env.found_docs
    for old, new in app.config.moved_pages.items():
        if old in documents or new not in documents:
            wrong = f"{old} is there still" if old in documents else f"there is no page {new}"
            raise ExtensionError(f"moved_pages in _config.yml sends {old} to {new}: {wrong}")
        path = Path(app.outdir, f"{old}.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        url = os.path.relpath(f"{new}.html", Path(old).parent)
        page = PAGE.format(
            title=escape(app.env.titles[new].astext()),
            url=escape(url),
            canonical=escape(f"{app.config.html_baseurl.rstrip('/')}/{new}.html"),
        )
        path.write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the step to the build."""
    app.add_config_value("moved_pages", {}, "html")
    app.add_config_value("moved_anchors", {}, "html")
    app.connect("build-finished", write_pages, priority=800)
    app.connect("build-finished", write_anchors, priority=810)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
