"""Checks a reader's function: which mistake it makes, or what is wrong with its answers."""

import difflib
import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer.exercises.answers import changed, equal, form_fault, gap
from transformer.exercises.cases import (
    axes_of_result,
    copied,
    float_names,
    gradients,
    leaves_of,
    parts_of,
    prepared,
    ways,
)
from transformer.exercises.catalogue import EXERCISES
from transformer.exercises.exercise import Case, Exercise, Inputs
from transformer.exercises.faults import (
    ChangedError,
    error_sentence,
    stopped_sentence,
    unwritten,
)
from transformer.exercises.guard import Guard, Outcome, guarded
from transformer.exercises.result import Result

SECONDS = 5.0  # for one call; our own take thousandths
MEMORY = 2**30  # bytes for one call; our own take a few thousand
# What is wrong with a gradient.
NAN = (
    "is NaN: does an infinity or NaN arise on the way, and is replaced only afterwards "
    "(nan_to_num, torch.where)? The gradient goes through it all the same."
)
CUT_OFF = "is another one than it should be: is a part of the computation cut off from it?"


class UnknownExerciseError(LookupError):
    """There is no exercise of that name; says which there are."""


class _BrokenError(Exception):
    """A further call of the reader's function, for a property, has failed; says how."""


def find(name: str) -> Exercise:
    """The exercise of that name.

    Raises:
        UnknownExerciseError: there is none.
    """
    if name in EXERCISES:
        return EXERCISES[name]
    near = difflib.get_close_matches(name, EXERCISES, n=1)
    guess = f"did you mean {near[0]}? " if near else "exercises() lists them. "
    raise UnknownExerciseError(
        f"there is no exercise {name!r}; {guess}There are: {', '.join(EXERCISES)}"
    )


def check(
    function: Any,
    name: str | None = None,
    *,
    seconds: float | int = SECONDS,
    memory: int = MEMORY,
) -> Result:
    """Say whether a function does what its exercise asks for, and if not, what is wrong.

    Args:
        function: called as the exercise's skeleton is.
        name: of the exercise; that of the function when None, without a `my_` before it.
        seconds: a call that computes for longer is stopped, and so is one that waits for so long.
        memory: a call by which the process grows by more bytes is stopped, where the system says.

    Returns:
        A `Result`, which a notebook shows; `passed` says it in a word. Whatever the function
        does, nothing is raised.
    """
    name = name or getattr(function, "__name__", "").removeprefix("my_")
    if not callable(function):
        called = name or "my_function"
        return Result(
            called,
            False,
            "check takes the function itself: check(softmax), not check(softmax(x)).",
        )
    try:
        exercise = find(name)
    except UnknownExerciseError as error:
        way = 'check finds the exercise by the name, or by check(f, "softmax")'
        return Result(name, False, f"{way}: {error}.")
    with guarded(seconds, memory) as guard:
        result = Check(exercise, function, guard).result()
    return replace(result, printed=guard.printed.text)


class Check:
    """One check of one function."""

    def __init__(self, exercise: Exercise, function: Callable[..., Any], guard: Guard) -> None:
        self.exercise, self.function, self.guard = exercise, function, guard
        self.axes = axes_of_result(exercise)

    def result(self) -> Result:
        """The first thing that is wrong: a known mistake, its form, a property, its numbers."""
        every = prepared(self.exercise.name)
        (first,) = self.call([every[0][0]])
        returned = first.error is None and not first.stopped
        if first.value is ... or (returned and first.value is None and unwritten(self.function)):
            name = self.exercise.name
            said = f"{name} is not written yet: put your lines in the place of the three dots."
            return Result(name, False, said, written=False)
        outcomes = [first]
        if not first.stopped:
            outcomes += self.call([inputs for inputs, _, _ in every[1:]])
        ended = not outcomes[-1].stopped
        found = self.known_mistake(outcomes) if ended else None
        for look in (self.form, self.properties, self.further):
            if found is None:
                found = look(outcomes)
        return self.right() if found is None else found

    def call(self, many: Sequence[Inputs]) -> list[Outcome]:
        """The function's answers; an input that it changes is an answer too."""
        arguments = [[copied(value) for value in inputs.values()] for inputs in many]
        outcomes = self.guard.calls(self.function, arguments)
        for inputs, used, outcome in zip(many, arguments, outcomes, strict=False):
            for name, before, after in zip(inputs, inputs.values(), used, strict=True):
                if not outcome.stopped and changed(before, after):
                    outcome.error = outcome.error or ChangedError(name)
        return outcomes

    def fault(self, outcome: Outcome, target: Any) -> str:
        """What is wrong with an outcome before one looks at its numbers; "" if nothing is."""
        name = self.exercise.name
        if outcome.stopped:
            return stopped_sentence(name, outcome, self.guard)
        if outcome.error is not None:
            return self._error(outcome.error)
        if fault := form_fault(outcome.value, target, self.exercise.returns, self.axes):
            return f"{name} {fault}."
        if outcome.draws:
            return (
                f"{name} draws random numbers, or sets their seed; its answer is to depend on its "
                "arguments alone."
            )
        return ""

    def _error(self, error: BaseException) -> str:
        return error_sentence(self.exercise.name, error, self.function, self.signature())

    def signature(self) -> str:
        """The skeleton's, without types."""
        names = inspect.signature(self.exercise.solution).parameters
        return f"{self.exercise.name}({', '.join(names)})"

    def wrong(self, sentence: str, inputs: Inputs, **more: Any) -> Result:
        """A function that does not pass."""
        return Result(self.exercise.name, False, sentence, inputs=inputs, **more)

    def known_mistake(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The mistake that gives just these answers, if one of the catalogue does."""
        e, inputs_of_all = self.exercise, prepared(self.exercise.name)
        for way, mistake in ways(e).items():
            wrong = [outcomes_of[way] for _, _, outcomes_of in inputs_of_all]
            if not all(map(self.same, outcomes, wrong)):
                continue
            for outcome, (inputs, target, _) in zip(outcomes, inputs_of_all, strict=True):
                if not self.same(outcome, Outcome(target)):
                    shown = self.shown(outcome, target)
                    named = {"mistake": mistake.name, "erratum": mistake.erratum}
                    return self.wrong(mistake.sentence, inputs, **named, **shown)
        return None

    def same(self, one: Outcome, other: Outcome) -> bool:
        """Whether both raise the same error, or neither does and they return the same."""
        if one.error is not None or other.error is not None:
            return repr(one.error) == repr(other.error)
        return equal(one.value, other.value, self.exercise.tolerance)

    def shown(self, outcome: Outcome, target: Any) -> dict[str, Any]:
        """What a picture is made of: both results, and in a sentence where they differ."""
        if outcome.error is not None:
            return {"seen": self._error(outcome.error), "target": target}
        e = self.exercise
        shown = {"answer": outcome.value, "target": target, "returns": e.returns}
        if fault := form_fault(outcome.value, target, e.returns, self.axes):
            return {**shown, "seen": f"{e.name} {fault}."}
        found = gap(outcome.value, target, e.tolerance, e.returns)
        if found is None:
            return shown
        return {**shown, "seen": whole(found.sentence), "part": found.part, "index": found.position}

    def form(self, outcomes: Sequence[Outcome]) -> Result | None:
        """An exception, a wrong type or shape, a call without an end."""
        for outcome, (inputs, target, _) in zip(
            outcomes, prepared(self.exercise.name), strict=False
        ):
            if fault := self.fault(outcome, target):
                known = outcome.error is None and not outcome.stopped
                more = {"answer": outcome.value, "target": target} if known else {}
                return self.wrong(fault, inputs, returns=self.exercise.returns, **more)
        return None

    def properties(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The first property that an answer has not; the last one is that it is the target."""
        e = self.exercise
        for holds in (self.is_a_number, *e.properties, self.is_the_target):
            for outcome, (inputs, target, _) in zip(outcomes, prepared(e.name), strict=True):
                case = Case(inputs, outcome.value, target, functools.partial(self.again, inputs))
                try:
                    sentence = holds(case)
                except _BrokenError as error:
                    sentence = str(error)
                except Exception:  # an answer so odd that the property makes no sense of it
                    sentence = None
                if sentence:
                    shown = self.shown(outcome, target)
                    if shown.get("seen", "").casefold() == sentence.casefold():
                        shown["seen"] = ""
                    return self.wrong(sentence, inputs, **shown)
        return None

    def is_a_number(self, case: Case) -> str | None:
        """Nothing is NaN where it should be a number."""
        for answer, target in zip(parts_of(case.answer), parts_of(case.target), strict=False):
            if _has_nan(answer, target):
                return (
                    f"{self.exercise.name} gives NaN, which comes of 0/0, of infinity less "
                    f"infinity or of the root of a negative number."
                )
        return None

    def is_the_target(self, case: Case) -> str | None:
        """The numbers are those of our own function."""
        found = gap(case.answer, case.target, self.exercise.tolerance, self.exercise.returns)
        return found and whole(found.sentence)

    def again(self, inputs: Inputs, **changed: Any) -> Any:
        """The function's answer where some arguments are others."""
        arguments = {**inputs, **changed}
        (outcome,) = self.call([arguments])
        target = self.exercise.solution(*map(copied, arguments.values()))
        if fault := self.fault(outcome, target):
            raise _BrokenError(fault)
        return outcome.value

    def further(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The same answer again, and gradients."""
        e, (inputs, target, _) = self.exercise, prepared(self.exercise.name)[len(outcomes) - 1]
        (again,) = self.call([inputs])
        if fault := self.fault(again, target):
            return self.wrong(f"In a second call with the same arguments {fault}", inputs)
        if not equal(again.value, target, e.tolerance):
            return self.wrong(
                f"{e.name} gives another answer to the same arguments when it is called again: "
                "what does it keep from call to call?",
                inputs,
                **self.shown(again, target),
            )
        return self.gradients() if e.differentiable else None

    @torch.enable_grad()  # a chapter that only reads a model may have switched them off
    def gradients(self) -> Result | None:
        """Gradients that do not pass, or are others than ours."""
        every = [inputs for inputs, _, _ in prepared(self.exercise.name)]
        pairs = [leaves_of(inputs) for inputs in every]
        outcomes = self.guard.calls(self.function, [arguments for arguments, _ in pairs])
        for inputs, (_, leaves), outcome in zip(every, pairs, outcomes, strict=False):
            if sentence := self.gradient_fault(inputs, leaves, outcome):
                return self.wrong(sentence, inputs)
        return None

    def gradient_fault(self, inputs: Inputs, leaves: Sequence[Tensor], outcome: Outcome) -> str:
        """What is wrong with the gradients of an answer; "" if nothing is."""
        name = self.exercise.name
        ours, our_leaves = leaves_of(inputs)
        expected = gradients(self.exercise.solution(*ours), our_leaves)
        if outcome.error or outcome.stopped:
            return (
                f"Where its arguments require gradients, {self.fault(outcome, None)} A network "
                "cannot be trained with it."
            )
        if not any(part.requires_grad for part in parts_of(outcome.value)):
            return (
                f"The numbers are right, but no gradient passes through {name}: does it leave "
                "torch on the way (.detach(), .data, .item(), .tolist(), .numpy(), torch.tensor)?"
            )
        got = gradients(outcome.value, leaves)
        for argument, one, other in zip(float_names(inputs), got, expected, strict=True):
            if not equal(one, other, 10 * self.exercise.tolerance):
                return (
                    f"The numbers are right, but the gradient with respect to {argument} "
                    f"{NAN if one.isnan().any() else CUT_OFF}"
                )
        return ""

    def right(self) -> Result:
        """What has been shown, in the words of the properties."""
        e = self.exercise
        shown = [lower(first_line(each)) for each in e.properties]
        shown.append(f"the same as ours on {len(prepared(e.name))} inputs")
        if e.differentiable:
            shown.append("the same gradients")
        return Result(e.name, True, f"{e.name} is right.", shown=tuple(shown))


def _has_nan(answer: Any, target: Any) -> bool:
    """Whether there is NaN where the target has a number."""
    if isinstance(answer, Tensor):
        return bool((answer.isnan() & ~target.isnan()).any())
    is_float = isinstance(answer, float | np.floating)
    return is_float and math.isnan(answer) and not math.isnan(target)


def first_line(function: Callable[..., Any]) -> str:
    """Of the docstring, without its full stop."""
    return (inspect.getdoc(function) or "").split("\n")[0].removesuffix(".")


def whole(text: str) -> str:
    """The part of a sentence as one of its own."""
    return f"{text[0].upper()}{text[1:]}."


def lower(text: str) -> str:
    """A sentence as the part of one; F1 stays."""
    return text[0].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
