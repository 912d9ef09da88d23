"""What an exercise consists of, and what its parts are given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from transformer.exercises.inputs import Draw

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


@dataclass(frozen=True)
class Exercise:
    """A function to write.

    Attributes:
        solution: ours; its name is the exercise's, its signature and docstring are the skeleton.
        chapter: where in the book it stands, without `book/` and `.md`.
        title: a few words.
        difficulty: 1 (a line or two, once the chapter is understood) to 3 (several ideas at once).
        minutes: what it takes who has read the chapter.
        hints: each says more than the one before.
        properties: from the one that says most to the one that says least; a comparison with the
            target comes after them.
        mistakes: those that are often made; of two that look alike the first one is named.
        returns: what the parts of the result are called, where there are several.
        sizes: of axes, for the three levels of inputs; other axes get sizes that are all different.
        values: of arguments that are no tensors, or tensors of a certain kind.
        edges: inputs that are special: the arguments that differ from those of the first level.
        differentiable: whether gradients must pass, and be those of the target.
        tolerance: relative and absolute difference that is put down to rounding.
    """

    solution: Callable[..., Any]
    chapter: str
    title: str
    difficulty: int
    minutes: int
    hints: tuple[str, ...]
    properties: tuple[Property, ...]
    mistakes: tuple[Mistake, ...]
    returns: tuple[str, ...] = ()
    sizes: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    values: Mapping[str, Callable[[Draw], Any]] = field(default_factory=dict)
    edges: tuple[Callable[[Draw], Inputs], ...] = ()
    differentiable: bool = True
    tolerance: float = 1e-4

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.solution.__name__
