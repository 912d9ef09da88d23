"""Learning tasks on real text: IWSLT's talks, and text that you bring."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from transformer.data.corpora import Corpus, iwslt_corpus, text_corpus
from transformer.tasks.task import Settings, Task, build_task
from transformer.text import BPETokenizer

FEW_PAIRS = 50_000

# Recipes, chosen by how much there is to learn from; the chapter "Translating talks" has their
# reasons. Large: fairseq's for IWSLT14, its rate of 5e-4 after 4,000 steps written as a factor.
LARGE = (
    10_000,
    {"d_model": 512, "d_ff": 1024, "n_heads": 4, "n_layers": 6, "dropout": 0.3, "norm": "post"},
    {"epochs": 50, "max_tokens": 4096, "warmup": 4000, "factor": 0.7155, "keep": 5}
    | {"checkpoint_every": 1000},
)
SMALL = (
    4_000,
    {"d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 3, "dropout": 0.3, "norm": "pre"},
    {"epochs": 30, "max_tokens": 1024, "warmup": 800, "factor": 0.5, "cooldown": 0.6},
)


def _corpus_task(
    name: str,
    corpus: Corpus,
    vocab_size: int | None,
    model: Settings | None,
    training: Settings | None,
) -> Task:
    size, shape, recipe = SMALL if len(corpus.train) < FEW_PAIRS else LARGE
    size = vocab_size or size
    tokenizer = BPETokenizer.train([*corpus.train.source, *corpus.train.target], size)
    facts = {**corpus.facts, "vocab_size": tokenizer.vocab_size}
    return build_task(
        name, tokenizer, corpus.train, corpus.splits, (shape, model), (recipe, training), facts
    )


def iwslt_task(
    campaign: str,
    place: Path | str | None = None,
    *,
    source: str = "de",
    target: str = "en",
    test_sets: Sequence[str] = (),
    vocab_size: int | None = None,
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate talks: see `iwslt_corpus` for the data, LARGE and SMALL for the recipes."""
    corpus = iwslt_corpus(campaign, place, source=source, target=target, test_sets=test_sets)
    return _corpus_task(campaign, corpus, vocab_size, model, training)


def text_task(
    place: Path | str | None = None,
    *,
    source: str = "de",
    target: str = "en",
    vocab_size: int | None = None,
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate text of your own: see `text_corpus` for it, LARGE and SMALL for the recipes."""
    corpus = text_corpus(place, source=source, target=target)
    return _corpus_task("text", corpus, vocab_size, model, training)


CAMPAIGNS = ("iwslt14", "iwslt16", "iwslt17")
CORPUS_TASKS: dict[str, Callable[..., Task]] = {
    **{campaign: partial(iwslt_task, campaign) for campaign in CAMPAIGNS},
    "text": text_task,
}
