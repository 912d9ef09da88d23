"""What is to run first on a GPU runs, in small, on a CPU; and goes on where it was stopped."""

import json
import os
import tarfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import torch

import measurements.__main__ as command
from measurements import first_gpu
from tests.transformer.data.excerpt import write_excerpt
from transformer.support import version

pytestmark = pytest.mark.slow


def test_without_a_gpu_it_says_so_and_starts_nothing(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    given = ["first_gpu", "--out", str(tmp_path / "out"), "--data", str(tmp_path)]
    assert command.main(given) == 1
    assert "no CUDA GPU here" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_parts_are_in_order_and_leave_records(tmp_path: Path) -> None:
    parts = first_gpu.parts(tmp_path, tmp_path / "data", tiny=False)
    assert [part.name for part in parts] == [
        "tests",
        "benchmark",
        "multi30k-train",
        "multi30k-average",
        "multi30k-evaluate",
        "iwslt16-train",
        "iwslt16-average",
        "iwslt16-evaluate",
    ]
    assert "tests/transformer/test_cuda.py" in parts[0].command
    assert str(tmp_path / "gpu.json") in parts[1].command
    assert {"--keep", "--epochs", "--dropout"} <= {*parts[2].command}


@pytest.mark.slow
def test_in_small_all_of_it_runs_here_and_nothing_twice(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(version, "_of_clone", lambda _: "1a2b3c4d5e")  # a clone may be worked in
    (tmp_path / "corpora").mkdir()
    corpora = write_excerpt(tmp_path / "corpora")  # whose test sets are short
    given = ["first_gpu", "--out", str(tmp_path / "out"), "--data", str(corpora), "--tiny"]
    assert command.main([*given, "--minutes", "0"]) == 2
    assert "no time left; the same command goes on from here" in capsys.readouterr().out

    def log(name: str) -> str:
        return (tmp_path / "out" / f"{name}.log").read_text("utf-8")

    ended = command.main(given)
    said = capsys.readouterr().out
    assert ended == 0, said
    progress = json.loads((tmp_path / "out" / "progress.json").read_text("utf-8"))
    names = [part.name for part in first_gpu.parts(tmp_path / "out", corpora, tiny=True)]
    assert [progress[name]["status"] for name in names] == [0] * len(names)
    assert {"commit", "versions", "hardware"} <= progress["record"].keys()
    assert "beam 4: BLEU" in log("multi30k-evaluate")
    assert "passed" in log("tests")

    assert command.main(given) == 0
    assert capsys.readouterr().out.count("done before") == len(names)
    del progress["multi30k-average"]  # as if it had been stopped before it was noted
    (tmp_path / "out" / "progress.json").write_text(json.dumps(progress))
    assert command.main(given) == 0
    with tarfile.open(tmp_path / "out" / "record.tar.gz") as archive:
        packed = archive.getnames()
    assert {"progress.json", "tests.log", "multi30k/config.json"} <= {*packed}
    assert "record.tar.gz" not in packed


def test_other_code_does_not_take_over_what_was_done(
    monkeypatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = first_gpu.Part("says", ("-c", "print('once more')"))
    other = first_gpu.Part("other", ("-c", "raise SystemExit(1)"))
    monkeypatch.setattr(first_gpu, "parts", lambda *_: [said, other])
    monkeypatch.setattr(version, "_of_clone", lambda _: None)
    monkeypatch.setattr(version, "_of_installed", lambda: None)
    monkeypatch.setenv(version.COMMIT, "")
    given = [
        "first_gpu",
        "--out",
        str(tmp_path),
        "--data",
        str(tmp_path),
        "--tiny",
        "--only",
        "says",
    ]
    for commit, times in (("1a2b3c4d5e", 1), ("1a2b3c4d5e", 1), ("5e4d3c2b1a", 2)):
        assert command.main([*given, "--commit", commit]) == 0
        assert (tmp_path / "says.log").read_text().count("once more") == times
    progress = json.loads((tmp_path / "progress.json").read_text())
    assert progress["says"]["commit"] == progress["record"]["commit"] == "5e4d3c2b1a"
    assert "other" not in progress
    assert command.main([*given, "--only", "nothing"]) == 1
    assert "there are says, other" in capsys.readouterr().err


def test_a_run_that_was_begun_is_resumed(tmp_path: Path) -> None:
    part = first_gpu.Part("x-train", ("-m", "transformer", "train", "x"), tmp_path)
    assert "--resume" not in part.arguments()
    (tmp_path / "config.json").write_text("{}")
    assert part.arguments()[-1] == "--resume"


def test_a_part_that_takes_too_long_is_stopped_and_says_so(tmp_path: Path) -> None:
    sleeping = first_gpu.Part("sleep", ("-c", "import time; print('began'); time.sleep(60)"))
    assert first_gpu.work(sleeping, tmp_path / "log", 3.0, tmp_path) == 124
    failing = first_gpu.Part("fail", ("-c", "raise SystemExit(7)"))
    assert first_gpu.work(failing, tmp_path / "log", 30.0, tmp_path) == 7


def test_what_a_stopped_part_has_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time; "
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid); "
        "time.sleep(60)"
    )
    part = first_gpu.Part("parent", ("-c", code))
    assert first_gpu.work(part, tmp_path / "log", 3.0, tmp_path) == 124
    with suppress(psutil.NoSuchProcess):
        grandchild = psutil.Process(int((tmp_path / "log").read_text()))
        assert psutil.wait_procs([grandchild], timeout=10)[1] == []


def test_a_part_has_the_data_and_the_paths_that_were_there(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    names = ("PYTHONPATH", "TRANSFORMER_TEST_DATA")
    code = f"import os; print(*(os.environ[name] for name in {names}))"
    assert (
        first_gpu.work(first_gpu.Part("says", ("-c", code)), tmp_path / "log", 30.0, tmp_path) == 0
    )
    paths, data = (tmp_path / "log").read_text().split()
    assert paths.split(os.pathsep) == [str(first_gpu.ROOT), "/elsewhere"]
    assert data == str(tmp_path)
