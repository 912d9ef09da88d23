"""Training runs of a second or less, for the tests of the loop and of its checkpoints."""

import random
from typing import Any

import torch
from torch import Tensor

from tests.helpers import VOCAB, small_model
from transformer.training import Trainer, TrainingConfig

TIMES = ("seconds", "tokens_per_second")
Pair = tuple[list[int], list[int]]


def random_pairs(n: int = 50, seed: int = 0) -> list[Pair]:
    """Sentences of 1 to 9 random words; the target is the source backwards."""
    rng = random.Random(seed)
    sources = [rng.choices(range(4, VOCAB), k=rng.randint(1, 9)) for _ in range(n)]
    return [(source, source[::-1]) for source in sources]


def small_config(**settings: Any) -> TrainingConfig:
    """Nine batches make an epoch of `random_pairs()`."""
    defaults = {"steps": 40, "max_tokens": 50, "warmup": 20, "log_every": 5}
    return TrainingConfig(**{**defaults, "checkpoint_every": 10, **settings})


def small_trainer(
    *,
    model: dict[str, Any] | None = None,
    weights: int = 0,
    pairs: list[Pair] | None = None,
    run_dir: Any = None,
    evaluate: Any = None,
    device: str = "cpu",
    **settings: Any,
) -> Trainer:
    """A trainer of a small model; `weights` is the seed of its first weights."""
    return Trainer(
        small_model(weights, torch.float32, **{"dropout": 0.2, **(model or {})}),
        random_pairs() if pairs is None else pairs,
        small_config(**settings),
        device=device,
        run_dir=run_dir,
        evaluate=evaluate,
        show_progress=False,
    )


def weights_of(trainer: Trainer) -> dict[str, Tensor]:
    """A copy of the parameters, by name."""
    return {name: p.detach().clone() for name, p in trainer.model.named_parameters()}


def timeless(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Metrics without what the clock decides."""
    return [{key: entry[key] for key in entry if key not in TIMES} for entry in metrics]


def assert_identical(actual: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    """The same names with the same numbers, to the last bit."""
    assert actual.keys() == expected.keys()
    assert [name for name in actual if not torch.equal(actual[name], expected[name])] == []
