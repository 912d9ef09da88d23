"""The best evaluation so far, and when to stop waiting for a better one."""

import math
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer.model import EncoderDecoder
from transformer.support.files import own_folder, write_atomically
from transformer.training.distributed import Workers
from transformer.training.settings import TrainingConfig
from transformer.weights import save_model

FOLDER = "best"
# What `stop_on` names: the metric that decides, and those that decide between equals.
KEYS = {"bleu": ("bleu", "chrf", "valid_loss"), "loss": ("valid_loss",)}
LEAST = {"bleu": 1.0, "chrf": 5.0}  # less is smoothing and chance, and says nothing
WORDS = {"bleu": "better BLEU", "chrf": "better chrF", "valid_loss": "lower validation loss"}


def _deciding(entry: dict[str, Any], stop_on: str) -> str:
    """The metric that decides: chrF in place of a BLEU that knows no words (see `evaluation`)."""
    wordless = "tok:char" in str(entry.get("signature")) and "chrf" in entry
    return "chrf" if stop_on == "bleu" and wordless else KEYS[stop_on][0]


def _numbers(entry: dict[str, Any], stop_on: str) -> list[float]:
    """The metrics in the order of `KEYS`: more is better, and -inf where there is no number."""
    keys = (_deciding(entry, stop_on), *KEYS[stop_on][1:])
    values = [float(entry.get(key, math.nan)) * (-1 if key == "valid_loss" else 1) for key in keys]
    return [-math.inf if math.isnan(value) else value for value in values]


def _rank(entry: dict[str, Any], stop_on: str) -> list[float]:
    """What makes an evaluation the best: its numbers, but scores that say nothing come last."""
    numbers = _numbers(entry, stop_on)
    least = [LEAST[key] for key in (_deciding(entry, stop_on), "chrf") if key in LEAST]
    scores = numbers[: len(numbers) - 1]
    said = [x if x >= low else 0.0 for x, low in zip(scores, least, strict=False)]
    return [*said, numbers[-1], *reversed(scores)]


def _best_and_since(
    metrics: Sequence[dict[str, Any]], stop_on: str
) -> tuple[dict[str, Any] | None, int]:
    """The best evaluation, and how many there have been since the last that was any better.

    Where the score says nothing, as BLEU at first, and for ever where sentences have few words, an
    evaluation is any better if one of its numbers is better than ever.
    """
    best, since = None, 0
    highest = [-math.inf] * len(KEYS[stop_on])
    for entry in metrics:
        if KEYS[stop_on][0] not in entry:
            continue
        numbers, rank = _numbers(entry, stop_on), _rank(entry, stop_on)
        better = numbers[0] > -math.inf and (not best or rank > _rank(best, stop_on))
        improved = rank[0] == 0 and any(map(operator.gt, numbers, highest))
        best, since = entry if better else best, 0 if better or improved else since + 1
        highest = list(map(max, numbers, highest))
    return best, since if best else 0


def best_evaluation(metrics: Sequence[dict[str, Any]], stop_on: str) -> tuple[int, float] | None:
    """(step, score) of the best evaluation, the first of equals; None before there is one.

    Of equal BLEUs chrF decides, then the loss; where BLEU knows no words, chrF does at once. What
    is less than `LEAST` counts as 0.
    """
    best, _ = _best_and_since(metrics, stop_on)
    return (best["step"], float(best[_deciding(best, stop_on)])) if best else None


def out_of_patience(metrics: Sequence[dict[str, Any]], config: TrainingConfig) -> bool:
    """Whether the last `config.patience` evaluations brought nothing better than those before.

    All that it needs stands in the metrics, which a checkpoint holds: a resumed run stops where
    the uninterrupted one would have stopped.
    """
    return 0 < config.patience <= _best_and_since(metrics, config.stop_on)[1]


def last_is_best(metrics: Sequence[dict[str, Any]], config: TrainingConfig) -> bool:
    """Whether the evaluation just made is the best of several, and its scores say something."""
    best, _ = _best_and_since(metrics, config.stop_on)
    if not config.evaluate_every or best is not metrics[-1]:
        return False
    return config.stop_on == "loss" or max(_rank(best, "bleu")[:2]) > 0


def scores_for_all(
    scores: dict[str, Any], config: TrainingConfig, workers: Workers
) -> dict[str, Any]:
    """The first process's scores, of which the others get those that decide.

    Raises:
        ValueError: patience asks for a score that is not among them.
    """
    keys = KEYS[config.stop_on]
    if workers.first and config.patience and keys[0] not in scores:
        raise ValueError(
            f"stop_on={config.stop_on} looks at {keys[0]}, but evaluate gives "
            f"{', '.join(scores) or 'nothing'}"
        )
    values = [workers.broadcast(float(scores.get(key, math.nan))) for key in keys]
    wordless = workers.broadcast(float(_deciding(scores, config.stop_on) == "chrf"))
    shared = dict(zip(keys, values, strict=True))
    return scores if workers.first else shared | ({"signature": "tok:char"} if wordless else {})


def why_ended(metrics: Sequence[dict[str, Any]], config: TrainingConfig) -> str:
    """One sentence about the end of a run."""
    last = metrics[-1]["step"]
    best, _ = _best_and_since(metrics, config.stop_on)
    if last < config.steps and best is not None:
        key = _deciding(best, config.stop_on)
        what = f"no {WORDS[key]} than {best[key]:.4g} (step {best['step']:,})"
        others = [WORDS[name] for name in KEYS[config.stop_on][1:] if name in best and name != key]
        if best[key] < LEAST.get(key, 0) and others:
            score = WORDS[key].removeprefix("better ")
            what = f"{score} stayed below {LEAST[key]:g}, and no {' or '.join(others)} came"
        return (
            f"stopped after {last:,} of {config.steps:,} steps: {what} "
            f"in {config.patience} evaluations"
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
