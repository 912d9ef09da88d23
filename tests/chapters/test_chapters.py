"""What the chapters train, at which size, and what they say of the time that it takes."""

import ast
import json
import re
import sys
import types
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.helpers.chapters import notebook
from tests.helpers.releases import release, tar_of
from tools.site.chapters import notebooks
from tools.site.durations import RECORDED, Durations
from tools.site.execute import Execution
from transformer.data import corpora
from transformer.data.toy_german import toy_german
from transformer.runs import train_task
from transformer.tasks import toy_german_task
from transformer.training import Trainer

from transformer_book.scales import scaled

ROOT = Path(__file__).resolve().parents[2]
SCALES = ("smoke", "cpu", "gpu")
TRAINS = {"Trainer", "train_task", "run_row", "Adam"}
FEW = 60  # steps that take no time at any scale
SAID = re.compile(r"[Aa]bout\s+(\d+)\s+seconds\s+on\s+one\s+core")


@cache
def calls(name: str) -> list[tuple[str, ast.Call]]:
    """All calls in the code of a chapter, with the function's name."""
    return [
        (ast.unparse(node.func).rpartition(".")[2], node)
        for cell in notebook(name).cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call)
    ]


def sizes(call: ast.Call) -> dict[str, object]:
    """What `scaled(...)` gives at each scale."""
    given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    return {"gpu": given["cpu"], **given}


NAMES = [*notebooks(ROOT)]
# Trains only for those who ask: the tests of the talks, below.
ASKED = "book/findings/iwslt"
TRAINING = [
    name for name in NAMES if name != ASKED and TRAINS & {function for function, _ in calls(name)}
]


def test_the_chapters_that_train_are_found() -> None:
    assert "book/translation/first_translation" in TRAINING
    assert {"book/architecture/layers", "book/architecture/post_or_pre"} <= set(TRAINING)
    assert "book/welcome" not in TRAINING
    assert len(TRAINING) >= 7


@pytest.mark.parametrize("name", TRAINING)
def test_a_chapter_that_trains_takes_its_sizes_from_the_scale(name: str) -> None:
    scaled_here = [sizes(call) for function, call in calls(name) if function == "scaled"]
    assert scaled_here
    for found in scaled_here:
        assert set(found) == set(SCALES)
        small, usual, large = (found[scale] for scale in SCALES)
        assert small < usual <= large  # type: ignore[operator]
    steps = [
        word.value.value
        for function, call in calls(name)
        for word in call.keywords
        if function != "TrainingPlayground"  # the page trains that one, when a reader asks for it
        and word.arg == "steps"
        and isinstance(word.value, ast.Constant)
    ]
    assert all(n <= FEW for n in steps)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_the_first_translation_trains_its_whole_recipe_on_a_gpu_and_a_part_on_a_cpu(
    scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps are trained at each size of the settings that the chapter asks for."""
    monkeypatch.setenv("TRANSFORMER_SCALE", scale)
    (call,) = (
        call
        for function, call in calls("book/translation/first_translation")
        if function == "toy_german_task"
    )
    (training,) = (word.value for word in call.keywords if word.arg == "training")
    settings = eval(ast.unparse(training), {"scaled": scaled})
    corpus = toy_german(n_train=2_000, n_valid=5, n_test=5)
    task = toy_german_task(training=settings, corpus=corpus)
    whole = toy_german_task(corpus=corpus).training.steps
    assert (task.training.steps == whole) == (scale == "gpu")
    assert task.training == replace(toy_german_task(corpus=corpus).training, **settings)
    brief = replace(task, training=replace(task.training, steps=2))
    _, metrics = train_task(brief, device="cpu", show_progress=False)
    assert metrics[-1]["step"] == 2


@pytest.mark.nightly
def test_every_chapter_that_trains_runs_at_the_smallest_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", "smoke")
    paths = {name: ROOT / f"{name}.md" for name in TRAINING}
    environ = {"IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONPATH": str(ROOT)}
    execution = Execution(tmp_path / "cache", paths, Durations.read(RECORDED))
    done = execution.run(environ, tmp_path / "kernels.log")
    assert not done.failures
    assert set(done.seconds) == set(TRAINING)


def test_what_chapters_say_of_their_longest_cell_was_measured() -> None:
    """Within a factor of 2, as one core and another differ."""
    measured = json.loads(RECORDED.read_text())["cells"]
    said = {
        name: [int(seconds) for seconds in SAID.findall((ROOT / f"{name}.md").read_text())]
        for name in NAMES
    }
    for name, seconds in said.items():
        for n in seconds:
            on_record = measured.get(name, n)  # a new chapter's come with the next record
            assert on_record / 2 <= n <= on_record * 2, f"{name}: {n} seconds"
        assert seconds or measured.get(name, 0) < 20, f"{name} trains and does not say how long"
    assert sum(map(len, said.values())) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_makes_no_temporary_folder_that_nobody_removes(name: str) -> None:
    assert "mkdtemp" not in {function for function, _ in calls(name)}
    kept = re.findall(r"(\w+) = tempfile\.TemporaryDirectory\(\)", text := code(name))
    assert all(f"{temporary}.cleanup()" in text for temporary in kept)
    assert ("torch.distributed.run" in text) == ('"--log-dir"' in text)  # else torchrun leaves one


def code(name: str) -> str:
    return "\n".join(cell.source for cell in notebook(name).cells if cell.cell_type == "code")


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The chapter's cells about a run of one's own, on a machine with a GPU, as far as they see."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRANSFORMER_SCALE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    def no_network(*arguments: object) -> None:
        raise AssertionError("something is downloaded that nobody asked for")

    monkeypatch.setattr(corpora, "fetch_talks", no_network)
    cells = notebook(ASKED).cells
    begin, end = (
        next(i for i, cell in enumerate(cells) if heading in cell.source)
        for heading in ("### Your own run", "## Exercises")
    )
    before, found = (
        [cell.source for cell in part if cell.cell_type == "code"]
        for part in (cells[:begin], cells[begin:end])
    )
    return [before[0], *found]


def run_talks(cells: list[str], **settings: Any) -> dict[str, Any]:
    """Runs them as a reader does who has put these settings into the last one."""
    names: dict[str, Any] = {"settings": settings}
    *before, asking = cells
    for name in settings:
        asking, n = re.subn(rf"(?m)^{name} = .*$", f"{name} = settings[{name!r}]", asking)
        assert n == 1
    for cell in [*before, asking]:
        exec(cell, names)
    return names


def test_the_cells_to_run_again_on_a_new_machine_are_those_that_the_page_names(
    talks: list[str],
) -> None:
    imports, *own = talks
    assert run_talks([imports, *own])["asked"] is False
    with pytest.raises(NameError):
        run_talks(["", *own])
    (said,) = re.findall(r"Were you disconnected\?.*?:", (ROOT / f"{ASKED}.md").read_text(), re.S)
    for what in ("first two code cells", "imports", "%env TRANSFORMER_SCALE=gpu", "these cells"):
        assert what in " ".join(said.split())
    first = next(c for c in notebook(ASKED).cells if c.cell_type == "code")
    assert first.source == imports  # the notebook's second: the first is put before all others


def test_the_talks_are_neither_fetched_nor_trained_where_nobody_asks(
    talks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_talks(talks)
    assert "nothing is trained" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reader's own archive of a few talks; the run is asked for, and takes place on the CPU."""
    monkeypatch.setenv("TRANSFORMER_SCALE", "gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    files = release("14", 120, {"TED.dev2010": 4, "TED.tst2010": 4})
    return tar_of(tmp_path / "mine.tgz", files)


CHANGES = {"steps": 4, "checkpoint_every": 2, "log_every": 1, "evaluate_every": 0}


@pytest.mark.slow
def test_a_run_of_the_talks_that_was_cut_off_goes_on_when_its_cells_are_run_again(
    talks: list[str],
    archive: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = {"archive": archive, "changes": CHANGES}
    whole = run_talks(talks, **settings, campaign="iwslt14")["own"]
    (tmp_path / "runs").rename(tmp_path / "whole")
    update, seen = Trainer._update, []

    def cut_off(self: Trainer, batches: Any) -> Any:
        seen.append(self.step)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return update(self, batches)

    monkeypatch.setattr(Trainer, "_update", cut_off)
    with pytest.raises(KeyboardInterrupt):
        run_talks(talks, **settings)
    again = run_talks(talks, **settings)["own"]
    assert seen == [0, 1, 2, 3, 2, 3]
    for expected, found in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert expected.equal(found)
    assert capsys.readouterr().out.count("TED.tst2010: BLEU") == 2


@pytest.mark.slow
def test_a_run_of_the_talks_is_kept_on_the_drive_where_the_reader_wishes(
    talks: list[str], archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted: list[str] = []
    on_drive = tmp_path / "drive/MyDrive/mine.tgz"

    def mount(folder: str) -> None:
        mounted.append(folder)
        on_drive.parent.mkdir(parents=True)
        archive.rename(on_drive)

    colab = types.ModuleType("google.colab")
    colab.drive = types.SimpleNamespace(mount=mount)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    drive = str(tmp_path / "drive")
    run_talks(talks, archive=on_drive, changes={**CHANGES, "steps": 1}, drive_folder=drive)
    assert mounted == [drive]
    run = tmp_path / "drive/MyDrive/transformer-book/iwslt14"
    assert (run / "model.safetensors").exists() and (run / "checkpoint.safetensors").exists()
    assert not (tmp_path / "runs").exists()
    training = json.loads((run / "config.json").read_text())["training"]
    assert training["checkpoint_minutes"] == 20  # each one fills the drive's trash
