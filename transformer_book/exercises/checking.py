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

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.comparing import (
    Difference,
    Rules,
    difference,
    same,
    same_but_for_nan,
)
from transformer_book.exercises.exercise import Case, Exercise, Inputs, WantedFunction
from transformer_book.exercises.guard import Guard, Outcome, copied, guarded
from transformer_book.exercises.verdict import (
    Result,
    error_sentence,
    not_written,
    stopped_sentence,
    unwritten,
    whole,
)

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
    if isinstance(name, str) and name in EXERCISES:
        return EXERCISES[name]
    near = difflib.get_close_matches(str(name), EXERCISES, n=1)
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
    return checked(exercise, function, seconds, memory)


class Check:
    """One check of one function."""

    def __init__(self, wanted: WantedFunction, function: Callable[..., Any], guard: Guard) -> None:
        self.wanted, self.function, self.guard = wanted, function, guard
        self.name, self.axes, self.rules = wanted.name, wanted.axes, wanted.rules

    def result(self) -> Result:
        """The first thing that is wrong: a known mistake, its form, a property, its numbers."""
        calls = self.wanted.prepared
        (first,) = self.guard.answers(self.function, [calls[0].inputs])
        returned = first.error is None and not first.stopped
        if first.value is ... or (returned and first.value is None and unwritten(self.function)):
            return not_written(self.name)
        outcomes = [first]
        if not first.stopped:
            outcomes += self.guard.answers(self.function, [call.inputs for call in calls[1:]])
        ended = not outcomes[-1].stopped
        fault = self.known_mistake(outcomes, self.are_same) if ended else None
        for look in (self.form_fault, self.mistake_with_nan, self.lacking_property):
            fault = look(outcomes) if fault is None else fault
        if fault is None and self.wanted.strict:
            fault = self.unsteadiness()
        if fault is None and self.wanted.differentiable:
            fault = self.wrong_gradient()
        return self.passed() if fault is None else fault

    def difference(self, answer: Any, target: Any) -> Difference | None:
        """In what an answer differs from what is right."""
        names = self.wanted.returns
        return difference(answer, target, "the result", self.rules, names=names, axes=self.axes)

    def fault(self, outcome: Outcome, target: Any) -> str:
        """What is wrong with an outcome before one looks at its numbers; "" if nothing is."""
        if outcome.stopped:
            return stopped_sentence(self.name, outcome, self.guard)
        if outcome.error is not None:
            return self._error(outcome.error)
        if outcome.value is None and target is not None:
            return f"{self.name} returns nothing (None): is a `return` missing?"
        differs = self.difference(outcome.value, target)
        if differs is not None and differs.form:
            return f"{self.name} is wrong: {differs.words}."
        if outcome.draws and self.wanted.strict:
            return (
                f"{self.name} draws random numbers, or sets their seed; its answer is to depend on "
                "its arguments alone."
            )
        return ""

    def _error(self, error: BaseException) -> str:
        return error_sentence(self.name, error, self.function, self.wanted.signature)

    def failed(self, sentence: str, inputs: Inputs, **more: Any) -> Result:
        """A function that does not pass."""
        return Result(self.name, False, sentence, inputs=inputs, **more)

    def known_mistake(
        self, outcomes: Sequence[Outcome], same: Callable[[Outcome, Outcome], bool]
    ) -> Result | None:
        """The mistake that gives just these answers, if a known one does."""
        calls = self.wanted.prepared
        for way, mistake in self.wanted.ways.items():
            if not all(map(same, outcomes, [call.mistaken[way] for call in calls])):
                continue
            for outcome, (inputs, target, _) in zip(outcomes, calls, strict=True):
                if not same(outcome, Outcome(target)):
                    named = {"mistake": mistake.name, "erratum": mistake.erratum}
                    evidence = self.evidence(outcome, target)
                    return self.failed(mistake.sentence, inputs, **named, **evidence)
        return None

    def mistake_with_nan(self, outcomes: Sequence[Outcome]) -> Result | None:
        """A known mistake in the numbers of answers that hold NaN beside them."""
        return self.known_mistake(outcomes, self.are_same_but_for_nan)

    def are_same_but_for_nan(self, one: Outcome, other: Outcome) -> bool:
        """Whether both return the same wherever the first is not NaN."""
        if one.error is not None or other.error is not None:
            return False
        return same_but_for_nan(one.value, other.value, self.rules)

    def are_same(self, one: Outcome, other: Outcome) -> bool:
        """Whether both raise the same error, or neither does and they return the same."""
        return same_outcome(one, other, self.rules)

    def evidence(self, outcome: Outcome, target: Any) -> dict[str, Any]:
        """What a picture is made of: both results, and in a sentence where they differ."""
        if outcome.error is not None:
            return {"seen": self._error(outcome.error), "target": target}
        both = {"answer": outcome.value, "target": target, "returns": self.wanted.returns}
        differs = self.difference(outcome.value, target)
        if differs is None:
            return both
        return {**both, "seen": whole(differs.words), "part": differs.part, "index": differs.entry}

    def form_fault(self, outcomes: Sequence[Outcome]) -> Result | None:
        """An exception, a wrong type or shape, a call without an end."""
        for outcome, (inputs, target, _) in zip(outcomes, self.wanted.prepared, strict=False):
            if fault := self.fault(outcome, target):
                known = outcome.error is None and not outcome.stopped
                more = {"answer": outcome.value, "target": target} if known else {}
                return self.failed(fault, inputs, returns=self.wanted.returns, **more)
        return None

    def lacking_property(self, outcomes: Sequence[Outcome]) -> Result | None:
        """The first property that an answer has not; the last one is that it is the target."""
        for holds in (self.is_a_number, *self.wanted.properties, self.is_the_target):
            for outcome, (inputs, target, _) in zip(outcomes, self.wanted.prepared, strict=True):
                call = functools.partial(self.rerun, inputs)
                try:
                    sentence = holds(Case(inputs, outcome.value, target, call))
                except _BrokenError as error:
                    sentence = str(error)
                except Exception:  # an answer so odd that the property makes no sense of it
                    sentence = None
                if sentence:
                    evidence = self.evidence(outcome, target)
                    if sentence.casefold().endswith(evidence.get("seen", "").casefold()):
                        evidence["seen"] = ""
                    return self.failed(sentence, inputs, **evidence)
        return None

    def is_a_number(self, case: Case) -> str | None:
        """Nothing is NaN where it should be a number."""
        for answer, target in zip(parts_of(case.answer), parts_of(case.target), strict=False):
            if _has_nan(answer, target):
                return (
                    f"{self.name} gives NaN, which comes of 0/0, of infinity less "
                    f"infinity or of the root of a negative number."
                )
        return None

    def is_the_target(self, case: Case) -> str | None:
        """The numbers are those of our own function."""
        differs = self.difference(case.answer, case.target)
        return differs and f"{self.name} is wrong: {differs.words}."

    def rerun(self, inputs: Inputs, **changed: Any) -> Any:
        """The function's answer where some arguments are others."""
        arguments = {**inputs, **changed}
        (outcome,) = self.guard.answers(self.function, [arguments])
        target = self.wanted.solution(*map(copied, arguments.values()))
        if fault := self.fault(outcome, target):
            raise _BrokenError(fault)
        return outcome.value

    def unsteadiness(self) -> Result | None:
        """Another answer to the same arguments."""
        inputs, target, _ = self.wanted.prepared[-1]
        (second,) = self.guard.answers(self.function, [inputs])
        if fault := self.fault(second, target):
            return self.failed(f"In a second call with the same arguments {fault}", inputs)
        if same(second.value, target, self.rules):
            return None
        sentence = (
            f"{self.name} gives another answer to the same arguments when it is called again: "
            "what does it keep from call to call?"
        )
        return self.failed(sentence, inputs, **self.evidence(second, target))

    @torch.enable_grad()  # a chapter that only reads a model may have switched them off
    def wrong_gradient(self) -> Result | None:
        """Gradients that do not pass, or are others than ours."""
        every = [inputs for inputs, _, _ in self.wanted.prepared]
        pairs = [leaves_of(inputs) for inputs in every]
        outcomes = self.guard.calls(self.function, [arguments for arguments, _ in pairs])
        for inputs, (_, leaves), outcome in zip(every, pairs, outcomes, strict=False):
            if sentence := self.gradient_fault(inputs, leaves, outcome):
                return self.failed(sentence, inputs)
        return None

    def gradient_fault(self, inputs: Inputs, leaves: Sequence[Tensor], outcome: Outcome) -> str:
        """What is wrong with the gradients of an answer; "" if nothing is."""
        ours, our_leaves = leaves_of(inputs)
        expected = gradients(self.wanted.solution(*ours), our_leaves)
        if outcome.error or outcome.stopped:
            return (
                f"Where its arguments require gradients, {self.fault(outcome, None)} A network "
                "cannot be trained with it."
            )
        if not any(part.requires_grad for part in parts_of(outcome.value)):
            return (
                f"The numbers are right, but no gradient passes through {self.name}: does it leave "
                "torch on the way (.detach(), .data, .item(), .tolist(), .numpy(), torch.tensor)?"
            )
        got = gradients(outcome.value, leaves)
        near = self.rules._replace(relative=10 * self.rules.relative)
        for argument, one, other in zip(float_names(inputs), got, expected, strict=True):
            if not same(one, other, near):
                return (
                    f"The numbers are right, but the gradient with respect to {argument} "
                    f"{NAN if one.isnan().any() else CUT_OFF}"
                )
        return ""

    def passed(self) -> Result:
        """What has been shown, in the words of the properties."""
        n_calls = len(self.wanted.prepared)
        shown = [lower(first_line(each)) for each in self.wanted.properties]
        shown.append(f"the same as ours on {n_calls} input{'s' * (n_calls > 1)}")
        if self.wanted.differentiable:
            shown.append("the same gradients")
        return Result(self.name, True, f"{self.name} is right.", shown=tuple(shown))


def checked(
    wanted: WantedFunction, function: Callable[..., Any], seconds: float, memory: int
) -> Result:
    """Whether a function is the one that is wanted; whatever it does, nothing is raised."""
    with guarded(seconds, memory) as guard:
        result = Check(wanted, function, guard).result()
    return replace(result, printed=guard.printed.text, still_runs=guard.still_runs)


def same_outcome(one: Outcome, other: Outcome, rules: Rules) -> bool:
    """Whether two calls raise the same error, or neither does and they return the same."""
    if one.error is not None or other.error is not None:
        return repr(one.error) == repr(other.error)
    return same(one.value, other.value, rules)


def parts_of(result: Any) -> Sequence[Any]:
    """The parts of a result; one that has none is its own part."""
    return result if isinstance(result, tuple | list) else (result,)


def float_names(inputs: Inputs) -> list[str]:
    """The arguments with respect to which gradients are taken."""
    return [n for n, x in inputs.items() if isinstance(x, Tensor) and x.is_floating_point()]


def leaves_of(inputs: Inputs) -> tuple[list[Any], list[Tensor]]:
    """The arguments, and those among them with respect to which gradients are taken."""
    arguments = {name: copied(value) for name, value in inputs.items()}
    leaves = [arguments[name].requires_grad_() for name in float_names(inputs)]
    return list(arguments.values()), leaves


def gradients(result: Any, leaves: Sequence[Tensor]) -> list[Tensor]:
    """Of a loss that weighs every number of the result differently."""
    parts = [x for x in parts_of(result) if isinstance(x, Tensor) and x.requires_grad]
    probes = [torch.linspace(0.5, 1.5, part.numel()).view_as(part) for part in parts]
    loss = torch.stack([(part * probe).sum() for part, probe in zip(parts, probes, strict=True)])
    # What the result does not depend on has the gradient 0.
    return [*torch.autograd.grad(loss.sum(), leaves, allow_unused=True, materialize_grads=True)]


def _has_nan(answer: Any, target: Any) -> bool:
    """Whether there is NaN where the target has a number."""
    if isinstance(answer, Tensor):
        return bool((answer.isnan() & ~target.isnan()).any())
    is_float = isinstance(answer, float | np.floating)
    return is_float and math.isnan(answer) and not math.isnan(target)


def first_line(function: Callable[..., Any]) -> str:
    """Of the docstring, without its full stop."""
    return (inspect.getdoc(function) or "").split("\n")[0].removesuffix(".")


def lower(text: str) -> str:
    """A sentence as the part of one; F1 stays."""
    return text[0].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
