"""Parsing: from a sentence to the brackets of its tree, by the same model (section 6.3)."""

from collections.abc import Iterable

from transformer.data.parallel import ParallelText
from transformer.data.toy_german import LABELS, SentencePair, Treebank, toy_treebank, vocabulary
from transformer.evaluation import bracketing
from transformer.tasks.task import Recipe, Settings, Splits, Task, TaskKind, build_task
from transformer.text import WordTokenizer
from transformer.text.trees import bracket_tokens

TREES = 40_000  # about as many as the Wall Street Journal's part of the Penn Treebank

RECIPE = Recipe(
    model={"d_model": 64, "d_ff": 256, "n_heads": 4, "dropout": 0.0},
    training={"steps": 1500, "max_tokens": 1024, "warmup": 200, "factor": 0.5}
    | {"cooldown": 0.6, "clip": 1.0, "stop_on": "loss"},
)


def parsing_task(
    model: Settings | None = None,
    training: Settings | None = None,
    *,
    trees: int = TREES,
    bank: Treebank | None = None,
) -> Task:
    """Write the trees of the toy grammar's English sentences, as brackets.

    Args:
        model, training: settings that replace those of the recipe.
        trees: how many sentences train, at most 40,000; the test sets stay the same.
        bank: what to learn from; when None, it is made in a quarter of a minute.

    Raises:
        ValueError: there are no so many trees.
    """
    recipe = RECIPE.overridden(model, training)
    if not 1 <= trees <= TREES:
        raise ValueError(f"trees ({trees}) must be at least 1 and at most {TREES:,}")
    bank = bank or toy_treebank(TREES)
    tokenizer = parsing_tokenizer()
    return build_task(
        "parsing",
        tokenizer,
        as_text(bank.train[:trees]),
        parsing_splits(bank),
        recipe,
        judge=bracketing,
    )


def parsing_tokenizer() -> WordTokenizer:
    """One vocabulary for the words, which are read, and for the brackets, which are written."""
    _, english = vocabulary()
    return WordTokenizer([*english, *bracket_tokens(LABELS)])


def parsing_splits(bank: Treebank | None = None) -> Splits:
    """Unseen sentences, sentences with a construction that training never showed, longer ones."""
    bank = bank or toy_treebank(TREES)
    names = ("valid", "test", "test_constructions", "test_longer")
    return {name: as_text(getattr(bank, name)) for name in names}


def as_text(pairs: Iterable[SentencePair]) -> ParallelText:
    """Sentences and their brackets."""
    return ParallelText.of_pairs([(" ".join(pair.target), pair.brackets) for pair in pairs])


KINDS = {
    "parsing": TaskKind(
        parsing_task,
        lambda data_path, run: parsing_splits(),
        expect="the trees of toy English: bracketing F1 99, of new constructions about 28; "
        "3 minutes on a CPU",
        level=2,
        judge=bracketing,
    )
}
