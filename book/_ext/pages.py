"""The last touch to each page, while it is made from the theme's template.

- The side bar becomes a landmark, for those who move from landmark to landmark.
- The search index is loaded by the search page only.
- Pictures are loaded when they come near the window, and have their place before they have come.

`template_bridge` in _config.yml names the class: Sphinx makes its pages with it.
"""

import re
import struct
from pathlib import Path
from typing import Any

from sphinx.builders import Builder
from sphinx.errors import ExtensionError
from sphinx.jinja2glue import BuiltinTemplateLoader
from sphinx.theming import Theme

from book._ext.edits import edited

SIDE_BAR = re.compile(r'<div id="pst-primary-sidebar"(?= class=)')
SEARCH = re.compile(
    r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js"></script>'
)
# What stands in quotation marks may hold the sign that ends a tag.
IMAGE = re.compile(r'<img (?!(?:[^>"]|"[^"]*")*\bloading=)((?:[^>"]|"[^"]*")*>)')
PICTURE = re.compile(r'\bsrc="[^"]*\b_images/([^"/]+\.png)"')


class Pages(BuiltinTemplateLoader):
    """Sphinx's own templates, and what is changed in a page that was made from one."""

    def init(
        self, builder: Builder, theme: Theme | None = None, dirs: list[str] | None = None
    ) -> None:
        """Sphinx calls this once; the builder knows the pictures."""
        super().init(builder, theme, dirs)
        self.builder = builder

    def render(self, template: str, context: dict[str, Any]) -> str:  # type: ignore[override]
        """A page, or a part of one, as which the theme's menus are made first."""
        page = super().render(template, context)
        if "</html>" not in page:
            return page
        images = self.builder.images
        pictures = {name: Path(self.builder.srcdir, path) for path, name in images.items()}
        return finished(page, context["pagename"], pictures)


def finished(page: str, name: str, pictures: dict[str, Path]) -> str:
    """A page with all edits; `pictures` has the file of each picture by its name on the site."""
    landmark = '<div id="pst-primary-sidebar" role="region" aria-label="Book"'
    page = edited("pages.SIDE_BAR", SIDE_BAR, landmark, page, name)
    if name != "search":
        page = edited("pages.SEARCH", SEARCH, "", page, name)

    def waiting(match: re.Match[str]) -> str:
        picture = PICTURE.search(match[1])
        size = ""
        if picture and not re.search(r"\bwidth=", match[1]):
            if picture[1] not in pictures:
                raise ExtensionError(f"{name}: the page shows {picture[1]}, which Sphinx lacks")
            width, height = size_of(pictures[picture[1]])
            size = f' width="{width}" height="{height}"'
        return f'<img loading="lazy"{size} {match[1]}'

    return IMAGE.sub(waiting, page)


def size_of(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG file in pixels."""
    with picture.open("rb") as file:
        width, height = struct.unpack(">II", file.read(24)[16:])
    return width, height
