"""Run folders: what a training run leaves behind, and how it is taken up again."""

import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from transformer.files import write_atomically
from transformer.model import Transformer
from transformer.tasks import Task
from transformer.text import load_tokenizer, save_tokenizer
from transformer.training import Trainer, average_models
from transformer.translation import Translator
from transformer.weights import kept_weights


class RunError(Exception):
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
    With `run_dir`, the folder afterwards holds config.json (settings, seed, versions, command),
    metrics.jsonl, tokenizer.json, checkpoint.safetensors and model.safetensors, tensorboard/ with
    the same metrics, and best/ with the weights of the best evaluation where there are several.
    Processes that torchrun has started train together; the first one writes and evaluates.

    Raises:
        RunError: the folder holds a run already and `resume` is False, or none and it is True.
    """
    if evaluate is None and task.training.evaluate_every:
        evaluate = task.evaluator()
    trainer = Trainer(
        task.build_model(),
        task.pairs,
        task.training,
        device=device,
        run_dir=run_dir,
        evaluate=evaluate,
        show_progress=show_progress,
    )
    if run_dir is not None:
        _prepare(Path(run_dir), task, trainer, resume)
    metrics = trainer.train()
    return Translator(trainer.model, task.tokenizer), metrics


def load_run(
    folder: Path | str, device: torch.device | str = "cpu"
) -> tuple[Translator, dict[str, Any]]:
    """The translator that a finished run has left, and the facts of its config.json.

    Raises:
        RunError: the folder holds no finished run.
    """
    facts = _facts_of(Path(folder))
    translator = Translator.load(folder)
    translator.model.to(device)
    return translator, facts


def _facts_of(folder: Path) -> dict[str, Any]:
    """The config.json of a finished run."""
    try:
        facts: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{folder} holds no run (no readable config.json); train one") from error
    if not (folder / "model.safetensors").exists():
        raise RunError(f"the run in {folder} has not ended; go on with train ... --resume")
    return facts


def average_run(folder: Path | str, last: int, out: Path | str | None = None) -> Path:
    """Average the weights that a run has kept of its last checkpoints; return the new run's folder.

    Raises:
        RunError: the run has not kept as many, or there is something in the new folder.
    """
    folder = Path(folder)
    facts = _facts_of(folder)
    paths = kept_weights(folder)
    if len(paths) < last:
        raise RunError(
            f"{folder} has kept the weights of {len(paths)} checkpoints, not of {last}; train with "
            f"--keep {last} and a smaller --checkpoint-every, or average fewer"
        )
    out = Path(out) if out is not None else folder / f"average-{last}"
    if out.exists():
        raise RunError(f"{out} is there already; name another folder")
    model = average_models(paths[-last:])
    facts = {**facts, "averaged": [path.name for path in paths[-last:]]}
    out.parent.mkdir(parents=True, exist_ok=True)
    # Under another name until it is whole.
    with tempfile.TemporaryDirectory(dir=out.parent) as unfinished:
        made = Path(unfinished, out.name)
        made.mkdir()
        Translator(model, load_tokenizer(folder / "tokenizer.json")).save(made)
        write_atomically(made / "config.json", (json.dumps(facts, indent=2) + "\n").encode())
        made.rename(out)
    return out


def _prepare(folder: Path, task: Task, trainer: Trainer, resume: bool) -> None:
    checkpoint = folder / "checkpoint.safetensors"
    if resume:
        if checkpoint.exists():
            trainer.resume(checkpoint)
        elif not (folder / "config.json").exists():
            raise RunError(f"{folder} holds no run to resume; leave out --resume to start one")
        return  # stopped before its first checkpoint: from the beginning
    if (folder / "config.json").exists():
        raise RunError(
            f"{folder} holds a run already; add --resume to go on with it, or name another folder"
        )
    trainer.workers.barrier()  # none looks into the folder after the first has begun to fill it
    if not trainer.workers.first:
        return
    save_tokenizer(folder / "tokenizer.json", task.tokenizer)
    facts = {
        "task": task.name,
        **({"data": task.facts} if task.facts else {}),
        "config": task.config.to_dict(),
        "training": asdict(task.training),
        "processes": trainer.workers.size,
        **provenance(trainer.device),
    }
    write_atomically(folder / "config.json", (json.dumps(facts, indent=2) + "\n").encode())


def provenance(device: torch.device) -> dict[str, Any]:
    """Where a result comes from: command, commit, versions and hardware."""
    packages = ("torch", "numpy", "tokenizers", "sacrebleu", "safetensors")
    return {
        "command": " ".join(["python -m transformer", *map(without_folders, sys.argv[1:])]),
        "commit": _commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
        "hardware": _hardware(device),
        "threads": torch.get_num_threads(),
    }


def without_folders(argument: str) -> str:
    """An argument of a command without the folders that only this machine has."""
    name, equals, path = argument.rpartition("=")
    return name + equals + (Path(path).name if Path(path).is_absolute() else path)


def _hardware(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit that the code stands at; "-dirty" where files differ from it."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
