"""A training run is recorded when it has ended and a commit holds the files that made it."""

import json
import shutil
from pathlib import Path

import pytest

import measurements.__main__ as command
from transformer.runs import train_task
from transformer.tasks import copy_task

TINY = {"d_model": 16, "d_ff": 16, "n_heads": 2, "n_layers": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished and scored run."""
    folder = tmp_path_factory.mktemp("runs") / "copy"
    train_task(copy_task(TINY, {"steps": 2}), folder, show_progress=False)
    (folder / "scores.json").write_text('{"test": {"bleu": 1.5}}')
    return folder


def record(run: Path, out: Path) -> int:
    return command.main(["finished_run", "--run", str(run), "--out", str(out)])


@pytest.mark.parametrize("missing", ["config.json", "metrics.jsonl", "scores.json"])
def test_an_unfinished_run_is_refused(run: Path, tmp_path: Path, missing: str, capsys) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "run"))
    (folder / missing).unlink()
    assert record(folder, tmp_path / "out.json") == 1
    assert f"holds no {missing}" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_only_what_a_commit_holds_is_recorded(run: Path, tmp_path: Path, capsys) -> None:
    facts = json.loads((run / "config.json").read_text())
    for commit, status in (("abc1234-dirty", 1), (None, 1), ("abc1234", 0)):
        (run / "config.json").write_text(json.dumps({**facts, "commit": commit}))
        assert record(run, tmp_path / "out.json") == status
    assert "commit, train again" in capsys.readouterr().err
    kept = json.loads((tmp_path / "out.json").read_text())
    assert kept["commit"] == "abc1234" and kept["command"] == facts["command"]
