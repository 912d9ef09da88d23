"""Copying: give back random symbols, the smallest test of a whole model."""

from transformer.data.copy_task import CopyTask
from transformer.data.parallel import ParallelText
from transformer.tasks.task import Recipe, Settings, Splits, Task, TaskKind, build_task
from transformer.text import WordTokenizer

RECIPE = Recipe(
    model={"dropout": 0.0},
    training={"steps": 600, "max_tokens": 704, "warmup": 100, "factor": 0.24},
)


def copy_task(
    model: Settings | None = None,
    training: Settings | None = None,
    *,
    symbols: CopyTask | None = None,
) -> Task:
    """Copy random symbols, ten out of ten by default: 600 steps, seconds on a CPU."""
    recipe = RECIPE.overridden(model, training)
    symbols = symbols or CopyTask()
    seed = (training or {}).get("seed", 0)
    return build_task(
        "copy",
        _digits(symbols),
        symbols.pairs(40_000, seed),
        copy_splits(seed, symbols),
        recipe,
    )


def copy_splits(seed: int = 0, symbols: CopyTask | None = None) -> Splits:
    """A thousand sequences; their seed stands apart from any that somebody trains with."""
    symbols = symbols or CopyTask()
    digits = _digits(symbols)
    lines = [digits.decode(source) for source, _ in symbols.pairs(1000, -1 - seed)]
    return {"test": ParallelText(lines, lines)}


def _digits(symbols: CopyTask) -> WordTokenizer:
    return WordTokenizer(map(str, range(symbols.n_symbols)))


KINDS = {
    "copy": TaskKind(
        copy_task,
        lambda data_path, run: copy_splits(run["training"]["seed"]),
        expect="ten random symbols: all exact; seconds on a CPU",
        level=1,
    )
}
