"""Times that can be compared: the competitors in turn, so that each meets the same noise."""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from benchmarks.record import cores

THREADS = 2


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
    competitors: Mapping[str, Callable[[], Any]], rounds: int, pause: float = 0.0
) -> dict[str, list[float]]:
    """Seconds of each competitor in each round.

    A library's threads go on looking for work for a moment after its last call; `pause` seconds
    before each competitor keep them from taking the processor from the next one.
    """
    seconds: dict[str, list[float]] = {name: [] for name in competitors}
    for _ in range(rounds):
        for name, compete in competitors.items():
            time.sleep(pause)
            began = time.perf_counter()
            compete()
            seconds[name].append(time.perf_counter() - began)
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
