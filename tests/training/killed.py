"""Trains in child processes that are killed at random moments, and resumed, until one gets through.

Called by a test with a folder as its argument. The run in `straight` is never killed; the one in
`killed` is, with SIGKILL, at moments that its own speed decides. Prints a JSON line for each kill.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.training.trainers import small_trainer
from transformer.training.checkpoints import load_tensors

STEPS, KILLS, LOG_EVERY = 300, 8, 5


def train(folder: Path) -> None:
    """Train in `folder`, from its checkpoint if it has one."""
    checkpoint = folder / "checkpoint.safetensors"
    resuming = checkpoint.exists()
    trainer = small_trainer(
        weights=99 if resuming else 0,
        steps=STEPS,
        run_dir=folder,
        log_every=LOG_EVERY,
        checkpoint_every=10,
    )
    if resuming:
        trainer.resume(checkpoint)
    trainer.train()


def start(folder: Path) -> int:
    """Train in a child process; its id. This process itself trains nothing, so it may fork."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
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


def wait_for(folder: Path, step: int) -> None:
    """Look on until a run has reported `step`."""
    while len(reported(folder)) * LOG_EVERY < step:
        time.sleep(0.001)


def reported(folder: Path) -> list[int]:
    """The steps in a run's metrics, each line of which must be whole."""
    path = folder / "metrics.jsonl"
    text = path.read_text() if path.exists() else ""
    assert not text or text.endswith("\n")
    steps = [json.loads(line)["step"] for line in text.splitlines()]
    assert steps == [LOG_EVERY * (i + 1) for i in range(len(steps))]
    return steps


def main() -> None:
    """Both runs."""
    torch.set_num_threads(1)
    straight, killed = (Path(sys.argv[1], name) for name in ("straight", "killed"))
    small_trainer()  # has torch import what it needs late, once for all children
    began = time.perf_counter()
    finish(straight)
    seconds_per_step = (time.perf_counter() - began) / STEPS

    for k in range(KILLS):
        child = start(killed)
        if k != 2:  # one of them dies while it starts
            wait_for(killed, k * STEPS // (KILLS + 1) + random.randrange(20))
        time.sleep(random.uniform(0, 12) * seconds_per_step)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "it came to its end before it was killed"
        reported(killed)
        checkpoint = killed / "checkpoint.safetensors"
        saved = load_tensors(checkpoint)[1]["step"] if checkpoint.exists() else 0
        print(json.dumps({"checkpoint": saved}))
    finish(killed)


if __name__ == "__main__":
    main()
