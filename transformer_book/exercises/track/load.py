"""Reads a function from a reader's file; whatever stands there, what is raised is a sentence."""

import difflib
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformer.support.files import FileError, read_limited

from transformer_book.exercises.checking import MEMORY, SECONDS
from transformer_book.exercises.exercise import Exercise
from transformer_book.exercises.guard import Guard, line_of

LARGEST = 2**20  # bytes of a file; the longest of ours has three thousand


class LoadError(ValueError):
    """A file gives no function; says why, and what to do."""


def load(path: Path, exercise: Exercise, guard: Guard) -> Callable[..., Any]:
    """Run a file, and return the exercise's function.

    Raises:
        LoadError: it cannot be read or run, or the function is not in it.
    """
    source = _text(path)
    try:
        code = compile(source, str(path), "exec")
    except (SyntaxError, ValueError) as error:  # a null character is a ValueError in Python 3.11
        raise LoadError(_syntax(path, error)) from error
    linecache.checkcache(str(path))  # the lines that messages quote are those of now
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    outcome = guard.call(exec, code, names)
    if outcome.stopped == "memory":
        raise LoadError(f"{path.name} takes more than {MEMORY // 2**20:,} MB: what grows there?")
    if outcome.stopped:
        raise LoadError(
            f"{path.name} was stopped: it did not end within {SECONDS:g} seconds. Does a loop "
            "outside of the function never end?"
        )
    if outcome.error is not None:
        raise LoadError(_raised(path, outcome.error, code))
    if not callable(names.get(exercise.name)):
        raise LoadError(_missing(path, exercise.name, names))
    return names[exercise.name]


def _text(path: Path) -> str:
    try:
        return read_limited(path, LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LoadError(f"{path.name} is not text in UTF-8: save it as UTF-8.") from error
    except FileError as error:
        raise LoadError(str(error)) from error
    except OSError as error:
        raise LoadError(f"{path.name} cannot be read: {error.strerror or error}.") from error


def _syntax(path: Path, error: SyntaxError | ValueError) -> str:
    if not isinstance(error, SyntaxError):
        return f"{path.name} is no Python: {error}."
    text = (error.text or "").strip()
    line = f" `{text}`" if text else ""
    # Some of Python's own sentences end with their mark: "Perhaps you forgot a comma?"
    stop = "" if error.msg.endswith(("?", ".", "!")) else "."
    return f"{path.name} is no Python yet; line {error.lineno}{line}: {error.msg}{stop}"


def _raised(path: Path, error: BaseException, code: Any) -> str:
    carrier = type("File", (), {"__code__": code})
    line = line_of(error, carrier)
    at = f" in the line `{line}`" if line else ""
    said = f": {error}" if str(error) else ""
    return f"{path.name} raises {type(error).__name__}{at} before anything is called{said}."


def _missing(path: Path, name: str, names: dict[str, Any]) -> str:
    functions = [
        each
        for each, value in names.items()
        if callable(value) and getattr(value, "__module__", "") == path.stem
    ]
    near = difflib.get_close_matches(name, functions, n=1, cutoff=0.5) or functions[:1]
    there = f" There is {near[0]}: give it that name back." if near else ""
    return f"{path.name} has no function {name}, which is what is checked.{there}"
