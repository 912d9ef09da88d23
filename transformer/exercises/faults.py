"""What is said of a call that raised something, or that had to be stopped."""

import dis
from collections.abc import Callable
from typing import Any

from transformer.exercises.guard import Guard, Outcome, line_of

STILL_RUNS = " It could not be stopped and still runs: restart the kernel once it is mended."
# The steps of a function that only returns a constant.
NOTHING = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}


class ChangedError(Exception):
    """An argument was changed; its text is the name."""


def stopped_sentence(name: str, outcome: Outcome, guard: Guard) -> str:
    """Which limit a call went beyond."""
    left = "" if outcome.ended else STILL_RUNS
    if outcome.stopped == "memory":
        size = guard.memory // 2**20
        return f"{name} takes more than {size:,} MB of memory: what grows there?{left}"
    return (
        f"{name} was stopped: it did not return within {guard.seconds:g} seconds. "
        f"Does a loop of it never end?{left}"
    )


def error_sentence(
    name: str, error: BaseException, function: Callable[..., Any], signature: str
) -> str:
    """What a call raised, and in which line.

    Args:
        name: of the function, for the sentence.
        error: what it raised.
        function: whose line is looked for.
        signature: how it should be callable: "softmax(x)".
    """
    if isinstance(error, ChangedError):
        return (
            f"{name} changes its argument {error}, which its caller still needs: work on a new "
            "tensor or list (no x += ..., no x[...] = ..., no method that ends in _)."
        )
    if isinstance(error, RecursionError):
        return f"{name} calls itself without an end (RecursionError)."
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return f"{name} asks for more memory than there is: which shape grows?"
    if isinstance(error, TypeError) and error.__traceback__ and not error.__traceback__.tb_next:
        return f"{name} cannot be called as its skeleton is, {signature}: {error}."
    line = line_of(error, function)
    at = f", in the line `{line}`" if line else ""
    said = str(error).strip().splitlines()
    # Torch goes on to all the ways in which a function can be called.
    what = f": {said[0].removesuffix(', but expected one of:').rstrip('.')}" if said else ""
    return f"{name} raises {type(error).__name__}{what}{at}."


def unwritten(function: Callable[..., Any]) -> bool:
    """Whether a function's body is nothing but its docstring and dots."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_names:
        return False
    plain = {None, getattr(function, "__doc__", None), ...}
    steps = {step.opname for step in dis.get_instructions(code)}
    return set(code.co_consts) <= plain and steps <= NOTHING
