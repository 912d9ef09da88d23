"""Several processes that train one model together, on one host or on many (torchrun).

The batch of a step is the same whatever the number of processes. Each takes its share of the
batch's rows, and DistributedDataParallel adds up the gradients, so that all of them make the
update that one process would have made.
"""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from transformer.support.devices import rng_state, set_rng_state

T = TypeVar("T")

# So long the others wait for the first one, which evaluates or downloads.
TIMEOUT = timedelta(days=2)


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
    workers.barrier()
    dist.destroy_process_group()


@contextmanager
def first_goes_ahead() -> Iterator[None]:
    """The first process does what is inside alone, then the others: they find its downloads."""
    workers = Workers()
    if not workers.first:
        workers.barrier()
    yield
    if workers.first:
        workers.barrier()


def is_first() -> bool:
    """Whether this process is the one that writes and speaks; alone, it is."""
    return not _connected() or dist.get_rank() == 0


def own_device(device: torch.device) -> torch.device:
    """Of several GPUs the one that belongs to this process of its host.

    Raises:
        ValueError: the host has fewer GPUs than processes, or all were to share the one named.
    """
    if device.type != "cuda" or not _connected():
        return device
    if device.index is not None and dist.get_world_size() > 1:
        raise ValueError(
            f"all processes of torchrun would share {device}; leave out --device, or give "
            "--device cuda: each process then takes the GPU of its own number"
        )
    rank, n_gpus = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if rank >= n_gpus:
        raise ValueError(
            f"torchrun has started process {rank + 1} on a host with {n_gpus} GPUs; "
            f"set --nproc-per-node to {n_gpus}, or choose --device cpu"
        )
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
        self._patient = dist.new_group(backend="gloo", timeout=TIMEOUT) if self.size > 1 else None

    def shard(self, rows: Sequence[T]) -> Sequence[T]:
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

    def no_sync(self, model: nn.Module) -> AbstractContextManager[None]:
        """Inside, a backward pass gathers this process's own gradients, and adds up none."""
        return model.no_sync() if isinstance(model, DistributedDataParallel) else nullcontext()

    def all_reduce(self, value: Tensor) -> Tensor:
        """The sum of all processes' values, on their device."""
        if self.size > 1:
            dist.all_reduce(value)
        return value

    def broadcast(self, value: float) -> float:
        """The first process's value; the others wait for it, however long it takes."""
        sent = torch.tensor(value, dtype=torch.float64)
        if self._patient is not None:
            dist.broadcast(sent, 0, group=self._patient)
        return sent.item()

    def all_gather(self, state: Tensor) -> Tensor:
        """All processes' tensors of one shape, a row for each, on the CPU."""
        if self._patient is None:
            return state[None]
        rows = [torch.empty_like(state) for _ in range(self.size)]
        dist.all_gather(rows, state, group=self._patient)
        return torch.stack(rows)

    def barrier(self) -> None:
        """Wait until all processes have come here."""
        if self._patient is not None:
            dist.barrier(group=self._patient)

    def seed(self, seed: int, step: int = 0) -> None:
        """Other random numbers in each process, so that dropout differs; the first has `seed`."""
        torch.manual_seed(seed + 1000 * step + self.rank)

    def rng_state(self, device: torch.device) -> dict[str, Tensor]:
        """The states of the random number generators, (processes, bytes), by kind of device."""
        return {kind: self.all_gather(state) for kind, state in rng_state(device).items()}

    def set_rng_state(self, states: Mapping[str, Tensor], device: torch.device) -> bool:
        """Go on with these random numbers; False where other devices or processes left them."""
        rows = {kind: torch.atleast_2d(state) for kind, state in states.items()}
        if len(rows["cpu"]) != self.size or device.type not in rows:
            return False
        # Copied, because torch reads a state from the beginning of its storage.
        set_rng_state({kind: row[self.rank].clone() for kind, row in rows.items()}, device)
        return True


def _connected() -> bool:
    return dist.is_available() and dist.is_initialized()
