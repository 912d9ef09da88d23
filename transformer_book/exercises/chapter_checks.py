"""Checks for one chapter alone: what a reader worked out, or a function that is in no catalogue.

`compare` takes a value, `compare_function` a function; both know what typical slips give. `judge`
takes an answer of which there are many right ones, and looks for what would be wrong with it. Each
says in a sentence what is wrong.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from typing import Any

from transformer_book.exercises.checking import MEMORY, checked, same_outcome
from transformer_book.exercises.comparing import Rules, as_number, difference, same
from transformer_book.exercises.exercise import Mistake, WantedFunction
from transformer_book.exercises.guard import Outcome, guarded
from transformer_book.exercises.verdict import (
    Result,
    capital,
    error_sentence,
    stopped_sentence,
    unwritten,
    whole,
)

SECONDS = 10.0  # for one call of a function
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
            three digits leave open, and a whole number has to be met exactly. A number with fewer
            digits serves where it is right to these.

    Returns:
        A `Result`, which a notebook shows; `passed` says it in a word.

    Raises:
        ValueError: a slip cannot be told from the right answer, or from another slip.
    """
    rules = Rules(THREE_DIGITS) if tolerance is None else Rules(tolerance, whole=tolerance)
    require_distinct(slips, expected, lambda one, other: same(one, other, rules))
    if missing := _nothing(_parts(answer), name):
        return Result(name, False, missing, written=False)
    differs = difference(answer, expected, name, rules)
    if differs is None:
        return Result(name, True, f"{capital(name)} is right.")
    for sentence, slip in slips.items():
        if same(answer, slip, rules):
            return Result(name, False, sentence, mistake=sentence)
    by_digits = rules._replace(digits=True)
    slipped = any(same(answer, slip, by_digits) for slip in slips.values())
    if same(answer, expected, by_digits) and not slipped:
        return Result(name, True, f"{capital(name)} is right to the digits it has.")
    return Result(name, False, whole(differs.words))


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
    wanted = WantedFunction(
        solution=right,
        mistakes=tuple(Mistake(slip, sentence) for sentence, slip in slips.items()),
        tolerance=tolerance,
        given=tuple(inspect.signature(right).bind(*each).arguments for each in inputs),
    )
    calls = wanted.prepared
    known = {text: [call.mistaken[slip] for call in calls] for text, slip in slips.items()}

    def are_same(some: Sequence[Outcome], others: Sequence[Outcome]) -> bool:
        pairs = zip(some, others, strict=True)
        return all(same_outcome(one, other, wanted.rules) for one, other in pairs)

    require_distinct(known, [Outcome(call.target) for call in calls], are_same)
    if not callable(function):
        said = f"The check takes the function itself: {wanted.name}, not {wanted.name}(...)."
        return Result(wanted.name, False, said)
    result = checked(wanted, function, seconds, MEMORY)
    return replace(result, mistake=result.sentence) if result.sentence in slips else result


def require_distinct(
    slips: Mapping[str, Any], right: Any, same: Callable[[Any, Any], bool]
) -> None:
    """Each slip gives something of its own.

    Raises:
        ValueError: one gives what is right, or what another gives.
    """
    for sentence, slip in slips.items():
        if same(slip, right):
            raise ValueError(f"this slip is the right answer: {sentence!r}")
    for (sentence, one), (also, other) in combinations(slips.items(), 2):
        if same(other, one):
            raise ValueError(f"these slips give the same answer: {sentence!r} and {also!r}")


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
                fault = stopped_sentence(name, outcome, guard)
                return Result(name, False, fault, still_runs=guard.still_runs)
            if isinstance(outcome.error, TypeError) and in_numbers is not None:
                break
            if outcome.error is not None:
                line = next((part for part in parts if callable(part)), is_so)
                fault = error_sentence(name, outcome.error, line, "as the exercise names it")
                return Result(name, False, capital(fault))
            if outcome.value:
                return Result(name, False, sentence, mistake=sentence)
        else:
            return Result(name, True, f"{capital(name)} is right.")
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
