"""The chapters as notebooks, each read once for all tests."""

from functools import cache
from pathlib import Path

import jupytext
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]


@cache
def notebook(name: str) -> NotebookNode:
    """A chapter by its name in _toc.yml; a test that changes it changes it for all."""
    return jupytext.read(ROOT / f"{name}.md")
