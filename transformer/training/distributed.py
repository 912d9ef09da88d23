"""Several processes that train one model together, on one host or on many (torchrun).

The batch of a step is the same whatever the number of processes. Each takes its share of the
batch's rows, and DistributedDataParallel adds up the gradients, so that all of them make the
update that one process would have made.
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

T = TypeVar("T")

# So long the others wait for the first one, which evaluates or downloads.
PATIENCE = timedelta(days=2)


@contextmanager
def process_group() -> Iterator[None]:
    """Connect the processes that torchrun has started, and part when all are done.

    Where there is no torchrun, or the processes are connected already, nothing happens.
    """
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ or _connected():
        yield
        return
    nccl = torch.cuda.is_available() and dist.is_nccl_available()
    dist.init_process_group("cpu:gloo,cuda:nccl" if nccl else "gloo")
    workers = Workers()
    # A process that fails leaves at once: torchrun then ends the others, who wait for it.
    yield
    workers.wait()
    dist.destroy_process_group()


@contextmanager
def first_goes_ahead() -> Iterator[None]:
    """The first process does what is inside alone, then the others: they find its downloads."""
    workers = Workers()
    if not workers.first:
        workers.wait()
    yield
    if workers.first:
        workers.wait()


def is_first() -> bool:
    """Whether this process is the one that writes and speaks; alone, it is."""
    return not _connected() or dist.get_rank() == 0


def own_device(device: torch.device) -> torch.device:
    """Of several GPUs the one that belongs to this process of its host.

    Raises:
        ValueError: the host has fewer GPUs than processes.
    """
    if device != torch.device("cuda") or not _connected():
        return device
    rank, there = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if rank >= there:
        raise ValueError(
            f"torchrun has started process {rank + 1} on a host with {there} GPUs; "
            f"set --nproc-per-node to {there}, or choose --device cpu"
        )
    torch.cuda.set_device(rank)
    return torch.device("cuda", rank)


class Workers:
    """The processes that train together, as one of them sees them; alone, it is the only one.

    Every method must be called by all of them, in the same order.

    Attributes:
        size: how many there are.
        rank: which of them this one is; 0 is the first.
    """

    def __init__(self) -> None:
        self.size = dist.get_world_size() if _connected() else 1
        self.rank = dist.get_rank() if _connected() else 0
        self.first = self.rank == 0
        # Gradients must not wait for long: who does not answer is dead. This group may.
        self._patient = dist.new_group(backend="gloo", timeout=PATIENCE) if self.size > 1 else None

    def share(self, rows: Sequence[T]) -> Sequence[T]:
        """This process's part of a list: neighbours, as many as the others have, or one fewer."""
        n = len(rows)
        return rows[n * self.rank // self.size : n * (self.rank + 1) // self.size]

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model, its weights those of the first process, its gradients added up."""
        if self.size == 1:
            return model
        with warnings.catch_warnings():
            # The model's buffers are constants, which need not travel. Newer versions of torch
            # have another name for this, which older ones do not know.
            warnings.simplefilter("ignore", FutureWarning)
            return DistributedDataParallel(
                model, broadcast_buffers=False, gradient_as_bucket_view=True
            )

    def adding_up(self, model: nn.Module, now: bool) -> AbstractContextManager[None]:
        """Whether the next backward pass adds up all gradients, or only gathers its own."""
        if isinstance(model, DistributedDataParallel) and not now:
            return model.no_sync()
        return nullcontext()

    def seed(self, seed: int, step: int = 0) -> None:
        """Dice for each process, so that dropout differs between them; the first has `seed`."""
        torch.manual_seed(seed + 1000 * step + self.rank)

    def total(self, value: Tensor) -> Tensor:
        """The sum of all processes' values, on their device."""
        if self.size > 1:
            dist.all_reduce(value)
        return value

    def tell(self, value: float) -> float:
        """What the first process says; the others wait for it, however long it takes."""
        told = torch.tensor(value, dtype=torch.float64)
        if self._patient is not None:
            dist.broadcast(told, 0, group=self._patient)
        return told.item()

    def wait(self) -> None:
        """Until all are here."""
        if self._patient is not None:
            dist.barrier(group=self._patient)

    def collect(self, state: Tensor) -> Tensor:
        """All processes' tensors of one shape, a row for each, on the CPU."""
        rows = [torch.empty_like(state) for _ in range(self.size)]
        if self._patient is None:
            return state[None]
        dist.all_gather(rows, state, group=self._patient)
        return torch.stack(rows)


def _connected() -> bool:
    return dist.is_available() and dist.is_initialized()
