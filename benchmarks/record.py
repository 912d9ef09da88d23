"""Where a measurement comes from: a number without it is worth nothing."""

import os
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from transformer.runtime import provenance


class LeftOutError(Exception):
    """A benchmark lacks what it needs here; the message says what."""


def peer_versions(*names: str) -> dict[str, str]:
    """Of the libraries that we are compared with.

    Raises:
        LeftOutError: one of them is not installed.
    """
    try:
        return {name: version(name) for name in names}
    except PackageNotFoundError as error:
        raise LeftOutError(f"There is no {error.name} here; pip install {error.name}.") from error


def record(name: str, seed: int) -> dict[str, Any]:
    """Command, commit, versions, hardware, cores, threads and seed of a benchmark."""
    origin = provenance(torch.device("cpu"))
    return {**origin, "command": f"python -m benchmarks {name}", "cores": cores(), "seed": seed}


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
