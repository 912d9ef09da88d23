"""Everyday sentences: German to English and English to German, in one model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer.data.everyday import asking_for, everyday_corpus, fetch_everyday
from transformer.data.limits import DataError
from transformer.tasks.task import (
    Recipe,
    Settings,
    Splits,
    Task,
    TaskKind,
    build_task,
    learn_subwords,
)

# The rate climbs to 1e-3 in 2,000 steps, and falls to 0 over the last half. Small batches: of a
# processor's hours they make twice as many steps as batches of 2,048 tokens.
RECIPE = Recipe(
    vocab_size=8000,
    model={"d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 3, "norm": "pre"}
    | {"dropout": 0.1},
    training={"steps": 40_000, "max_tokens": 1024, "warmup": 2000, "factor": 0.7}
    | {"cooldown": 0.5, "keep": 5, "checkpoint_every": 250},
)


def everyday_task(
    data_path: Path | str | None = None,
    *,
    vocab_size: int = RECIPE.vocab_size,
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate everyday sentences in both directions; the source begins with →en or →de.

    Args:
        data_path: folder, archive or file as `read_everyday` takes it; None fetches Tatoeba's
            pairs.
        vocab_size: how many subwords; the recipe's unless given.
        model, training: settings that replace those of the recipe.
    """
    recipe = RECIPE.overridden(model, training)
    corpus = everyday_corpus(data_path)
    tokenizer, counts = learn_subwords(corpus.train, vocab_size)
    return build_task(
        "everyday",
        tokenizer,
        corpus.train,
        corpus.splits,
        recipe,
        metadata={**corpus.metadata, **counts},
    )


def _splits_of_run(data_path: Path | None, run: Mapping[str, Any]) -> Splits:
    corpus = everyday_corpus(data_path)
    found, learned = corpus.metadata["train_pairs"], run["data"]["train_pairs"]
    if found != learned:
        raise DataError(
            f"{data_path or 'what was fetched'} leaves {found:,} pairs to learn from and the run "
            f"has learned from {learned:,} others, which may be what it would be tested on; name "
            "its own data with --data"
        )
    return corpus.splits


KINDS = {
    "everyday": TaskKind(
        everyday_task,
        _splits_of_run,
        expect="180,000 everyday pairs in both directions: hours on a CPU",
        level=4,
        fetch=fetch_everyday,
        asking=asking_for,
    )
}
