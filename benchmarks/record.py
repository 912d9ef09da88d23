"""Where a measurement comes from: a number without it is worth nothing."""

import os
from typing import Any

import torch

from transformer.runs import provenance


def record(name: str, seed: int) -> dict[str, Any]:
    """Command, commit, versions, hardware, cores, threads and seed of a benchmark."""
    facts = provenance(torch.device("cpu"))
    return {**facts, "command": f"python -m benchmarks {name}", "cores": cores(), "seed": seed}


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
