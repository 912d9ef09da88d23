"""Multi30k: captions of photographs."""

from pathlib import Path

from transformer.data.parallel import ParallelText
from transformer.tasks.task import Settings, Task, build_task
from transformer.text import BPETokenizer


def multi30k_task(
    folder: Path | str | None = None,
    *,
    vocab_size: int = 6000,
    source: str = "de",
    target: str = "en",
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate captions of photographs: half an hour on a CPU, minutes on a GPU."""
    from transformer.data.multi30k import load_multi30k

    corpus = load_multi30k(folder, source=source, target=target)
    tokenizer = BPETokenizer.train([*corpus.train.source, *corpus.train.target], vocab_size)
    splits = {"valid": corpus.valid, **corpus.tests}
    shape = {"d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 3, "dropout": 0.2}
    recipe = {"epochs": 8, "max_tokens": 1024, "warmup": 400, "factor": 0.64, "cooldown": 0.6}
    given = (shape, model), (recipe, training)
    facts = {"source": source, "target": target, "train_pairs": len(corpus.train)}
    return build_task("multi30k", tokenizer, corpus.train, splits, *given, facts)


def multi30k_splits(
    folder: Path | str | None = None, *, source: str = "de", target: str = "en"
) -> dict[str, ParallelText]:
    """The validation part and the three test sets."""
    from transformer.data.multi30k import load_multi30k

    corpus = load_multi30k(folder, source=source, target=target)
    return {"valid": corpus.valid, **corpus.tests}
