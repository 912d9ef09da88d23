"""Run folders: what a training run leaves behind, and how it is taken up again."""

import json
import platform
import subprocess
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from transformer.tasks import Task
from transformer.text import save_tokenizer
from transformer.training import Trainer
from transformer.training.checkpoints import write_atomically
from transformer.translation import Translator


class RunError(Exception):
    """A run folder is not what it should be; the message says what to do."""


def train_task(
    task: Task,
    run_dir: Path | str | None = None,
    *,
    resume: bool = False,
    device: torch.device | str | None = None,
    evaluate_sentences: int = 200,
    show_progress: bool = True,
) -> tuple[Translator, list[dict[str, Any]]]:
    """Train a task's model; return the translator and the metrics.

    With `run_dir`, the folder afterwards holds config.json (settings, seed, versions, command),
    metrics.jsonl, tokenizer.json, checkpoint.safetensors and model.safetensors.

    Raises:
        RunError: the folder holds a run already and `resume` is False, or none and it is True.
    """
    evaluate = task.evaluator(evaluate_sentences) if task.training.evaluate_every else None
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
    save_tokenizer(folder / "tokenizer.json", task.tokenizer)
    facts = {
        "task": task.name,
        "config": task.config.to_dict(),
        "training": asdict(task.training),
        **provenance(trainer.device),
    }
    write_atomically(folder / "config.json", (json.dumps(facts, indent=2) + "\n").encode())


def provenance(device: torch.device) -> dict[str, Any]:
    """Where a result comes from: command, commit, versions and hardware."""
    packages = ("torch", "numpy", "tokenizers", "sacrebleu", "safetensors")
    return {
        "command": " ".join(["python -m transformer", *sys.argv[1:]]),
        "commit": _commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
        "hardware": _hardware(device),
        "threads": torch.get_num_threads(),
    }


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
