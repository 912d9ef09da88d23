"""Real text: IWSLT's talks, and text that you bring."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from transformer.data.corpora import (
    Corpus,
    iwslt_corpus,
    iwslt_splits,
    overlaps,
    text_corpus,
    text_splits,
    with_more,
)
from transformer.data.sources import fetch_talks
from transformer.tasks.task import Recipe, Settings, Task, TaskKind, build_task, learn_subwords

# Recipes, chosen by how much there is to learn from; the chapter "Your own translator" has their
# reasons. Large: fairseq's for IWSLT14, its rate of 5e-4 after 4,000 steps written as a factor.
LARGE = Recipe(
    vocab_size=10_000,
    model={"d_model": 512, "d_ff": 1024, "n_heads": 4, "n_layers": 6, "dropout": 0.3}
    | {"norm": "post"},
    training={"epochs": 50, "max_tokens": 4096, "warmup": 4000, "factor": 0.7155, "keep": 5}
    | {"checkpoint_every": 1000},
)
SMALL = Recipe(
    vocab_size=4_000,
    model={"d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 3, "dropout": 0.3}
    | {"norm": "pre"},
    training={"epochs": 30, "max_tokens": 1024, "warmup": 800, "factor": 0.5, "cooldown": 0.6},
)


def _corpus_task(
    name: str, corpus: Corpus, vocab_size: int | None, small: Recipe, large: Recipe
) -> Task:
    recipe = small if corpus.is_small else large
    tokenizer, counts = learn_subwords(corpus.train, vocab_size or recipe.vocab_size)
    counts["copies"] = len(corpus.train) - len(set(corpus.train.normal_pairs()))
    in_training = overlaps(corpus.train, corpus.splits)
    return build_task(
        name,
        tokenizer,
        corpus.train,
        corpus.splits,
        recipe,
        metadata={**corpus.metadata, **counts, "in_training": in_training},
    )


def iwslt_task(
    campaign: str,
    data_path: Path | str | None = None,
    *,
    source: str = "de",
    target: str = "en",
    test_sets: Sequence[str] = (),
    also_path: Path | str | None = None,
    vocab_size: int | None = None,
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate talks: see `iwslt_corpus` for the data, LARGE and SMALL for the recipes.

    Args:
        campaign: "iwslt14", "iwslt16" or "iwslt17".
        data_path: folder or archive of the campaign; downloaded unless given.
        source: the language to translate from, as files are named; de.
        target: the language to translate into, as files are named; en.
        test_sets: IWSLT's test sets, such as TED.tst2014.
        also_path: other text to learn from beside it: a folder, a .tsv file, or what two files
            share; nothing of it is judged by.
        vocab_size: how many subwords; the recipe's unless given.
        model, training: settings that replace those of the recipe.
    """
    small, large = (recipe.overridden(model, training) for recipe in (SMALL, LARGE))
    corpus = iwslt_corpus(campaign, data_path, source=source, target=target, test_sets=test_sets)
    if also_path is not None:
        corpus = with_more(corpus, also_path)
    return _corpus_task(campaign, corpus, vocab_size, small, large)


def text_task(
    data_path: Path | str | None = None,
    *,
    source: str = "de",
    target: str = "en",
    also_path: Path | str | None = None,
    vocab_size: int | None = None,
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate text of your own: see `text_corpus` for it, LARGE and SMALL for the recipes.

    Args:
        data_path: a folder, a .tsv file, or what two files share.
        source: the language to translate from, as files are named; de.
        target: the language to translate into, as files are named; en.
        also_path: other text to learn from beside it: a folder, a .tsv file, or what two files
            share; nothing of it is judged by.
        vocab_size: how many subwords; the recipe's unless given.
        model, training: settings that replace those of the recipe.
    """
    small, large = (recipe.overridden(model, training) for recipe in (SMALL, LARGE))
    corpus = text_corpus(data_path, source=source, target=target)
    if also_path is not None:
        corpus = with_more(corpus, also_path)
    return _corpus_task("text", corpus, vocab_size, small, large)


def _campaign(name: str, expect: str) -> TaskKind:
    return TaskKind(
        partial(iwslt_task, name),
        lambda data_path, run: iwslt_splits(name, data_path, run["data"]),
        expect=expect,
        level=4,
        fetch=partial(fetch_talks, name),
    )


_WHOLE = "about 4 GB of a GPU and some hours; not run by us"
KINDS = {
    "iwslt14": _campaign(
        "iwslt14",
        f"about 170,000 pairs of talks: {_WHOLE}; others report BLEU 34 to 35 (lower case, beam 5)",
    ),
    "iwslt16": _campaign(
        "iwslt16",
        "10,500 pairs of talks, all test sets but one: an hour on a CPU; BLEU in the book; "
        f"with the training files about 200,000 pairs: {_WHOLE}",
    ),
    "iwslt17": _campaign("iwslt17", f"about 210,000 pairs of talks: {_WHOLE}"),
    "text": TaskKind(
        text_task,
        lambda data_path, run: text_splits(data_path, run["data"]),
        expect="yours: train.de and train.en, or a .tsv; as iwslt by its size",
        level=5,
    ),
}
