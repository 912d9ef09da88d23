"""Several processes train as one: the same gradients, the same weights, one folder, no hanging."""

import json
import os
import shutil
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file

from tests.helpers.processes import run_program
from tests.transformer.training.trainers import assert_identical, small_trainer, weights_of
from tests.transformer.training.workers import DROPPED, SCENARIOS, with_gradients
from transformer.training.distributed import Workers, is_first, own_device, process_group
from transformer.weights import load_tensors

ROOT = Path(__file__).parents[3]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


# Four by night: their programs alone take a quarter of a minute to begin.
@pytest.fixture(scope="module", params=[2, pytest.param(4, marks=pytest.mark.nightly)])
def done(request, tmp_path_factory):
    """(number of processes, the folder in which they left what they came to)."""
    folder = tmp_path_factory.mktemp(f"workers{request.param}")
    script = Path(__file__).with_name("workers.py")
    command = [sys.executable, str(script), str(folder), str(request.param)]
    ended = run_program(command, timeout=300, cwd=ROOT, env=ENVIRONMENT)
    assert ended.returncode == 0, ended.stderr
    return request.param, folder


# Gradients and weights -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_gradients_and_weights_are_those_of_one_process(done, name):
    size, folder = done
    alone = small_trainer(**SCENARIOS[name])
    before = weights_of(alone)
    expected = with_gradients(alone)
    assert max(float((expected[key] - before[key]).abs().max()) for key in before) > 0.01
    found = [load_tensors(folder / f"{name}.{rank}") for rank in range(size)]
    for tensors, facts in found:
        assert tensors.keys() == expected.keys()
        for key in expected:
            torch.testing.assert_close(tensors[key], expected[key], rtol=0, atol=1e-6)
        for entry, own in zip(facts["metrics"], alone.metrics, strict=True):
            assert entry["loss"] == pytest.approx(own["loss"], abs=1e-5)
            assert (entry["step"], entry["epoch"]) == (own["step"], own["epoch"])
    for tensors, _ in found[1:]:
        assert_identical(tensors, found[0][0])


def test_the_scenarios_are_what_they_say():
    # Accumulation with fewer rows than four processes, and an epoch with fewer than two.
    rows = [
        [len(batch.src) for batch in next(iter(small_trainer(**SCENARIOS[name]).loader))]
        for name in ("accumulated", "few_rows", "shared_with_none")
    ]
    assert len(rows[0]) == 3
    assert len(rows[1]) == 2
    assert min(rows[1]) < 4
    assert rows[2] == [3]
    loose = small_trainer(**{**SCENARIOS["clipped"], "clip": None})
    gradients = with_gradients(loose)
    norms = [g.norm() for name, g in gradients.items() if name.startswith("gradient.")]
    assert torch.stack(norms).norm() > 0.1  # so that 0.05 clips


@pytest.mark.slow
def test_dropouts_random_numbers_differ_and_come_back_for_all(done):
    size, folder = done
    tensors, _ = load_tensors(folder / "run" / "checkpoint.safetensors")
    states = [row.tolist() for row in tensors["rng.cpu"]]
    assert len(states) == size
    assert len(set(map(tuple, states))) == size
    for rank in range(size):
        straight, resumed = (
            load_tensors(folder / f"{name}.{rank}")[0] for name in ("straight", "resumed")
        )
        for name in straight:
            torch.testing.assert_close(resumed[name], straight[name], rtol=0, atol=1e-6)


@pytest.mark.slow
def test_what_several_have_begun_one_may_end(done):
    _, folder = done
    alone = small_trainer(**DROPPED, weights=99)
    alone.resume(folder / "run" / "checkpoint.safetensors")
    assert alone.step == 6
    alone.train()
    assert [entry["step"] for entry in alone.metrics] == [3, 6, 9, 12]


@pytest.mark.slow
def test_all_stop_at_the_step_that_the_first_ones_scores_decide(done):
    size, folder = done
    steps = [load_tensors(folder / f"stopped.{rank}")[1]["step"] for rank in range(size)]
    assert steps == [12] * size  # evaluated every 3 steps; the second was best, two were worse


def test_shares_are_neighbours_of_nearly_one_size():
    workers = Workers()
    for size in (1, 2, 3, 4, 7):
        for n in range(12):
            workers.size, shares = size, []
            for workers.rank in range(size):
                shares.append(list(workers.shard(range(n))))
            assert [row for share in shares for row in share] == list(range(n))
            assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_each_process_and_each_new_start_draws_numbers_of_its_own():
    workers, drawn = Workers(), []
    for step in (0, 100):
        for workers.rank in range(4):
            workers.seed(5, step)
            drawn.append(float(torch.rand(())))
    assert len(set(drawn)) == 8
    torch.manual_seed(5)
    assert drawn[0] == float(torch.rand(()))  # the first one's are those of a run alone


def test_alone_there_is_nothing_to_wait_for(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with process_group():
        workers = Workers()
        model = torch.nn.Linear(2, 2)
        assert workers.wrap(model) is model
        assert (workers.first, workers.size, is_first()) == (True, 1, True)
        assert workers.broadcast(2.5) == 2.5
        workers.barrier()
        assert own_device(torch.device("cuda")) == torch.device("cuda")


@pytest.fixture
def second_of_four(monkeypatch):
    """As torchrun's second process on a host with four GPUs."""
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "get_world_size", lambda: 4)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setenv("LOCAL_RANK", "1")


@pytest.mark.usefixtures("second_of_four")
def test_each_process_takes_the_gpu_of_its_number_and_none_that_is_named(monkeypatch):
    assert own_device(torch.device("cuda")) == torch.device("cuda", 1)
    assert own_device(torch.device("cpu")) == torch.device("cpu")
    with pytest.raises(ValueError, match="would share cuda:0; leave out --device, or .* cuda:"):
        own_device(torch.device("cuda", 0))
    monkeypatch.setattr(dist, "get_world_size", lambda: 1)
    with pytest.raises(ValueError, match="process 2 on a host with 1 GPUs; set --nproc-per-node"):
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
        own_device(torch.device("cuda"))


def test_numbers_of_another_device_are_drawn_anew_and_not_left_to_chance():
    workers, state = Workers(), {"cpu": torch.get_rng_state()[None]}
    assert workers.set_rng_state(state, torch.device("cpu"))
    assert not workers.set_rng_state(state, torch.device("mps"))


# The command line under torchrun -------------------------------------------------------------

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
COPY = ["train", "copy", "--steps", "24", "--checkpoint-every", "8", "--no-score"]
COPY += ["--evaluate-every", "12", "--evaluate-sentences", "5", "--dropout", "0"]
COPY += ["--patience", "9", "--stop-on", "loss"]
COPY += ["--d-model", "16", "--d-ff", "16", "--n-heads", "2", "--n-layers", "1"]


def command(processes: int) -> list[str]:
    """What starts training with so many processes."""
    start = [*TORCHRUN, str(processes)] if processes > 1 else [sys.executable]
    return [*start, "-m", "transformer", *COPY]


def train(folder: Path, processes: int, *more: str) -> CompletedProcess[str]:
    full = [*command(processes), "--out", str(folder), *more]
    return run_program(full, timeout=200, cwd=ROOT, env=ENVIRONMENT)


def steps_logged(folder: Path) -> list[int]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["step"] for line in lines]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run of two processes, and what it said."""
    folder = tmp_path_factory.mktemp("torchrun") / "run"
    ended = train(folder, 2)
    assert ended.returncode == 0, ended.stderr
    return folder, ended.stdout


@pytest.mark.slow
def test_torchrun_leaves_one_run_and_one_report(undisturbed):
    folder, said = undisturbed
    assert said.count("all 24 steps are done") == 1
    assert steps_logged(folder) == [8, 12, 16, 24]
    assert len(list((folder / "tensorboard").iterdir())) == 1
    facts = json.loads((folder / "config.json").read_text())
    assert facts["processes"] == 2
    assert (facts["training"]["patience"], facts["training"]["stop_on"]) == (9, "loss")
    assert sorted(os.listdir(folder / "best")) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["run"]
    refused = train(folder, 1)
    assert refused.returncode == 1
    assert "holds a run already" in refused.stderr


# A worker that kills itself in the middle of a step, as no exception handler could see.
DYING = """
import os, signal, sys
from transformer.training.loop import Trainer
update = Trainer._update
def dying(self, batches):
    if self.step == 19 and self.workers.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return update(self, batches)
Trainer._update = dying
sys.argv[0] = "transformer"
from transformer.command_line.cli import main
main()
"""


@pytest.mark.slow
def test_a_killed_worker_ends_the_run_and_any_number_of_processes_resumes_it(undisturbed, tmp_path):
    script, folder = tmp_path / "dying.py", tmp_path / "run"
    script.write_text(DYING)
    dying = [*TORCHRUN, "2", str(script), *COPY, "--out", str(folder)]
    ended = run_program(dying, timeout=200, cwd=ROOT, env=ENVIRONMENT)  # it must not hang
    assert ended.returncode != 0
    assert "SIGKILL" in ended.stderr
    assert not (folder / "model.safetensors").exists()
    assert load_tensors(folder / "checkpoint.safetensors")[1]["step"] == 16

    expected = load_file(undisturbed[0] / "model.safetensors")
    for processes in (1, 2):
        copy = tmp_path / f"resumed{processes}"
        shutil.copytree(folder, copy)
        resumed = train(copy, processes, "--resume")
        assert resumed.returncode == 0, resumed.stderr
        found = load_file(copy / "model.safetensors")
        assert found.keys() == expected.keys()
        for name in expected:
            torch.testing.assert_close(found[name], expected[name], rtol=0, atol=1e-5)
        assert steps_logged(copy) == [8, 12, 16, 24]
