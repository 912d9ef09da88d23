"""What an exercise consists of, and what its parts are given."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from transformer_book.exercises.comparing import Rules
from transformer_book.exercises.guard import Outcome, copied, tried
from transformer_book.exercises.inputs import LEVELS, SEEDS, Draw, axes_of, inputs_of

Inputs = Mapping[str, Any]
"""The arguments of one call, by name, in the order of the signature."""


@dataclass(frozen=True)
class Case:
    """One call of the reader's function, with what it gave and what is right.

    Attributes:
        inputs: its arguments.
        answer: what the reader's function returned; its type, shape and dtype are right.
        target: what ours returns.
        call: the reader's function with some arguments changed, given by name.
    """

    inputs: Inputs
    answer: Any
    target: Any
    call: Callable[..., Any]


Property = Callable[[Case], str | None]
"""Holds of every right answer: None where it does, otherwise a sentence that says what is wrong.

The first line of its docstring says it in words.
"""


@dataclass(frozen=True)
class Mistake:
    """A mistake that is often made, as a function that makes it.

    Attributes:
        answer: takes what the exercise's function takes.
        sentence: what a reader is told who has made it.
        erratum: its number in the chapter of errata, if it is there.
        also: other functions that make the same mistake, and fail elsewhere.
    """

    answer: Callable[..., Any]
    sentence: str
    erratum: int | None = None
    also: tuple[Callable[..., Any], ...] = ()

    @property
    def name(self) -> str:
        """In words: "mask by multiplying"."""
        return str(getattr(self.answer, "__name__", "")).replace("_", " ")


class Prepared(NamedTuple):
    """One call that a check makes.

    Attributes:
        inputs: its arguments.
        target: what is right.
        mistaken: what the functions that make a known mistake make of it.
    """

    inputs: Inputs
    target: Any
    mistaken: Mapping[Callable[..., Any], Outcome]


@dataclass(frozen=True, kw_only=True)
class WantedFunction:
    """A function that is asked for, and how answers to it are judged.

    Attributes:
        solution: ours; its name is the one asked for.
        mistakes: those that are often made; of two that look alike the first one is named.
        properties: from the one that says most to the one that says least; a comparison with the
            target comes after them.
        returns: what the parts of the result are called, where there are several.
        tolerance: relative and absolute difference that is put down to rounding.
        strict: whether types must be ours too, a second call must give the same, and no random
            numbers may be drawn.
        differentiable: whether gradients must pass, and be those of the target.
        given: the arguments of each call, the simplest first.
    """

    solution: Callable[..., Any]
    mistakes: tuple[Mistake, ...]
    properties: tuple[Property, ...] = ()
    returns: tuple[str, ...] = ()
    tolerance: float = 1e-4
    strict: bool = False
    differentiable: bool = False
    given: tuple[Inputs, ...] = ()

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.solution.__name__

    @property
    def signature(self) -> str:
        """How it is to be called: "softmax(x)"."""
        return f"{self.name}({', '.join(inspect.signature(self.solution).parameters)})"

    @property
    def axes(self) -> list[str | None]:
        """The names of the axes of each part of the result."""
        annotation = inspect.signature(self.solution).return_annotation
        several = len(self.returns) > 1
        return [*map(axes_of, annotation.__args__ if several else [annotation])]

    @property
    def rules(self) -> Rules:
        """How an answer is compared with the target."""
        return Rules(self.tolerance, strict=self.strict, reveal=True)

    @property
    def ways(self) -> dict[Callable[..., Any], Mistake]:
        """Every function that makes a known mistake."""
        return {way: each for each in self.mistakes for way in (each.answer, *each.also)}

    def inputs(self) -> Iterator[Inputs]:
        """The arguments of each call, the smallest first."""
        yield from self.given

    @cached_property
    def prepared(self) -> tuple[Prepared, ...]:
        """Every call, with what is right and what the usual mistakes make of it."""
        return tuple(
            Prepared(
                inputs,
                self.solution(*map(copied, inputs.values())),
                {way: tried(way, inputs) for way in self.ways},
            )
            for inputs in self.inputs()
        )


@dataclass(frozen=True, kw_only=True)
class Exercise(WantedFunction):
    """A function to write, of the catalogue: our signature and docstring are its skeleton.

    Attributes:
        chapter: where in the book it stands, without `book/` and `.md`.
        title: a few words.
        difficulty: 1 (a line or two, once the chapter is understood) to 3 (several ideas at once).
        minutes: what it takes who has read the chapter.
        hints: each says more than the one before.
        sizes: of axes, for the three levels of inputs; other axes get sizes that are all different.
        values: of arguments that are no tensors, or tensors of a certain kind.
        edges: inputs that are special: the arguments that differ from those of the first level.
    """

    strict: bool = True
    differentiable: bool = True
    chapter: str
    title: str
    difficulty: int
    minutes: int
    hints: tuple[str, ...]
    sizes: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    values: Mapping[str, Callable[[Draw], Any]] = field(default_factory=dict)
    edges: tuple[Callable[[Draw], Inputs], ...] = ()

    def draws(self) -> Iterator[tuple[Draw, Inputs]]:
        """What the inputs are drawn with, and they: the smallest first, the special ones last."""
        for level in range(len(LEVELS)):
            for seed in SEEDS:
                draw = Draw(level, seed, self.sizes)
                yield draw, inputs_of(self.solution, draw, self.values)
        for number, edge in enumerate(self.edges):
            draw = Draw(0, len(SEEDS) + number, self.sizes)
            usual = inputs_of(self.solution, draw, self.values)
            yield draw, {**usual, **edge(draw)}

    def inputs(self) -> Iterator[Inputs]:
        """The arguments of each call, the smallest first."""
        yield from (inputs for _, inputs in self.draws())
