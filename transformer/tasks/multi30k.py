"""Multi30k: captions of photographs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer.data.corpora import overlaps
from transformer.data.multi30k import fetch_multi30k, load_multi30k
from transformer.tasks.task import (
    Recipe,
    Settings,
    Splits,
    Task,
    TaskKind,
    build_task,
    learn_subwords,
)

RECIPE = Recipe(
    vocab_size=6000,
    model={"d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 3, "dropout": 0.2},
    training={"epochs": 8, "max_tokens": 1024, "warmup": 400, "factor": 0.64, "cooldown": 0.6},
)


def multi30k_task(
    data_path: Path | str | None = None,
    *,
    vocab_size: int = RECIPE.vocab_size,
    source: str = "de",
    target: str = "en",
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate captions of photographs: half an hour on a CPU, minutes on a GPU, we expect.

    Args:
        data_path: folder, archive or file of the data; what has an address is downloaded unless
            given.
        vocab_size: how many subwords; the recipe's unless given.
        source: the language to translate from, as files are named; de.
        target: the language to translate into, as files are named; en.
        model, training: settings that replace those of the recipe.
    """
    recipe = RECIPE.overridden(model, training)
    corpus = load_multi30k(data_path, source=source, target=target)
    tokenizer, counts = learn_subwords(corpus.train, vocab_size)
    about = {"source": source, "target": target, "train_pairs": len(corpus.train)}
    return build_task(
        "multi30k",
        tokenizer,
        corpus.train,
        corpus.splits,
        recipe,
        metadata={**about, **counts, "in_training": overlaps(corpus.train, corpus.splits)},
    )


def multi30k_splits(
    data_path: Path | str | None = None, *, source: str = "de", target: str = "en"
) -> Splits:
    """The validation part and the three test sets."""
    return load_multi30k(data_path, source=source, target=target).splits


def _splits_of_run(data_path: Path | None, run: Mapping[str, Any]) -> Splits:
    languages = {side: run.get("data", {}).get(side) for side in ("source", "target")}
    return multi30k_splits(data_path, **{side: name for side, name in languages.items() if name})


KINDS = {
    "multi30k": TaskKind(
        multi30k_task,
        _splits_of_run,
        expect="29,000 captions: BLEU 35; half an hour on a CPU (38 in two and a half times as "
        "long, with --epochs 20 --dropout 0.25)",
        level=3,
        fetch=fetch_multi30k,
    )
}
