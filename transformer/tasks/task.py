"""A learning task, ready to train: data, tokenizer, model and recipe together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from transformer.batching import TokenPair, token_batches
from transformer.config import TransformerConfig
from transformer.data.parallel import ParallelText
from transformer.model import Transformer
from transformer.text import Tokenizer
from transformer.training import TrainingConfig, validation_loss
from transformer.translation import Translator

Settings = Mapping[str, Any]


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


def chosen_split(splits: Mapping[str, ParallelText], name: str) -> ParallelText:
    """One of the splits.

    Raises:
        ValueError: there is none of this name.
    """
    if name not in splits:
        raise ValueError(f"no split {name!r}; there are {', '.join(splits)}")
    return splits[name]


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
