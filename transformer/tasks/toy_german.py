"""Toy German: the sentences of a small grammar."""

from collections.abc import Iterable

from transformer.data.parallel import ParallelText
from transformer.data.toy_german import SentencePair, ToyGerman, toy_german, vocabulary
from transformer.tasks.task import Recipe, Settings, Splits, Task, TaskKind, build_task
from transformer.text import WordTokenizer

TOY_PAIRS = 240_000  # so many that training sees hardly any sentence twice

RECIPE = Recipe(
    model={"d_model": 128, "d_ff": 512, "n_heads": 8, "dropout": 0.0},
    training={"steps": 3000, "max_tokens": 1024, "warmup": 200, "factor": 0.5}
    | {"cooldown": 0.6, "clip": 1.0},
)


def toy_german_task(
    model: Settings | None = None,
    training: Settings | None = None,
    *,
    corpus: ToyGerman | None = None,
) -> Task:
    """Translate the sentences of a small grammar: minutes on a CPU.

    Args:
        model, training: settings that replace those of the recipe.
        corpus: what to learn from; when None, TOY_PAIRS sentences, made in about half a minute.
    """
    recipe = RECIPE.overridden(model, training)
    german, english = vocabulary()
    tokenizer = WordTokenizer([*german, *english])
    corpus = corpus or toy_german(n_train=TOY_PAIRS)
    return build_task(
        "toy",
        tokenizer,
        ((tokenizer.ids(pair.source), tokenizer.ids(pair.target)) for pair in corpus.train),
        toy_german_splits(corpus),
        recipe,
    )


def toy_german_splits(corpus: ToyGerman | None = None) -> Splits:
    """Unseen combinations of words, longer sentences than any in training, and a random part."""
    corpus = corpus or toy_german(n_train=TOY_PAIRS)
    return {
        "test_combinations": _as_text(corpus.test_combinations),
        "test_longer": _as_text(corpus.test_longer),
        "valid": _as_text(corpus.valid),
    }


def _as_text(pairs: Iterable[SentencePair]) -> ParallelText:
    both = [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]
    return ParallelText.of_pairs(both)


KINDS = {
    "toy": TaskKind(
        toy_german_task,
        lambda data_path, run: toy_german_splits(),
        expect="a small grammar of German: new combinations exact, longer sentences two in three; "
        "3 minutes on a CPU",
        level=2,
    )
}
