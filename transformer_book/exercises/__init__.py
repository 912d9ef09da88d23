"""Exercises that judge what the reader writes: `check(softmax)`, with hints and our solutions.

Each is a function of a few lines, whose signature and docstring `skeleton` gives. `check` calls
it with inputs made from the signature, and says in a sentence what is wrong first.
"""

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.chapter_checks import compare, compare_function, judge
from transformer_book.exercises.checking import UnknownExerciseError, check, find
from transformer_book.exercises.help import exercises, hint, skeleton, solution
from transformer_book.exercises.verdict import Result

__all__ = [
    "EXERCISES",
    "Result",
    "UnknownExerciseError",
    "check",
    "compare",
    "compare_function",
    "exercises",
    "find",
    "hint",
    "judge",
    "skeleton",
    "solution",
]
