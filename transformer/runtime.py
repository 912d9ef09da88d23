"""Where code runs, at what scale, and what a result that it computes says of both."""

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch

from transformer.devices import accelerator
from transformer.version import commit

Scale = Literal["smoke", "cpu", "gpu"]
Size = TypeVar("Size")


def pick_device(name: str | None = None) -> torch.device:
    """The device asked for, or the best one here: a CUDA GPU, Apple's GPU, else the CPU."""
    if name is not None:
        try:
            device = torch.device(name)
            known = device.type in ("cpu", "cuda", "mps")
        except RuntimeError:
            known = False
        if not known:
            raise ValueError(f"unknown device {name!r}; use cpu, cuda, cuda:1 or mps")
        if device.type == "cuda" and not torch.cuda.is_available():
            raise ValueError(f"device {name!r} asked for, but torch finds no CUDA GPU; use cpu")
        if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
            last = torch.cuda.device_count() - 1
            raise ValueError(
                f"device {name!r} asked for, but the last GPU that torch finds is cuda:{last}"
            )
        if device.type == "mps" and not torch.backends.mps.is_available():
            raise ValueError(f"device {name!r} asked for, but torch finds no Apple GPU; use cpu")
        return device
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def scale() -> Scale:
    """How large the book's experiments are: "smoke" (seconds, to see that they run), "cpu", "gpu".

    Chosen by the device found; the environment variable TRANSFORMER_SCALE overrides it.
    """
    chosen = os.environ.get("TRANSFORMER_SCALE") or ""
    match chosen:
        case "smoke" | "cpu" | "gpu":
            return chosen
        case "":
            return "cpu" if pick_device().type == "cpu" else "gpu"
    raise ValueError(f"TRANSFORMER_SCALE is {chosen!r}; use smoke, cpu or gpu")


def scaled(*, smoke: Size, cpu: Size, gpu: Size | None = None) -> Size:
    """The size of an experiment at the `scale` here, such as its number of steps.

    Without `gpu` a GPU's is the CPU's, for models that are too small to gain from one.
    """
    chosen = {"smoke": smoke, "cpu": cpu, "gpu": cpu if gpu is None else gpu}
    return chosen[scale()]


def provenance(device: torch.device) -> dict[str, Any]:
    """Where a result comes from: command, commit, versions and hardware."""
    packages = ("torch", "numpy", "tokenizers", "sacrebleu", "safetensors")
    return {
        "command": " ".join(["python -m transformer", *map(without_folders, sys.argv[1:])]),
        "commit": commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
        "hardware": _hardware(device),
        **accelerator(device),
        "threads": torch.get_num_threads(),
    }


def require_commit(commit: str | None, what: str, remedy: str) -> None:
    """Hold back a result that nobody could make again from the repository.

    Raises:
        ValueError: no commit holds the files that made it.
    """
    if commit is None or commit.endswith("-dirty"):
        raise ValueError(f"{what} was made by files that no commit holds: commit, {remedy}")


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
