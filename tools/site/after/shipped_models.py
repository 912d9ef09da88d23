"""The trained models of widgets that answer on the page: packed, beside the pages.

A widget's state names its model (`live`); a reader's click loads it from `_static/models`.
"""

import re

from sphinx.application import Sphinx

from tools.site.pages import Site

NAMED = re.compile(r'"live":\{[^{}]*"name":"([^"]+)"')  # an executed cell's state is sorted


def models_of(site: Site) -> set[str]:
    """The models that widgets of the built pages name."""
    return {name for page in site.pages.values() for name in NAMED.findall(page.text)}


def add_models(app: Sphinx, site: Site) -> None:
    """Writes the scripts of each model."""
    if names := models_of(site):
        from transformer_book.page.model_scripts import (  # a book may have no module
            shipped_pack,
            write_scripts,
        )

        for name in sorted(names):
            write_scripts(shipped_pack(name), site.out / "_static" / "models" / name, name)
