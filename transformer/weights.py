"""Weights on disk, and their mean (section 6.1): safetensors, never pickle, never half a file."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as serialise_tensors
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.files import FileError, write_atomically
from transformer.model import Transformer

KEPT_WEIGHTS = "weights"  # a run's folder for the weights of its last checkpoints


# Older files number the residuals of a layer, in this order.
RESIDUALS = {
    "encoder": ["self_attention", "feed_forward"],
    "decoder": ["self_attention", "cross_attention", "feed_forward"],
}
NUMBERED = re.compile(r"(?P<layer>(?P<stack>encoder|decoder)\.layers\.\d+)\.residuals\.(?P<n>\d)\.")


class CheckpointError(FileError):
    """Weights that could not be read, or do not fit; the message says why and what to do."""


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Write named tensors and JSON-able metadata, atomically.

    Raises:
        FileError: the file could not be written; an earlier one is untouched.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = {key: json.dumps(value) for key, value in metadata.items()}
    write_atomically(path, serialise_tensors(contiguous, text))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote.

    Raises:
        CheckpointError: the file is missing, cut short, or no safetensors file.
    """
    try:
        content = path.read_bytes()
        tensors = parse_tensors(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        metadata = header.get("__metadata__") or {}
        return tensors, {key: json.loads(value) for key, value in metadata.items()}
    except OSError as error:
        raise CheckpointError(f"could not read {path}: {error.strerror or error}") from error
    except (SafetensorError, ValueError) as error:
        raise CheckpointError(
            f"{path} is no complete safetensors file of this program ({error}); "
            "take another checkpoint, or train again"
        ) from error


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters, a shared matrix once, under its first name."""
    return dict(model.named_parameters())


def current_name(name: str) -> str:
    """A parameter's name today, where an older file numbers the residuals.

    encoder.layers.0.residuals.1.norm.weight -> encoder.layers.0.feed_forward_residual.norm.weight
    """

    def named(found: re.Match[str]) -> str:
        sublayers, n = RESIDUALS[found["stack"]], int(found["n"])
        return f"{found['layer']}.{sublayers[n]}_residual." if n < len(sublayers) else found[0]

    return NUMBERED.sub(named, name)


def load_model_tensors(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Copy saved parameters into a model of the same shape; their names may be older ones.

    Raises:
        CheckpointError: names or shapes differ.
    """
    tensors = {current_name(name): tensor for name, tensor in tensors.items()}
    parameters = model_tensors(model)
    if parameters.keys() != tensors.keys():
        odd = sorted(parameters.keys() ^ tensors.keys())
        raise CheckpointError(f"the weights belong to another model: {odd[0]} is not in both")
    with torch.no_grad():
        for name, parameter in parameters.items():
            if parameter.shape != tensors[name].shape:
                raise CheckpointError(
                    f"the weights belong to another model: {name} is {tuple(parameter.shape)} "
                    f"in the model and {tuple(tensors[name].shape)} in the file"
                )
            parameter.copy_(tensors[name])


def save_model(path: Path, model: Transformer) -> None:
    """Write the weights and the configuration into one file."""
    save_tensors(path, model_tensors(model), {"config": model.config.to_dict()})


def load_model(path: Path) -> Transformer:
    """Build the model that `save_model` wrote, in evaluation mode, on the CPU.

    Raises:
        CheckpointError: the file is damaged, or not a model's.
    """
    tensors, metadata = load_tensors(path)
    if "config" not in metadata:
        raise CheckpointError(f"{path} holds no model configuration; it is not a model's file")
    if "training" in metadata:
        raise CheckpointError(f"{path} is a training checkpoint; the model is in model.safetensors")
    try:
        model = Transformer(TransformerConfig(**metadata["config"]))
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path} has a configuration that does not fit: {error}") from error
    try:
        load_model_tensors(model, tensors)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    return model.eval()


def keep_weights(run_dir: Path, step: int, model: Transformer, keep: int) -> None:
    """Put the weights of a step beside those of earlier ones, of which the last `keep` stay.

    Raises:
        FileError: they could not be written.
    """
    folder = run_dir / KEPT_WEIGHTS
    folder.mkdir(parents=True, exist_ok=True)
    save_model(folder / f"step-{step:09}.safetensors", model)
    for path in kept_weights(run_dir)[:-keep]:
        path.unlink()


def kept_weights(run_dir: Path) -> list[Path]:
    """The files that `keep_weights` has left, the oldest first."""
    return sorted((run_dir / KEPT_WEIGHTS).glob("step-*.safetensors"))


@torch.no_grad()
def average_models(paths: Sequence[Path]) -> Transformer:
    """A model whose weights are the mean of those in the files.

    The paper averages the last 5 checkpoints of the base model, written ten minutes apart, and
    the last 20 of the big one.

    Raises:
        CheckpointError: a file is damaged, or holds a model of another shape.
        ValueError: there are no files.
    """
    if not paths:
        raise ValueError("there are no weights to average; give at least one file")
    average = load_model(paths[0])
    sums = {name: tensor.double() for name, tensor in model_tensors(average).items()}
    for path in paths[1:]:
        model = load_model(path)
        if model.config != average.config:
            raise CheckpointError(f"{path} holds another model than {paths[0]}")
        for name, tensor in model_tensors(model).items():
            sums[name] += tensor
    means = {name: (total / len(paths)).float() for name, total in sums.items()}
    load_model_tensors(average, means)
    return average
