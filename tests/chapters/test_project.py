"""The project for a course: its commands run in their order, its hours and points add up."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.helpers.command_line import run, run_book
from tests.transformer.data.excerpt import sentences

from transformer_book.results import recorded

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/project.md").read_text("utf-8")
STEPS = re.findall(r"^### (\d)\. (.+?): (\d+) hours?(.*)$", PAGE, re.MULTILINE)
POINTS = re.findall(r"^\| [\w ]+ \| (\d+) \| ", PAGE, re.MULTILINE)
# Toy German stands in for a student's text, in sizes that take a moment.
PARTS = {"train": 100, "valid": 4, "test": 4}
SMALL = {
    "--steps": "10",
    "--checkpoint-every": "2",
    "--vocab-size": "300",
    "--d-model": "16",
    "--d-ff": "16",
    "--n-heads": "2",
    "--n-layers": "1",
    "--device": "cpu",
}


def commands() -> list[list[str]]:
    """What the page has its readers type, in order, without `python -m`."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    whole = (block.replace("\\\n", " ") for block in blocks)
    lines = [shlex.split(line) for block in whole for line in block.splitlines()]
    assert all(line[:2] == ["python", "-m"] for line in lines)
    assert {line[2]: line[3] == "pack" for line in lines} == {
        "transformer": False,
        "transformer_book": True,
    }
    return [line[3:] for line in lines]


def small(command: list[str]) -> list[str]:
    """A command of training, made short; a run that begins with another one has its sizes."""
    if command[0] != "train":
        return command
    options = dict(SMALL)
    if "--start" in command:
        options = {name: SMALL[name] for name in ("--steps", "--vocab-size", "--device")}
    kept = list(command)
    for name in options:
        if name in kept:
            place = kept.index(name)
            del kept[place : place + 2]
    return [*kept, *(word for pair in options.items() for word in pair)]


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of text as the page asks for it, in the folder where the commands run."""
    (tmp_path / "pair").mkdir()
    every = sentences(sum(PARTS.values()), "project")
    for name, size in PARTS.items():
        part, every = every[:size], every[size:]
        for language, side in (("fr", 0), ("en", 1)):
            text = "".join(f"{both[side]}\n" for both in part)
            (tmp_path / f"pair/{name}.{language}").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_commands_run_one_after_the_other(pair: Path) -> None:
    for command in commands():
        if "--start" in command:  # another pair's run
            shutil.copytree(pair / "runs/first", pair / "runs/other-pair")
        done = (run_book if command[0] == "pack" else run)(*small(command))
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        if command[0] == "train":
            assert "test" not in done.stdout, "the test set is opened when all is chosen"
        if command[0] == "translate":
            assert len(done.stdout.splitlines()) == PARTS["test"]
        if command[0] == "evaluate":
            search = " beam 4" if "--beam" in command else ""
            assert f"{command[command.index('--split') + 1]}{search}: BLEU" in done.stdout
    assert (pair / "runs/first/average-5/page/index.html").is_file()
    assert (pair / "runs/first/metrics.jsonl").is_file()
    (first,) = [command for command in commands() if "--evaluate-on" in command]
    resumed = run(*small(first), "--resume")
    assert resumed.returncode == 0, resumed.stderr


def test_each_kind_of_command_is_there() -> None:
    kinds = [command[0] for command in commands()]
    assert set(kinds) == {"check", "train", "average", "evaluate", "translate", "pack"}
    options = {word for command in commands() for word in command if word.startswith("--")}
    assert {"--resume", "--also"}.isdisjoint(options)
    assert {"--start", "--seed", "--keep", "--evaluate-on"} <= options
    runs = [command for command in commands() if command[0] == "train"]
    assert ["--keep" in command for command in runs] == [False, True, True, True]


def test_the_hours_and_the_points_add_up() -> None:
    assert [number for number, *_ in STEPS] == list("123456")
    hours = sum(int(hours) for _, _, hours, _ in STEPS)
    assert f"about {hours} hours of one person" in PAGE
    assert len(POINTS) == 8
    assert sum(map(int, POINTS)) == 100


def test_each_step_says_what_to_hand_in() -> None:
    steps = PAGE.split("## The steps\n")[1].split("\n## ")[0].split("\n### ")[1:]
    assert len(steps) == len(STEPS)
    assert all("*Hand in:*" in step for step in steps)


def test_the_runs_of_the_table_are_recorded() -> None:
    shown = re.findall(r'recorded\("(\w+)"\)', PAGE)
    assert shown
    for name in shown:
        assert recorded(name)


@pytest.mark.parametrize("page", ["lecturers.md", "findings/iwslt.md"])
def test_the_project_is_found(page: str) -> None:
    assert "{ref}`project`" in (ROOT / "book" / page).read_text("utf-8")
    assert "file: book/project" in (ROOT / "_toc.yml").read_text()
