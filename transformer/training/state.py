"""A training run, frozen in a file: what an exact continuation needs."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from transformer.training.settings import MAY_CHANGE
from transformer.weights import CheckpointError, load_tensors, save_tensors

State = dict[str, Any]
TENSORS = ("model", "adam", "rng")  # these parts of a state hold tensors by name, the others JSON


def save_state(path: Path, state: State) -> None:
    """Write what `Trainer.state_dict` gives, atomically.

    Raises:
        FileError: the file could not be written; an earlier one is untouched.
    """
    tensors = {f"{group}.{name}": t for group in TENSORS for name, t in state[group].items()}
    save_tensors(path, tensors, {key: state[key] for key in state if key not in TENSORS})


def load_state(path: Path) -> State:
    """Read what `save_state` wrote.

    Raises:
        CheckpointError: the file is missing, damaged, or holds weights only.
    """
    tensors, values = load_tensors(path)
    if "training" not in values:
        raise CheckpointError(f"{path} is not a training checkpoint; it holds weights only")
    groups: dict[str, dict[str, Tensor]] = {group: {} for group in TENSORS}
    for full_name, tensor in tensors.items():
        group, _, name = full_name.partition(".")
        groups.setdefault(group, {})[name] = tensor
    return {**values, **groups}


def require_same(
    before: Mapping[str, Any], now: Mapping[str, Any], may_change: Collection[str] = ()
) -> None:
    """Hold what a run was trained with against what it is to go on with.

    Raises:
        CheckpointError: something differs that may not change.
    """
    before, now = (json.loads(json.dumps(dict(values))) for values in (before, now))
    for key, value in now.items():
        if key not in may_change and before.get(key) != value:
            raise CheckpointError(
                f"the state was made with {key}={before.get(key)}, not {value}; resume with the "
                f"same settings (only {', '.join(MAY_CHANGE)} may change, and steps where there is "
                "no cooldown), or use a new folder"
            )
