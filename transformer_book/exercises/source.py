"""Skeletons and solutions as text, both from the one function that is our solution."""

import ast
import sys
from collections.abc import Sequence
from pathlib import Path

from transformer_book.exercises.exercise import Exercise

OURS = ("transformer", "transformer_book")


def module_source(exercise: Exercise) -> str:
    """The file in which the solution stands."""
    module = sys.modules[exercise.solution.__module__]
    return Path(str(module.__file__)).read_text(encoding="utf-8")


def definition(exercise: Exercise) -> ast.FunctionDef:
    """The solution as a syntax tree."""
    for node in ast.parse(module_source(exercise)).body:
        if isinstance(node, ast.FunctionDef) and node.name == exercise.name:
            return node
    raise LookupError(f"{exercise.name} is no function of {exercise.solution.__module__}")


def solution_source(exercise: Exercise) -> str:
    """The function, as it stands in the file."""
    node = definition(exercise)
    return "\n".join(module_source(exercise).splitlines()[node.lineno - 1 : node.end_lineno]) + "\n"


def skeleton_source(exercise: Exercise) -> str:
    """The function with dots in the place of its body."""
    node = definition(exercise)
    lines = module_source(exercise).splitlines()
    docstring = node.body[0]
    return "\n".join([*lines[node.lineno - 1 : docstring.end_lineno], "    ..."]) + "\n"


def given_imports(exercise: Exercise, more: Sequence[str] = ()) -> str:
    """The imports and short names that the skeleton and the solution need, as ruff orders them.

    Args:
        exercise: whose solution it is.
        more: modules that others' solutions need.
    """
    used = {node.id for node in ast.walk(definition(exercise)) if isinstance(node, ast.Name)}
    groups: dict[str, list[str]] = {"python": [], "others": [], "ours": [], "names": []}
    asked = ast.parse("\n".join(f"import {module}" for module in more)).body
    used.update(more)
    for node in [*asked, *ast.parse(module_source(exercise)).body]:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [a for a in node.names if (a.asname or a.name) in used]
            if node.names:
                module = (getattr(node, "module", None) or node.names[0].name).split(".")[0]
                python = "python" if module in sys.stdlib_module_names else "others"
                groups["ours" if module in OURS else python].append(ast.unparse(node))
        elif isinstance(node, ast.Assign) and used & {ast.unparse(name) for name in node.targets}:
            groups["names"].append(ast.unparse(node))
    for kind in ("python", "others", "ours"):  # `import x` before `from x import y`
        groups[kind] = sorted(set(groups[kind]), key=lambda line: (line.startswith("from"), line))
    return "\n\n".join("\n".join(lines) for lines in groups.values() if lines)
