"""Devices: which kernels, whose random numbers, and what is said when memory is full."""

import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from transformer.support.devices import (
    NotEnoughMemoryError,
    accelerator,
    enough_memory,
    rng_restored,
    rng_state,
    set_rng_state,
    use_device,
)

CPU, CUDA, MPS = map(torch.device, ("cpu", "cuda", "mps"))


def too_much() -> None:
    """More than any machine has, so that the processor's memory refuses it itself."""
    torch.empty(2**56, dtype=torch.uint8)


def raising(error: Exception) -> Any:
    def run() -> None:
        raise error

    return run


@pytest.mark.parametrize(
    "run",
    [
        too_much,
        raising(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3.45 GiB.")),
        raising(RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GB)")),
        raising(RuntimeError("[enforce fail at alloc_cpu.cpp:75] not enough memory: you tried")),
        raising(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`")),
        raising(MemoryError()),
    ],
    ids=["processor", "cuda", "mps", "windows", "cublas", "python"],
)
def test_whatever_says_that_memory_is_full_it_becomes_the_sentence(run: Any) -> None:
    with (
        pytest.raises(NotEnoughMemoryError, match="^take less$") as caught,
        enough_memory("take less"),
    ):
        run()
    assert caught.value.__cause__ is not None


def test_the_error_of_a_full_memory_holds_no_tensor_of_the_step_that_failed() -> None:
    held = []

    def step() -> None:
        activations = torch.zeros(3)
        held.append(weakref.ref(activations))
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(NotEnoughMemoryError) as caught, enough_memory("take less"):
        step()
    assert caught.value.__traceback__ is not None  # as a notebook keeps it
    assert held[0]() is None


@pytest.mark.parametrize("error", [RuntimeError("shapes cannot be multiplied"), ValueError("7")])
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, enough_memory("take less"):
        raise error
    assert caught.value is error


# CUDA's kernels ------------------------------------------------------------------------------


@pytest.fixture
def cudnn_attention() -> Iterator[None]:
    """Switched on, as torch has it at first; afterwards too."""
    torch.backends.cuda.enable_cudnn_sdp(True)
    yield
    torch.backends.cuda.enable_cudnn_sdp(True)


@pytest.mark.usefixtures("cudnn_attention")
def test_a_cuda_gpu_becomes_the_current_one_and_does_without_cudnns_plans(monkeypatch) -> None:
    current: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    use_device(CPU)
    assert torch.backends.cuda.cudnn_sdp_enabled()
    use_device(torch.device("cuda", 1))
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    assert torch.backends.cuda.mem_efficient_sdp_enabled()
    use_device(CUDA)  # torch's current one, whatever its number
    assert current == [torch.device("cuda", 1)]


def test_a_result_on_a_gpu_says_with_which_libraries_it_was_made(monkeypatch) -> None:
    assert accelerator(CPU) == {}
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 91002)
    assert accelerator(CUDA) == {
        "cuda": "12.8",
        "cudnn": 91002,
        "gpus": 3,
        "compute_capability": "7.5",
    }


# Random numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("device", [CUDA, MPS], ids=str)
def test_a_gpus_random_numbers_are_saved_put_back_and_restored(monkeypatch, device) -> None:
    state = [torch.tensor([1, 2], dtype=torch.uint8)]
    module = getattr(torch, device.type)
    monkeypatch.setattr(module, "get_rng_state", lambda *_: state[0])
    monkeypatch.setattr(module, "set_rng_state", lambda new, *_: state.__setitem__(0, new))
    saved = rng_state(device)
    assert saved.keys() == {"cpu", device.type}
    assert rng_state(CPU).keys() == {"cpu"}

    with rng_restored(device):
        state[0] = torch.tensor([5, 5], dtype=torch.uint8)
    assert state[0].tolist() == [1, 2]

    state[0] = torch.tensor([7, 7], dtype=torch.uint8)
    set_rng_state(saved, device)
    assert state[0].tolist() == [1, 2]
    set_rng_state({"cpu": saved["cpu"]}, device)  # a state from another kind of device
    assert state[0].tolist() == [1, 2]


def test_random_numbers_drawn_meanwhile_leave_no_trace() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    with pytest.raises(KeyError), rng_restored(CPU):
        torch.rand(100)
        raise KeyError
    assert torch.equal(torch.rand(4), expected)
