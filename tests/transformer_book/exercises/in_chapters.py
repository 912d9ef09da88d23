"""The exercises of a chapter, as its source has them."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.site.chapters import Block, Chapter, blocks, walk

ROOT = Path(__file__).resolve().parents[3]
JUDGES = {"compare", "compare_function", "judge"}
KNOWN = {"slips", "faults"}  # the arguments of these that name what typical answers give


@dataclass(frozen=True)
class Written:
    """One exercise: the question with its cells and hints, and the solution.

    Attributes:
        label: its own.
        blocks: from its directive to the next exercise.
    """

    label: str
    blocks: tuple[Block, ...]

    @property
    def _split(self) -> int:
        named = (i for i, block in enumerate(self.blocks) if block.name == "solution-start")
        return next(named, len(self.blocks))

    @property
    def question(self) -> tuple[Block, ...]:
        """All before the solution."""
        return self.blocks[: self._split]

    @property
    def solution(self) -> tuple[Block, ...]:
        """What is folded behind the hints; nothing where there is none."""
        names = [block.name for block in self.blocks]
        end = names.index("solution-end") if "solution-end" in names else len(names)
        return self.blocks[self._split : end]

    @property
    def is_open(self) -> bool:
        """Whether it says in words what one should find, and nothing is judged."""
        texts = (block.text.strip() for block in self.solution[1:])
        return next(filter(None, texts), "").startswith("**Expected")


@cache
def exercises_of(chapter: str) -> tuple[Written, ...]:
    """Those of `book/part/name`, in order."""
    return written_in(Chapter(ROOT / f"{chapter}.md").body)


def written_in(text: str) -> tuple[Written, ...]:
    """The exercises in a chapter's text."""
    found: list[list[Block]] = []
    inside = False
    for block in blocks(text):
        if block.kind == "heading" and block.level <= 2:
            inside = block.title == "Exercises"
        elif inside and block.name == "exercise":
            found.append([block])
        elif inside and found:
            found[-1].append(block)
    return tuple(
        Written(first.label or "without a label", (first, *rest)) for first, *rest in found
    )


def code_of(cell: Block) -> str:
    """The code of a cell."""
    return "\n".join(cell.body)


def cells(source: Iterable[Block]) -> list[Block]:
    """The cells of code among some blocks."""
    return [block for block in source if block.is_cell]


def calls(cell: Block) -> set[str]:
    """The functions that a cell calls by their name."""
    nodes = ast.walk(ast.parse(code_of(cell)))
    return {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}


def judging(text: str) -> dict[str, str]:
    """The functions of a chapter that judge an answer and know what typical slips give, by name."""
    found = {}
    for cell in cells(blocks(text)):
        if "judge" not in cell.tags:
            continue
        for node in ast.parse(code_of(cell)).body:
            if isinstance(node, ast.FunctionDef) and _knows_slips(node):
                found[node.name] = ast.unparse(node)
    return found


def _knows_slips(function: ast.FunctionDef) -> bool:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    judges = [node for node in calls if ast.unparse(node.func) in JUDGES]
    named = [{key.arg for key in call.keywords} & KNOWN for call in judges]
    positional = ["judge" in ast.unparse(call.func) and len(call.args) == 2 for call in judges]
    return bool(judges) and all(a or b for a, b in zip(named, positional, strict=True))


def faults(exercise: Written, judges: set[str]) -> list[str]:
    """What an exercise lacks.

    Args:
        exercise: one of a chapter.
        judges: the names of the chapter's functions that judge an answer.
    """
    question, solution = exercise.question, exercise.solution
    inside = [inner for block in question for inner in walk(block.text)]
    efforts = [block for block in inside if block.name == "effort"]
    hints = [
        b for b in inside if b.name == "hints" or (b.name, b.title[:4]) == ("dropdown", "Hint")
    ]
    solution_cells = cells(solution)
    asserted = any("assert " in code_of(cell) for cell in solution_cells)
    asked = [cell for cell in cells(question) if "judge" not in cell.tags]
    called = set().union(*map(calls, asked)) & judges
    self_check = any("self-check" in cell.tags for cell in asked)
    catalogue = any("skeleton" in cell.tags for cell in asked)
    checked = set().union(*map(calls, solution_cells))
    complaints = {
        "a line with its effort, in the question": not any(
            block.title or {"difficulty", "minutes"} <= block.options.keys() for block in efforts
        ),
        "a hint between question and solution": not hints,
        "a solution that is folded": not solution or solution[0].options.get("class") != "dropdown",
        "the solution's own label": not solution or solution[0].title != exercise.label,
        "an executed cell with assertions in the solution, or **Expected": not (
            asserted or exercise.is_open
        ),
        "something that judges the reader's answer": not (
            exercise.is_open or self_check or catalogue or called
        ),
        "the check of our solution, in its cell": not called <= checked,
        "another word than 'not yet'": any("not yet" in block.text for block in exercise.blocks),
    }
    return [what for what, lacks in complaints.items() if lacks]
