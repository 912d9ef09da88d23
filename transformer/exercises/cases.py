"""The calls that a check makes, what is right for each, and what the known mistakes make of it."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.exercises.catalogue import EXERCISES
from transformer.exercises.exercise import Exercise, Inputs, Mistake
from transformer.exercises.guard import Outcome
from transformer.exercises.inputs import LEVELS, SEEDS, Draw, axes_of, inputs_of

# The arguments of a call, the target, and what each known mistake makes of them.
Prepared = tuple[Inputs, Any, Mapping[Callable[..., Any], Outcome]]


def cases(exercise: Exercise) -> Iterator[tuple[Draw, Inputs]]:
    """The inputs of an exercise, the smallest first, and the special ones after them."""
    for level in range(len(LEVELS)):
        for seed in SEEDS:
            draw = Draw(level, seed, exercise.sizes)
            yield draw, inputs_of(exercise.solution, draw, exercise.values)
    for number, edge in enumerate(exercise.edges):
        draw = Draw(0, len(SEEDS) + number, exercise.sizes)
        usual = inputs_of(exercise.solution, draw, exercise.values)
        yield draw, {**usual, **edge(draw)}


def copied(value: Any) -> Any:
    """A value of which a change does no harm."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, list):
        return [copied(each) for each in value]
    return value


@functools.cache
def prepared(name: str) -> tuple[Prepared, ...]:
    """For each input of an exercise: the target, and what the usual mistakes make of it."""
    exercise, found = EXERCISES[name], []
    for _, inputs in cases(exercise):
        target = exercise.solution(*map(copied, inputs.values()))
        found.append((inputs, target, {way: _outcome(way, inputs) for way in ways(exercise)}))
    return tuple(found)


def ways(exercise: Exercise) -> dict[Callable[..., Any], Mistake]:
    """Every function that makes a known mistake."""
    return {
        way: mistake for mistake in exercise.mistakes for way in (mistake.answer, *mistake.also)
    }


def _outcome(way: Callable[..., Any], inputs: Inputs) -> Outcome:
    try:
        return Outcome(way(*map(copied, inputs.values())))
    except Exception as error:
        return Outcome(error=error)


def axes_of_result(exercise: Exercise) -> list[str | None]:
    """The names of the axes of each part of what the exercise's function returns."""
    annotation = inspect.signature(exercise.solution).return_annotation
    if len(exercise.returns) > 1:
        return [axes_of(part) for part in annotation.__args__]
    return [axes_of(annotation)]


def parts_of(result: Any) -> Sequence[Any]:
    """The parts of a result; one that has none is its own part."""
    return result if isinstance(result, tuple | list) else (result,)


def float_names(inputs: Inputs) -> list[str]:
    """The arguments with respect to which gradients are taken."""
    return [n for n, x in inputs.items() if isinstance(x, Tensor) and x.is_floating_point()]


def leaves_of(inputs: Inputs) -> tuple[list[Any], list[Tensor]]:
    """The arguments, and those among them with respect to which gradients are taken."""
    names = float_names(inputs)
    arguments = {name: copied(value) for name, value in inputs.items()}
    leaves = [arguments[name].requires_grad_() for name in names]
    return list(arguments.values()), leaves


def gradients(result: Any, leaves: Sequence[Tensor]) -> list[Tensor]:
    """Of a loss that weighs every number of the result differently."""
    parts = [x for x in parts_of(result) if isinstance(x, Tensor) and x.requires_grad]
    probes = [torch.linspace(0.5, 1.5, part.numel()).view_as(part) for part in parts]
    loss = torch.stack([(part * probe).sum() for part, probe in zip(parts, probes, strict=True)])
    found = torch.autograd.grad(loss.sum(), leaves, allow_unused=True)
    return [
        torch.zeros_like(leaf) if one is None else one
        for one, leaf in zip(found, leaves, strict=True)
    ]
