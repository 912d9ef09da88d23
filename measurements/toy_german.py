"""Toy German: the share of held-out sentences translated exactly, for three seeds."""

from typing import Any

from transformer.data.toy_german import ToyGerman, toy_german
from transformer.runs import train_task
from transformer.tasks import TOY_PAIRS, toy_german_task

SEEDS = (0, 1, 2)
SPLITS = ("test_combinations", "test_longer")


def train_and_score(corpus: ToyGerman, seed: int, steps: int | None = None) -> dict[str, Any]:
    """Train the task's recipe with a seed and translate both test sets."""
    settings = {"seed": seed} | ({"steps": steps} if steps else {})
    task = toy_german_task(training=settings, corpus=corpus)
    translator, metrics = train_task(task, device="cpu", show_progress=False)
    exact = {
        name: round(translator.evaluate(text.source, text.target).exact, 4)
        for name, text in task.splits.items()
        if name in SPLITS
    }
    return {"seed": seed, "exact": exact, "seconds": metrics[-1]["seconds"]}


def run(quick: bool = False) -> dict[str, Any]:
    """Three seeds; `quick` learns little and stops at once, to see that it runs."""
    corpus = toy_german(1000, 20, 20) if quick else toy_german(TOY_PAIRS)
    task = toy_german_task(corpus=corpus)
    seeds, steps = (SEEDS[:1], 2) if quick else (SEEDS, None)
    runs = [train_and_score(corpus, seed, steps) for seed in seeds]
    return {
        "seed": SEEDS[0],
        "model": task.config.to_dict(),
        "sentences": {name: len(task.splits[name]) for name in SPLITS},
        "results": runs,
    }


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    lines = [
        "Toy German: sentences translated exactly",
        f"{'seed':>6} {'new combinations':>18} {'longer':>8} {'training':>10}",
    ]
    for r in result["results"]:
        combinations, longer = (r["exact"][name] for name in SPLITS)
        lines.append(f"{r['seed']:>6} {combinations:>18.1%} {longer:>8.1%} {r['seconds']:>8.0f} s")
    return "\n".join(lines)
