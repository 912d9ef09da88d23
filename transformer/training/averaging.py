"""The mean of the last checkpoints' weights (section 6.1)."""

from collections.abc import Sequence
from pathlib import Path

import torch

from transformer.model import Transformer
from transformer.training.checkpoints import (
    CheckpointError,
    load_model,
    load_model_tensors,
    model_tensors,
    save_model,
)

FOLDER = "weights"


def keep_weights(run_dir: Path, step: int, model: Transformer, keep: int) -> None:
    """Put the weights of a step beside those of earlier ones, of which the last `keep` stay.

    Raises:
        FileError: they could not be written.
    """
    folder = run_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    save_model(folder / f"step-{step:09}.safetensors", model)
    for path in kept_weights(run_dir)[:-keep]:
        path.unlink()


def kept_weights(run_dir: Path) -> list[Path]:
    """The files that `keep_weights` has left, the oldest first."""
    return sorted((run_dir / FOLDER).glob("step-*.safetensors"))


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
