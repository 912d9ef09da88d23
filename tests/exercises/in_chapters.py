"""The exercises of a chapter, as its source has them."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN = re.compile(r"^(?:`{3,}|:{3,})\{exercise\}", re.MULTILINE)
CELL = re.compile(
    r"^```\{code-cell\} ipython3\n(?P<head>---\n.*?^---\n|(?::[^\n]*\n)*)(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
EFFORT = re.compile(r"\{effort\}(?P<name> \w+)?\n(?P<options>(?::\w+: .*\n)*)")
HINT = re.compile(r"\{hints\} \w+|\{dropdown\} Hint( \d)?$", re.MULTILINE)
SOLUTION = re.compile(r"^(`{3,}|:{3,})\{solution-start\} (\S+)\n((?::\w.*\n)*)", re.MULTILINE)
JUDGES = {"compare", "compare_function", "judge"}
KNOWN = {"slips", "faults"}  # the arguments of these that name what typical answers give


@dataclass(frozen=True)
class Cell:
    """A cell of code, with its tags."""

    code: str
    tags: frozenset[str]

    def calls(self) -> set[str]:
        """The functions that it calls by their name."""
        nodes = ast.walk(ast.parse(self.code))
        return {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}


@dataclass(frozen=True)
class Written:
    """One exercise: the question with its cells and hints, and the solution.

    Attributes:
        label: its own.
        text: from its directive to the next exercise.
    """

    label: str
    text: str

    @property
    def solution(self) -> str:
        """What is folded behind the hints; "" where nothing is."""
        found = SOLUTION.search(self.text)
        return self.text[found.start() :].split("{solution-end}")[0] if found else ""

    @property
    def question(self) -> str:
        """All before the solution."""
        found = SOLUTION.search(self.text)
        return self.text[: found.start()] if found else self.text

    @property
    def is_open(self) -> bool:
        """Whether it says in words what one should find, and nothing is judged."""
        first = SOLUTION.split(self.text)[-1].split("\n", 1)[-1].strip()
        return first.startswith("**Expected")


@cache
def exercises_of(chapter: str) -> tuple[Written, ...]:
    """Those of `book/part/name`, in order."""
    text = (ROOT / f"{chapter}.md").read_text("utf-8")
    return written_in(text)


def written_in(text: str) -> tuple[Written, ...]:
    """The exercises in a chapter's text."""
    section = text.partition("\n## Exercises\n")[2]
    section = re.split(r"^## ", section, flags=re.MULTILINE)[0]
    starts = [match.start() for match in BEGIN.finditer(section)]
    blocks = [section[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]
    return tuple(Written(*_labelled(block)) for block in blocks)


def _labelled(block: str) -> tuple[str, str]:
    label = re.search(r"^:label: (\S+)$", block, re.MULTILINE)
    return (label[1] if label else "without a label"), block


def cells(text: str) -> list[Cell]:
    """The cells of code in a piece of a chapter."""
    found = []
    for match in CELL.finditer(text):
        tags = re.search(r"^:?tags: \[(.*)\]", match["head"], re.MULTILINE)
        names = tags[1].split(",") if tags else []
        found.append(Cell(match["code"], frozenset(name.strip() for name in names)))
    return found


def judging(text: str) -> dict[str, str]:
    """The functions of a chapter that judge an answer and know what typical slips give, by name."""
    found = {}
    for cell in cells(text):
        if "judge" not in cell.tags:
            continue
        for node in ast.parse(cell.code).body:
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
    effort, hint = EFFORT.search(question), HINT.search(question)
    solution_cells = cells(solution)
    asserted = any("assert " in cell.code for cell in solution_cells)
    asked = [cell for cell in cells(question) if "judge" not in cell.tags]
    calls = set().union(*(cell.calls() for cell in asked)) & judges
    self_check = any("self-check" in cell.tags for cell in asked)
    catalogue = any("skeleton" in cell.tags for cell in asked)
    checked = set().union(*(cell.calls() for cell in solution_cells))
    complaints = {
        "a line with its effort, in the question": effort is None
        or not (effort["name"] or {":difficulty:", ":minutes:"} <= set(effort["options"].split())),
        "a hint between question and solution": hint is None,
        "a solution that is folded": ":class: dropdown" not in solution,
        "the solution's own label": f"{{solution-start}} {exercise.label}\n" not in solution,
        "an executed cell with assertions in the solution, or **Expected": not (
            asserted or exercise.is_open
        ),
        "something that judges the reader's answer": not (
            exercise.is_open or self_check or catalogue or calls
        ),
        "the check of our solution, in its cell": not calls <= checked,
        "another word than 'not yet'": "not yet" in exercise.text,
    }
    return [what for what, lacks in complaints.items() if lacks]
