"""What others than readers look for on the site, and what they find who come to the wrong address.

- `sitemap.xml` and `robots.txt`, for search engines; the latter counts where the book has a host to
  itself;
- `404.html`, which servers show for an address at which there is nothing. It may be any address, so
  all links of this page begin at the server's root;
- the picture that stands beside a link to the book where people talk.

All addresses follow `html.baseurl` in _config.yml.
"""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from sphinx.application import Sphinx

from tools.site.after.edits import edited
from tools.site.pages import Site

NOT_FOUND = "404"
WORDS = """\
<h1>There is nothing here</h1>
<p>No page of the book has this address, or there is no network and the page was not kept.</p>
<ul class="simple">
<li><a href="{front}">The front page</a>, with all chapters beside it</li>
<li><a href="search.html">Search the book</a></li>
<li><a href="genindex.html">The index of its words</a></li>
</ul>
"""
RELATIVE = re.compile(r'\b(href|src|action|data-content_root)="(?!#|/|[a-z]+:)(?:\./)?([^"]*)"')
HTML = re.compile(r"<html (?=lang=)")
SOCIAL = "_static/social.png"
WIDTH, HEIGHT = 1200, 630  # the shape in which such pictures are shown


def pages_beside(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The page for addresses at which there is nothing: the site has one, slides have not."""
    if app.builder.name != "html":
        return
    front = app.builder.get_target_uri(app.config.root_doc)
    yield (
        NOT_FOUND,
        {"title": "There is nothing here", "body": WORDS.format(front=front)},
        "page.html",
    )


def from_the_root(page: str, base: str) -> str:
    """A page whose links hold wherever it is shown; it says from where on they are."""
    page = RELATIVE.sub(lambda match: f'{match[1]}="{base}{match[2]}"', page)
    return edited("sitemap_and_404.HTML", HTML, f'<html data-base="{base}" ', page, NOT_FOUND)


def sitemap(base: str, pages: list[str]) -> str:
    """All pages, as search engines read them."""
    entries = "".join(f"<url><loc>{escape(f'{base}/{page}.html')}</loc></url>\n" for page in pages)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    )


def draw_social_picture(path: Path, title: str) -> None:
    """The book's title over the sines and cosines of section 3.5."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor="#10243a")
    figure.set_layout_engine("none")  # that of the charts needs a grid
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 0.5))
    angles = np.arange(240)[None, :] / 10_000 ** (np.arange(32)[:, None] / 32)
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(64, 240)
    axes.imshow(waves, aspect="auto", cmap="cividis", interpolation="nearest")
    axes.set_axis_off()
    ink: dict[str, Any] = {"color": "white", "family": "DejaVu Sans", "va": "center"}
    figure.text(0.05, 0.79, title, fontsize=42, weight="bold", **ink)
    figure.text(0.05, 0.63, "“Attention Is All You Need”, as a book that runs", fontsize=24, **ink)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi="figure", metadata={"Software": None})


def write_files(app: Sphinx, site: Site) -> None:
    """Writes them beside the pages."""
    out, base = site.out, app.config.html_baseurl.rstrip("/")
    pages = sorted(app.env.found_docs)
    (out / "sitemap.xml").write_text(sitemap(base, pages), encoding="utf-8")
    robots = f"User-agent: *\nAllow: /\nSitemap: {base}/sitemap.xml\n"
    (out / "robots.txt").write_text(robots, encoding="utf-8")
    page = site.pages[f"{NOT_FOUND}.html"]
    if "data-base=" not in page.text:  # else it is as an earlier build has left it
        page.text = from_the_root(page.text, f"{urlparse(base).path}/")
    if not (out / SOCIAL).exists():
        draw_social_picture(out / SOCIAL, app.config.html_title)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the page for wrong addresses to the build."""
    app.connect("html-collect-pages", pages_beside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
