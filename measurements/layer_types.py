"""The layers of Table 1: seconds over the sentence's length and over the width."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from measurements.timing import limited_threads, time_in_turn
from transformer.attention import scaled_dot_product_attention
from transformer.compared.table1_layers import (
    Convolution,
    Recurrent,
    SelfAttention,
    restricted_attention,
)

SEED = 0
K, R = 3, 15  # the kernel and the neighbourhood
ROUNDS = 15
AT_LEAST = 0.002  # seconds that are timed at once, far above what a clock can tell apart
Layer = Callable[[Tensor], Tensor]

# The first two are what the table's rows count: scores and sums, without the projections.
LAYERS: dict[str, Callable[[int], Layer]] = {
    "self-attention": lambda d: lambda x: scaled_dot_product_attention(x, x, x)[0],
    "self-attention (restricted)": lambda d: lambda x: restricted_attention(x, x, x, R),
    "self-attention with projections": SelfAttention,
    "recurrent (GRU)": lambda d: Recurrent(d, nn.GRU),
    "recurrent (LSTM)": lambda d: Recurrent(d, nn.LSTM),
    "convolutional": lambda d: Convolution(d, K),
    "convolutional (separable)": lambda d: Convolution(d, K, separable=True),
}
# What is varied, what stays, and the sizes.
SERIES: dict[str, dict[str, Any]] = {
    "length": {"varied": "n", "d": 512, "sizes": [64, 128, 256, 512, 1024, 2048]},
    "width": {"varied": "d", "n": 256, "sizes": [64, 128, 256, 512, 1024]},
}
QUICK_SIZES = [15, 30]


def run(quick: bool = False) -> dict[str, Any]:
    """All layers in turn, round after round; `quick` takes two small sizes and one round."""
    torch.manual_seed(SEED)
    rounds = 1 if quick else ROUNDS
    series = {
        name: {**fixed, "sizes": QUICK_SIZES if quick else fixed["sizes"]}
        for name, fixed in SERIES.items()
    }
    # One core, and its own seconds: what else the machine does may have the others.
    with limited_threads(1) as threads, torch.inference_mode():
        competitors, calls = {}, {}
        for name, settings in series.items():
            for layer in LAYERS:
                for size in settings["sizes"]:
                    case = (name, layer, size)
                    once = forward(layer, {**settings, settings["varied"]: size})
                    calls[case] = calls_to_time(once)
                    competitors[case] = partial(repeat, once, calls[case])
        seconds = time_in_turn(competitors, rounds, timer=time.process_time)
    results = []
    for name, settings in series.items():
        for layer in LAYERS:
            by_size = [
                [t / calls[name, layer, size] for t in seconds[name, layer, size]]
                for size in settings["sizes"]
            ]
            results.append(summary(name, layer, settings["sizes"], by_size))
    return {
        "seed": SEED,
        "threads": threads,
        "kernel": K,
        "neighbourhood": R,
        "rounds": rounds,
        "series": series,
        "results": results,
    }


def forward(layer: str, sizes: dict[str, Any]) -> Callable[[], Tensor]:
    """A layer's pass over one sentence of n random vectors of width d."""
    module, x = LAYERS[layer](sizes["d"]), torch.randn(1, sizes["n"], sizes["d"])
    return lambda: module(x)


def repeat(call: Callable[[], Any], times: int) -> None:
    """So many calls, one after the other."""
    for _ in range(times):
        call()


def calls_to_time(call: Callable[[], Any]) -> int:
    """How many calls take long enough to be timed; the first one warms up."""
    call()
    began = time.perf_counter()
    call()
    return max(1, math.ceil(AT_LEAST / (time.perf_counter() - began)))


def summary(
    series: str, layer: str, sizes: Sequence[int], seconds: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """Medians over the rounds, and the exponent with which seconds grow, fitted in each round.

    Args:
        series, layer, sizes: what was measured.
        seconds: (sizes, rounds).
    """
    exponents = [exponent(sizes, times) for times in zip(*seconds, strict=True)]
    low, high = median_interval(exponents)
    return {
        "series": series,
        "layer": layer,
        "seconds": [float(f"{statistics.median(times):.3g}") for times in seconds],
        "exponent": round(statistics.median(exponents), 3),
        "interval": [round(low, 3), round(high, 3)],
    }


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The p of the power size^p that fits the values best, by least squares of the logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    return statistics.linear_regression(x, y).slope


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Between which of the values the true median lies, in at least 95 of 100 such samples.

    Of m values each is above the median with probability 1/2, whatever their distribution. The
    extremes where there are too few for that.
    """
    m, ordered = len(values), sorted(values)
    rank, outside = 0, 2 * 0.5**m  # how likely the median lies beyond the rank-th from the end
    while rank + 1 < m / 2 and outside + 2 * math.comb(m, rank + 1) * 0.5**m <= 0.05:
        rank += 1
        outside += 2 * math.comb(m, rank) * 0.5**m
    return ordered[rank], ordered[m - 1 - rank]


def table(result: dict[str, Any]) -> str:
    """The results for the eye: the exponents, and the milliseconds at the largest size."""
    lines = []
    for name, settings in result["series"].items():
        varied, sizes = settings["varied"], settings["sizes"]
        fixed = ", ".join(f"{key} = {settings[key]}" for key in ("n", "d") if key in settings)
        lines.append(f"Seconds over {varied} = {sizes[0]} to {sizes[-1]}, with {fixed}")
        lines.append(f"{'layer':<32} exponent         interval    ms at {sizes[-1]}")
        for r in result["results"]:
            if r["series"] == name:
                low, high = r["interval"]
                exponent_text = f"{r['exponent']:8.2f}   {low:6.2f} to {high:5.2f}"
                lines.append(f"{r['layer']:<32} {exponent_text} {1000 * r['seconds'][-1]:10.2f}")
    return "\n".join(lines)
