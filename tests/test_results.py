"""Recorded results: found by name, made from finished runs only, each with its provenance."""

import json
import shutil
from pathlib import Path

import pytest

from tools.record import main
from transformer.results import compact_json, recorded, result_of_run, write_result
from transformer.runs import train_task
from transformer.tasks import copy_task

RESULTS = Path(__file__).parents[1] / "book" / "results"
TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished and scored run."""
    folder = tmp_path_factory.mktemp("runs") / "copy"
    train_task(copy_task(TINY, {"steps": 2}), folder, show_progress=False)
    (folder / "scores.json").write_text('{"test": {"bleu": 1.5}}')
    return folder


def test_a_run_becomes_one_result(run: Path) -> None:
    result = result_of_run(run)
    assert result["task"] == "copy"
    assert result["training"]["steps"] == result["metrics"][-1]["step"] == 2
    assert result["scores"]["test"]["bleu"] == 1.5
    assert {"command", "commit", "hardware", "versions", "threads"} <= result.keys()


@pytest.mark.parametrize("missing", ["config.json", "metrics.jsonl", "scores.json"])
def test_an_unfinished_run_is_refused(run: Path, tmp_path: Path, missing: str, capsys) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "run"))
    (folder / missing).unlink()
    assert main([str(folder), str(tmp_path / "out.json")]) == 1
    assert f"holds no {missing}" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_only_what_a_commit_holds_is_recorded(run: Path, tmp_path: Path, capsys) -> None:
    facts = json.loads((run / "config.json").read_text())
    for commit, status in (("abc1234-dirty", 1), (None, 1), ("abc1234", 0)):
        (run / "config.json").write_text(json.dumps({**facts, "commit": commit}))
        assert main([str(run), str(tmp_path / "out.json")]) == status
    assert "commit, train again" in capsys.readouterr().err
    assert json.loads((tmp_path / "out.json").read_text())["commit"] == "abc1234"


def test_a_result_reads_back_as_it_was_in_few_lines(tmp_path: Path) -> None:
    result = {
        "text": 'a [\n 1,\n 2\n] "quote", } ü',
        "numbers": [1, -2.5, 3e-07, None, True, *range(100)],
        "rows": [{"step": i, "loss": i / 7} for i in range(50)],
        "nested": {"deep": {"deeper": ["word " * 50, {}, [], {"a": list(range(50))}]}},
    }
    path = tmp_path / "result.json"
    write_result(path, result)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == result and list(json.loads(text)) == list(result)
    short = [line for line in text.splitlines() if "word" not in line]
    assert max(map(len, short)) <= 100
    one_each = json.dumps(result, indent=1).splitlines()
    assert len(text.splitlines()) < len(one_each) / 6


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_recorded_result_is_written_compactly(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == compact_json(json.loads(text)) + "\n"


def test_an_unknown_result_names_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"no recorded result 'gpt'; there are: .*multi30k_cpu"):
        recorded("gpt")


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_recorded_result_says_where_it_comes_from(path: Path) -> None:
    result = recorded(path.stem)
    if "records" in result:  # one for each time that its command was run
        assert {run["record"] for run in result["runs"]} == set(range(len(result["records"])))
    parts = [result] if "command" in result else result.get("records")
    parts = parts or [part["record"] for part in result.values()]
    for part in parts:
        assert part["command"].startswith("python -m ")
        assert part["commit"]
        assert "dirty" not in part["commit"]
        assert part["hardware"]
        assert part["versions"]["torch"]
        assert not any(Path(word.split("=")[-1]).is_absolute() for word in part["command"].split())
