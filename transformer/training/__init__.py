"""Batches, loss, schedule and the training loop (section 5)."""

from transformer.text.batching import Batch, make_batch, padding_share, token_batches
from transformer.training.loop import Trainer
from transformer.training.loss import (
    label_smoothing_loss,
    smoothed_targets,
    validation_loss,
)
from transformer.training.recorder import TrainingError
from transformer.training.schedule import linear_cooldown, noam_rate
from transformer.training.settings import TrainingConfig
from transformer.training.stopping import why_ended
from transformer.weights import average_models

__all__ = [
    "Batch",
    "Trainer",
    "TrainingConfig",
    "TrainingError",
    "average_models",
    "label_smoothing_loss",
    "linear_cooldown",
    "make_batch",
    "noam_rate",
    "padding_share",
    "smoothed_targets",
    "token_batches",
    "validation_loss",
    "why_ended",
]
