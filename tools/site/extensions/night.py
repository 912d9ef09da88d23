"""Figures in dark mode: beside each picture of a cell the one of the night, of which one is shown.

`transformer_book/figures/night.py` has drawn it when the chapter was executed, and it lies in the
cache of the chapters' outputs, in the metadata of the picture. Here it becomes a file and a second
image with the same words, before Sphinx collects the page's images. The theme shows those of the
class `only-light` or those of `only-dark`; what is not shown, a browser does not fetch. Both have a
class with the points of the figure's smallest letters (`letters-12`), where these are known, for
`tools/site/after/template_edits.py`.
"""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PNG = "image/png"
Night = tuple[bytes, list[str]]  # a picture of the night, and the classes of both


class AddNight(SphinxTransform):
    """Puts the picture of the night behind that of the day, in every cell that has both."""

    default_priority = 870  # Sphinx collects images at 880

    def apply(self, **kwargs: Any) -> None:
        """Adds them to one page."""
        config = self.env.mystnb_config  # type: ignore[attr-defined]
        folder = Path(config.output_folder)
        notebook = folder / f"{self.env.docname}.ipynb"  # as MyST-NB has read it, without outputs
        if notebook.exists():
            with suppress(KeyError):  # it has no code
                cache = get_cache(config.execution_cache_path)
                _, executed = cache.merge_match_into_notebook(nbformat.read(notebook, 4))
                add_night(self.document, dict(night_pictures(executed)), folder)


def night_pictures(notebook: nbformat.NotebookNode) -> Iterator[tuple[str, Night]]:
    """The pictures of the night in a notebook, by the names of the day's files."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            known = output.get("metadata", {}).get(PNG, {})
            if night := known.get("night"):
                day = b64decode(output["data"][PNG])
                letters = known.get("letters")
                classes = [f"letters-{letters:g}"] if letters else []
                yield f"{sha256(day).hexdigest()}.png", (b64decode(night), classes)


def add_night(document: nodes.document, pictures: dict[str, Night], folder: Path) -> None:
    """Adds a second image to each that has one, and writes its file.

    The file has the day's name, which a compressed page then holds once, and a hash of its own.
    """
    for day in list(document.findall(nodes.image)):
        path, _, name = day["uri"].rpartition("/")
        if name in pictures and "only-light" not in day["classes"]:
            content, classes = pictures[name]
            own = sha256(content).hexdigest()[:8]
            file = f"{name.removesuffix('.png')}-{own}.png"
            (folder / file).write_bytes(content)
            day["classes"] += classes
            night = day.deepcopy()
            night["uri"] = f"{path}/{file}"
            day["classes"].append("only-light")
            night["classes"].append("only-dark")
            day.parent.insert(day.parent.index(day) + 1, night)


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the transform."""
    app.add_transform(AddNight)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
