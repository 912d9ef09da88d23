"""Checks for one chapter alone: what a reader worked out, or a function that is in no catalogue.

`compare` takes a value, `compare_function` a function; both know what typical slips give. `judge`
takes an answer of which there are many right ones, and looks for what would be wrong with it. Each
says in a sentence what is wrong.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

from transformer.exercises.answers import changed
from transformer.exercises.cases import copied
from transformer.exercises.differences import Tolerance, as_number, difference
from transformer.exercises.faults import (
    ChangedError,
    error_sentence,
    stopped_sentence,
    unwritten,
)
from transformer.exercises.guard import Guard, Outcome, guarded
from transformer.exercises.result import Result

SECONDS = 10.0  # for one call of a function
MEMORY = 2**30  # bytes for one call
THREE_DIGITS = 1e-3  # relative; what is worked out by hand is written with so many
NO_SLIPS: Mapping[str, Any] = {}


def compare(
    answer: Any,
    expected: Any,
    *,
    slips: Mapping[str, Any] = NO_SLIPS,
    name: str = "your answer",
    tolerance: float | None = None,
) -> Result:
    """Say whether a value is the right one, and if not, what is wrong, without giving it away.

    Args:
        answer: the reader's; None or ..., also as one in a tuple, says that there is none yet. A
            list serves where a tensor is expected, any kind of number where a number is, "1/2" too.
        expected: a number, a truth value, a text, a tensor, or a list, tuple, set or dict of such.
        slips: what typical slips give, each under the sentence that says which slip it is.
        name: what the answer is called in a sentence.
        tolerance: the relative difference that is put down to rounding. Without one that is what
            three digits leave open, and a whole number has to be met exactly.

    Returns:
        A `Result`, which a notebook shows; `passed` says it in a word.

    Raises:
        ValueError: a slip cannot be told from the right answer, or from another slip.
    """
    near = Tolerance(THREE_DIGITS) if tolerance is None else Tolerance(tolerance, tolerance)
    for sentence, slip in slips.items():
        if not difference(slip, expected, name, near):
            raise ValueError(f"this slip is the right answer: {sentence!r}")
    for (sentence, one), (also, other) in combinations(slips.items(), 2):
        if not difference(other, one, name, near):
            raise ValueError(f"these slips give the same answer: {sentence!r} and {also!r}")
    if said := _nothing(_parts(answer), name):
        return Result(name, False, said, written=False)
    fault = difference(answer, expected, name, near)
    if not fault:
        return Result(name, True, f"{name[0].upper()}{name[1:]} is right.")
    for sentence, slip in slips.items():
        if not difference(answer, slip, name, near):
            return Result(name, False, sentence, mistake=sentence)
    return Result(name, False, f"{fault[0].upper()}{fault[1:]}.")


def compare_function(
    function: Any,
    right: Callable[..., Any],
    inputs: Sequence[Sequence[Any]],
    *,
    slips: Mapping[str, Callable[..., Any]] = NO_SLIPS,
    tolerance: float = 1e-4,
    seconds: float = SECONDS,
) -> Result:
    """Say whether a function gives what the right one gives, and if not, what is wrong.

    Args:
        function: the reader's; a body of three dots says that it is not written yet.
        right: ours; its name and its arguments' names stand in the sentences.
        inputs: the arguments of each call, the simplest first.
        slips: functions that make a typical mistake, each under the sentence that says which.
        tolerance: the relative difference that is put down to rounding.
        seconds: a call that computes for longer is stopped.

    Returns:
        A `Result`, which a notebook shows. Whatever the function does, nothing is raised.

    Raises:
        ValueError: a slip gives what is right for all inputs, or what another slip gives.
    """
    name = right.__name__
    expected = [Outcome(right(*map(copied, each))) for each in inputs]
    known = {text: [_tried(slip, each) for each in inputs] for text, slip in slips.items()}
    for sentence, wrong in known.items():
        if _all_same(wrong, expected, tolerance):
            raise ValueError(f"this slip gives what is right for all inputs: {sentence!r}")
    for (sentence, one), (also, other) in combinations(known.items(), 2):
        if _all_same(other, one, tolerance):
            raise ValueError(f"these slips give the same for all inputs: {sentence!r} and {also!r}")
    if not callable(function):
        said = f"The check takes the function itself: {name}, not {name}(...)."
        return Result(name, False, said)
    with guarded(seconds, MEMORY) as guard:
        outcomes = _called(function, right, inputs, guard)
    if _is_missing(outcomes[0], function):
        said = f"{name} is not written yet: put your lines in the place of the three dots."
        return Result(name, False, said, written=False)
    printed = guard.printed.text
    for sentence, wrong in known.items():
        if _all_same(outcomes, wrong, tolerance):
            return Result(name, False, sentence, mistake=sentence, printed=printed)
    names = list(inspect.signature(right).parameters)
    for arguments, outcome, target in zip(inputs, outcomes, expected, strict=False):
        given = dict(zip(names, arguments, strict=False))
        if said := _fault(function, name, names, outcome, guard):
            return Result(name, False, said, inputs=given, printed=printed)
        one, other = outcome.value, target.value
        if fault := difference(one, other, "the result", Tolerance(tolerance), reveal=True):
            said = f"Called as below, {name} is wrong: {fault}."
            pair = {"answer": one, "target": other}
            return Result(name, False, said, inputs=given, printed=printed, **pair)
    times = f"the same as ours on {len(inputs)} input{'s' * (len(inputs) > 1)}"
    return Result(name, True, f"{name} is right.", shown=(times,), printed=printed)


def judge(
    answer: Any,
    faults: Mapping[str, Callable[..., bool]],
    *,
    examples: Sequence[Any] = (),
    name: str = "your answer",
    seconds: float = SECONDS,
) -> Result:
    """Say whether an answer is right where many are: where nothing that would be wrong is true.

    Args:
        answer: the reader's, a value or a function. None or ..., also as one in a tuple of several,
            and a function whose body is three dots say that there is none yet.
        faults: what may be wrong, the most telling first: under the sentence that says so a
            function of the answer that is true where it is so. To a function of several arguments
            a tuple is handed over as these.
        examples: for each fault, in their order, a wrong answer that is to get just its sentence,
            or None. They are tried where no answer is there, as it is when the book is built.
        name: what the answer is called in a sentence.
        seconds: a fault that takes longer to be looked for is stopped.

    Returns:
        A `Result`, which a notebook shows. Whatever the answer does, nothing is raised.

    Raises:
        ValueError: an example gets another sentence than its own, or there are more or fewer of
            them than faults.
    """
    parts = _parts(answer)
    if missing := _nothing(parts, name):
        for sentence, example in zip(faults, examples, strict=bool(examples)):
            said = _judged(example, faults, name, seconds).sentence
            if example is not None and said != sentence:
                raise ValueError(f"the example of {sentence!r} is answered by {said!r}")
        return Result(name, False, missing, written=False)
    return _judged(answer, faults, name, seconds)


def _judged(
    answer: Any, faults: Mapping[str, Callable[..., bool]], name: str, seconds: float
) -> Result:
    """The first fault of an answer that is there."""
    parts, in_numbers = _parts(answer), _in_numbers(answer)
    with guarded(seconds, MEMORY) as guard:
        for sentence, is_so in faults.items():
            handed = (answer,) if _takes_one(is_so) else parts
            outcome = guard.call(is_so, *handed)
            if outcome.stopped:
                return Result(name, False, stopped_sentence(name, outcome, guard))
            if isinstance(outcome.error, TypeError) and in_numbers is not None:
                break
            if outcome.error is not None:
                line = next((part for part in parts if callable(part)), is_so)
                said = error_sentence(name, outcome.error, line, "as the exercise names it")
                return Result(name, False, said[0].upper() + said[1:])
            if outcome.value:
                return Result(name, False, sentence, mistake=sentence)
        else:
            return Result(name, True, f"{name[0].upper()}{name[1:]} is right.")
    return _judged(in_numbers, faults, name, seconds)


def _in_numbers(answer: Any) -> Any:
    """An answer with its texts and decimals that are numbers as these; None if it has none."""
    parts = _parts(answer)
    numbers = [as_number(each) if isinstance(each, str | Decimal) else None for each in parts]
    if all(each is None for each in numbers):
        return None
    pairs = zip(parts, numbers, strict=True)
    plain = tuple(part if number is None else number for part, number in pairs)
    return plain if isinstance(answer, tuple) else plain[0]


def _takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function takes one argument, those that have a default left out."""
    try:
        every = inspect.signature(function).parameters.values()
    except ValueError:  # some built-in functions have none
        return False
    several = any(each.kind is each.VAR_POSITIONAL for each in every)
    return not several and [each.default for each in every].count(inspect.Parameter.empty) == 1


def _nothing(parts: Sequence[Any], name: str) -> str:
    """That an answer, or a part of it, is not there yet; "" if everything is."""
    n_missing = sum(map(_is_empty, parts))
    if 0 < n_missing < len(parts):
        one = n_missing == 1
        some = "One part" if one else f"{n_missing} parts"
        return f"{some} of {name} {'is' if one else 'are'} still missing."
    return f"Nothing is here yet: put {name} here." if n_missing else ""


def _is_empty(part: Any) -> bool:
    return part is None or part is ... or (callable(part) and unwritten(part))


def _parts(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def _is_missing(outcome: Outcome, function: Callable[..., Any]) -> bool:
    """Whether there is nothing but the skeleton."""
    returned = outcome.error is None and not outcome.stopped
    nothing = returned and outcome.value is None and unwritten(function)
    return outcome.value is ... or nothing


def _fault(
    function: Callable[..., Any], name: str, names: Sequence[str], outcome: Outcome, guard: Guard
) -> str:
    """What is wrong with a call before one looks at its value; "" if nothing is."""
    if outcome.stopped:
        return stopped_sentence(name, outcome, guard)
    if outcome.error is not None:
        return error_sentence(name, outcome.error, function, f"{name}({', '.join(names)})")
    return f"{name} returns nothing (None): is a `return` missing?" * (outcome.value is None)


def _called(
    function: Callable[..., Any],
    right: Callable[..., Any],
    inputs: Sequence[Sequence[Any]],
    guard: Guard,
) -> list[Outcome]:
    """What the function makes of each input; one that it changes is an error."""
    arguments = [[copied(value) for value in each] for each in inputs]
    outcomes = guard.calls(function, arguments)
    names = inspect.signature(right).parameters
    for before, after, outcome in zip(inputs, arguments, outcomes, strict=False):
        for name, one, other in zip(names, before, after, strict=False):
            if not outcome.stopped and changed(one, other):
                outcome.error = outcome.error or ChangedError(name)
    return outcomes


def _tried(function: Callable[..., Any], arguments: Sequence[Any]) -> Outcome:
    try:
        return Outcome(function(*map(copied, arguments)))
    except Exception as error:
        return Outcome(error=error)


def _same(one: Outcome, other: Outcome, tolerance: float) -> bool:
    if one.stopped or one.error is not None or other.error is not None:
        return not one.stopped and repr(one.error) == repr(other.error)
    return not difference(one.value, other.value, "", Tolerance(tolerance))


def _all_same(some: Sequence[Outcome], others: Sequence[Outcome], tolerance: float) -> bool:
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(_same(one, other, tolerance) for one, other in pairs)
