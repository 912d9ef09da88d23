"""Trains in child processes that are killed at random moments, and resumed, until one gets through.

Called by a test with a folder as its argument. The run in `straight` is never killed; the one in
`killed` is, with SIGKILL, at moments drawn with a seed: somewhere in a step, or while a checkpoint
is being written. Prints a JSON line for each kill.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.utils.tensorboard  # once, for all children

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.transformer.training.trainers import small_trainer
from transformer.weights import load_tensors

SEED, STEPS, KILLS, LOG_EVERY, CHECKPOINT_EVERY = 7, 300, 20, 5, 10
CHECKPOINT = "checkpoint.safetensors"


def train(folder: Path) -> None:
    """Train in `folder`, from its checkpoint if it has one."""
    resuming = (folder / CHECKPOINT).exists()
    trainer = small_trainer(
        weights=99 if resuming else 0,
        steps=STEPS,
        run_dir=folder,
        log_every=LOG_EVERY,
        checkpoint_every=CHECKPOINT_EVERY,
        keep=3,
    )
    if resuming:
        trainer.resume(folder / CHECKPOINT)
    trainer.train()


def die() -> None:
    """As a scheduler or a full memory kills: nothing is tidied up."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_while_writing(when: str, n: int) -> None:
    """Kill this process around its n-th writing of a checkpoint.

    Half of it is on the disk, or all of it under another name, or it has taken its place.
    """
    left = [n]
    fsync, replace = os.fsync, os.replace

    def fsync_and_die(descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        left[0] -= f".{CHECKPOINT}.part" in path
        if left[0] == 0 and when == "half":
            os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
            die()
        fsync(descriptor)
        if left[0] == 0 and when == "written":
            die()

    def replace_and_die(source: Path, place: Path) -> None:
        replace(source, place)
        if left[0] == 0 and when == "replaced":
            die()

    os.fsync, os.replace = fsync_and_die, replace_and_die


def start(folder: Path, prepare: Callable[[], None] = lambda: None) -> int:
    """Train in a child process; its id. This process itself trains nothing, so it may fork."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            prepare()
            train(folder)
            code = 0
        finally:
            os._exit(code)
    return child


def finish(folder: Path) -> None:
    """Train to the end."""
    _, status = os.waitpid(start(folder), 0)
    if status:
        raise SystemExit(f"training in {folder.name} failed with status {status}")


def wait_for(child: int, folder: Path, step: int) -> None:
    """Look on until a child has reported `step`."""
    while len(reported(folder)) * LOG_EVERY < step:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            raise SystemExit(f"training in {folder.name} ended before step {step}")
        time.sleep(0.001)


def reported(folder: Path) -> list[int]:
    """The steps in a run's metrics, each line of which must be whole."""
    path = folder / "metrics.jsonl"
    text = path.read_text() if path.exists() else ""
    assert not text or text.endswith("\n")
    steps = [json.loads(line)["step"] for line in text.splitlines()]
    assert steps == [LOG_EVERY * (i + 1) for i in range(len(steps))]
    return steps


def saved(folder: Path) -> int:
    """The step of a run's checkpoint, which must be whole."""
    path = folder / CHECKPOINT
    return load_tensors(path)[1]["step"] if path.exists() else 0


def kill_one(folder: Path, rng: random.Random, seconds_per_step: float) -> str:
    """Start, and kill at the next moment that is drawn; what the moment was."""
    before = saved(folder)
    when = rng.choice(["in a step", "half", "written", "replaced"])
    n, steps, pause = rng.randint(1, 2), rng.randrange(15), rng.uniform(0, 12)
    if before > STEPS - 4 * CHECKPOINT_EVERY:  # the last ones do not come to the end
        when, n = "half", 1
    if when == "in a step":
        child = start(folder)
        if steps >= LOG_EVERY:  # else it dies while it starts
            wait_for(child, folder, before + steps)
        time.sleep(pause * seconds_per_step)
        os.kill(child, signal.SIGKILL)
    else:
        child = start(folder, lambda: die_while_writing(when, n))
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it came to its end before it was killed"
    return when


def main() -> None:
    """Both runs."""
    torch.set_num_threads(1)
    straight, killed = (Path(sys.argv[1], name) for name in ("straight", "killed"))
    small_trainer()  # has torch import what it needs late, once for all children
    began = time.perf_counter()
    finish(straight)
    seconds_per_step = (time.perf_counter() - began) / STEPS

    rng = random.Random(SEED)
    for _ in range(KILLS):
        when = kill_one(killed, rng, seconds_per_step)
        reported(killed)
        print(json.dumps({"when": when, "checkpoint": saved(killed)}))
    finish(killed)


if __name__ == "__main__":
    main()
