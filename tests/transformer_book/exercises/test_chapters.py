"""What the chapters have of an exercise is what `transformer_book.exercises` has."""

import re
from pathlib import Path

import pytest

from tests.helpers.chapters import notebook
from tests.transformer_book.exercises.in_chapters import exercises_of, faults, judging, written_in
from tools.site.chapters import numbered

from transformer_book.exercises import EXERCISES, skeleton

ROOT = Path(__file__).resolve().parents[3]
CHAPTERS = {name: (ROOT / f"{name}.md").read_text("utf-8") for name in numbered(ROOT)}
CELLS = [
    (chapter, cell.source)
    for chapter in CHAPTERS
    for cell in notebook(chapter).cells
    if "skeleton" in cell.metadata.get("tags", [])
]
# Chapters of which every exercise is judged, and has effort, hints and an executed solution.
FEWEST, MOST = 4, 8
SUMMONS = re.compile(r"\n\n\ncheck\((\w+)\)$")


def test_there_are_skeletons() -> None:
    assert len(CELLS) >= 2


@pytest.mark.parametrize(("chapter", "source"), CELLS)
def test_a_cell_to_fill_in_is_the_skeleton_and_a_check(chapter: str, source: str) -> None:
    match = SUMMONS.search(source)
    assert match, f"{chapter}: a skeleton's cell ends in check(...)"
    assert source == f"{str(skeleton(match[1])).rstrip()}{match[0]}"
    assert f"book/{EXERCISES[match[1]].chapter}" == chapter


@pytest.mark.parametrize(("chapter", "source"), CELLS)
def test_effort_hints_and_solution_come_from_the_exercise(chapter: str, source: str) -> None:
    match, text = SUMMONS.search(source), CHAPTERS[chapter]
    assert match
    name = match[1]
    assert f":::{{effort}} {name}\n" in text
    assert f":::{{hints}} {name}\n" in text
    module = EXERCISES[name].solution.__module__.replace(".", "/")
    shown = f"```{{literalinclude}} ../../{module}.py\n:language: python\n:pyobject: {name}\n```"
    assert shown in text
    executed = f"from {module.replace('/', '.')} import {name} as ours\n\nresult = check(ours)\n"
    assert executed + "assert result.passed\n" in text


def test_every_exercise_names_a_chapter_of_the_book() -> None:
    assert {f"book/{exercise.chapter}" for exercise in EXERCISES.values()} <= set(CHAPTERS)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_four_to_eight_exercises(chapter: str) -> None:
    assert FEWEST <= len(exercises_of(chapter)) <= MOST
    labels = [exercise.label for exercise in exercises_of(chapter)]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(
    ("chapter", "number"),
    [(chapter, i) for chapter in CHAPTERS for i in range(len(exercises_of(chapter)))],
)
def test_an_exercise_says_its_effort_helps_judges_and_proves_its_solution(
    chapter: str, number: int
) -> None:
    exercise = exercises_of(chapter)[number]
    lacking = faults(exercise, set(judging(CHAPTERS[chapter])))
    assert not lacking, f"{chapter}, {exercise.label} lacks {lacking}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_of_the_catalogue_is_in_its_chapter(chapter: str) -> None:
    named = {e.name for e in EXERCISES.values() if f"book/{e.chapter}" == chapter}
    asked = {found[1] for c, source in CELLS if c == chapter and (found := SUMMONS.search(source))}
    assert asked == named


GOOD = """
## Exercises

::::{exercise} A number
:label: ex-one

:::{effort}
:difficulty: 1
:minutes: 5
:::
How many?
::::

```{code-cell} ipython3
:tags: [judge, hide-input]
def check_one(answer):
    return compare(answer, 1, slips={"That is two.": 2})
```

```{code-cell} ipython3
answer = None  # your number
check_one(answer)
```

:::{dropdown} Hint
Count.
:::

:::{solution-start} ex-one
:class: dropdown
:::
One.

```{code-cell} ipython3
assert check_one(1).passed
```
:::{solution-end}
:::

## What comes next
"""


@pytest.mark.parametrize(
    ("text", "instead", "lacks"),
    [
        ("", "", []),
        (":minutes: 5\n", "", ["a line with its effort, in the question"]),
        ("{dropdown} Hint", "{note}", ["a hint between question and solution"]),
        (":class: dropdown\n", "", ["a solution that is folded"]),
        ("{solution-start} ex-one", "{solution-start} ex-1", ["the solution's own label"]),
        ("Count.", "That is not yet it.", ["another word than 'not yet'"]),
        (
            "assert check_one(1).passed",
            "check_one(1)",
            ["an executed cell with assertions in the solution, or **Expected"],
        ),
        ("assert check_one(1)", "assert (1)", ["the check of our solution, in its cell"]),
        (', slips={"That is two.": 2}', "", ["something that judges the reader's answer"]),
        ("\ncheck_one(answer)\n", "\n", ["something that judges the reader's answer"]),
    ],
)
def test_what_an_exercise_lacks_is_found(text: str, instead: str, lacks: list[str]) -> None:
    chapter = GOOD.replace(text, instead) if text else GOOD
    (exercise,) = written_in(chapter)
    assert faults(exercise, set(judging(chapter))) == lacks


def test_an_open_exercise_states_what_is_expected() -> None:
    _, _, rest = GOOD.partition(":::{dropdown}")
    begin = GOOD.partition("```{code-cell}")[0]
    chapter = f"{begin}:::{{dropdown}}{rest}".replace("One.", "**Expected:** one.")
    chapter = chapter.replace("assert check_one(1).passed", "1")
    (exercise,) = written_in(chapter)
    assert exercise.is_open
    assert faults(exercise, set()) == []
