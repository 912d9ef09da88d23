"""The trained models of widgets that answer on the page: packed, beside the pages.

A widget's state names its model (`live`); a reader's click loads it from `_static/models`.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

NAMED = re.compile(r'"live":\{[^{}]*"name":"([^"]+)"')  # an executed cell's state is sorted


def models_of(pages: Path) -> set[str]:
    """The models that widgets of the built pages name."""
    texts = (path.read_text(encoding="utf-8") for path in pages.rglob("*.html"))
    return {name for text in texts for name in NAMED.findall(text)}


def add_models(app: Sphinx, exception: Exception | None) -> None:
    """Writes the scripts of each model, behind what reads all scripts for their words."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    if names := models_of(out):
        from transformer.packing import shipped_pack, write_scripts  # a book may have no module

        for name in sorted(names):
            write_scripts(shipped_pack(name), out / "_static" / "models" / name, name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the step to the build."""
    app.connect("build-finished", add_models, priority=920)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
