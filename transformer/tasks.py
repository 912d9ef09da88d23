"""The book's learning tasks, ready to train: data, tokenizer, model and recipe together."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from transformer.config import TransformerConfig
from transformer.data.copy_task import CopyTask
from transformer.data.parallel import ParallelText
from transformer.model import Transformer
from transformer.text import BPETokenizer, Tokenizer, WordTokenizer
from transformer.training import TrainingConfig, token_batches, validation_loss
from transformer.training.batching import TokenPair
from transformer.translation import Translator

if TYPE_CHECKING:
    from transformer.data.toy_german import ToyGerman

Settings = Mapping[str, Any]

TOY_PAIRS = 240_000  # so many that training sees hardly any sentence twice


@dataclass(frozen=True)
class Task:
    """Something to learn, and how.

    Attributes:
        name: what `train` calls it: "copy", "toy", "multi30k", "iwslt16", ...
        tokenizer: one for both sides.
        train: the training pairs as text.
        pairs: the training pairs as token ids.
        splits: the texts to be judged by; the first is looked at during training.
        config: the model's settings.
        training: the training's settings.
        facts: where its data come from and what was dropped of them; ready for JSON.
    """

    name: str
    tokenizer: Tokenizer
    train: ParallelText
    pairs: list[TokenPair]
    splits: dict[str, ParallelText]
    config: TransformerConfig
    training: TrainingConfig
    facts: dict[str, Any] = field(default_factory=dict)

    def build_model(self) -> Transformer:
        """A fresh model, its weights drawn with the training's seed."""
        torch.manual_seed(self.training.seed)
        return Transformer(self.config)

    def evaluator(
        self, split: str | None = None, n_sentences: int = 200
    ) -> Callable[[Transformer], dict[str, Any]]:
        """For the trainer: scores on the first sentences of a split (the first one if None).

        BLEU of the translations, and loss and perplexity of the references: those of them that
        are short enough for the model.
        """
        split = split or next(iter(self.splits))
        text = chosen_split(self.splits, split)
        sources, references = text.source[:n_sentences], text.target[:n_sentences]
        pairs = _encode(self.tokenizer, ParallelText(sources, references))
        pairs = [pair for pair in pairs if max(map(len, pair)) < self.config.max_len]

        def evaluate(model: Transformer) -> dict[str, Any]:
            scores = Translator(model, self.tokenizer).evaluate(sources, references)
            loss = validation_loss(model, pairs, smoothing=self.training.label_smoothing)
            return {"split": split, **scores.to_dict(), **loss}

        return evaluate


# The tasks. `training` may set epochs (passes over the data) instead of steps.


def copy_task(model: Settings | None = None, training: Settings | None = None) -> Task:
    """Copy ten random symbols: 600 steps, seconds on a CPU."""
    seed = (training or {}).get("seed", 0)
    train = _copies(40_000, seed)
    recipe = {"steps": 600, "max_tokens": 704, "warmup": 100, "factor": 0.24}
    shape = {"dropout": 0.0}
    return build_task(
        "copy", _digits(), train, copy_splits(seed), (shape, model), (recipe, training)
    )


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


# The texts that a task is judged by, without its tokenizer and its training text.


def copy_splits(seed: int = 0) -> dict[str, ParallelText]:
    """A thousand sequences; their seed stands apart from any that somebody trains with."""
    return {"test": _copies(1000, -1 - seed)}


def toy_german_splits(corpus: "ToyGerman | None" = None) -> dict[str, ParallelText]:
    """Unseen combinations of words, longer sentences than any in training, and a random part."""
    from transformer.data.toy_german import toy_german

    corpus = corpus or toy_german(n_train=TOY_PAIRS)
    return {
        "test_combinations": _as_text(corpus.test_combinations),
        "test_longer": _as_text(corpus.test_longer),
        "valid": _as_text(corpus.valid),
    }


def multi30k_splits(
    folder: Path | str | None = None, *, source: str = "de", target: str = "en"
) -> dict[str, ParallelText]:
    """The validation part and the three test sets."""
    from transformer.data.multi30k import load_multi30k

    corpus = load_multi30k(folder, source=source, target=target)
    return {"valid": corpus.valid, **corpus.tests}


TASKS: dict[str, Callable[..., Task]] = {
    "copy": copy_task,
    "toy": toy_german_task,
    "multi30k": multi30k_task,
}


def chosen_split(splits: Mapping[str, ParallelText], name: str) -> ParallelText:
    """One of the splits.

    Raises:
        ValueError: there is none of this name.
    """
    if name not in splits:
        raise ValueError(f"no split {name!r}; there are {', '.join(splits)}")
    return splits[name]


def _digits() -> WordTokenizer:
    return WordTokenizer(str(i) for i in range(CopyTask().n_symbols))


def _copies(n: int, seed: int) -> ParallelText:
    tokenizer = _digits()
    lines = [tokenizer.decode(source) for source, _ in CopyTask().pairs(n, seed)]
    return ParallelText(lines, lines)


def build_task(
    name: str,
    tokenizer: Tokenizer,
    train: ParallelText,
    splits: dict[str, ParallelText],
    model: tuple[Settings, Settings | None],
    training: tuple[Settings, Settings | None],
    facts: dict[str, Any] | None = None,
) -> Task:
    """A task, its pairs encoded; `model` and `training`: the recipe and what overrides it."""
    shape, own_shape = model
    config = TransformerConfig.tiny(
        src_vocab_size=tokenizer.vocab_size, **{**shape, **(own_shape or {})}
    )
    pairs = _encode(tokenizer, train)
    settings = _training(pairs, *training)
    return Task(name, tokenizer, train, pairs, splits, config, settings, facts or {})


def _training(pairs: list[TokenPair], recipe: Settings, given: Settings | None) -> TrainingConfig:
    """The recipe with what is given instead; epochs become steps."""
    given = given or {}
    if {"steps", "epochs"} <= given.keys():
        raise ValueError("steps and epochs both say how long to train; set one of them")
    length = {"steps", "epochs"} if {"steps", "epochs"} & given.keys() else set()
    settings = {key: value for key, value in recipe.items() if key not in length}
    settings = {"label_smoothing": 0.1, "log_every": 50, **settings, **given}
    if (epochs := settings.pop("epochs", None)) is not None:
        if epochs <= 0:
            raise ValueError(f"epochs ({epochs}) must be more than 0")
        n_batches = sum(1 for _ in token_batches(pairs, settings["max_tokens"], seed=0))
        per_epoch = n_batches / settings.get("accumulate", 1)
        settings["steps"] = max(1, round(epochs * per_epoch))
        settings.setdefault("evaluate_every", max(1, round(per_epoch)))
    return TrainingConfig(**settings)


def _encode(tokenizer: Tokenizer, text: ParallelText) -> list[TokenPair]:
    return [
        (tokenizer.encode(source), tokenizer.encode(target))
        for source, target in zip(text.source, text.target, strict=True)
    ]


def _as_text(pairs: Iterable[Any]) -> ParallelText:
    pairs = list(pairs)
    return ParallelText(
        [" ".join(pair.source) for pair in pairs], [" ".join(pair.target) for pair in pairs]
    )
