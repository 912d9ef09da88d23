"""The files of a track: what a skeleton's file says, what it is called, which file is which."""

import ast
import re
import shutil
import sys
import textwrap
from pathlib import Path

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.exercise import Exercise
from transformer_book.exercises.help import effort
from transformer_book.exercises.source import given_imports, skeleton_source

NUMBERED = re.compile(r"^\d+_(?P<name>\w+)\.py$")
IMPORTS = ("math", "torch")  # what is wanted for tensors, whatever our solution does with them
BOOK = "https://transformer-book.github.io/transformer-book/book"


def number_of(name: str) -> int:
    """Of an exercise in the book's order, from 1."""
    return 1 + [*EXERCISES].index(name)


def file_name(name: str) -> str:
    """What a new file of an exercise is called: 01_softmax.py."""
    return f"{number_of(name):02}_{name}.py"


def skeleton_text(exercise: Exercise) -> str:
    """What a file says in which nothing has been written yet."""
    about = f"{effort(exercise)}\n{address(exercise)}"
    imports = given_imports(exercise, IMPORTS if "Tensor" in skeleton_source(exercise) else ())
    code = "\n\n\n".join([*([imports] if imports else []), skeleton_source(exercise)])
    return f'"""{exercise.title}.\n\n{about}\n"""\n\n{code}'


def address(exercise: Exercise) -> str:
    """Where the chapter is that explains an exercise."""
    return f"{BOOK}/{exercise.chapter}.html"


def files_in(folder: Path) -> dict[str, Path]:
    """The file of each exercise; one that has kept the number of an earlier edition is found too.

    Of several the one with today's number counts.
    """
    files: dict[str, Path] = {}
    for path in sorted(folder.glob("*.py")):
        match = NUMBERED.match(path.name)
        name = match["name"] if match else ""
        if name in EXERCISES and (name not in files or path.name == file_name(name)):
            files[name] = path
    return files


def defining(folder: Path, name: str) -> Path | None:
    """A file of no exercise in which a function of this name stands: one that was renamed."""
    known = set(files_in(folder).values())
    for path in sorted(folder.glob("*.py")):
        if path not in known and path.is_file() and name in _functions(path):
            return path
    return None


def _functions(path: Path) -> set[str]:
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return set()
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def wrapped(text: str, indent: str = "") -> str:
    """Paragraphs, a line each, in lines as long as the terminal's; where there is none, as is."""
    if not sys.stdout.isatty():
        return textwrap.indent(text, indent)
    width = shutil.get_terminal_size().columns
    lines = (
        textwrap.fill(
            line, width, initial_indent=indent, subsequent_indent=indent,
            break_long_words=False, break_on_hyphens=False,
        )
        for line in text.split("\n")
    )  # fmt: skip
    return "\n".join(lines)
