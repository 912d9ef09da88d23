"""In what an answer differs from the right one, in words: of a number, a tensor, a list, a set."""

import math
from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from transformer.exercises.answers import is_plain, number

POWERS = 12  # of ten, by which an answer may be off and its digits still be called right
NUMBERS = int | float | Fraction | Decimal | np.number
EXACT = 1e-9  # relative; nothing but the rounding of a double


class Tolerance(NamedTuple):
    """The relative difference that is put down to rounding.

    Attributes:
        relative: of numbers in general.
        whole: where the right number is a whole one.
    """

    relative: float
    whole: float = EXACT


def difference(
    answer: Any, expected: Any, what: str, tolerance: Tolerance, *, reveal: bool = False
) -> str:
    """In what an answer differs from the right one, as a clause; "" if in nothing.

    Args:
        what: the answer's name.
        tolerance: up to where two numbers are the same.
        reveal: whether the clause may say what is right.
    """
    if isinstance(expected, Tensor):
        return _of_tensors(answer, expected, what, tolerance, reveal)
    if isinstance(expected, Mapping):
        return _of_mappings(answer, expected, what, tolerance, reveal)
    if isinstance(expected, list | tuple):
        return _of_lists(answer, expected, what, tolerance, reveal)
    if isinstance(expected, Set):
        return _of_sets(answer, expected, what)
    if isinstance(expected, bool | np.bool_):
        if not isinstance(_item(answer), bool | np.bool_):
            return f"{what} is {_kind(answer)}; it should be True or False"
        wrong = bool(_item(answer)) != bool(expected)
        return f"{what} is {bool(answer)}, and should be {bool(expected)}" if wrong else ""
    if isinstance(expected, int | float | np.number):
        whole = isinstance(expected, int) or (not reveal and float(expected).is_integer())
        near = tolerance.whole if whole else tolerance.relative
        return _of_numbers(answer, float(expected), what, near, reveal)
    if isinstance(expected, str):
        if not isinstance(answer, str):
            return f"{what} is {_kind(answer)}; it should be a text (str)"
        if answer.strip().casefold() == expected.strip().casefold():
            return ""
        return f"{what} is {answer!r}, and " + (f"should be {expected!r}" if reveal else "is wrong")
    return "" if answer == expected else f"{what} is {answer!r}, and that is wrong"


def _of_numbers(answer: Any, expected: float, what: str, near: float, reveal: bool) -> str:
    value = as_number(answer)
    if value is None:
        return f"{what} is {_kind(answer)}; it should be a number"

    def is_near(one: float, other: float) -> bool:
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=near, abs_tol=1e-12)

    if is_near(value, expected):
        return ""
    if reveal:
        return f"{what} is {number(value)}, and should be {number(expected)}"
    if is_near(-value, expected):
        return f"{what} is {number(value)}: right but for its sign"
    tens = [10.0**power for power in range(1, POWERS + 1)]
    if expected and any(is_near(value * t, expected) or is_near(value / t, expected) for t in tens):
        return f"{what} is {number(value)}: the digits are right, the power of ten is not"
    return f"{what} is {number(value)}, which is too {'large' if value > expected else 'small'}"


def _of_tensors(
    answer: Any, expected: Tensor, what: str, tolerance: Tolerance, reveal: bool
) -> str:
    if not isinstance(answer, Tensor):
        try:
            answer = torch.as_tensor(answer)
        except (TypeError, ValueError, RuntimeError):
            return f"{what} is {_kind(answer)}; it should be a tensor, or lists of numbers"
    if not is_plain(answer) or answer.is_complex():
        return f"{what} should be an ordinary tensor of numbers on the CPU"
    if answer.shape != expected.shape:
        return f"{what} has shape {tuple(answer.shape)}; it should have {tuple(expected.shape)}"
    if (answer.dtype == torch.bool) != (expected.dtype == torch.bool):
        return f"{what} holds {_content(answer)}; it should hold {_content(expected)}"
    one, other = answer.detach().double(), expected.detach().double()
    near = tolerance.relative
    close = torch.isclose(one, other, near, near / 10, equal_nan=True)
    if close.all():
        return ""
    index = tuple((~close).nonzero()[0].tolist())
    entry = f"entry [{', '.join(map(str, index))}] of {what}" if index else what
    n_wrong = int((~close).sum())
    share = f" ({n_wrong} of {one.numel()} entries differ)" if one.numel() > 1 else ""
    wrong, wanted = one[index].item(), other[index].item()
    if expected.dtype == torch.bool:
        return f"{entry} is {bool(wrong)}, and should be {bool(wanted)}{share}"
    return _of_numbers(wrong, wanted, entry, near / 10, reveal) + share


def _of_lists(
    answer: Any, expected: Sequence[Any], what: str, tolerance: Tolerance, reveal: bool
) -> str:
    if isinstance(answer, Tensor | np.ndarray) and answer.ndim:
        answer = answer.tolist()
    if not isinstance(answer, list | tuple):
        kind = "a list" if isinstance(expected, list) else f"{len(expected)} things"
        return f"{what} is {_kind(answer)}; it should be {kind}"
    if len(answer) != len(expected):
        wanted = f"; it should have {len(expected)}" if reveal else ", which is not their number"
        return f"{what} has {len(answer)} element{'s' * (len(answer) != 1)}{wanted}"
    for i, (one, other) in enumerate(zip(answer, expected, strict=True)):
        if fault := difference(one, other, f"element {i} of {what}", tolerance, reveal=reveal):
            return fault
    return ""


def _of_mappings(
    answer: Any, expected: Mapping[Any, Any], what: str, tolerance: Tolerance, reveal: bool
) -> str:
    if not isinstance(answer, Mapping):
        return f"{what} is {_kind(answer)}; it should be a dictionary"
    if more := [key for key in answer if key not in expected]:
        return f"{what} has the key {more[0]!r}, which does not belong there"
    if missing := [key for key in expected if key not in answer]:
        return f"{what} lacks the key {missing[0]!r}"
    for key, value in expected.items():
        if fault := difference(answer[key], value, f"{what} at {key!r}", tolerance, reveal=reveal):
            return fault
    return ""


def _of_sets(answer: Any, expected: Set[Any], what: str) -> str:
    if isinstance(answer, Tensor | np.ndarray) and answer.ndim:
        answer = answer.tolist()
    if isinstance(answer, str) or not isinstance(answer, Set | list | tuple):
        return f"{what} is {_kind(answer)}; it should be a set or a list"
    elements = [_element(each) for each in answer]
    if not any(isinstance(each, tuple) for each in expected):  # `nonzero()` gives [[0], [1]]
        elements = [e[0] if isinstance(e, tuple) and len(e) == 1 else e for e in elements]
    for each, given in zip(elements, answer, strict=True):
        if not _belongs(each, expected):
            return f"{what} has {given!r}, which does not belong there"
    missing = len(expected) - len(set(elements))
    return f"{what} is right as far as it goes, but lacks {missing} more" if missing else ""


def _element(value: Any) -> Any:
    """What may be in a set as it would be there: a list as a tuple, a tensor as its numbers."""
    value = _item(value)
    if isinstance(value, Tensor | np.ndarray):
        value = value.tolist()
    return tuple(map(_element, value)) if isinstance(value, list | tuple) else value


def _belongs(value: Any, expected: Set[Any]) -> bool:
    """Whether a set has an element; True is not 1 here."""
    try:
        found = value in expected
    except TypeError:  # it cannot be in any set
        return False
    return found and (not isinstance(value, bool) or any(each is value for each in expected))


def _item(value: Any) -> Any:
    """A tensor or an array of one number as that number."""
    if isinstance(value, Tensor) and value.numel() == 1 and is_plain(value):
        return value.item()
    if isinstance(value, np.ndarray) and value.size == 1:
        return value.item()
    return value


def as_number(value: Any) -> float | None:
    """Any kind of number, "1/2" included; None for what is none."""
    value = _item(value)
    if isinstance(value, str):
        try:
            return float(Fraction(value.strip()))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        return None
    return None if isinstance(value, np.complexfloating) else float(value)


def _kind(value: Any) -> str:
    """What something is, with its article."""
    if value is None:
        return "None"
    name = "tensor" if isinstance(value, Tensor) else type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _content(tensor: Tensor) -> str:
    return "True and False" if tensor.dtype == torch.bool else "numbers"
