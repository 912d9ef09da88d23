"""Where and at what scale code runs: the device, and the size of the experiments."""

import os
from typing import Literal

import torch

Scale = Literal["smoke", "cpu", "gpu"]


def pick_device(name: str | None = None) -> torch.device:
    """The device asked for, or the best one here: a CUDA GPU, Apple's GPU, else the CPU."""
    if name is not None:
        try:
            device = torch.device(name)
        except RuntimeError as error:
            raise ValueError(f"unknown device {name!r}; use cpu, cuda, cuda:1 or mps") from error
        if device.type == "cuda" and not torch.cuda.is_available():
            raise ValueError(f"device {name!r} asked for, but torch finds no CUDA GPU; use cpu")
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
