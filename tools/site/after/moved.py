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

from tools.site.after.edits import edited
from tools.site.pages import Site

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


def write_anchors(app: Sphinx, site: Site) -> None:
    """Puts the old anchors of each page at its end.

    Raises ExtensionError for an old anchor that is there still, or a new one that is not.
    """
    texts = {name.removesuffix(".html"): page.text for name, page in site.pages.items()}
    for old, new in app.config.moved_anchors.items():
        (page, name), (target, anchor) = old.split("#"), new.split("#")
        text = texts.get(page, "")
        line = ANCHOR.format(
            name=escape(name),
            url=escape(os.path.relpath(f"{target}.html", Path(page).parent) + f"#{anchor}"),
            title=escape(app.env.titles[target].astext()) if target in app.env.titles else "",
        )
        if line in text:
            continue  # an earlier build has written it
        if not text or f'id="{name}"' in text:
            wrong = f"{old} is there still" if text else f"there is no page {page}"
        elif f'id="{anchor}"' not in texts.get(target, ""):
            wrong = f"there is no {new}"
        else:
            edit = edited("moved.ARTICLE_END", ARTICLE_END, line.replace("\\", "\\\\"), text, page)
            site.put(f"{page}.html", edit)
            texts[page] = edit
            continue
        raise ExtensionError(f"moved_anchors in _config.yml sends {old} to {new}: {wrong}")


def write_pages(app: Sphinx, site: Site) -> None:
    """Puts a page that leads on at each old address.

    Raises ExtensionError for an old address that is a page still, or a new one that is none.
    """
    documents = app.env.found_docs
    for old, new in app.config.moved_pages.items():
        if old in documents or new not in documents:
            wrong = f"{old} is there still" if old in documents else f"there is no page {new}"
            raise ExtensionError(f"moved_pages in _config.yml sends {old} to {new}: {wrong}")
        url = os.path.relpath(f"{new}.html", Path(old).parent)
        page = PAGE.format(
            title=escape(app.env.titles[new].astext()),
            url=escape(url),
            canonical=escape(f"{app.config.html_baseurl.rstrip('/')}/{new}.html"),
        )
        site.put(f"{old}.html", page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the two settings; `steps.py` takes the steps."""
    app.add_config_value("moved_pages", {}, "html")
    app.add_config_value("moved_anchors", {}, "html")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
