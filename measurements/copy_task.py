"""The copy task: how many of 1,000 test sequences are given back whole, and how soon."""

from dataclasses import asdict
from typing import Any

from transformer.data.copy_task import CopyTask
from transformer.runs import train_task
from transformer.tasks import Task, copy_task

SEEDS = (0, 1, 2)

# Ten symbols each, and one to twenty; what differs from the task's own recipe. With label smoothing
# the count stays at its top once it is there; with plain cross-entropy it falls back now and then,
# however small the loss has become. Where lengths differ, the last places are rarely seen: learned
# positions tell them apart within a few hundred steps, for sinusoids 800 were not always enough.
# And since a batch holds sentences of about one length, two batches make a step there.
LENGTHS = {"fixed": CopyTask(10, 10, 10), "mixed": CopyTask(10, 1, 20)}
MODELS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "mixed": {"dropout": 0.05, "positions": "learned"},
}
RECIPES: dict[str, dict[str, Any]] = {
    "fixed": {},
    "mixed": {"max_tokens": 352, "accumulate": 2},
}


def task_of(kind: str, **settings: Any) -> Task:
    """The task with "fixed" or "mixed" lengths."""
    return copy_task(MODELS[kind], {**RECIPES[kind], **settings}, symbols=LENGTHS[kind])


def train_and_count(kind: str, seed: int, steps: int | None = None) -> dict[str, Any]:
    """Train a fresh model and test it; of mixed lengths, the shortest sequences are not unseen."""
    task = task_of(kind, seed=seed, **({"steps": steps} if steps else {}))
    translator, metrics = train_task(task, device="cpu", show_progress=False)
    test = task.splits["test"]
    exact = translator.evaluate(test.source, test.target).exact
    return {
        "kind": kind,
        "seed": seed,
        "exact": round(exact * len(test)),
        "seconds": round(metrics[-1]["seconds"], 1),
    }


def run(quick: bool = False) -> dict[str, Any]:
    """Both kinds, three seeds each; `quick` stops after a few steps, to see that it runs."""
    runs = [
        train_and_count(kind, seed, steps=2 if quick else None)
        for kind in LENGTHS
        for seed in (SEEDS[:1] if quick else SEEDS)
    ]
    tasks = {kind: task_of(kind) for kind in LENGTHS}
    return {
        "seed": SEEDS[0],
        "models": {kind: task.config.to_dict() for kind, task in tasks.items()},
        "recipes": {kind: asdict(task.training) for kind, task in tasks.items()},
        "sequences": len(tasks["fixed"].splits["test"]),
        "results": runs,
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    lines = [
        f"Copy task: of {result['sequences']:,} test sequences, copied whole",
        f"{'lengths':>9} {'seed':>6} {'exact':>7} {'training':>10}",
    ]
    for r in result["results"]:
        lines.append(f"{r['kind']:>9} {r['seed']:>6} {r['exact']:>7,} {r['seconds']:>8.1f} s")
    return "\n".join(lines)
