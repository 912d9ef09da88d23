"""What the chapters train, at which size, and what they say of the time that it takes."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jupytext
import pytest

from tools.book import chapters
from tools.durations import RECORDED, Durations
from tools.execute import Execution
from transformer.data.toy_german import toy_german
from transformer.runs import train_task
from transformer.runtime import scaled
from transformer.tasks import toy_german_task

ROOT = Path(__file__).resolve().parents[2]
SCALES = ("smoke", "cpu", "gpu")
TRAINS = {"Trainer", "train_task", "Adam"}
FEW = 60  # steps that take no time at any scale
SAID = re.compile(r"[Aa]bout (\d+)\s+seconds\s+of\s+one\s+core")


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    """All calls in the code of a chapter, with the function's name."""
    for cell in jupytext.read(ROOT / f"{name}.md").cells:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Call):
                    yield ast.unparse(node.func).rpartition(".")[2], node


def sizes(call: ast.Call) -> dict[str, object]:
    """What `scaled(...)` gives at each scale."""
    given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    return {"gpu": given["cpu"], **given}


NAMES = [
    name for name in chapters(ROOT) if "format_name: myst" in (ROOT / f"{name}.md").read_text()
]
TRAINING = [name for name in NAMES if TRAINS & {function for function, _ in calls(name)}]


def test_the_chapters_that_train_are_found() -> None:
    assert "book/translation/first_translation" in TRAINING
    assert "book/architecture/layers" in TRAINING
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
        for _, call in calls(name)
        for word in call.keywords
        if word.arg == "steps" and isinstance(word.value, ast.Constant)
    ]
    assert all(n <= FEW for n in steps)


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
            assert measured[name] / 2 <= n <= measured[name] * 2, f"{name}: {n} seconds"
        assert seconds or measured.get(name, 0) < 20, f"{name} trains and does not say how long"
    assert sum(map(len, said.values())) >= 3
