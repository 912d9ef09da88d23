"""Trains with several gloo processes, and leaves in a folder what each of them came to.

Called by a test: `workers.py FOLDER SIZE`. The processes are forked, which spares them importing
torch, and find each other as those of torchrun do.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.transformer.training.trainers import random_pairs, small_trainer, weights_of
from transformer.training import Trainer
from transformer.training.distributed import process_group
from transformer.weights import save_tensors

# An epsilon of 1 makes Adam's step proportional to the gradient, not to its sign.
PLAIN: dict[str, Any] = {"model": {"dropout": 0.0}, "steps": 6, "warmup": 1, "factor": 5.0}
PLAIN |= {"eps": 1.0, "log_every": 2}
SCENARIOS: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "accumulated": {**PLAIN, "accumulate": 3},
    "clipped": {**PLAIN, "clip": 0.05},
    "few_rows": {**PLAIN, "max_tokens": 12, "accumulate": 2},
    "shared_with_none": {
        **PLAIN,
        "pairs": random_pairs(3),
        "model": {"dropout": 0.0, "tie": "none"},
    },
}
DROPPED: dict[str, Any] = {"steps": 12, "checkpoint_every": 6, "log_every": 3}
SCORES = [1.0, 3.0, 2.0, 2.5, 9.0]


def with_gradients(trainer: Trainer) -> dict[str, torch.Tensor]:
    """Train; the weights at the end and the gradients of the first update."""
    kept: dict[str, torch.Tensor] = {}

    def look(*_: Any) -> None:
        for name, p in trainer.model.named_parameters():
            kept.setdefault(f"gradient.{name}", p.grad.clone())

    trainer.optimizer.register_step_pre_hook(look)
    trainer.train()
    return kept | weights_of(trainer)


def scripted(scores: list[float]) -> Any:
    """An evaluation that gives these scores, one after the other."""
    coming = iter(scores)
    return lambda model: {"bleu": next(coming)}


def all_scenarios(folder: Path, rank: int, size: int) -> None:
    """What one process does."""
    for name, settings in SCENARIOS.items():
        trainer = small_trainer(**settings)
        found = with_gradients(trainer)
        save_tensors(folder / f"{name}.{rank}", found, {"metrics": trainer.metrics})

    straight = small_trainer(**DROPPED)
    straight.train()
    save_tensors(folder / f"straight.{rank}", weights_of(straight), {})
    small_trainer(**{**DROPPED, "steps": 6}, run_dir=folder / "run").train()
    resumed = small_trainer(**DROPPED, weights=99)
    torch.manual_seed(1)
    resumed.resume(folder / "run" / "checkpoint.safetensors")
    resumed.train()
    save_tensors(folder / f"resumed.{rank}", weights_of(resumed), {})

    watched = small_trainer(
        steps=30, evaluate_every=3, patience=2, evaluate=scripted(SCORES) if rank == 0 else no_one
    )
    watched.train()
    save_tensors(folder / f"stopped.{rank}", {}, {"step": watched.step})


def no_one(model: Any) -> Any:
    """The evaluation of a process that must not evaluate."""
    raise AssertionError("only the first process evaluates")


def main() -> None:
    """Fork, wait, and fail if one failed."""
    folder, size = Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size)}
    children = []
    for rank in range(size):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
                with process_group():
                    all_scenarios(folder, rank, size)
                code = 0
            finally:
                if code:
                    sys.excepthook(*sys.exc_info())
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    if any(statuses):
        raise SystemExit(f"the processes ended with {statuses}")


if __name__ == "__main__":
    main()
