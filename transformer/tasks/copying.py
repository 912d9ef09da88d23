"""Copying: give back ten random symbols."""

from transformer.data.copy_task import CopyTask
from transformer.data.parallel import ParallelText
from transformer.tasks.task import Settings, Task, build_task
from transformer.text import WordTokenizer


def copy_task(model: Settings | None = None, training: Settings | None = None) -> Task:
    """Copy ten random symbols: 600 steps, seconds on a CPU."""
    seed = (training or {}).get("seed", 0)
    train = _copies(40_000, seed)
    recipe = {"steps": 600, "max_tokens": 704, "warmup": 100, "factor": 0.24}
    shape = {"dropout": 0.0}
    return build_task(
        "copy", _digits(), train, copy_splits(seed), (shape, model), (recipe, training)
    )


def copy_splits(seed: int = 0) -> dict[str, ParallelText]:
    """A thousand sequences; their seed stands apart from any that somebody trains with."""
    return {"test": _copies(1000, -1 - seed)}


def _digits() -> WordTokenizer:
    return WordTokenizer(str(i) for i in range(CopyTask().n_symbols))


def _copies(n: int, seed: int) -> ParallelText:
    tokenizer = _digits()
    lines = [tokenizer.decode(source) for source, _ in CopyTask().pairs(n, seed)]
    return ParallelText(lines, lines)
