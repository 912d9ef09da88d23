"""The copy task: how many of 1,000 unseen sequences are given back whole, and how soon."""

import time
from collections.abc import Sequence
from typing import Any

import torch

from transformer import Transformer, TransformerConfig
from transformer.batching import TokenPair
from transformer.data.copy_task import CopyTask
from transformer.decoding import greedy_search
from transformer.text import BOS_ID, EOS_ID, PAD_ID
from transformer.training import Trainer, TrainingConfig, make_batch

SEEDS = (0, 1, 2)
N_TRAIN, N_TEST = 40_000, 1_000

# Ten symbols each, and one to twenty. With label smoothing the count stays at its top once it is
# there; with plain cross-entropy it falls back now and then, however small the loss has become.
# Where lengths differ, the last places are rarely seen: learned positions tell them apart within a
# few hundred steps, for sinusoids 800 were not always enough. And since a batch holds sentences
# of about one length, two batches make a step there.
TASKS = {"fixed": CopyTask(10, 10, 10), "mixed": CopyTask(10, 1, 20)}
MODELS: dict[str, dict[str, Any]] = {
    "fixed": {"dropout": 0.0},
    "mixed": {"dropout": 0.05, "positions": "learned"},
}
RECIPES: dict[str, dict[str, Any]] = {
    "fixed": {"steps": 500, "max_tokens": 704},
    "mixed": {"steps": 600, "max_tokens": 352, "accumulate": 2},
}


def count_exact(model: Transformer, pairs: Sequence[TokenPair]) -> int:
    """How many sources greedy search gives back without a mistake."""
    longest = max(len(target) for _, target in pairs)
    exact = 0
    for start in range(0, len(pairs), 250):
        part = pairs[start : start + 250]
        src = make_batch(part, bos_id=BOS_ID, eos_id=EOS_ID, pad_id=PAD_ID).src
        found = greedy_search(model, src, bos_id=BOS_ID, eos_id=EOS_ID, max_len=longest + 5)
        exact += sum(
            hypotheses[0].tokens == target
            for hypotheses, (_, target) in zip(found, part, strict=True)
        )
    return exact


def train_and_count(kind: str, seed: int, steps: int | None = None) -> dict[str, Any]:
    """Train a fresh model on the "fixed" or "mixed" lengths and test it on unseen sequences."""
    task = TASKS[kind]
    recipe = {"warmup": 100, "factor": 0.24, "label_smoothing": 0.1, **RECIPES[kind]}
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig.tiny(src_vocab_size=task.vocab_size, **MODELS[kind]))
    config = TrainingConfig(**{**recipe, "steps": steps or recipe["steps"], "seed": seed})
    trainer = Trainer(model, task.pairs(N_TRAIN, seed), config, device="cpu", show_progress=False)
    began = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - began
    exact = count_exact(model, task.pairs(N_TEST, seed + 1_000_000))
    return {"kind": kind, "seed": seed, "exact": exact, "seconds": round(seconds, 1)}


def run(quick: bool = False) -> dict[str, Any]:
    """Both kinds, three seeds each; `quick` stops after a few steps, to see that it runs."""
    runs = [
        train_and_count(kind, seed, steps=2 if quick else None)
        for kind in TASKS
        for seed in (SEEDS[:1] if quick else SEEDS)
    ]
    return {
        "seed": SEEDS[0],
        "models": MODELS,
        "recipes": RECIPES,
        "sequences": N_TEST,
        "results": runs,
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    lines = [
        f"Copy task: of {result['sequences']:,} unseen sequences, copied whole",
        f"{'lengths':>9} {'seed':>6} {'exact':>7} {'training':>10}",
    ]
    for r in result["results"]:
        lines.append(f"{r['kind']:>9} {r['seed']:>6} {r['exact']:>7,} {r['seconds']:>8.1f} s")
    return "\n".join(lines)
