"""The chapters' own checks reject programs that differ from our solution in one point."""

import ast
import json
import os
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tests.transformer_book.exercises.in_chapters import code_of, judging
from tools.site.chapters import Chapter, numbered

ROOT = Path(__file__).resolve().parents[3]
MARK = "MUTANTS "
# Runs in the chapter's own kernel, after the cell that judges our solution.
TRY = """
def _try_mutants(function, judged):
    import ast, inspect, json
    from tests.transformer_book.exercises.mutants import SAME, programs_of
    assert judged(function).passed
    (definition,) = ast.parse(inspect.getsource(function)).body
    number, survivors = 0, []
    for change, text in programs_of(definition):
        names = {{**globals(), SAME: lambda x: x}}
        exec(text, names)
        number += 1
        if judged(names[function.__name__]).passed:
            survivors.append(change)
    print({mark!r} + json.dumps([function.__name__, number, survivors]))

_try_mutants({function}, lambda {function}: {check})
"""
# Mutants that are right answers all the same: by chapter and function a part of the change, and
# the reason.
EQUIVALENT = {
    "one_sentence.translation_probability": {"same(": "a tensor of one number is that number"},
    "attention.attention_by_hand": {
        "dot(key, query)": "a product in either order",
        "dot(column, weights)": "a product in either order",
    },
    "before_attention.diagonal_hits": {"max(1, n_target - 1)": "the larger of two in either order"},
    "masks.has_leak": {"same(": "a tensor of one truth value is that value"},
    "positions.positions": {
        "same(torch.arange(": "float32 in float64's place, within what is put down to rounding"
    },
    "masks.window_mask": {"torch.arange(size)[:, None]).abs()": "a distance in either direction"},
    "decoding.proved": {">= own + 0.01": "no difference is 0.01 to the last digit"},
    "why_self_attention.costs": {
        "(-d) ** 2": "a square has no sign",
        "(-n) ** 2": "a square has no sign",
    },
    "why_self_attention.by_mask": {
        "torch.arange(k.size(1))": "there are as many keys as queries",
        "(position - position[:, None]).abs()": "a distance in either direction",
    },
    "layers.twin": dict.fromkeys(
        (
            *("3 * x - 7", "3 * x * 7", "3 * x + -7", "3 + x + 7"),
            *("3 * x + 8", "3 * x + 6", "4 * x + 7", "2 * x + 7"),
        ),
        "any a x + b with a positive a has the layer norm of x",
    ),
    "layers.my_dropout": {"> p)": "no number that is drawn is p, in 24 bits"},
    "layers.decoder_layer_size": {"(-d_model) ** 2": "a square has no sign"},
    "encoder_decoder.continued": {
        "dim=+1": "the logits of one place have two axes, and the second is the last",
        "same(output[0, 1:])": "a tensor of ids serves as a list of them",
        "output[-1, 1:]": "there is one row",
    },
    "training.adam": {"(-g) ** 2": "a square has no sign"},
    "copy_task.share_sorted": {
        "max_len=16": "what is right has ten symbols",
        "max_len=14": "what is right has ten symbols",
        "h[-1]": "a greedy search gives one output",
    },
    "first_translation.previous": {"weights.size(2)": "there are as many keys as queries"},
    "first_translation.n_crossings": {"same(alignment)": "what is asked is given as a list"},
    "subwords.longest_match": {
        "range(0, len(word) + 1)": "nothing is no piece",
        "len(word) + 2)": "what ends behind the word is the word",
    },
    "subwords.dropped": {"> p]": "no number that is drawn is p, in 53 bits"},
    "heads.twins": {
        "3 * torch.eye": "no distance is larger than 1",
        "same(others.min())": "a tensor of one number is that number",
    },
    "paper_figures.resolve": {
        "same(nouns.items())": "just one noun before the pronoun has its gender",
        "i <= pronoun": "a pronoun is no noun",
    },
    "scaling.clipped_gradients": {"min(limit / norm, 1.0)": "the smaller of two in either order"},
    "ablations.seeds_needed": {
        "<= abs(mean)": "two such numbers are the same to the last bit by rounding alone",
        **dict.fromkeys(
            (
                "(-(STUDENT[-1] * s / mean)) ** 2",
                "(-(STUDENT[-1] * s) / mean) ** 2",
                "(STUDENT[-1] * s / -mean) ** 2",
                "(-STUDENT[-1] * s / mean) ** 2",
                "(STUDENT[-1] * -s / mean) ** 2",
            ),
            "a square has no sign",
        ),
    },
    "ablations.unpaired": {"len(other)": "both have as many runs"},
    "errata.sound": {
        "isclose(keep.any().float(), weights.sum())": "two are near in either order",
        "< -1": "weights without an exponential have a wrong sum as well",
        "return False -> return True": "weights without an exponential are negative as well",
        **dict.fromkeys(
            (
                *("[2.0, -2.0, 0.5]", "[1.0, +2.0, 0.5]", "[1.0, -2.0, 1.0]"),
                *("[1.0, -2.0, 1.5]", "[1.0, -4.0, 0.5]", "[1.0, -3.0, 0.5]"),
            ),
            "other scores show the same",
        ),
    },
    "since_2017.most_groups": {
        "-n_heads % groups": "a multiple's negative is a multiple",
        "n_heads % -groups": "what a number divides its negative divides",
        "cache_bytes(groups, n_tokens)": "a product in either order",
    },
    "since_2017.merged": {"maximum(b[0], a[0])": "the larger of two in either order"},
}
# What is asked for in these is no function: numbers, names, a table.
WITHOUT = {"book/findings/iwslt"}


def judged(sources: Iterable[str], judges: Set[str]) -> Iterator[list[tuple[str, str]]]:
    """For each cell the functions of ours that it has judged as right, each with this call."""
    ours, done = set[str](), set[str]()
    for source in sources:
        tree = ast.parse(source)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                written = not isinstance(node.body[-1], ast.Expr)
                (ours.add if written else ours.discard)(node.name)
                done.discard(node.name)
        # An answer of which a cell looks at the mistake is a wrong one.
        wrong = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in {"mistake", "written"}
        ]
        found = {
            argument.id: ast.unparse(call)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call) and ast.unparse(call.func) in judges
            for argument in call.args
            if isinstance(argument, ast.Name) and call not in wrong
        }
        yield [(name, call) for name, call in found.items() if name in ours - done]
        done |= set(found)


def with_mutants(chapter: Path) -> NotebookNode:
    """A chapter's cells, with one more after each that judges a function of ours."""
    code = [cell.source for cell in jupytext.read(chapter).cells if cell.cell_type == "code"]
    found = []
    for source, pairs in zip(
        code, judged(code, set(judging(chapter.read_text("utf-8")))), strict=True
    ):
        found.append(source)
        found += [TRY.format(mark=MARK, function=name, check=call) for name, call in pairs]
    return new_notebook(cells=[new_code_cell(source) for source in found])


def has_functions(chapter: str) -> bool:
    """Whether a chapter judges a function that it has a solution of."""
    found = Chapter(ROOT / f"{chapter}.md")
    return any(judged(map(code_of, found.cells), set(judging(found.body))))


CHAPTERS = [chapter for chapter in numbered(ROOT) if chapter not in WITHOUT]


def test_no_chapter_is_forgotten() -> None:
    assert all(map(has_functions, CHAPTERS))
    assert not any(map(has_functions, WITHOUT))


def test_what_a_cell_has_judged_as_right_is_found() -> None:
    skeleton = "def one(x):\n    ...\n\n\ncheck_one(one, 2)"
    solution = "def one(x):\n    return 1"
    right = "assert check_one(one, 2).passed\nassert 'not' in check_one(other, 2).mistake"
    again = "check_one(one, 2)"
    sources = [skeleton, solution, right, again, solution, again]
    found = [[], [], [("one", "check_one(one, 2)")], [], [], [("one", "check_one(one, 2)")]]
    assert list(judged(sources, {"check_one"})) == found


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
        reasons = EQUIVALENT.get(f"{path.stem}.{function}", {})
        assert number >= 3
        assert [each for each in survivors if not any(part in each for part in reasons)] == []
        # What is listed is really among the mutants, and really passes.
        assert all(any(part in each for each in survivors) for part in reasons)
