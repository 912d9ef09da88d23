"""A training run, frozen in a file: what an exact continuation needs."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from transformer.batching import TokenPair
from transformer.training.settings import REPORTING, TrainingConfig
from transformer.weights import (
    CheckpointError,
    load_model_tensors,
    load_tensors,
    model_tensors,
    save_tensors,
)

if TYPE_CHECKING:
    from transformer.training.loop import Trainer


def save_state(trainer: "Trainer", path: Path) -> None:
    """Write the weights, Adam's moments, the state of the dice, and the counters, atomically.

    All processes that train together call it, each adds its dice, and the first one writes.

    Raises:
        FileError: the file could not be written; an earlier one is untouched.
    """
    dice = {"rng.cpu": trainer.workers.collect(torch.get_rng_state())}
    if trainer.device.type == "cuda":
        dice["rng.cuda"] = trainer.workers.collect(torch.cuda.get_rng_state(trainer.device))
    if not trainer.workers.first:
        return
    tensors = {f"model.{name}": tensor for name, tensor in model_tensors(trainer.model).items()}
    for i, moments in trainer.optimizer.state_dict()["state"].items():
        tensors.update({f"adam.{i}.{key}": value for key, value in moments.items()})
    facts = {
        "step": trainer.step,
        "batches_seen": trainer.loader.batches_seen,
        "pairs_seen": trainer.loader.pairs_seen,
        "seconds": trainer.recorder.seconds,
        "metrics": trainer.recorder.entries,
    }
    save_tensors(path, tensors | dice, {**facts, **_setup(trainer)})


def load_state(trainer: "Trainer", path: Path) -> None:
    """Put a trainer back to where `save_state` found it.

    Raises:
        CheckpointError: the file is damaged, or belongs to another model or training set-up.
    """
    tensors, facts = load_tensors(path)
    if "training" not in facts:
        raise CheckpointError(f"{path} is not a training checkpoint; it holds weights only")
    _require_same_setup(trainer, path, facts)
    try:
        _put_back(trainer, tensors, facts)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path} is damaged ({error}); take another checkpoint, or train again"
        ) from error


def _put_back(trainer: "Trainer", tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    groups: dict[str, dict[str, Tensor]] = {"model": {}, "adam": {}, "rng": {}}
    for name, tensor in tensors.items():
        group, _, rest = name.partition(".")
        groups[group][rest] = tensor
    load_model_tensors(trainer.model, groups["model"])
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in groups["adam"].items():
        index, _, key = name.partition(".")
        moments.setdefault(int(index), {})[key] = tensor
    trainer.optimizer.load_state_dict({**trainer.optimizer.state_dict(), "state": moments})
    trainer.step = facts["step"]
    trainer.loader.batches_seen, trainer.loader.pairs_seen = (
        facts["batches_seen"],
        facts["pairs_seen"],
    )
    trainer.recorder.seconds, trainer.recorder.entries = facts["seconds"], facts["metrics"]
    _put_back_dice(trainer, groups["rng"])


def _put_back_dice(trainer: "Trainer", states: dict[str, Tensor]) -> None:
    workers = trainer.workers
    # A row for each process.
    rows = {device: torch.atleast_2d(state) for device, state in states.items()}
    if len(rows["cpu"]) != workers.size:
        # Each word is dropped by other dice now, which is as good as by the former ones.
        workers.seed(trainer.config.seed, trainer.step)
        return
    # Copied, because torch reads a state from the beginning of its storage.
    torch.set_rng_state(rows["cpu"][workers.rank].clone())
    if "cuda" in rows and trainer.device.type == "cuda":
        torch.cuda.set_rng_state(rows["cuda"][workers.rank].clone(), trainer.device)


def _setup(trainer: "Trainer") -> dict[str, Any]:
    """What must not change between a run and its continuation, as JSON gives it back."""
    setup = {
        "config": trainer.model.config.to_dict(),
        "training": asdict(trainer.config),
        "data": {"pairs": len(trainer.pairs), "fingerprint": _fingerprint(trainer.pairs)},
        "marks": trainer.marks,
    }
    return json.loads(json.dumps(setup))


def _fingerprint(pairs: Sequence[TokenPair]) -> int:
    """Tells other sentences from these; looks at a thousand of them."""
    sample = (pairs[i] for i in range(0, len(pairs), max(1, len(pairs) // 1000)))
    return zlib.crc32(json.dumps([(list(src), list(tgt)) for src, tgt in sample]).encode())


def _require_same_setup(trainer: "Trainer", path: Path, facts: dict[str, Any]) -> None:
    # A checkpoint from before a setting existed was made with its default.
    defaults = asdict(TrainingConfig(steps=1))
    may_change = set(REPORTING)
    if not trainer.config.cooldown:  # a cooling run that is to go on for longer cooled too early
        may_change.add("steps")
    for part, settings in _setup(trainer).items():
        for key, value in settings.items():
            before = facts.get(part, {}).get(key, defaults.get(key))
            if key not in may_change and before != value:
                raise CheckpointError(
                    f"{path} was made with {key}={before}, not {value}; resume with the same "
                    f"settings (only {', '.join(REPORTING)} may change, and steps where there is "
                    "no cooldown), or use a new folder"
                )
