"""Toy German: the sentences of a small grammar."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from transformer.data.parallel import ParallelText
from transformer.tasks.task import Settings, Task, build_task
from transformer.text import WordTokenizer

if TYPE_CHECKING:
    from transformer.data.toy_german import ToyGerman

TOY_PAIRS = 240_000  # so many that training sees hardly any sentence twice


def toy_german_task(
    model: Settings | None = None,
    training: Settings | None = None,
    *,
    corpus: "ToyGerman | None" = None,
) -> Task:
    """Translate the sentences of a small grammar: about two minutes on a CPU.

    Args:
        model, training: settings that replace those of the recipe.
        corpus: what to learn from; when None, TOY_PAIRS sentences, made in about half a minute.
    """
    from transformer.data.toy_german import toy_german, vocabulary

    german, english = vocabulary()
    tokenizer = WordTokenizer([*german, *english])
    corpus = corpus or toy_german(n_train=TOY_PAIRS)
    recipe = {"steps": 3000, "max_tokens": 1024, "warmup": 200, "factor": 0.5}
    recipe |= {"cooldown": 0.6, "clip": 1.0}
    shape = {"d_model": 128, "d_ff": 512, "n_heads": 8, "dropout": 0.0}
    train = _as_text(corpus.train)
    return build_task(
        "toy", tokenizer, train, toy_german_splits(corpus), (shape, model), (recipe, training)
    )


def toy_german_splits(corpus: "ToyGerman | None" = None) -> dict[str, ParallelText]:
    """Unseen combinations of words, longer sentences than any in training, and a random part."""
    from transformer.data.toy_german import toy_german

    corpus = corpus or toy_german(n_train=TOY_PAIRS)
    return {
        "test_combinations": _as_text(corpus.test_combinations),
        "test_longer": _as_text(corpus.test_longer),
        "valid": _as_text(corpus.valid),
    }


def _as_text(pairs: Iterable[Any]) -> ParallelText:
    pairs = list(pairs)
    return ParallelText(
        [" ".join(pair.source) for pair in pairs], [" ".join(pair.target) for pair in pairs]
    )
