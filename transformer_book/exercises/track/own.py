"""The reader's functions as parts of a model: they call each other, and print a few lines.

A file, or a notebook's cell, imports ours of what an earlier exercise asks for. In the model the
reader's own is called in its place, whatever its name is there, also by a function that helps.
What is called in still another way is not replaced; `calls` finds it.
"""

import functools
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from transformer.attention import scaled_dot_product_attention

from transformer_book.exercises.guard import MOST_PRINTED
from transformer_book.exercises.verdict import MOST_LINES

Function = Callable[..., Any]

# What a function's file is given of ours, under the name of another exercise.
GIVEN: dict[str, Function] = {"scaled_dot_product_attention": scaled_dot_product_attention}
SOLUTIONS = "transformer_book.exercises.solutions"
DECORATORS = ("jaxtyping", "torch.utils._contextlib")
HIDDEN = "(Your functions print more than this; the rest is hidden.)\n"


# Calling each other --------------------------------------------------------------------------


def knowing(function: Function, others: Mapping[str, Function]) -> Function:
    """The same function, for which what it was given of ours is the reader's.

    Args:
        function: whose names are looked through, and those of the functions beside it.
        others: the reader's, by the names of `GIVEN`.
    """
    if not isinstance(function, FunctionType) or not others:
        return function
    before = function.__globals__
    names = dict(before)
    for name, value in before.items():
        ours = [each for each in others if name == each or value is GIVEN[each]]
        if ours:
            names[name] = others[ours[0]]
        elif isinstance(value, FunctionType) and value.__globals__ is before:
            names[name] = _with_names(value, names)  # it may help, and call what is given
    return _with_names(function, names)


def _with_names(function: FunctionType, names: dict[str, Any]) -> FunctionType:
    twin = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


class Calls(NamedTuple):
    """What runs, in Python, in one call of a function.

    Attributes:
        codes: the code of everything.
        ours: the names of what it calls of the module's, such as "transformer.masks.causal_mask".
    """

    codes: set[CodeType]
    ours: set[str]


def calls(function: Function, arguments: Sequence[Any]) -> Calls:
    """Calls a function, and looks at what it calls; what it is handed of ours does not count."""
    found, names = Calls(set(), set()), getattr(function, "__globals__", None)

    def look(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            found.codes.add(frame.f_code)
            caller = _caller(frame)
            if _is_ours(frame) and caller and caller.f_globals is names:
                found.ours.add(f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        with suppress(Exception):  # what it raises is said where it is checked
            function(*arguments)
    finally:
        sys.setprofile(before)
    return found


def _caller(frame: FrameType) -> FrameType | None:
    """Whoever calls it, be it through a decorator."""
    caller = frame.f_back
    while caller and _module(caller).startswith(DECORATORS):
        caller = caller.f_back
    return caller


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _is_ours(frame: FrameType) -> bool:
    module = _module(frame)
    of_exercises = module.startswith("transformer_book.exercises.") and SOLUTIONS not in module
    return module.startswith(("transformer.", "transformer_book.")) and not of_exercises


# Printing ------------------------------------------------------------------------------------


class FewLines(io.TextIOBase):
    """Lets the first lines through, then says once that the others are hidden."""

    def __init__(self) -> None:
        self.usual: Any = None
        self.n_lines, self.n_letters, self.said = MOST_LINES, MOST_PRINTED, False

    def write(self, text: str) -> int:
        """Of a flood the first lines are enough."""
        lines = text[: self.n_letters].splitlines(keepends=True)[: self.n_lines]
        shown = "".join(lines)
        self.usual.write(shown)
        self.n_letters -= len(shown)
        self.n_lines -= shown.count("\n")
        if len(shown) < len(text) and not self.said:
            self.said = True
            self.usual.write(HIDDEN if not shown or shown.endswith("\n") else f"\n{HIDDEN}")
        return len(text)

    def flush(self) -> None:
        """Flush the usual output."""
        self.usual.flush()

    @contextmanager
    def instead(self) -> Iterator[None]:
        """Inside the block, what is printed goes through here."""
        if sys.stdout is self:
            yield
            return
        self.usual, sys.stdout = sys.stdout, self
        try:
            yield
        finally:
            sys.stdout = self.usual


def printing_to(few: FewLines, function: Function) -> Function:
    """The same function, of whose prints only a few lines are shown."""

    @functools.wraps(function)
    def quiet(*arguments: Any, **named: Any) -> Any:
        with few.instead():
            return function(*arguments, **named)

    return quiet
