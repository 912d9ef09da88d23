"""Weights on disk, whole or rounded to 8 bits, and their mean (section 6.1)."""

from transformer.weights.checkpoints import (
    CheckpointError,
    average_models,
    current_name,
    keep_weights,
    kept_weights,
    load_model,
    load_model_tensors,
    load_tensors,
    model_tensors,
    parameter_shapes,
    read_header,
    save_model,
    save_tensors,
)
from transformer.weights.elsewhere import new_settings, only_in_modules

__all__ = [
    "CheckpointError",
    "average_models",
    "current_name",
    "keep_weights",
    "kept_weights",
    "load_model",
    "load_model_tensors",
    "load_tensors",
    "model_tensors",
    "new_settings",
    "only_in_modules",
    "parameter_shapes",
    "read_header",
    "save_model",
    "save_tensors",
]
