"""Times that can be compared: the competitors in turn, so that each meets the same noise."""

import multiprocessing
import os
import signal
import statistics
import time
import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import torch

from transformer_book.cores import cores

THREADS = 2
Name = TypeVar("Name", bound=Hashable)


@contextmanager
def limited_threads(most: int = THREADS) -> Iterator[int]:
    """So many threads for torch, no more than cores; yields how many, for the other libraries."""
    before, threads = torch.get_num_threads(), min(most, cores())
    torch.set_num_threads(threads)
    try:
        yield threads
    finally:
        torch.set_num_threads(before)


def time_in_turn(
    competitors: Mapping[Name, Callable[[], Any]],
    rounds: int,
    pause: float = 0.0,
    timer: Callable[[], float] = time.perf_counter,
) -> dict[Name, list[float]]:
    """Seconds of each competitor in each round.

    A library's threads go on looking for work for a moment after its last call; `pause` seconds
    before each competitor keep them from taking the processor from the next one.
    """
    seconds: dict[Name, list[float]] = {name: [] for name in competitors}
    for _ in range(rounds):
        for name, compete in competitors.items():
            time.sleep(pause)
            began = timer()
            compete()
            seconds[name].append(timer() - began)
    return seconds


def ratios(seconds: Mapping[str, list[float]], first: str) -> dict[str, dict[str, float]]:
    """How many times as long as `first` the others take: in the median round, and the extremes.

    The ratio is taken in each round, because what slows a machine down for a while slows down
    both.
    """
    result = {}
    for name, times in seconds.items():
        if name != first:
            quotients = [a / b for a, b in zip(times, seconds[first], strict=True)]
            result[name] = {
                "median": round(statistics.median(quotients), 3),
                "lowest": round(min(quotients), 3),
                "highest": round(max(quotients), 3),
            }
    return result


class SeparateProcess:
    """A competitor in a process of its own.

    Two libraries in one process share its cores with each other's threads, even when those have
    nothing to do: one library's mere presence can make another several times slower.

    Args:
        build: called in the new process; returns what prepares the competitor for a task.
        args: for `build`; pickled.
        threads: how many the process may have.
    """

    def __init__(self, build: Callable[..., Any], *args: Any, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, child_end = context.Pipe()
        # Threads that wait for their next task had better not sleep; the process does (`_ask`).
        settings = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "active"}
        before = {name: os.environ.pop(name, None) for name in (*settings, "GOMP_SPINCOUNT")}
        os.environ.update(settings)
        try:
            self._process = context.Process(
                target=_serve, args=(child_end, build, args), daemon=True
            )
            self._process.start()
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value

    def prepare(self, *args: Any) -> Any:
        """Make it ready for a task; returns the output of a first run."""
        return self._ask(("prepare", args))

    def __call__(self) -> None:
        """Run the task once."""
        self._ask(("run", ()))

    def _ask(self, request: tuple[str, tuple[Any, ...]]) -> Any:
        # Between two requests the process stands still, its waiting threads too.
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGCONT)
        self._connection.send(request)
        failure, answer = self._connection.recv()
        os.kill(self._process.pid, signal.SIGSTOP)
        if failure:
            raise RuntimeError(failure)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()


def _serve(connection: Any, build: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """The competitor's process: answers with (failure, answer)."""
    prepare: Any = None
    compete: Any = None
    while True:
        kind, task = connection.recv()
        try:
            if kind == "prepare":
                prepare = prepare or build(*args)
                compete = prepare(*task)
                connection.send(("", compete()))
            else:
                compete()
                connection.send(("", None))
        except Exception:
            connection.send((traceback.format_exc(), None))
