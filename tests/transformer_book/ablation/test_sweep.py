"""Many runs: told apart, kept, killed and taken up again, in several processes."""

import itertools
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from unittest.mock import patch

import psutil
import pytest
import torch

from tests.helpers.command_line import run_book
from transformer.runs import RunError
from transformer.training import Trainer, TrainingConfig, TrainingError
from transformer.training.loop import CHECKPOINT

from transformer_book.ablation import RESULTS, ROWS, Sizes, run_row, sweep
from transformer_book.ablation.sweep import GATHERING, LOCK, Run, devices_for, done_runs, work
from transformer_book.ablation.trial import CHECKPOINT_EVERY, WithoutWarmUp, build_row

SIZES = Sizes(sentences=200, test_sentences=4, steps=2)
OPTIONS = ["--sentences", "200", "--test-sentences", "4", "--steps", "2"]
CHANGING = ("record", "seconds")  # of a run, from one time to the next


def outcome(entry: dict) -> dict:
    return {key: value for key, value in entry.items() if key not in CHANGING}


def outcomes(folder: Path) -> list[dict]:
    return [outcome(entry) for entry in json.loads((folder / RESULTS).read_text())["runs"]]


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    """Two rows with two seeds each, in one process."""
    folder = tmp_path_factory.mktemp("runs") / "table"
    done = run_book("ablate", "A1", "--seeds", "2", "--out", str(folder), *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 runs are to be done" in done.stdout
    assert "A1-2: loss" in done.stdout
    return folder


def test_a_table_holds_rows_runs_and_where_they_come_from(table: Path) -> None:
    result = json.loads((table / RESULTS).read_text())
    assert [(r["row"], r["seed"]) for r in result["runs"]] == [
        ("base", 1), ("base", 2), ("A1", 1), ("A1", 2)
    ]  # fmt: skip
    assert result["sizes"] == {"sentences": 200, "test_sentences": 4, "steps": 2} | {
        "valid_sentences": 0,
        "one_test": False,
    }
    assert result["rows"]["A1"]["model"] == {"n_heads": 1, "d_k": 64, "d_v": 64}
    assert result["base"]["model"]["d_model"] == 64
    (record,) = result["records"]
    assert {"command", "commit", "versions", "hardware"} <= record.keys()
    assert record["threads"] == 1
    for entry in result["runs"]:
        assert entry["record"] == 0 and entry["parameters"] > 200_000
        for test in ("test_combinations", "test_longer"):
            assert {"loss", "perplexity", "bleu", "exact"} == entry[test].keys()
    losses = {entry["test_combinations"]["loss"] for entry in result["runs"]}
    assert len(losses) == 4
    left = {path for path in table.iterdir() if path.suffix != ".json"}
    assert left <= {table / LOCK, table / GATHERING}  # nothing unfinished


def test_what_is_done_is_not_done_again_and_more_seeds_are_added(table: Path, tmp_path) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    for path in table.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    before = {path.name: path.read_bytes() for path in folder.glob("*-*.json")}
    done = run_book("ablate", "A1", "--seeds", "3", "--out", str(folder), *OPTIONS)
    assert "2 of 6 runs are to be done" in done.stdout and "6 runs are in" in done.stdout
    assert {name: (folder / name).read_bytes() for name in before} == before


@pytest.mark.slow
def test_a_pilot_tries_another_rate_with_a_seed_that_the_table_does_not_use(tmp_path) -> None:
    """The rate decides the outcome, so a folder of one takes no run of another."""
    given = ["ablate", "A1", "--seeds", "1", "--out", str(tmp_path), *OPTIONS]
    done = run_book(*given, "--first-seed", "0", "--factor", "0.6")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / RESULTS).read_text())
    assert [(r["row"], r["seed"]) for r in result["runs"]] == [("base", 0), ("A1", 0)]
    assert result["base"]["training"]["factor"] == 0.6
    usual = run_row(ROWS["base"], 0, SIZES)
    assert result["runs"][0]["test_combinations"]["loss"] != usual["test_combinations"]["loss"]
    other = run_book(*given)
    assert other.returncode != 0 and "factor = 0.6, not 0.3" in other.stderr
    assert "factor (0.0) must be above 0" in run_book(*given, "--factor", "0").stderr


@pytest.mark.slow
def test_a_run_ends_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    """Stopped after its checkpoint, with the data's order and dropout still to come."""
    row, sizes = ROWS["rms_norm"], Sizes(sentences=200, test_sentences=4, steps=6)
    update = Trainer._update

    def stopped(self: Trainer, batches):
        if self.step == 5:
            raise KeyboardInterrupt
        return update(self, batches)

    with patch("transformer_book.ablation.trial.CHECKPOINT_EVERY", 2):
        straight = run_row(row, 3, sizes, folder=tmp_path / "straight")
        with patch.object(Trainer, "_update", stopped), pytest.raises(KeyboardInterrupt):
            run_row(row, 3, sizes, folder=tmp_path / "stopped")
        assert (tmp_path / "stopped" / CHECKPOINT).exists()
        begun: list[int] = []

        def counted(self: Trainer, batches):
            begun.append(self.step)
            return update(self, batches)

        with patch.object(Trainer, "_update", counted):
            again = run_row(row, 3, sizes, folder=tmp_path / "stopped")
    assert begun == [4, 5]
    assert outcome(again) == outcome(straight)


@pytest.mark.slow
def test_workers_whose_runs_end_at_once_do_not_meet_in_the_file_of_all(
    monkeypatch, tmp_path: Path
) -> None:
    """Threads in place of processes: a lock on a file keeps both apart."""
    n_workers = 8
    runs = [Run(name, seed) for seed in range(1, 6) for name in list(ROWS)[:8]]
    numbers = itertools.count()
    together = Barrier(n_workers, timeout=30)  # one that has failed comes no more

    def ended_at_once(*_: object, **__: object) -> dict:
        together.wait()  # for the others: their number divides that of the runs
        return {"record": {}, "failed": "nothing was trained"}

    # By its full name: the package calls a function `sweep`, too.
    monkeypatch.setattr(sys.modules[work.__module__], "run_row", ended_at_once)
    monkeypatch.setattr(torch, "set_num_threads", lambda n: None)
    given = (runs, SIZES, tmp_path, torch.device("cpu"))
    with ThreadPoolExecutor(n_workers) as pool:
        working = [
            pool.submit(work, *given, lambda: min(next(numbers), len(runs)), lambda line: None)
            for _ in range(n_workers)
        ]
    assert [worker.exception() for worker in working] == [None] * n_workers
    assert len(json.loads((tmp_path / RESULTS).read_text())["runs"]) == len(runs)


@pytest.mark.slow
def test_a_killed_command_leaves_no_process_and_goes_on(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "transformer_book", "ablate", "A1", "--seeds", "2"]
    command += ["--out", str(folder), "--processes", "2", *OPTIONS]
    environ = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as program:
        assert program.stdout is not None
        for line in program.stdout:
            if line.startswith(("base-1:", "A1-1:")):
                break
        children = psutil.Process(program.pid).children(recursive=True)
        os.kill(program.pid, signal.SIGKILL)
        _, alive = psutil.wait_procs(children, timeout=20)
        for child in alive:
            child.kill()
        assert not alive and len(children) >= 2
    assert (folder / LOCK).exists()  # of a process that is no more: it does not count
    done = run_book("ablate", "A1", "--seeds", "2", "--out", str(folder), *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 runs" not in done.stdout.splitlines()[0]
    assert outcomes(folder) == outcomes(table)  # of one process, never killed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((["A9"], []), "there is no row 'A9'; choose from base, A1"),
        ((["A1"], ["--steps", "0"]), "--steps (0) must be at least 1"),
        ((["A1"], ["--device", "tpu"]), "unknown device 'tpu'"),
        ((["A1"], ["--sentences", "1"]), "--sentences (1) have too few words for 4 unseen"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(options, message, tmp_path: Path) -> None:
    names, changes = options
    done = run_book("ablate", *names, "--out", str(tmp_path / "x"), *OPTIONS, *changes)
    assert done.returncode == 1 and done.stderr.startswith("Error: ")
    assert message in done.stderr and "Traceback" not in done.stderr
    # Nor does it stand in the way of the command as it should have been.
    assert done_runs(tmp_path / "x", SIZES) == {}


def test_more_seeds_than_anybody_has_time_for_are_refused_at_once() -> None:
    done = run_book("ablate", "A1", "--seeds", str(10**12))
    assert done.returncode == 2 and "--seeds" in done.stderr and "1000" in done.stderr


@pytest.mark.slow
def test_a_lock_that_cannot_be_taken_gets_a_sentence_from_each_process(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / GATHERING).mkdir()
    rows = {name: ROWS[name] for name in ("base", "A1")}
    with pytest.raises(RunError, match="a process has ended before its work was done"):
        sweep(rows, 1, SIZES, tmp_path, processes=2, device="cpu")
    said = capfd.readouterr()
    assert f"could not write {tmp_path / GATHERING}" in said.out + said.err
    assert "Traceback" not in said.err


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_book("ablate", "A1", "--out", str(tmp_path / "file" / "table"), *OPTIONS)
    assert done.returncode == 1 and "could not write" in done.stderr
    assert "Choose another folder" in done.stderr


def test_a_file_in_the_place_of_the_folder_is_named_and_stays(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("mine")
    done = run_book("ablate", "A1", "--out", str(tmp_path / "table"), *OPTIONS)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "no file is in the way" in done.stderr and "Free some space" not in done.stderr
    assert (tmp_path / "table").read_text() == "mine"


@pytest.mark.slow
def test_a_second_command_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    """While the first is at work; afterwards it may go on with more seeds."""
    refused = []

    def say(line: str) -> None:
        if line.startswith("base-1:"):
            refused.append(run_book("ablate", "A1", "--out", str(tmp_path), *OPTIONS))

    sweep({"base": ROWS["base"]}, 1, SIZES, tmp_path, device="cpu", say=say)
    (second,) = refused
    assert second.returncode == 1 and "Traceback" not in second.stderr
    assert f"Error: another command is at work in {tmp_path}; wait for its end" in second.stderr
    assert not [*tmp_path.glob("A1-*")] and len(done_runs(tmp_path, SIZES)) == 1
    assert len(sweep({"base": ROWS["base"]}, 2, SIZES, tmp_path, device="cpu")["runs"]) == 2


def test_runs_of_other_settings_are_not_mixed(table: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in table.iterdir()}
    done = run_book("ablate", "A1", "--out", str(table), *OPTIONS[:-1], "3")
    assert done.returncode == 1
    assert "holds other settings: steps = 2, not 3; give the same ones" in done.stderr
    assert {path.name: path.read_bytes() for path in table.iterdir()} == before

    other = json.loads(before["A1-1.json"])
    other["settings"]["training"]["warmup"] = 7
    (tmp_path / "A1-1.json").write_text(json.dumps(other))
    done = run_book("ablate", "A1", "--out", str(tmp_path), *OPTIONS)
    assert "A1-1.json holds other settings: warmup = 7, not" in done.stderr


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"row": "A1"}', '{"row": "Z", "seed": 1, "settings": {}}']
)
def test_a_file_that_is_no_run_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "A1-1.json").write_text(content)
    done = run_book("ablate", "A1", "--out", str(tmp_path), *OPTIONS)
    assert done.returncode == 1 and "A1-1.json" in done.stderr and "move it away" in done.stderr


@pytest.mark.parametrize(
    "changed",
    [{"row": ["A1"]}, {"seed": "1"}, {"record": None}, {"test_combinations": {}}],
    ids=lambda changed: next(iter(changed)),
)
def test_a_run_of_which_a_part_is_lost_is_named(changed: dict, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "A1-1.json"
    path.write_text(json.dumps(json.loads((table / path.name).read_text()) | changed))
    with pytest.raises(
        RunError, match=r"A1-1\.json is not what a table's runs write: move it away"
    ):
        done_runs(tmp_path, SIZES)


def test_a_training_that_fails_is_an_outcome(tmp_path: Path) -> None:
    with patch.object(Trainer, "train", side_effect=TrainingError("the loss became nan")):
        result = sweep({"base": ROWS["base"]}, 1, SIZES, tmp_path, device="cpu")
    (entry,) = result["runs"]
    assert entry["failed"] == "the loss became nan" and "test_longer" not in entry
    assert len(done_runs(tmp_path, SIZES)) == 1


def test_rows_are_listed() -> None:
    done = run_book("ablate", "--list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(ROWS)


def test_gpus_are_dealt_out() -> None:
    with (
        patch("torch.cuda.is_available", return_value=True),
        patch("torch.cuda.device_count", return_value=2),
    ):
        assert [str(d) for d in devices_for(3)] == ["cuda:0", "cuda:1", "cuda:0"]
        assert [str(d) for d in devices_for(2, "cuda:1")] == ["cuda:1", "cuda:1"]
    assert devices_for(2, "cpu") == [torch.device("cpu")] * 2


def test_without_warm_up_the_rate_starts_where_it_would_have_come_to() -> None:
    config = TrainingConfig(steps=100, warmup=10, max_tokens=64)
    pairs = [([4, 5], [5, 4])]
    with_it, without = (
        kind(build_row(ROWS["C1"], 1), pairs, config, device="cpu")
        for kind in (Trainer, WithoutWarmUp)
    )
    rates = {}
    for trainer in (with_it, without):
        rates[trainer] = []
        for trainer.step in range(1, 101):
            rates[trainer].append(trainer.rate)
    assert rates[without][:10] == [max(rates[with_it])] * 10
    assert rates[without][9:] == rates[with_it][9:]


def test_checkpoints_come_several_times_in_a_recorded_run() -> None:
    assert Sizes().steps > 4 * CHECKPOINT_EVERY
