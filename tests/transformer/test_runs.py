"""Run folders say what is wrong with them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from transformer.command_line.options import from_file
from transformer.runs import RunError, check_run_folder, keep_scores, load_run, train_task
from transformer.support.files import FileError
from transformer.tasks import copy_task

from transformer_book.results import result_of_run


@pytest.mark.parametrize("content", ["[]", "{}", '{"task": ["copy"]}'])
def test_a_config_that_is_no_runs_is_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(RunError, match="holds no run"):
        load_run(tmp_path)


def test_scores_go_beside_those_that_are_there_and_beside_nothing_else(tmp_path: Path) -> None:
    keep_scores(tmp_path, "valid", {"bleu": 1.0})
    keep_scores(tmp_path, "test", {"bleu": 2.0})
    before = (tmp_path / "scores.json").read_text()
    assert list(json.loads(before)) == ["valid", "test"]
    for content, message in (
        ("[]", "holds no scores by name"),
        ("[" * 10_000, "scores.json cannot be read"),
        ("{", "scores.json cannot be read"),
    ):
        (tmp_path / "scores.json").write_text(content)
        with pytest.raises(RunError, match=message):
            keep_scores(tmp_path, "test", {})
        assert (tmp_path / "scores.json").read_text() == content
    (tmp_path / "scores.json").write_text("[" + 2_000_000 * "[]," + "1]")
    with pytest.raises(FileError, match=r"scores.json is larger than a file of its kind can be"):
        keep_scores(tmp_path, "test", {})


@pytest.mark.parametrize("large", ["config.json", "metrics.jsonl", "scores.json"])
def test_a_runs_files_are_read_within_limits(tmp_path: Path, large: str) -> None:
    for name in ("config.json", "metrics.jsonl", "scores.json", "model.safetensors"):
        (tmp_path / name).write_text('{"step": 1}\n')
    assert result_of_run(tmp_path)["metrics"] == [{"step": 1}]
    (tmp_path / large).write_text(1_000_000 * '{"step": 1}\n')
    with pytest.raises(FileError, match=f"{large} is larger than"):
        result_of_run(tmp_path)


def test_metrics_nested_deeply_are_a_sentence(tmp_path: Path) -> None:
    for name in ("config.json", "scores.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "metrics.jsonl").write_text(100_000 * "[")
    with pytest.raises(ValueError, match="metrics.jsonl is nested too deeply"):
        result_of_run(tmp_path)


TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}


def train(folder: Path, steps: int) -> None:
    """Train a tiny model so far, going on where there is something."""
    task = copy_task(TINY, {"steps": steps, "max_tokens": 110})
    train_task(task, folder, resume=folder.exists(), device="cpu", show_progress=False)


def config_of(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return config


@pytest.mark.slow
def test_a_run_says_on_which_machine_it_was_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    train(run, 1)
    first = config_of(run)
    assert "resumed" not in first
    for steps, machine in ((2, "T4"), (3, "L4")):
        monkeypatch.setattr("transformer.support.provenance._hardware", lambda device, m=machine: m)
        train(run, steps)
    config = config_of(run)
    resumed = config.pop("resumed")
    assert config == first  # what the run began with stays
    assert [(entry["step"], entry["hardware"]) for entry in resumed] == [(1, "T4"), (2, "L4")]
    assert {"precision", "compiled", "versions", "command", "commit"} <= resumed[0].keys()
    assert from_file(run / "config.json").training["max_tokens"] == 110


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("{", "cannot be read"), ("[]", "no run's settings"), ('{"resumed": 1}', "no list")],
)
def test_a_run_whose_config_is_damaged_does_not_go_on(
    tmp_path: Path, content: str, sentence: str
) -> None:
    run = tmp_path / "run"
    train(run, 1)
    (run / "config.json").write_text(content)
    with pytest.raises(RunError, match=f"config.json .*{sentence}"):
        train(run, 2)
    assert (run / "config.json").read_text() == content


@pytest.mark.slow
def test_a_run_without_a_config_goes_on_without_one(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(run, 1)
    (run / "config.json").unlink()
    train(run, 2)
    assert not (run / "config.json").exists()
    assert json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["step"] == 2


def test_a_folder_whose_name_is_no_text_is_refused_before_it_is_made(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"run\xff?")
    with pytest.raises(RunError, match="is not UTF-8"):
        check_run_folder(folder, resume=False)
    check_run_folder(tmp_path / "lauf ü?", resume=False)


def test_a_trained_model_without_its_checkpoint_is_not_begun_anew(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(RunError, match="no checkpoint to go on from.*--start"):
        check_run_folder(tmp_path, resume=True)


def test_a_config_of_another_run_than_the_weights_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(run, 1)
    config = config_of(run)
    for name, wrong in (("n_heads", 4), ("d_model", "16"), ("dropout", float("nan"))):
        stated = {**config, "config": {**config["config"], name: wrong}}
        (run / "config.json").write_text(json.dumps(stated))
        with pytest.raises(RunError, match=f"different runs: {name} is .* from a copy"):
            load_run(run)
    del config["config"]["word_dropout"]  # a setting that an older run did not know
    (run / "config.json").write_text(json.dumps(config))
    load_run(run)


def test_a_damaged_config_is_not_called_no_run(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"task": "co')
    with pytest.raises(RunError, match=r"config\.json cannot be read: mend it"):
        load_run(tmp_path)
    with pytest.raises(RunError, match=r"holds no run \(no config\.json\)"):
        load_run(tmp_path / "nothing")
