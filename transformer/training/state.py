"""A training run, frozen in a file: what an exact continuation needs."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.training.settings import MAY_CHANGE
from transformer.weights import CheckpointError, load_tensors, save_tensors

State = dict[str, Any]
Moments = dict[int, dict[str, Tensor]]  # by the number of the parameter
TENSORS = ("model", "adam", "rng")  # these parts of a state hold tensors by name, the others JSON
COUNTS = ("step", "batches_seen", "pairs_seen")
# The other parts of a state, with the kinds of value that they are.
KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(COUNTS, (int,)),
    "seconds": (int, float),
    "metrics": (list,),
    **dict.fromkeys(("config", "training", "data", "marks"), (dict,)),
}
# Of an entry of the metrics: what each one has, and what tells the best evaluation.
IN_EACH = ("step", "loss", "tokens_per_second", "seconds")
SCORES = ("bleu", "chrf", "valid_loss")
LARGEST = 2**53  # beyond it, a whole number is no count, and need not fit into a float


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
    _require_kinds(path, values)
    groups: dict[str, dict[str, Tensor]] = {group: {} for group in TENSORS}
    for full_name, tensor in tensors.items():
        group, _, name = full_name.partition(".")
        groups.setdefault(group, {})[name] = tensor
    return {**values, **groups}


def _require_kinds(path: Path, values: Mapping[str, Any]) -> None:
    """Hold a state against what goes on from it: a wrong value would be met hours later."""

    def is_number(value: Any) -> bool:
        return type(value) is float or (type(value) is int and abs(value) <= LARGEST)

    def is_entry(entry: Any) -> bool:
        return (
            isinstance(entry, dict)
            and all(is_number(entry.get(key)) for key in IN_EACH)
            and all(is_number(entry[key]) for key in SCORES if key in entry)
            and type(entry["step"]) is int
        )

    wrong = [name for name, kinds in KINDS.items() if type(values.get(name)) not in kinds]
    wrong += [name for name in COUNTS if not wrong and not 0 <= values[name] <= LARGEST]
    if not wrong and not all(map(is_entry, values["metrics"])):
        wrong = ["metrics"]
    scaler = values.get("scaler", {})  # older states have none
    if not isinstance(scaler, dict) or not all(map(is_number, scaler.values())):
        wrong.append("scaler")
    if wrong:
        raise CheckpointError(
            f"{path} is damaged (its {wrong[0]} is not what training writes); "
            "take another checkpoint, or train again"
        )


def moments_of(tensors: Mapping[str, Tensor], parameters: Sequence[Tensor]) -> Moments:
    """Adam's moments from a state, by parameter; copied, because Adam writes into them.

    Args:
        tensors: "0.step", "0.exp_avg" and "0.exp_avg_sq", and so on for each parameter that has
            ever had a gradient.
        parameters: what Adam changes, in its order.

    Raises:
        CheckpointError: they do not fit. Adam's kernel would read and write past their ends.
    """
    moments: Moments = {}
    for i, parameter in enumerate(parameters):
        count = torch.tensor(0.0, dtype=torch.float32)
        like = {"step": count, "exp_avg": parameter, "exp_avg_sq": parameter}
        found = {key: tensors[f"{i}.{key}"] for key in like if f"{i}.{key}" in tensors}
        if not found:
            continue
        for key, expected in like.items():
            if key not in found:
                raise CheckpointError(f"of Adam's moments {i}.{key} is missing; is it damaged?")
            tensor = found[key]
            if (tensor.shape, tensor.dtype) != (expected.shape, expected.dtype):
                raise CheckpointError(
                    f"Adam's moments belong to another model: {i}.{key} is "
                    f"{tensor.dtype} {tuple(tensor.shape)}, and would be "
                    f"{expected.dtype} {tuple(expected.shape)}"
                )
        moments[i] = {key: tensor.clone() for key, tensor in found.items()}
    if odd := tensors.keys() - {f"{i}.{key}" for i in moments for key in moments[i]}:
        raise CheckpointError(
            f"Adam's moments belong to another model: {min(odd)} is none of a parameter"
        )
    return moments


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
