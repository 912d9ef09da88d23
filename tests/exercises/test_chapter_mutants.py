"""The chapters' own checks reject programs that differ from our solution in one point."""

import ast
import json
import os
from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tests.exercises.in_chapters import judging

ROOT = Path(__file__).resolve().parents[2]
MARK = "MUTANTS "
# Runs in the chapter's own kernel, after the cell with our solution.
TRY = """
def _try_mutants(function, check):
    import ast, inspect, json
    from tests.exercises.mutants import SAME, programs_of
    (definition,) = ast.parse(inspect.getsource(function)).body
    number, survivors = 0, []
    for change, text in programs_of(definition):
        names = {{**globals(), SAME: lambda x: x}}
        exec(text, names)
        number += 1
        if check(names[function.__name__]).passed:
            survivors.append(change)
    print({mark!r} + json.dumps([function.__name__, number, survivors]))

_try_mutants({function}, {check})
"""
# Mutants that are right answers all the same: a part of the change, and the reason.
EQUIVALENT = {
    "translation_probability": {"same(": "a tensor of one number is that number"},
    "attention_by_hand": {
        "dot(key, query)": "a product in either order",
        "dot(column, weights)": "a product in either order",
    },
    "diagonal_hits": {"max(1, n_target - 1)": "the larger of two in either order"},
    "has_leak": {"same(": "a tensor of one truth value is that value"},
    "positions": {
        "same(torch.arange(": "float32 in float64's place, within what is put down to rounding"
    },
    "window_mask": {"torch.arange(size)[:, None]).abs()": "a distance in either direction"},
}
CHAPTERS = [
    "book/why/one_sentence",
    "book/why/before_attention",
    "book/why/attention",
    "book/architecture/embedding",
    "book/architecture/positions",
    "book/architecture/masks",
]


def with_mutants(chapter: Path) -> NotebookNode:
    """A chapter's cells, with one more after each solution that is a function."""
    judges, found = set(judging(chapter.read_text("utf-8"))), []
    for cell in jupytext.read(chapter).cells:
        if cell.cell_type != "code":
            continue
        found.append(new_code_cell(cell.source))
        body = ast.parse(cell.source).body
        ours = {
            node.name
            for node in body
            if isinstance(node, ast.FunctionDef) and not isinstance(node.body[-1], ast.Expr)
        }
        calls = {node for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Call)}
        pairs = {
            (ast.unparse(call.args[0]), ast.unparse(call.func))
            for call in calls
            if len(call.args) == 1 and ast.unparse(call.func) in judges
        }
        found += [
            new_code_cell(TRY.format(mark=MARK, function=function, check=check))
            for function, check in sorted(pairs)
            if function in ours
        ]
    return new_notebook(cells=found)


@pytest.mark.nightly
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_mutants_of_a_chapters_solutions_are_rejected_or_right(chapter: str) -> None:
    path = ROOT / f"{chapter}.md"
    notebook = with_mutants(path)
    client = NotebookClient(notebook, timeout=3600, kernel_name="python3")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    client.execute(cwd=str(path.parent), env=environment)
    printed = [output.get("text", "") for cell in notebook.cells for output in cell.outputs]
    lines = [line for text in printed for line in text.splitlines() if line.startswith(MARK)]
    assert lines
    for function, number, survivors in (json.loads(line.removeprefix(MARK)) for line in lines):
        reasons = EQUIVALENT.get(function, {})
        assert number >= 3
        assert [each for each in survivors if not any(part in each for part in reasons)] == []
        # What is listed is really among the mutants, and really passes.
        assert all(any(part in each for each in survivors) for part in reasons)
