"""What differs from device to device: attention's kernels, memory, random numbers, libraries."""

import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor

from transformer.support.files import TransformerError

# What torch says where a CPU, an Apple GPU, Windows or cuBLAS has no more memory.
FULL = re.compile(
    "out of memory|not enough memory|can(no|')t allocate memory|CUBLAS_STATUS_ALLOC_FAILED",
    re.IGNORECASE,
)


class NotEnoughMemoryError(TransformerError):
    """The device's memory is full; the message says what was to go into it, and what to do."""


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


@contextmanager
def enough_memory(sentence: str) -> Iterator[None]:
    """Inside, torch's several errors about memory that is full become one, with this sentence.

    What the failed functions held is let go, so that the memory is free for another try.

    Raises:
        NotEnoughMemoryError: the memory is full.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        full = isinstance(error, MemoryError | torch.OutOfMemoryError) or FULL.search(str(error))
        if not full:
            raise
        # A notebook keeps the last error, with it these frames, and in them the tensors.
        traceback.clear_frames(error.__traceback__)
        raise NotEnoughMemoryError(sentence) from error


def memory_for_model(device: torch.device | str) -> AbstractContextManager[None]:
    """`enough_memory` for a model that is to be trained."""
    return enough_memory(
        f"the memory of {device} does not hold a model of these settings; "
        "choose a smaller d_model, d_ff, n_layers or vocab_size"
    )


def use_device(device: torch.device) -> None:
    """Prepare the device that was chosen: a CUDA GPU becomes the current one."""
    if device.type != "cuda":
        return
    if device.index is not None:
        torch.cuda.set_device(device)
    # From torch 2.11 on, attention in 16 bits goes to cuDNN first on Hopper and Blackwell GPUs. For
    # each new shape of its inputs cuDNN makes a plan, which takes about a second for forward and
    # backward (measured in github.com/modelscope/FunASR/issues/3704), and batches that are grouped
    # by length have hundreds of shapes. The other kernels need no plan.
    torch.backends.cuda.enable_cudnn_sdp(False)


def rng_state(device: torch.device) -> dict[str, Tensor]:
    """The states of the random number generators that a run on this device draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    if device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_rng_state(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Go on with these random numbers; states of other kinds of devices are left out."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    if device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"])


@contextmanager
def rng_restored(device: torch.device) -> Iterator[None]:
    """Whatever random numbers are drawn inside, outside it is as if none had been."""
    states = rng_state(device)
    try:
        yield
    finally:
        set_rng_state(states, device)


def accelerator(device: torch.device) -> dict[str, Any]:
    """What a result on a GPU depends on beside its name: libraries, and how many GPUs there are.

    Nothing on a CPU.
    """
    if device.type != "cuda":
        return {}
    return {
        "cuda": torch.version.cuda or torch.version.hip,
        "cudnn": torch.backends.cudnn.version(),
        "gpus": torch.cuda.device_count(),
        "compute_capability": ".".join(map(str, torch.cuda.get_device_capability(device))),
    }
