"""Greedy search with cached keys and values, beside searches that recompute the prefix."""

import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from measurements.timing import time_in_turn
from transformer import Transformer, TransformerConfig
from transformer.decoding import greedy_search
from transformer.text import BOS_ID, EOS_ID

SHAPE: dict[str, Any] = {"n_layers": 3, "d_model": 256, "d_ff": 1024, "n_heads": 4}
VOCAB_SIZE = 8000
N_TOKENS = 60
BATCH_SIZES = (1, 32)
SEED = 0

Search = Callable[[], list[list[int]]]


def build_model() -> Transformer:
    """Random weights: the time does not depend on them, if only no sentence ends early."""
    torch.manual_seed(SEED)
    model = Transformer(TransformerConfig(VOCAB_SIZE, VOCAB_SIZE, **SHAPE, max_len=128))
    with torch.no_grad():
        # The end mark's logit is then 0, and among 8,000 others there is a larger one.
        model.output.weight[EOS_ID] = 0
    return model.eval()


@torch.no_grad()
def taught(model: Transformer, src: Tensor) -> list[list[int]]:
    """The loop of most tutorials: the whole prefix through the decoder at every step.

    Nothing is kept between the steps, every position gets its logits, and no sentence leaves
    the batch.
    """
    memory = model.encode(src)
    output = src.new_full((src.size(0), 1), BOS_ID)
    for _ in range(N_TOKENS):
        logits = model.logits(model.decode(output, memory, src))
        output = torch.cat([output, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    return output[:, 1:].tolist()


def searches(model: Transformer, src: Tensor) -> dict[str, Search]:
    """The competitors, the cached one first."""

    def ours(use_cache: bool) -> list[list[int]]:
        found = greedy_search(
            model, src, bos_id=BOS_ID, eos_id=EOS_ID, max_len=N_TOKENS, use_cache=use_cache
        )
        return [hypotheses[0].tokens for hypotheses in found]

    return {
        "cached": lambda: ours(True),
        "recomputed": lambda: ours(False),
        "taught": lambda: taught(model, src),
    }


def times_of_searches(model: Transformer, batch_size: int, rounds: int) -> dict[str, Any]:
    """Time the searches in turn, `rounds` times, so that each meets the same noise."""
    src = torch.randint(4, VOCAB_SIZE, (batch_size, N_TOKENS))
    competitors = searches(model, src)
    outputs = {name: search() for name, search in competitors.items()}  # warms up, too
    if not outputs["cached"] == outputs["recomputed"] == outputs["taught"]:
        raise RuntimeError("the searches do not agree; their times cannot be compared")
    seconds = time_in_turn(competitors, rounds)
    result: dict[str, Any] = {"sentences": batch_size, "tokens": N_TOKENS, "rounds": rounds}
    for name, times in seconds.items():
        median = statistics.median(times)
        result[f"{name}_seconds"] = round(median, 4)
        result[f"{name}_tokens_per_second"] = round(batch_size * N_TOKENS / median)
        if name != "cached":
            pairs = zip(times, seconds["cached"], strict=True)
            result[f"{name}_to_cached"] = round(statistics.median(a / b for a, b in pairs), 2)
    return result


def run(quick: bool = False) -> dict[str, Any]:
    """Both batch sizes; `quick` takes small ones and measures once, to see that it runs."""
    model = build_model()
    sizes, rounds = ((1, 2), 1) if quick else (BATCH_SIZES, 7)
    results = [times_of_searches(model, size, rounds) for size in sizes]
    return {"seed": SEED, "model": {**SHAPE, "vocab_size": VOCAB_SIZE}, "results": results}


def table(result: dict[str, Any]) -> str:
    """The results for the eye: tokens per second, and how many times faster the cache is."""
    lines = [
        f"Greedy search, {N_TOKENS} tokens a sentence (tokens per second; speed-up of the cache)",
        f"{'sentences':>9} {'cached':>9} {'recomputed':>16} {'as often taught':>18}",
    ]
    for r in result["results"]:
        slow = [
            f"{r[f'{name}_tokens_per_second']:,} ({r[f'{name}_to_cached']:.1f}x)"
            for name in ("recomputed", "taught")
        ]
        cached = f"{r['cached_tokens_per_second']:,}"
        lines.append(f"{r['sentences']:>9} {cached:>9} {slow[0]:>16} {slow[1]:>18}")
    return "\n".join(lines)
