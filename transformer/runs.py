"""Run folders: what a training run leaves behind, and how it is taken up again."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from transformer.model import Transformer
from transformer.support.devices import enough_memory, memory_for_model, use_device
from transformer.support.files import (
    LARGEST_SCORES,
    LARGEST_SETTINGS,
    TransformerError,
    read_json,
    whole_folder,
    write_atomically,
)
from transformer.support.provenance import provenance
from transformer.tasks import Task
from transformer.text import load_tokenizer, save_tokenizer
from transformer.training import Trainer, average_models
from transformer.translation import Translator
from transformer.weights import kept_weights


class RunError(TransformerError):
    """A run folder is not what it should be; the message says what to do."""


def train_task(
    task: Task,
    run_dir: Path | str | None = None,
    *,
    resume: bool = False,
    device: torch.device | str | None = None,
    evaluate: Callable[[Transformer], dict[str, Any]] | None = None,
    show_progress: bool = True,
) -> tuple[Translator, list[dict[str, Any]]]:
    """Train a task's model; return the translator and the metrics.

    `evaluate` scores the model now and then; by default on 200 sentences of the first split.
    With `run_dir`, the folder afterwards holds config.json (settings, seed, versions, command, and
    for each time that the run was taken up again its step, versions and hardware),
    metrics.jsonl, tokenizer.json, checkpoint.safetensors and model.safetensors, tensorboard/ with
    the same metrics, and best/ with the weights of the best evaluation where there are several.
    Processes that torchrun has started train together; the first one writes and evaluates.

    Raises:
        RunError: `check_run_folder` refuses the folder.
    """
    if evaluate is None and task.training.evaluate_every:
        evaluate = task.evaluator()
    with memory_for_model("cpu"):
        model = task.build_model()
    trainer = Trainer(
        model,
        task.pairs,
        task.training,
        device=device,
        run_dir=run_dir,
        evaluate=evaluate,
        show_progress=show_progress,
    )
    if run_dir is not None:
        _prepare(Path(run_dir), task, trainer, resume)
    try:
        metrics = trainer.train()
    except Exception:
        # Nothing to go on from, and nothing that should stand in the way of the next command.
        if run_dir is not None and not resume and not trainer.metrics and trainer.workers.first:
            _take_back(Path(run_dir))
        raise
    return Translator(model, task.tokenizer), metrics


def check_run_folder(folder: Path, resume: bool) -> None:
    """Refuse a folder in which a run can neither begin nor, with `resume`, go on.

    Raises:
        RunError: a file stands in its place, its name is no text, or it holds a run and `resume` is
            False, or holds none and it is True, or a model without its checkpoint.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in str(folder)):  # octets that are no text
        raise RunError(f"the name {folder} is not UTF-8, in which runs are written; name another")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise RunError(f"{there} is a file, where a folder is needed; name another folder")
    has_run = (folder / "config.json").exists()
    unfounded = resume and not (folder / "checkpoint.safetensors").exists()
    if unfounded and not has_run:
        raise RunError(f"{folder} holds no run to resume; leave out --resume to start one")
    if unfounded and (folder / "model.safetensors").exists():
        raise RunError(
            f"{folder} has a trained model and no checkpoint to go on from; leave out --resume, "
            f"and begin another run with its weights: --start {folder} --out ANOTHER"
        )
    if has_run and not resume:
        raise RunError(
            f"{folder} holds a run already; add --resume to go on with it, or name another folder"
        )


def load_run(
    folder: Path | str, device: torch.device | str = "cpu"
) -> tuple[Translator, dict[str, Any]]:
    """The translator that a finished run has left, and its config.json.

    Raises:
        RunError: the folder holds no finished run, or its files are of different runs.
    """
    config = _read_config(Path(folder))
    translator = Translator.load(folder)
    stated = config.get("config")
    for name, value in translator.model.config.to_dict().items():
        if isinstance(stated, dict) and stated.get(name, value) != value:
            raise RunError(
                f"{folder} holds files of different runs: {name} is {stated[name]!r:.40} in "
                f"config.json and {value!r} in model.safetensors; take both from a copy of the run"
            )
    use_device(torch.device(device))
    with enough_memory(f"the memory of {device} does not hold this model; choose another --device"):
        translator.model.to(device)
    return translator, config


def average_run(folder: Path | str, last: int, out: Path | str | None = None) -> Path:
    """Average the weights that a run has kept of its last checkpoints; return the new run's folder.

    Raises:
        RunError: the run has not kept as many.
        FileError: there is something in the new folder's place.
    """
    folder = Path(folder)
    config = _read_config(folder)
    paths = kept_weights(folder)
    if len(paths) < last:
        raise RunError(
            f"{folder} has kept the weights of {len(paths)} checkpoints, not of {last}; train with "
            f"--keep {last} and a smaller --checkpoint-every, or average fewer"
        )
    out = Path(out) if out is not None else folder / f"average-{last}"
    config = {**config, "averaged": [path.name for path in paths[-last:]]}
    with whole_folder(out) as unfinished:
        model = average_models(paths[-last:])
        Translator(model, load_tokenizer(folder / "tokenizer.json")).save(unfinished)
        _write_json(unfinished / "config.json", config)
    return out


def score_name(split: str, beam_size: int = 1, length_penalty: float = 0.6) -> str:
    """What the scores of a split are called: "test", "test beam 4", "test beam 4 alpha 1"."""
    if beam_size == 1:
        return split
    alpha = f" alpha {length_penalty:g}" if length_penalty != 0.6 else ""
    return f"{split} beam {beam_size}{alpha}"


def read_scores(folder: Path) -> dict[str, Any]:
    """The scores that a run folder has, by what `score_name` calls them; none at first.

    Raises:
        RunError: its scores.json is damaged.
        FileError: it is larger than scores are.
    """
    return _read_values(folder / "scores.json", "scores by name", largest=LARGEST_SCORES)


def keep_scores(folder: Path, name: str, scores: dict[str, Any]) -> None:
    """Put the scores of a split beside those that the run folder has.

    Raises:
        RunError: its scores.json is damaged; the file stays as it is.
    """
    _write_json(folder / "scores.json", {**read_scores(folder), name: scores})


def _read_config(folder: Path) -> dict[str, Any]:
    """The config.json of a finished run."""
    path = folder / "config.json"
    if not path.exists():
        raise RunError(f"{folder} holds no run (no config.json); train one")
    config = _read_values(path, "run's settings", "take it from a copy")
    if not isinstance(config.get("task"), str):
        raise RunError(f"{folder} holds no run (its config.json names no task); train one")
    if not (folder / "model.safetensors").exists():
        raise RunError(f"the run in {folder} has not ended; go on with train ... --resume")
    return config


def _prepare(folder: Path, task: Task, trainer: Trainer, resume: bool) -> None:
    checkpoint = folder / "checkpoint.safetensors"
    check_run_folder(folder, resume)
    if resume and checkpoint.exists():
        config = _resumable(folder)
        trainer.resume(checkpoint)
        trainer.workers.barrier()  # all have read it before the first writes it
        if config and trainer.workers.first:
            resumed = {"step": trainer.step, **_circumstances(trainer)}
            config["resumed"] = [*config.get("resumed", []), resumed]
            _write_json(folder / "config.json", config)
        return
    # A run that was stopped before its first checkpoint begins anew, with today's settings.
    trainer.workers.barrier()  # none looks into the folder after the first has begun to fill it
    if not trainer.workers.first:
        return
    save_tokenizer(folder / "tokenizer.json", task.tokenizer)
    config = {
        "task": task.name,
        **({"data": task.metadata} if task.metadata else {}),
        **({"start": task.start.name} if task.start else {}),
        "example": task.example,
        "config": task.config.to_dict(),
        "training": asdict(task.training),
        "processes": trainer.workers.size,
        **_circumstances(trainer),
    }
    _write_json(folder / "config.json", config)


def _resumable(folder: Path) -> dict[str, Any]:
    """The config.json of a run that goes on; empty where there is none."""
    path = folder / "config.json"
    config = _read_values(path, "run's settings")
    if not isinstance(config.get("resumed", []), list):
        raise RunError(f"{path} holds no list of when it was resumed: mend it, or move it away")
    return config


def _read_values(
    path: Path, what: str, otherwise: str = "move it away", largest: int = LARGEST_SETTINGS
) -> dict[str, Any]:
    """What a JSON file has by name; nothing where there is no file."""
    try:
        values = read_json(path, largest) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: mend it, or {otherwise}") from error
    if not isinstance(values, dict):
        raise RunError(f"{path} holds no {what}: mend it, or {otherwise}")
    return values


def _circumstances(trainer: Trainer) -> dict[str, Any]:
    """What a run that goes on may find changed: the machine, and what was chosen for it."""
    return {
        "precision": trainer.precision,
        "compiled": trainer.compiled,
        **provenance(trainer.device),
    }


def _take_back(folder: Path) -> None:
    """Remove what `_prepare` wrote, and the folder if nothing else is in it."""
    for name in ("config.json", "tokenizer.json"):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())
