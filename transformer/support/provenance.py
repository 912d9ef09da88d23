"""Where a result comes from: command, commit, versions, hardware."""

import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from transformer.support.devices import accelerator
from transformer.support.version import commit


def provenance(device: torch.device) -> dict[str, Any]:
    """Where a result comes from: command, commit, versions and hardware."""
    packages = ("torch", "numpy", "tokenizers", "sacrebleu", "safetensors")
    return {
        "command": shlex.join(["python", "-m", _program(), *map(without_folders, sys.argv[1:])]),
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


def _program() -> str:
    """The package whose command this is; ours, where the process is no `python -m PACKAGE`."""
    program = Path(sys.argv[0])
    return program.parent.name if program.name == "__main__.py" else "transformer"


def _hardware(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
