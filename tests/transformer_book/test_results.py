"""Recorded results: found by name, made from runs, written so that they can be read."""

import json
from pathlib import Path

import pytest

from transformer.runs import train_task
from transformer.tasks import copy_task

from transformer_book.results import compact_json, recorded, result_of_run, write_result

RESULTS = Path(__file__).parents[2] / "book" / "results"
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
