"""Figures that can be moved, in Jupyter, in Colab, and without a kernel on the book's pages.

Each class stands in the file of its name: `MaskExplorer` in `mask_explorer.py`. It is offered here
by its base class, and its file imported when it is first asked for.
"""

from pathlib import Path

from transformer_book.lazy import definitions, lazily

HOMES = definitions(Path(__file__).parent, __name__, r"^class (\w+)\(Widget\b")

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
