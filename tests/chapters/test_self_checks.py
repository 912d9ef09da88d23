"""Every chapter asks its readers, computes its answers, and leaves no question at a widget open.

A question inside an exercise is one more: those that are counted stand before the exercises.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import jupytext
import pytest
from nbformat import NotebookNode

from tests.helpers.chapters import notebook
from tools.site.chapters import numbered
from tools.site.main_line import EXERCISES, pieces

from transformer_book import widgets
from transformer_book.widgets import markup

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = numbered(ROOT)
FEWEST, MOST = 3, 5
KINDS = {"choices", "number", "predict", "predict_cell"}
CARDS = {"bug"}  # the cards of a hunt, as many as there are
COMPUTED = {"number", "predict"}  # whose second argument is the right number
ANSWER = re.compile(r"\{dropdown\} Answers?\b|\{admonition\} Answers?\n:class: dropdown")
NEAR = 700  # so many letters before a widget is where its questions stand


def cells_of(name: str) -> list[NotebookNode]:
    return notebook(name).cells


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def asking(name: str) -> list[NotebookNode]:
    return [cell for cell in cells_of(name) if "self-check" in tags(cell)]


def counted(name: str) -> list[NotebookNode]:
    """The questions of a chapter without those that are exercises, or cards."""
    return [
        NotebookNode(source=piece.text, metadata={"tags": sorted(piece.tags)})
        for piece in pieces(notebook(name))
        if piece.tags and "self-check" in piece.tags and piece.part != EXERCISES.lower()
        if not any(kind in CARDS for kind, _ in questions(NotebookNode(source=piece.text)))
    ]


def questions(cell: NotebookNode) -> Iterator[tuple[str, ast.Call]]:
    """The calls in a cell that make a question, with their kind."""
    for node in ast.walk(ast.parse(cell.source)):
        if isinstance(node, ast.Call):
            module, _, kind = ast.unparse(node.func).rpartition(".")
            if module == "self_check" and kind in KINDS | CARDS:
                yield kind, node


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_asks_three_to_five_questions_one_a_cell(name: str) -> None:
    assert FEWEST <= len(counted(name)) <= MOST
    for cell in cells_of(name):
        found = list(questions(cell)) if cell.cell_type == "code" else []
        assert len(found) == ("self-check" in tags(cell)), cell.source
        if found:
            assert tags(cell) == {"self-check", "remove-input"}
            last = ast.parse(cell.source).body[-1]
            assert isinstance(last, ast.Expr) and last.value is not None, "it is shown by its cell"


def test_chapters_ask_for_more_than_one_kind_of_answer() -> None:
    kinds = {
        name: {kind for cell in counted(name) for kind, _ in questions(cell)} for name in CHAPTERS
    }
    assert {kind for found in kinds.values() for kind in found} == KINDS
    assert {name for name, found in kinds.items() if len(found) < 2} == set()


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_right_number_is_typed_in(name: str) -> None:
    for cell in asking(name):
        for kind, call in questions(cell):
            if kind in COMPUTED:
                names = {n.id for n in ast.walk(call.args[1]) if isinstance(n, ast.Name)}
                computed = isinstance(call.args[1], ast.BinOp | ast.UnaryOp)
                assert names or computed, ast.unparse(call.args[1])


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_stays_as_it_is_when_a_question_is_taken_out(name: str) -> None:
    """No other cell reads a name of a question's cell, or has it overwritten."""
    own: set[str] = set()
    others: set[str] = set()
    for cell in cells_of(name):
        if cell.cell_type == "code":
            names = [n for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Name)]
            if "self-check" in tags(cell):
                inside = [
                    target.id
                    for node in ast.walk(ast.parse(cell.source))
                    if isinstance(node, ast.comprehension)
                    for target in ast.walk(node.target)
                    if isinstance(target, ast.Name)
                ]
                own |= {n.id for n in names if isinstance(n.ctx, ast.Store)} - set(inside)
            else:
                others |= {n.id for n in names}
    assert own & others == set()


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_formulas_of_questions_can_be_read(name: str) -> None:
    for cell in asking(name):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if text.count("$") % 2 == 0:  # else a part of an f-string
                    assert markup.as_text(markup.parse(text)).count("\\") == 0


def open_questions(cells: list[NotebookNode]) -> list[str]:
    """The questions at widgets that are followed by no folded answer with a check."""
    missing = []
    for i, cell in enumerate(cells):
        if cell.cell_type != "code" or tags(cell) & {"check", "self-check"}:
            continue
        body = ast.parse(cell.source).body
        last = ast.unparse(body[-1]) if body else ""
        shown = {name for name in widgets.__all__ if re.match(rf"{name}\(", last)}
        shown |= {n for n in widgets.__all__ if f"\n{last} = {n}(" in f"\n{cell.source}"}
        before = "".join(c.source for c in cells[:i] if c.cell_type == "markdown")
        question = re.search(r"[^.?]*\?", before.split("\n## ")[-1][-NEAR:])
        if not shown or not question:
            continue
        after = cells[i + 1 : i + 3]
        folded = after and after[0].cell_type == "markdown" and ANSWER.search(after[0].source)
        checked = len(after) > 1 and "check" in tags(after[1])
        if not ((folded and checked) or (after and "self-check" in tags(after[0]))):
            missing.append(question[0])
    return missing


@pytest.mark.parametrize("name", [*CHAPTERS, "book/welcome", "book/appendix/new_widget"])
def test_every_question_at_a_widget_has_its_folded_answer_with_a_check(name: str) -> None:
    assert open_questions(cells_of(name)) == []


def test_a_question_in_an_exercise_is_not_counted(tmp_path: Path) -> None:
    cell = "```{code-cell} ipython3\n:tags: [self-check, remove-input]\nask()\n```\n"
    text = f"""---
jupytext: {{text_representation: {{extension: .md, format_name: myst}}}}
---
# A chapter

{cell}
## Exercises

{cell}
## What comes next

{cell}"""
    path = tmp_path / "chapter.md"
    path.write_text(text, encoding="utf-8")
    assert len(counted(str(path.with_suffix("")))) == 2
    assert len(asking(str(path.with_suffix("")))) == 3


def test_a_question_without_an_answer_is_found() -> None:
    text = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
---
*Which one moves?*

```{code-cell} ipython3
MaskExplorer()
```
"""
    answer = ":::{dropdown} Answers\nThe first.\n:::\n\n"
    check = "```{code-cell} ipython3\n:tags: [check, hide-cell]\nassert True\n```\n"
    for rest, missing in (("", 1), (answer, 1), (answer + check, 0), (check, 1)):
        cells = jupytext.reads(text + "\n" + rest, fmt="md:myst").cells
        assert len(open_questions(cells)) == missing
