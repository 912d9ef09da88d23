"""A training run, frozen in a file: what an exact continuation needs."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from transformer.training.batching import TokenPair
from transformer.training.checkpoints import (
    CheckpointError,
    load_model_tensors,
    load_tensors,
    model_tensors,
    save_tensors,
)
from transformer.training.settings import TrainingConfig

if TYPE_CHECKING:
    from transformer.training.loop import Trainer

COUNTERS = ("step", "batches_seen", "pairs_seen", "seconds", "metrics")


def save_state(trainer: "Trainer", path: Path) -> None:
    """Write the weights, Adam's moments, the state of the dice, and the counters, atomically.

    Raises:
        FileError: the file could not be written; an earlier one is untouched.
    """
    tensors = {f"model.{name}": tensor for name, tensor in model_tensors(trainer.model).items()}
    for i, moments in trainer.optimizer.state_dict()["state"].items():
        tensors.update({f"adam.{i}.{key}": value for key, value in moments.items()})
    tensors["rng.cpu"] = torch.get_rng_state()
    if trainer.device.type == "cuda":
        tensors["rng.cuda"] = torch.cuda.get_rng_state(trainer.device)
    facts = {name: getattr(trainer, name) for name in COUNTERS}
    save_tensors(path, tensors, {**facts, **_setup(trainer)})


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
    for name in COUNTERS:
        setattr(trainer, name, facts[name])
    torch.set_rng_state(groups["rng"]["cpu"])
    if "cuda" in groups["rng"] and trainer.device.type == "cuda":
        torch.cuda.set_rng_state(groups["rng"]["cuda"], trainer.device)


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
    # A cooling run that is told to go on for longer has cooled too early.
    may_change = "steps" if not trainer.config.cooldown else None
    for part, settings in _setup(trainer).items():
        for key, value in settings.items():
            before = facts.get(part, {}).get(key, defaults.get(key))
            if key != may_change and before != value:
                raise CheckpointError(
                    f"{path} was made with {key}={before}, not {value}; resume "
                    "with the same settings (only steps may change, and not with a cooldown), "
                    "or use a new folder"
                )
