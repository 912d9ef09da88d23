"""Compares an answer with what is right, and says in words in what they differ."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

EXACT = 1e-9  # relative; nothing but the rounding of a double
POWERS = 12  # of ten, by which an answer may be off and its digits still be called right
MOST_DIGITS = 3
ROUGHEST = 0.05
WRITTEN = re.compile(
    r"(?P<number>[-+]?(?P<whole>\d+)(?:\.(?P<part>\d*))?(?:e(?P<power>[-+]?\d{1,2}))?)"
    r"\s*(?P<share>%?)$"
)
NUMBERS = int | float | Fraction | Decimal | np.number


class Rules(NamedTuple):
    """What two results may differ in, and what may be said of it.

    Attributes:
        relative: the relative difference of numbers that is put down to rounding.
        whole: the same where the right number is a whole one.
        digits: whether a number serves too that is right to the few digits that it has.
        strict: whether types are to be those of the right result; otherwise a list serves where
            a tensor is expected, and any kind of number where a number is, "1/2" too.
        reveal: whether the words may say what is right.
    """

    relative: float
    whole: float = EXACT
    digits: bool = False
    strict: bool = False
    reveal: bool = False


class Difference(NamedTuple):
    """Where an answer differs from the right one first.

    Attributes:
        words: a clause, without its full stop: "the result has shape (2,); it should have (3,)".
        form: whether types or shapes differ, before one looks at the numbers.
        part: the index of the part of the result, where there are several.
        entry: its index in a tensor.
    """

    words: str
    form: bool = False
    part: int = 0
    entry: tuple[int, ...] = ()


def difference(
    answer: Any,
    expected: Any,
    what: str,
    rules: Rules,
    *,
    names: Sequence[str] = (),
    axes: Sequence[str | None] = (),
) -> Difference | None:
    """The first difference between an answer and the right one, those of form before others.

    Args:
        answer: may be anything.
        expected: a number, a truth value, a text, a tensor, or a list, tuple, set or dict of such.
        what: the answer's name.
        rules: what counts as a difference.
        names: of the parts of a tuple.
        axes: the names of the axes of each part, or of the only tensor.
    """
    if isinstance(expected, Tensor):
        return _of_tensors(answer, expected, what, rules, axes[0] if axes else None)
    if isinstance(expected, Mapping):
        return _of_mappings(answer, expected, what, rules)
    if isinstance(expected, tuple):
        return _of_tuples(answer, expected, what, rules, names, axes)
    if isinstance(expected, list):
        return _of_lists(answer, expected, what, rules)
    if isinstance(expected, Set):
        return _of_sets(answer, expected, what)
    if isinstance(expected, bool | np.bool_):
        value = answer if rules.strict else _item(answer)
        if not isinstance(value, bool | np.bool_):
            return _unlike(answer, "True or False", what)
        wrong = bool(value) != bool(expected)
        words = f"{what} is {bool(value)}, and should be {bool(expected)}"
        return Difference(words) if wrong else None
    if isinstance(expected, int | float | np.number):
        return _of_numbers(answer, expected, what, rules)
    if isinstance(expected, str):
        return _of_texts(answer, expected, what, rules)
    if answer is expected or _are_equal(answer, expected):
        return None
    return Difference(f"{what} is {answer!r}, and that is wrong")


def same(one: Any, other: Any, rules: Rules) -> bool:
    """Whether two results do not differ; NaN is the same as NaN."""
    return difference(one, other, "", rules) is None


def same_but_for_nan(one: Any, other: Any, rules: Rules) -> bool:
    """Whether two results do not differ wherever the first is not NaN."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same_but_for_nan(a, b, rules) for a, b in pairs)
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.shape == other.shape and is_plain(one) and one.is_floating_point():
            one = torch.where(one.isnan(), other, one)
    elif isinstance(one, float) and math.isnan(one):
        return True
    return same(one, other, rules)


def changed(before: Any, after: Any) -> bool:
    """Whether an argument is another one after a call than before."""
    return not same(after, before, Rules(0.0, whole=0.0, strict=True))


def _unlike(answer: Any, wanted: str, what: str) -> Difference:
    """An answer of another kind than the one wanted."""
    return Difference(f"{what} is {_kind(answer)}; it should be {wanted}", form=True)


def _first(differences: Iterable[Difference | None]) -> Difference | None:
    """The first difference of form, or else the first of all."""
    there = [each for each in differences if each is not None]
    return next((each for each in there if each.form), there[0] if there else None)


def _of_numbers(answer: Any, expected: Any, what: str, rules: Rules) -> Difference | None:
    is_int = isinstance(expected, int | np.integer)
    if rules.strict:
        # A whole number serves where any number does, and NumPy's numbers do.
        allowed = int | np.integer if is_int else int | float | np.integer | np.floating
        if isinstance(answer, bool) or not isinstance(answer, allowed):
            way = ": .item() makes one of it" if isinstance(answer, Tensor) else ""
            kind = "a whole number (int)" if is_int else "a plain number (float)"
            return _unlike(answer, kind + way, what)
    whole = is_int or (not rules.reveal and float(expected).is_integer())
    if rules.digits and not whole and right_to_its_digits(answer, float(expected)):
        return None
    value, near = as_number(answer), rules.whole if whole else rules.relative
    if value is None:
        return _unlike(answer, "a number", what)
    if _is_near(value, expected, near):
        return None
    return Difference(_of_wrong_number(value, expected, what, near, rules))


def _is_near(one: Any, other: Any, near: float) -> bool:
    both_nan = math.isnan(one) and math.isnan(other)
    return both_nan or math.isclose(one, other, rel_tol=near, abs_tol=1e-12)


def _of_wrong_number(value: Any, expected: Any, what: str, near: float, rules: Rules) -> str:
    if rules.reveal:
        return f"{what} is {number(value)}, and should be {number(expected)}"
    if _is_near(-value, expected, near):
        return f"{what} is {number(value)}: right but for its sign"
    tens = [10.0**power for power in range(1, POWERS + 1)]
    shifted = [moved for ten in tens for moved in (value * ten, value / ten)]
    if expected and any(_is_near(moved, expected, near) for moved in shifted):
        return f"{what} is {number(value)}: the digits are right, the power of ten is not"
    return f"{what} is {number(value)}, which is too {'large' if value > expected else 'small'}"


def right_to_its_digits(answer: Any, expected: float) -> bool:
    """Whether a number with three digits or fewer is the right one, rounded to these: 7e-4, "73%".

    One that rounding has changed by more than 5 % is not; nor is one of type int, which is more
    often computed than written.
    """
    if not isinstance(answer, str | float | Decimal):
        return False
    match = WRITTEN.match(str(answer).strip().lower())
    digits = match and (match["whole"] + (match["part"] or "")).lstrip("0")
    if match is None or not digits or len(digits) > MOST_DIGITS:
        return False
    share = 0.01 if match["share"] else 1.0
    value = share * float(match["number"])
    step = share * 10.0 ** (int(match["power"] or 0) - len(match["part"] or ""))
    return abs(value - expected) <= min(0.5001 * step, ROUGHEST * abs(expected))


def _of_texts(answer: Any, expected: str, what: str, rules: Rules) -> Difference | None:
    if not isinstance(answer, str):
        return _unlike(answer, "a text (str)", what)
    if answer == expected:
        return None
    if not rules.strict and answer.strip().casefold() == expected.strip().casefold():
        return None
    fault = f"should be {expected!r}" if rules.reveal else "is wrong"
    return Difference(f"{what} is {answer!r}, and {fault}")


def _of_tensors(
    answer: Any, expected: Tensor, what: str, rules: Rules, axes: str | None
) -> Difference | None:
    if not isinstance(answer, Tensor) and not rules.strict:
        with suppress(TypeError, ValueError, RuntimeError):
            answer = torch.as_tensor(answer)
    if not isinstance(answer, Tensor):
        wanted = "a torch.Tensor" if rules.strict else "a tensor, or lists of numbers"
        return _unlike(answer, wanted, what)
    if not is_plain(answer) or answer.is_complex():
        words = f"{what} should be an ordinary tensor of numbers on the CPU"
        return Difference(words, form=True)
    if answer.shape != expected.shape:
        axis_names = (axes or "").replace("*batch", "...").split()
        named = f", that is ({', '.join(axis_names)})" if axis_names else ""
        shape, right = tuple(answer.shape), tuple(expected.shape)
        return Difference(f"{what} has shape {shape}; it should have {right}{named}", form=True)
    holds, should_hold = _content(answer, rules), _content(expected, rules)
    if holds != should_hold:
        return Difference(f"{what} holds {holds}; it should hold {should_hold}", form=True)
    near = rules.relative if expected.is_floating_point() else rules.whole
    one, other = answer.detach(), expected.detach()
    close = torch.isclose(one.double(), other.double(), near, near / 10, equal_nan=True)
    if close.all():
        return None
    index = tuple((~close).nonzero()[0].tolist())
    entry = f"entry [{', '.join(map(str, index))}] of {what}" if index else what
    share = f" ({int((~close).sum())} of {one.numel()} entries differ)" if one.numel() > 1 else ""
    value, right_value = one[index].item(), other[index].item()
    if expected.dtype == torch.bool:
        words = f"{entry} is {value}, and should be {right_value}"
    else:
        words = _of_wrong_number(value, right_value, entry, near / 10, rules)
    return Difference(words + share, entry=index)


def _of_tuples(
    answer: Any,
    expected: tuple[Any, ...],
    what: str,
    rules: Rules,
    names: Sequence[str],
    axes: Sequence[str | None],
) -> Difference | None:
    answer, n_parts = _as_list(answer, rules), len(expected)
    named = f": {', '.join(names)}" if names else ""
    if not isinstance(answer, list | tuple):
        return _unlike(answer, f"{n_parts} things{named}", what)
    if len(answer) != n_parts:
        return _of_lengths(answer, expected, what, rules, named)._replace(form=True)

    def of_part(part: int) -> Difference | None:
        pair, element = (answer[part], expected[part]), f"element {part} of {what}"
        name = names[part] if names else element
        differs = difference(*pair, name, rules, axes=axes[part : part + 1])
        if differs is not None and differs.form and names:  # "the weights is" would be no English
            differs = difference(*pair, f"{element} ({name})", rules, axes=axes[part : part + 1])
        return differs and differs._replace(part=part)

    return _first(map(of_part, range(n_parts)))


def _of_lists(answer: Any, expected: Sequence[Any], what: str, rules: Rules) -> Difference | None:
    kinds = {str: " of strings", int: " of whole numbers"}
    of = next((kinds[kind] for kind in kinds if {*map(type, expected)} == {kind}), "")
    answer = _as_list(answer, rules)
    if not isinstance(answer, list | tuple):
        way = ": .tolist() makes one of it" if isinstance(answer, Tensor | np.ndarray) else ""
        return _unlike(answer, f"a list{of}{way}", what)
    # Each is to be of the kind of those that are right, also where there are too many.
    last = len(expected) - 1
    differs = _first(
        difference(one, expected[min(i, last)], f"element {i} of {what}", rules)
        for i, one in enumerate(answer if expected else ())
    )
    if len(answer) != len(expected) and not (differs and differs.form):
        return _of_lengths(answer, expected, what, rules)
    return differs


def _of_lengths(
    answer: Sequence[Any], expected: Sequence[Any], what: str, rules: Rules, named: str = ""
) -> Difference:
    wanted = f"; it should have {len(expected)}" if rules.reveal else ", which is not their number"
    return Difference(f"{what} has {len(answer)} element{'s' * (len(answer) != 1)}{wanted}{named}")


def _of_mappings(
    answer: Any, expected: Mapping[Any, Any], what: str, rules: Rules
) -> Difference | None:
    if not isinstance(answer, Mapping):
        return _unlike(answer, "a dictionary", what)
    if more := [key for key in answer if key not in expected]:
        return Difference(f"{what} has the key {more[0]!r}, which does not belong there")
    if missing := [key for key in expected if key not in answer]:
        return Difference(f"{what} lacks the key {missing[0]!r}")
    return _first(
        difference(answer[key], value, f"{what} at {key!r}", rules)
        for key, value in expected.items()
    )


def _of_sets(answer: Any, expected: Set[Any], what: str) -> Difference | None:
    if isinstance(answer, Tensor | np.ndarray) and answer.ndim:
        answer = answer.tolist()
    if isinstance(answer, str) or not isinstance(answer, Set | list | tuple):
        return _unlike(answer, "a set or a list", what)
    elements = [_element(each) for each in answer]
    if not any(isinstance(each, tuple) for each in expected):  # `nonzero()` gives [[0], [1]]
        elements = [e[0] if isinstance(e, tuple) and len(e) == 1 else e for e in elements]
    for each, given in zip(elements, answer, strict=True):
        if not _belongs(each, expected):
            return Difference(f"{what} has {given!r}, which does not belong there")
    if missing := len(expected) - len(set(elements)):
        return Difference(f"{what} is right as far as it goes, but lacks {missing} more")
    return None


def _element(value: Any) -> Any:
    """What may be in a set as it would be there: a list as a tuple, a tensor as its numbers."""
    value = _item(value)
    if isinstance(value, Tensor | np.ndarray):
        value = value.tolist()
    return tuple(map(_element, value)) if isinstance(value, list | tuple) else value


def _belongs(value: Any, expected: Set[Any]) -> bool:
    """Whether a set has an element; True is not 1 here."""
    try:
        is_there = value in expected
    except TypeError:  # it cannot be in any set
        return False
    return is_there and (not isinstance(value, bool) or any(each is value for each in expected))


def _are_equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError, RuntimeError):  # as of arrays
        return False


def _as_list(value: Any, rules: Rules) -> Any:
    """A tensor or an array as a list, where it may stand for one."""
    convertible = not rules.strict and isinstance(value, Tensor | np.ndarray) and value.ndim
    return value.tolist() if convertible else value


def _item(value: Any) -> Any:
    """A tensor or an array of one number as that number."""
    if isinstance(value, Tensor) and value.numel() == 1 and is_plain(value):
        return value.item()
    if isinstance(value, np.ndarray) and value.size == 1:
        return value.item()
    return value


def as_number(value: Any) -> int | float | None:
    """Any kind of number, "1/2" included; None for what is none."""
    value = _item(value)
    if isinstance(value, str):
        try:
            return float(Fraction(value.strip()))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        return None
    if isinstance(value, np.complexfloating):
        return None
    try:
        rounded = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return value if isinstance(value, int) else rounded


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor's numbers can be looked at: it is dense, and in the CPU's memory."""
    return tensor.layout == torch.strided and tensor.is_cpu and not tensor.is_quantized


def number(value: Any) -> str:
    """A number as a sentence has it."""
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return "NaN"
        return "0" if value == 0 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _kind(value: Any) -> str:
    """What something is, with its article: "a list", "a tensor"."""
    if value is None:
        return "None"
    name = {"Tensor": "tensor", "ndarray": "NumPy array"}.get(type(value).__name__)
    name = name or type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _content(tensor: Tensor, rules: Rules) -> str:
    if tensor.dtype == torch.bool:
        return "True and False"
    return str(tensor.dtype).removeprefix("torch.") if rules.strict else "numbers"
