"""TensorBoard's files, read back with its own library."""

import builtins
import json

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.transformer.training.trainers import small_trainer


def points(folder):
    """tag -> [(step, value)], as TensorBoard finds them in all files of a run."""
    reader = EventAccumulator(str(folder / "tensorboard"))
    reader.Reload()
    return {
        tag: [(event.step, event.value) for event in reader.Scalars(tag)]
        for tag in reader.Tags()["scalars"]
    }


def expected(metrics):
    """The same from the metrics."""
    found = {}
    for entry in metrics:
        for key, value in entry.items():
            group = "training" if key in ("loss", "rate", "tokens_per_second", "epoch") else None
            group = group or ("evaluation" if key in ("bleu", "valid_loss") else None)
            if group:
                found.setdefault(f"{group}/{key}", []).append((entry["step"], value))
    return found


def judged(model):
    return {"split": "valid", "bleu": 12.5, "valid_loss": 2.25}


def assert_same(found, metrics):
    wanted = expected(metrics)
    assert found.keys() == wanted.keys()
    for tag, values in wanted.items():
        assert [step for step, _ in found[tag]] == [step for step, _ in values]
        assert [v for _, v in found[tag]] == pytest.approx([v for _, v in values], rel=1e-5)


def test_the_curves_are_the_metrics(tmp_path):
    trainer = small_trainer(steps=12, evaluate=judged, evaluate_every=6, run_dir=tmp_path)
    metrics = trainer.train()
    found = points(tmp_path)
    assert_same(found, metrics)
    assert found["evaluation/bleu"] == [(6, 12.5), (12, 12.5)]


@pytest.mark.slow
def test_after_a_resume_no_step_comes_twice(tmp_path):
    class Killed(Exception):
        pass

    def until_18(model):
        if trainer.step == 18:
            raise Killed
        return judged(model)

    settings = {"steps": 30, "log_every": 2, "evaluate_every": 6, "run_dir": tmp_path}
    trainer = small_trainer(**settings, evaluate=until_18)
    with pytest.raises(Killed):
        trainer.train()
    before = points(tmp_path)["training/loss"]
    assert before[-1][0] == 18  # beyond the checkpoint of step 10

    again = small_trainer(**settings, weights=99, evaluate=judged)
    again.resume(tmp_path / "checkpoint.safetensors")
    metrics = again.train()
    assert_same(points(tmp_path), metrics)
    assert [step for step, _ in points(tmp_path)["training/loss"]] == list(range(2, 31, 2))


def test_a_file_that_a_killed_process_has_left_half_written_does_no_harm(tmp_path):
    small_trainer(steps=10, run_dir=tmp_path).train()
    (path,) = (tmp_path / "tensorboard").iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    again = small_trainer(steps=20, weights=99, run_dir=tmp_path)
    again.resume(tmp_path / "checkpoint.safetensors")
    metrics = again.train()
    assert_same(points(tmp_path), metrics)


def test_without_the_library_training_says_so_once_and_goes_on(tmp_path, monkeypatch, capsys):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith(("tensorboard", "torch.utils.tensorboard")):
            raise ModuleNotFoundError("No module named 'tensorboard'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    metrics = small_trainer(steps=12, run_dir=tmp_path).train()
    monkeypatch.undo()
    said = capsys.readouterr().out
    assert said.count("the package tensorboard is not installed") == 1
    assert said.count("\n") == 1
    assert not (tmp_path / "tensorboard").exists()
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == metrics
