"""One run: a row's model, trained on a few sentences of toy German, and how well it then does."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from transformer.config import TransformerConfig
from transformer.data.toy_german import SentencePair, ToyGerman, toy_german, vocabulary
from transformer.model import Transformer
from transformer.support.provenance import provenance
from transformer.text import WordTokenizer
from transformer.training import Trainer, TrainingConfig, TrainingError, noam_rate, validation_loss
from transformer.training.loop import CHECKPOINT
from transformer.training.schedule import linear_cooldown
from transformer.translation import Translator
from transformer.variants import build

from transformer_book.ablation.rows import BASE, Row

TESTS = ("test_combinations", "test_longer")
RECIPE = {"max_tokens": 512, "warmup": 125, "factor": 0.3, "cooldown": 0.5, "clip": 1.0}
CHECKPOINT_EVERY = 100  # steps
TEST_SEED = 0  # of the test sentences that all seeds share


@dataclass(frozen=True)
class Sizes:
    """What all runs of a table share.

    Args:
        sentences: how many sentences of toy German a run trains on; each seed draws its own.
        test_sentences: how many it is judged by, of unseen combinations and of greater length each.
        steps: updates of the weights.
        factor: of the learning rate; the default suited base in 500 steps.
        valid_sentences: how many more are kept to choose by, such as a learning rate.
        one_test: whether all seeds are judged by the same sentences; else each draws its own.
    """

    sentences: int = 1000
    test_sentences: int = 500
    steps: int = 500
    factor: float = RECIPE["factor"]
    valid_sentences: int = 0
    one_test: bool = False

    def __post_init__(self) -> None:
        for name in ("sentences", "test_sentences", "steps"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} ({value}) must be at least 1")
        if self.valid_sentences < 0:
            raise ValueError(f"valid_sentences ({self.valid_sentences}) must not be negative")
        if not self.factor > 0:
            raise ValueError(f"factor ({self.factor}) must be above 0")

    def counts(self) -> dict[str, int]:
        """All but the factor, which stands among the settings of the training."""
        return {name: value for name, value in asdict(self).items() if name != "factor"}


class WithoutWarmUp(Trainer):
    """Training at the highest rate of the schedule until it would begin to fall (section 5.3)."""

    @property
    def rate(self) -> float:
        """The learning rate of the current step."""
        c = self.config
        step = max(self.step, c.warmup)
        rate = noam_rate(step, self.model.config.d_model, c.warmup, c.factor)
        return rate * linear_cooldown(self.step, c.steps, c.cooldown)


def settings_of_run(row: Row, sizes: Sizes) -> dict[str, Any]:
    """All that decides what a run of a row finds, but for its seed; ready for JSON."""
    return {
        **sizes.counts(),
        "model": {**BASE, **row.model},
        "training": {**RECIPE, "factor": sizes.factor, "label_smoothing": 0.1, **row.training},
        "variants": [*row.variants],
        "warm_up": row.warm_up,
    }


def tokenizer() -> WordTokenizer:
    """The words of toy German and of its English, in one vocabulary."""
    german, english = vocabulary()
    return WordTokenizer([*german, *english])


def sentences_of(sizes: Sizes, seed: int) -> ToyGerman:
    """What a run reads and is judged by.

    Raises:
        ValueError: so many unseen sentences cannot be made of the words of those to train on.
    """
    try:
        own = 0 if sizes.one_test else sizes.test_sentences
        corpus = toy_german(sizes.sentences, sizes.valid_sentences, own, seed)
        if not sizes.one_test:
            return corpus
        # What is held out, and what is longer, is in no seed's training sentences.
        shared = toy_german(sizes.sentences, 0, sizes.test_sentences, TEST_SEED)
        return replace(corpus, **{name: getattr(shared, name) for name in TESTS})
    except ValueError as error:
        raise ValueError(
            f"sentences ({sizes.sentences}) have too few words for {sizes.test_sentences} unseen "
            "sentences of each kind; raise the former, or lower the latter (test_sentences)"
        ) from error


def build_row(row: Row, seed: int) -> Transformer:
    """The row's model, its weights drawn with the seed."""
    size = tokenizer().vocab_size
    config = TransformerConfig(size, size, **{**BASE, **row.model})
    torch.manual_seed(seed)
    return build(config, *row.variants)


def run_row(
    row: Row,
    seed: int,
    sizes: Sizes,
    *,
    device: torch.device | str = "cpu",
    folder: Path | None = None,
    show_progress: bool = False,
) -> dict[str, Any]:
    """Train a row's model and judge it.

    The seed draws the sentences, the first weights, the order of the data and dropout.

    Args:
        folder: keeps the training's state, from which a run that was killed goes on.

    Returns:
        parameters, seconds, and for each test set loss (nats per token of the reference, without
        label smoothing), perplexity, BLEU of greedy translations and the share that is exact;
        where sentences were kept to choose by, their loss as `valid`; or, where the training came
        to an end before, why it `failed`.

    Raises:
        ValueError: so many unseen sentences cannot be made of the words of those to train on.
    """
    corpus = sentences_of(sizes, seed)
    words, model = tokenizer(), build_row(row, seed)
    settings = settings_of_run(row, sizes)["training"]
    training = TrainingConfig(
        **settings,
        steps=sizes.steps,
        seed=seed,
        log_every=CHECKPOINT_EVERY,
        checkpoint_every=CHECKPOINT_EVERY,
    )
    trainer = (Trainer if row.warm_up else WithoutWarmUp)(
        model,
        [(words.ids(pair.source), words.ids(pair.target)) for pair in corpus.train],
        training,
        device=device,
        run_dir=folder,
        show_progress=show_progress,
    )
    if folder is not None and (folder / CHECKPOINT).exists():
        trainer.resume(folder / CHECKPOINT)
    result: dict[str, Any] = {"parameters": model.n_parameters()}
    try:
        metrics = trainer.train()
    except TrainingError as error:
        result["failed"] = str(error)
    else:
        result |= {
            "seconds": metrics[-1]["seconds"],
            "training_loss": round(metrics[-1]["loss"], 4),
        }
        if corpus.valid:
            result["valid"] = round(nats(model, words, corpus.valid), 4)
        result |= {name: test_scores(model, words, getattr(corpus, name)) for name in TESTS}
    return {**result, "record": provenance(trainer.device)}


def nats(model: Transformer, words: WordTokenizer, pairs: Sequence[SentencePair]) -> float:
    """The loss of the references, in nats a token, without label smoothing."""
    ids = [(words.ids(pair.source), words.ids(pair.target)) for pair in pairs]
    return validation_loss(model, ids, smoothing=0.0)["valid_nll"]


def test_scores(
    model: Transformer, words: WordTokenizer, pairs: Sequence[SentencePair]
) -> dict[str, float]:
    """Loss and perplexity of the references, BLEU and exactness of the model's translations."""
    loss = nats(model, words, pairs)
    sources = [" ".join(pair.source) for pair in pairs]
    references = [" ".join(pair.target) for pair in pairs]
    scores = Translator(model, words).evaluate(sources, references)
    return {
        "loss": round(loss, 4),
        "perplexity": round(math.exp(loss), 3),
        "bleu": round(scores.bleu, 2),
        "exact": round(scores.exact, 4),
    }
