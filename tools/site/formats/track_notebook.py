"""The track of exercises as one notebook: every function to write, a check, and a model of them.

It is made from the catalogue of the exercises, as the folder is that `python -m transformer
exercise` writes; `tools/site/formats/notebooks.py` puts it beside the chapters' notebooks.
"""

from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.site.chapters import Chapter

from transformer_book.exercises import EXERCISES, skeleton, solution
from transformer_book.exercises.exercise import Exercise
from transformer_book.exercises.help import effort

PAGE = "book/build_it_yourself"
# Folded in Colab, and in JupyterLab.
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}
INTRODUCTION = """\
# Build it yourself

Below is every function that a Transformer consists of, in the order of [the book]({page}). Write
your lines in the place of the three dots and run the cell: `mine.check` says in a sentence what is
wrong, or keeps the function. At the end your functions stand in the book's Transformer, which
learns to copy and to translate. What you leave out, ours does. Hints and our solutions open with a
click."""
BEGIN = """\
import math

import torch

from transformer_book.exercises.track import Parts, same_as_ours, train

mine = Parts()"""
END = """\
## Your Transformer

Which parts are yours, and does a model of them give what ours gives?"""
PROOF = 'print(*mine.about(), "", *same_as_ours(mine), sep="\\n")'
COPYING = "It learns to copy rows of random symbols."
TRANSLATING = """\
And it learns to translate toy German, in subwords that your `merge_pair` cuts. This takes much
longer; the line below the cell counts the time that is left."""


def track_notebook(root: Path, site: str, install: str) -> NotebookNode:
    """The notebook.

    Args:
        root: the folder of the book, whose chapters have the titles.
        site: the site's address.
        install: the code of the first cell, which installs the module.
    """
    cells = [
        nbformat.v4.new_markdown_cell(INTRODUCTION.format(page=f"{site}/{PAGE}.html")),
        nbformat.v4.new_code_cell(install, metadata=FOLDED),
        nbformat.v4.new_code_cell(BEGIN),
        *_exercises(root, site),
        nbformat.v4.new_markdown_cell(END),
        nbformat.v4.new_code_cell(PROOF),
        nbformat.v4.new_markdown_cell(COPYING),
        nbformat.v4.new_code_cell('copying = train("copy", mine)'),
        nbformat.v4.new_markdown_cell(TRANSLATING),
        nbformat.v4.new_code_cell('translating = train("toy", mine)'),
    ]
    for number, cell in enumerate(cells):  # fixed: the same catalogue gives the same file
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return notebook


def _exercises(root: Path, site: str) -> Iterator[NotebookNode]:
    """For each exercise its task, a cell to fill in, and our solution."""
    chapter = ""
    for number, exercise in enumerate(EXERCISES.values(), 1):
        if exercise.chapter != chapter:
            chapter = exercise.chapter
            title = Chapter(root / f"book/{chapter}.md").title or chapter
            yield nbformat.v4.new_markdown_cell(f"## [{title}]({site}/book/{chapter}.html)")
        yield nbformat.v4.new_markdown_cell("\n".join(_task(number, exercise)))
        code = f"{str(skeleton(exercise.name)).rstrip()}\n\n\nmine.check({exercise.name})"
        yield nbformat.v4.new_code_cell(code, metadata={"tags": ["skeleton"]})
        ours = f"```python\n{str(solution(exercise.name)).rstrip()}\n```"
        yield nbformat.v4.new_markdown_cell(_folded("Our solution", ours))


def _task(number: int, exercise: Exercise) -> Iterator[str]:
    yield from [f"### {number}. {exercise.title}", "", f"*{effort(exercise)}*"]
    for n, hint in enumerate(exercise.hints, 1):
        yield from ["", _folded(f"Hint {n}", hint)]


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
