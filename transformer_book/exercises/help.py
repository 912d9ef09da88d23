"""What a reader can ask for: the list of exercises, a skeleton, the next hint, our solution."""

from collections import Counter
from html import escape

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.checking import find
from transformer_book.exercises.exercise import Exercise
from transformer_book.exercises.source import (
    given_imports,
    skeleton_source,
    solution_source,
)
from transformer_book.tables import table

_asked: Counter[str] = Counter()


class Note(str):
    """A text that a notebook shows as it is, without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The text itself."""
        return str(self)


class Code(Note):
    """A note that is a program."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Listing(Note):
    """The list of all exercises."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        header = ["exercise", "what", "chapter", "difficulty", "minutes"]
        rows = {
            name: [e.title, e.chapter, stars(e.difficulty), e.minutes]
            for name, e in EXERCISES.items()
        }
        return table(header, rows)


def stars(difficulty: int) -> str:
    """A difficulty of 2 as two filled circles and an empty one: "●●○"."""
    return "●" * difficulty + "○" * (3 - difficulty)


def effort(exercise: Exercise) -> str:
    """How difficult it is, and how long it takes: a line below its title."""
    return effort_line(exercise.difficulty, exercise.minutes)


def effort_line(difficulty: int, minutes: int) -> str:
    """The same line for an exercise that is in no catalogue.

    Raises:
        ValueError: the difficulty is not 1, 2 or 3, or the minutes are not positive.
    """
    if difficulty not in (1, 2, 3) or minutes < 1:
        raise ValueError(
            f"an exercise has a difficulty of 1, 2 or 3 and at least one minute, not {difficulty} "
            f"and {minutes}"
        )
    written = f"{stars(difficulty)} difficulty {difficulty} of 3"
    return f"{written} · about {minutes} minute{'s' * (minutes > 1)}"


def exercises() -> Note:
    """All exercises in the book's order, with their difficulty and the minutes that they take."""
    width = max(map(len, EXERCISES))
    return Listing(
        "\n".join(
            f"{name:<{width}}  {stars(e.difficulty)}  {e.minutes:2} min  {e.title}"
            for name, e in EXERCISES.items()
        )
    )


def skeleton(name: str) -> Note:
    """What is given: the imports, the signature and the docstring.

    Raises:
        UnknownExerciseError: there is no such exercise.
    """
    exercise = find(name)
    return _with_imports(exercise, skeleton_source(exercise))


def hint(name: str) -> Note:
    """The next hint; each call gives one more, and the last one stays.

    Raises:
        UnknownExerciseError: there is no such exercise.
    """
    exercise = find(name)
    number = min(_asked[name], len(exercise.hints) - 1)
    _asked[name] += 1
    last = number == len(exercise.hints) - 1
    after = f'\nThat was the last one: solution("{name}") shows ours.' if last else ""
    return Note(f"Hint {number + 1} of {len(exercise.hints)}: {exercise.hints[number]}{after}")


def solution(name: str) -> Note:
    """Our solution.

    Raises:
        UnknownExerciseError: there is no such exercise.
    """
    exercise = find(name)
    return _with_imports(exercise, solution_source(exercise))


def _with_imports(exercise: Exercise, source: str) -> Note:
    imports = given_imports(exercise)
    return Code(imports + ("\n\n\n" if imports else "") + source)


__all__ = ["effort", "effort_line", "exercises", "hint", "skeleton", "solution", "stars"]
