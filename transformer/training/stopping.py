"""The best evaluation so far, and when to stop waiting for a better one."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer.model import EncoderDecoder
from transformer.support.files import own_folder, write_atomically
from transformer.training.distributed import Workers
from transformer.training.settings import TrainingConfig
from transformer.weights import save_model

FOLDER = "best"
# What `stop_on` names: the metric, and whether more of it is better.
KEYS = {"bleu": ("bleu", True), "loss": ("valid_loss", False)}


def evaluations(metrics: Sequence[dict[str, Any]], stop_on: str) -> list[tuple[int, float]]:
    """(step, score) of each evaluation that gave the metric which `stop_on` names."""
    key, _ = KEYS[stop_on]
    return [(entry["step"], float(entry[key])) for entry in metrics if key in entry]


def best_evaluation(metrics: Sequence[dict[str, Any]], stop_on: str) -> tuple[int, float] | None:
    """(step, score) of the best evaluation, the first of equals; None before there is one."""
    _, more = KEYS[stop_on]
    scored = [pair for pair in evaluations(metrics, stop_on) if not math.isnan(pair[1])]
    return max(scored, key=lambda pair: pair[1] if more else -pair[1], default=None)


def out_of_patience(metrics: Sequence[dict[str, Any]], config: TrainingConfig) -> bool:
    """Whether the last `config.patience` evaluations brought nothing better than those before.

    All that it needs stands in the metrics, which a checkpoint holds: a resumed run stops where
    the uninterrupted one would have stopped.
    """
    if not config.patience:
        return False
    best = best_evaluation(metrics, config.stop_on)
    worse = [step for step, _ in evaluations(metrics, config.stop_on) if best and step > best[0]]
    return len(worse) >= config.patience


def last_is_best(metrics: Sequence[dict[str, Any]], config: TrainingConfig) -> bool:
    """Whether the evaluation just made is the best of several."""
    best = best_evaluation(metrics, config.stop_on)
    return bool(config.evaluate_every) and best is not None and best[0] == metrics[-1]["step"]


def scores_for_all(
    scores: dict[str, Any], config: TrainingConfig, workers: Workers
) -> dict[str, Any]:
    """The first process's scores, of which the others are told the one that decides.

    Raises:
        ValueError: patience asks for a score that is not among them.
    """
    key, _ = KEYS[config.stop_on]
    if workers.first and config.patience and key not in scores:
        raise ValueError(
            f"stop_on={config.stop_on} looks at {key}, but evaluate gives "
            f"{', '.join(scores) or 'nothing'}"
        )
    score = workers.broadcast(float(scores.get(key, math.nan)))
    return scores if workers.first else {key: score}


def why_ended(metrics: Sequence[dict[str, Any]], config: TrainingConfig) -> str:
    """One sentence about the end of a run."""
    last = metrics[-1]["step"]
    best = best_evaluation(metrics, config.stop_on)
    if last < config.steps and best is not None:
        what = "no better BLEU" if config.stop_on == "bleu" else "no lower validation loss"
        return (
            f"stopped after {last:,} of {config.steps:,} steps: {what} than {best[1]:.4g} "
            f"(step {best[0]:,}) in {config.patience} evaluations"
        )
    return f"all {config.steps:,} steps are done"


def keep_best(run_dir: Path, model: EncoderDecoder) -> None:
    """Put the weights into RUN/best, with all that translating with them needs.

    Raises:
        FileError: they could not be written, or RUN/best is a link; earlier ones are untouched.
    """
    folder = own_folder(run_dir / FOLDER)
    for name in ("tokenizer.json", "config.json"):
        if (run_dir / name).exists():
            write_atomically(folder / name, (run_dir / name).read_bytes())
    save_model(folder / "model.safetensors", model)
