"""Skeletons and solutions as text, both from the one function that is our solution."""

import ast
import inspect
import sys
from pathlib import Path

from transformer.exercises.exercise import Exercise


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


def given_imports(exercise: Exercise) -> str:
    """The imports and short names that the skeleton and the solution need."""
    source = module_source(exercise)
    used = {node.id for node in ast.walk(definition(exercise)) if isinstance(node, ast.Name)}
    given = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            aliases = [a for a in node.names if (a.asname or a.name) in used]
            if aliases:
                node.names = aliases
                given.append(ast.unparse(node))
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id in used for target in node.targets
        ):
            given.append(ast.unparse(node))
    return "\n".join(given) + "\n" if given else ""


def summary(exercise: Exercise) -> str:
    """The first line of the docstring."""
    return (inspect.getdoc(exercise.solution) or "").split("\n")[0]
