"""Skeletons, hints and solutions are texts of the one solution, and run."""

import ast

import pytest

from transformer_book.exercises import (
    EXERCISES,
    UnknownExerciseError,
    check,
    exercises,
    hint,
    skeleton,
    solution,
)
from transformer_book.exercises.help import Note, _asked, stars


@pytest.mark.parametrize("name", EXERCISES)
def test_a_solution_runs_with_the_imports_that_are_given_and_passes(name: str) -> None:
    names: dict[str, object] = {}
    exec(compile(solution(name), f"<{name}>", "exec"), names)
    assert check(names[name]).passed


@pytest.mark.parametrize("name", EXERCISES)
def test_a_skeleton_runs_and_is_not_written_yet(name: str) -> None:
    names: dict[str, object] = {}
    exec(compile(skeleton(name), f"<{name}>", "exec"), names)
    assert "not written yet" in check(names[name]).sentence


@pytest.mark.parametrize("name", EXERCISES)
def test_a_skeleton_is_the_solution_without_its_lines(name: str) -> None:
    (given,) = [n for n in ast.parse(skeleton(name)).body if isinstance(n, ast.FunctionDef)]
    (ours,) = [n for n in ast.parse(solution(name)).body if isinstance(n, ast.FunctionDef)]
    assert ast.dump(given.args) == ast.dump(ours.args)
    assert ast.get_docstring(given) == ast.get_docstring(ours)
    assert len(given.body) == 2
    assert ast.unparse(given.body[1]) == "..."


def test_each_call_gives_the_next_hint_and_the_last_one_stays() -> None:
    _asked.clear()
    texts = [str(hint("softmax")) for _ in range(4)]
    assert [text[:11] for text in texts] == ["Hint 1 of 3", "Hint 2 of 3", *["Hint 3 of 3"] * 2]
    assert texts[2] == texts[3]
    assert texts[2].endswith('solution("softmax") shows ours.')
    assert "solution(" not in texts[0]


@pytest.mark.parametrize("ask", [hint, skeleton, solution])
def test_a_typo_is_an_error_with_a_guess(ask) -> None:
    with pytest.raises(UnknownExerciseError, match="did you mean softmax"):
        ask("sofmax")
    with pytest.raises(UnknownExerciseError, match="there is no exercise 3; "):
        ask(3)


def test_a_text_shows_as_it_is() -> None:
    assert repr(Note("two\nlines")) == "two\nlines"
    assert "<pre>" in solution("softmax")._repr_html_()


def test_the_list_has_every_exercise_in_the_books_order() -> None:
    lines = str(exercises()).split("\n")
    assert [line.split()[0] for line in lines] == list(EXERCISES)
    assert "●○○" in lines[0]
    assert exercises()._repr_html_().count("<tr>") == len(EXERCISES) + 1
    assert stars(2) == "●●○"


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_its_measures(name: str) -> None:
    exercise = EXERCISES[name]
    assert 1 <= exercise.difficulty <= 3
    assert 5 <= exercise.minutes <= 45
    assert 2 <= len(exercise.hints) <= 3
    assert all(hint[-1] in ".?)" or hint[-1] == "`" for hint in exercise.hints)
