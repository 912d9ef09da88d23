"""Run folders say what is wrong with them."""

import json
from pathlib import Path

import pytest

from transformer.files import FileError
from transformer.results import result_of_run
from transformer.runs import RunError, keep_scores, load_run


@pytest.mark.parametrize("content", ["[]", "{}", '{"task": ["copy"]}', "no JSON"])
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
