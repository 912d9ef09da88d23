"""The track as a reader walks it, with the command: skeletons, mistakes, solutions, a model."""

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers.command_line import run_book

from transformer_book.exercises import EXERCISES, skeleton, solution
from transformer_book.exercises.track import command
from transformer_book.exercises.track.files import files_in
from transformer_book.exercises.track.proof import Finding

SOFTMAX = "01_softmax.py"


def once(folder: Path, *options: str):
    return run_book("exercise", str(folder), *(options or ("--once",)))


def solved(name: str) -> str:
    """Our solution, as a reader's file may look."""
    return f'"""Mine."""\n\n{solution(name)}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A track in which nothing is written yet."""
    made = tmp_path / "mine"
    assert once(made).returncode == 0
    return made


def test_the_folder_has_a_skeleton_for_each_exercise_in_the_books_order(folder: Path) -> None:
    names = [path.name for path in sorted(folder.glob("*.py"))]
    assert names == [f"{i:02}_{name}.py" for i, name in enumerate(EXERCISES, 1)]
    for name, path in zip(EXERCISES, sorted(folder.glob("*.py")), strict=True):
        text = path.read_text()
        assert text.endswith(str(skeleton(name)).split("\n\n\n")[-1])
        assert f"{EXERCISES[name].chapter}.html" in text
        names: dict[str, Any] = {}
        exec(compile(text, path.name, "exec"), names)  # by itself
        if "Tensor" in text:
            assert names["torch"] is torch and names["math"] is math
        else:
            assert "torch" not in names


@pytest.mark.slow
def test_each_solution_opens_the_next_exercise(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    said = once(folder).stdout
    for i, name in enumerate(EXERCISES):
        assert f"{i} of {len(EXERCISES)} pass" in said
        assert re.findall(r"^Next: .*?/\d+_(\w+)\.py$", said, re.M)[-1] == name
        assert f"○ {name} is not written yet" in said
        files_in(folder)[name].write_text(solved(name))
        done = once(folder)
        assert done.returncode == 0, done.stdout
        said = done.stdout
        assert f"✓ {name} is right." in said
    assert f"{len(EXERCISES)} of {len(EXERCISES)} pass" in said
    assert "--train copy" in said
    again = once(folder)
    assert "✓" not in again.stdout  # what has passed is not checked again
    assert "--train toy" in again.stdout


MISTAKES = {
    "import math\ndef softmax(x):\n    return x.softmax(dim=0)\n": "The columns sum to 1, not the",
    "def softmax(x)\n    return x\n": "is no Python yet; line 1 `def softmax(x)`: expected ':'",
    "def soft_max(x):\n    return x.softmax(-1)\n": "There is soft_max: give it that name back.",
    "X = 1\n": f"{SOFTMAX} has no function softmax, which is what is checked.",
    "def softmax(x):\n    return (x x)\n": "Perhaps you forgot a comma?\n",
    "def softmax(x):\n    while True:\n        pass\n": "Does a loop of it never end?",
    "while True:\n    pass\n": f"{SOFTMAX} was stopped: it did not end within",
    "import torch\nX = 1 / 0\n": "raises ZeroDivisionError in the line `X = 1 / 0`",
    "import nothing_of_the_kind\n": "raises ModuleNotFoundError in the line `import nothing_of",
    "raise SystemExit(3)\n": f"{SOFTMAX} raises SystemExit",
    "def softmax(x):\n    return y\n": "name 'y' is not defined, in the line `return y`",
    "softmax = 3\n": f"{SOFTMAX} has no function softmax",
    "\0": f"{SOFTMAX} is no Python",
}


# What never ends is stopped, after seconds.
TRIED = [pytest.param(t, marks=pytest.mark.slow) if "while True" in t else t for t in MISTAKES]


@pytest.mark.slow
@pytest.mark.parametrize("text", TRIED, ids=range(len(TRIED)))
def test_a_mistake_gets_its_sentence_and_opens_nothing(folder: Path, text: str) -> None:
    (folder / SOFTMAX).write_text(text)
    done = once(folder)
    assert done.returncode == 1
    assert MISTAKES[text] in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "scaled_dot_product_attention" not in done.stdout
    assert (folder / SOFTMAX).read_text() == text


def test_a_file_that_is_no_text_gets_a_sentence(folder: Path) -> None:
    (folder / SOFTMAX).write_bytes(b"# \xff\n")
    assert f"{SOFTMAX} is not text in UTF-8" in once(folder).stdout
    (folder / SOFTMAX).write_text(solved("softmax"), encoding="utf-8-sig")  # as Notepad may
    assert "✓ softmax is right." in once(folder).stdout


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_in_the_place_of_an_exercise_is_named(folder: Path, kind: str) -> None:
    path = folder / SOFTMAX
    path.unlink()
    make = {"pipe": os.mkfifo, "device": lambda p: p.symlink_to("/dev/zero"), "folder": Path.mkdir}
    make[kind](path)
    assert "0 of " in once(folder, "--list").stdout
    done = once(folder)
    assert done.returncode == 1
    said = "Is a directory" if kind == "folder" else "is a pipe or a device; put a file in its"
    assert f"✗ {path.name if kind == 'folder' else path}" in done.stdout and said in done.stdout
    done = once(folder, "--reset", "--name", "softmax")
    assert done.returncode == 1 and f"Error: {path}" in done.stderr


def test_what_nobody_has_checked_is_checked_before_the_training(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(command, "same_as_ours", lambda parts: [])
    monkeypatch.setattr(command, "train", lambda *arguments, **settings: None)
    (folder / SOFTMAX).write_text(solved("softmax"))
    (folder / "03_split_heads.py").write_text("def split_heads(x, n_heads):\n    return x\n")
    done = once(folder, "--train", "copy")
    assert done.returncode == 0
    said = done.stdout
    assert said.startswith("03_split_heads.py does not pass, so ours stands in: ")
    assert "softmax does not" not in said and "1 of " in said


def test_parts_that_do_not_what_ours_do_are_told_by_the_exit_code(folder, monkeypatch) -> None:
    found = [Finding(True, "This holds."), Finding(False, "This does not.")]
    monkeypatch.setattr(command, "same_as_ours", lambda parts: found)
    monkeypatch.setattr(command, "train", lambda *arguments, **settings: None)
    done = once(folder, "--train", "copy")
    assert done.returncode == 1
    assert "✗ This does not." in done.stdout and "see the lines with ✗ above" in done.stdout
    assert "The exit code is 1" in " ".join(once(folder, "--help").stdout.split())


def test_what_passed_and_was_changed_is_checked_again(folder: Path) -> None:
    (folder / SOFTMAX).write_text(solved("softmax"))
    assert "✓ softmax is right." in once(folder).stdout
    (folder / SOFTMAX).write_text("def softmax(x):\n    return x.softmax(0)\n")
    done = once(folder)
    assert done.returncode == 1 and "The columns sum to 1" in done.stdout
    assert "0 of " in done.stdout


def test_a_later_exercise_may_come_first(folder: Path) -> None:
    files_in(folder)["residual"].write_text(solved("residual"))
    files_in(folder)["layer_norm"].write_text("def layer_norm(x, gain, bias, eps):\n    return x\n")
    done = once(folder)
    assert done.returncode == 1
    assert "○ softmax is not written yet" in done.stdout
    assert "✓ residual is right." in done.stdout
    assert re.search(r"^✗ .*", done.stdout, re.M)
    listed = once(folder, "--list").stdout
    assert re.findall(r"^([✓▸]) +\d+ +(\w+)", listed, re.M) == [("▸", "softmax"), ("✓", "residual")]


def test_the_list_counts_the_minutes_that_are_left(folder: Path) -> None:
    minutes = sum(exercise.minutes for exercise in EXERCISES.values())
    assert f"About {minutes} minutes are left." in once(folder, "--list").stdout
    (folder / SOFTMAX).write_text(solved("softmax"))
    once(folder)
    left = minutes - EXERCISES["softmax"].minutes
    assert f"About {left} minutes are left." in once(folder, "--list").stdout


def test_hints_come_one_after_another_and_the_solution_is_ours(folder: Path) -> None:
    hints = EXERCISES["softmax"].hints
    for number in [*range(len(hints)), len(hints) - 1]:
        said = once(folder, "--hint").stdout
        assert said.startswith(f"Hint {number + 1} of {len(hints)} for softmax: {hints[number]}")
    assert "That was the last one; --solution --name softmax shows ours." in said
    assert once(folder, "--hint", "--name", "residual").stdout.startswith("Hint 1 of")
    assert once(folder, "--solution").stdout == str(solution("softmax"))
    assert (folder / SOFTMAX).read_text().endswith("    ...\n")


def test_reset_puts_the_skeleton_back_and_keeps_what_was_written(folder: Path) -> None:
    before = (folder / SOFTMAX).read_bytes()
    for number in (1, 2):
        mine = f"{solved('softmax')}# {number}\n"
        (folder / SOFTMAX).write_text(mine)
        once(folder)
        said = once(folder, "--reset", "--name", "softmax").stdout
        backup = folder / "backups" / f"01_softmax.{number}.py"
        assert f"What you wrote is in {backup}" in said
        assert backup.read_text() == mine
        assert (folder / SOFTMAX).read_bytes() == before
        assert "0 of " in once(folder).stdout
    assert "What you wrote" not in once(folder, "--reset").stdout  # nothing was written
    assert len(list((folder / "backups").iterdir())) == 2


def test_nothing_that_was_written_is_overwritten(folder: Path) -> None:
    (folder / SOFTMAX).write_text("mine\n")
    (folder / "notes.txt").write_text("remember\n")
    files_in(folder)["residual"].unlink()
    once(folder)
    assert (folder / SOFTMAX).read_text() == "mine\n"
    assert (folder / "notes.txt").read_text() == "remember\n"
    assert files_in(folder)["residual"].read_text().endswith("    ...\n")  # what lacks is written


def test_a_file_keeps_the_number_of_an_earlier_edition(folder: Path) -> None:
    (folder / SOFTMAX).rename(folder / "07_softmax.py")
    (folder / "07_softmax.py").write_text(solved("softmax"))
    assert "✓ softmax is right." in once(folder).stdout
    assert not (folder / SOFTMAX).exists()


def test_a_file_that_was_renamed_is_found(folder: Path) -> None:
    (folder / SOFTMAX).rename(folder / "my_softmax.py")
    done = once(folder)
    assert done.returncode == 1
    assert f"my_softmax.py has a function softmax: rename it to {SOFTMAX}" in done.stderr
    assert not (folder / SOFTMAX).exists()


def test_a_folder_that_is_none_or_somebody_elses_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    done = once(file)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{file} is a file; name a folder" in done.stderr
    done = once(tmp_path)
    assert done.returncode == 1
    assert "holds other files; name a new folder, or an empty one" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


NO_BEGIN = [["--list"], ["--hint"], ["--solution"], ["--reset"], ["--train", "copy"]]


@pytest.mark.parametrize("options", NO_BEGIN, ids=" ".join)
def test_only_the_bare_command_begins_a_track(tmp_path: Path, options: list[str]) -> None:
    done = once(tmp_path / "mine", *options)
    assert (done.returncode, done.stdout) == (1, "")
    begins = f"python -m transformer_book exercise {tmp_path / 'mine'}"
    assert f"there is no track in {tmp_path / 'mine'}; this begins one: {begins}" in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_no_track_begins_inside_another(folder: Path, monkeypatch) -> None:
    before = sorted(folder.iterdir())
    done = once(folder / "drafts" / "mine")
    assert done.returncode == 1
    assert f"would be inside of another track, {folder}: name that folder, or" in done.stderr
    monkeypatch.chdir(folder)
    (folder / SOFTMAX).write_text(solved("softmax"))
    done = run_book("exercise", "--once")  # the one in which one is
    assert done.returncode == 0 and "✓ softmax is right." in done.stdout
    assert "1 of " in run_book("exercise", "--list").stdout
    assert sorted(folder.iterdir()) == before


def test_a_track_that_has_lost_its_progress_is_taken_up(folder: Path) -> None:
    (folder / SOFTMAX).write_text(solved("softmax"))
    once(folder)
    (folder / "progress.json").unlink()
    (folder / "notes.txt").write_text("remember\n")
    assert "0 of " in once(folder, "--list").stdout
    assert "✓ softmax is right." in once(folder).stdout
    assert "1 of " in once(folder, "--list").stdout


def test_a_few_files_of_a_track_are_taken_up_when_it_is_said(tmp_path: Path) -> None:
    (tmp_path / SOFTMAX).write_text(solved("softmax"))
    done = once(tmp_path)
    assert done.returncode == 1
    assert "holds other files" in done.stderr
    assert "put an empty file progress.json into it, and it is taken up" in done.stderr
    (tmp_path / "progress.json").touch()
    assert "✓ softmax is right." in once(tmp_path).stdout


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = once(tmp_path / "file" / "mine")  # nobody can make this one, root included
    assert done.returncode == 1
    assert done.stderr.startswith("Error: could not ")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["{", "[]", '{"passed": [1], "hints": {"softmax": "x"}}', ""])
def test_damaged_progress_is_found_again_by_checking(folder: Path, damage: str) -> None:
    (folder / SOFTMAX).write_text(solved("softmax"))
    once(folder)
    (folder / "progress.json").write_text(damage)
    listed = once(folder, "--list").stdout
    assert "Written, and not passed as it is now: softmax. --once checks." in listed
    done = once(folder)
    assert done.returncode == 0
    assert "✓ softmax is right." in done.stdout and "1 of " in done.stdout
    assert [*json.loads((folder / "progress.json").read_text())["passed"]] == ["softmax"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--hint", "--reset"], "give one of --hint, --solution"),
        (["--name", "softmax"], "--name is for --hint, --solution and --reset"),
        (["--train", "poems"], "--train takes one of copy, toy, not poems"),
        (["--hint", "--name", "sofmax"], "did you mean softmax?"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, options, sentence: str) -> None:
    done = once(tmp_path / "mine", *options)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.replace("│", " ").split())
