"""The book's learning tasks, ready to train: data, tokenizer, model and recipe together."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from transformer.config import TransformerConfig
from transformer.data.copy_task import CopyTask
from transformer.data.parallel import ParallelText
from transformer.model import Transformer
from transformer.text import BPETokenizer, Tokenizer, WordTokenizer
from transformer.training import TrainingConfig, token_batches
from transformer.training.batching import TokenPair
from transformer.translation import Translator

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """Something to learn, and how.

    Attributes:
        name: "copy", "toy" or "multi30k".
        tokenizer: one for both sides.
        train: the training pairs as text.
        splits: the texts to be judged by; the first is looked at during training.
        config: the model's settings.
        training: the training's settings.
    """

    name: str
    tokenizer: Tokenizer
    train: ParallelText
    splits: dict[str, ParallelText]
    config: TransformerConfig
    training: TrainingConfig

    @functools.cached_property
    def pairs(self) -> list[TokenPair]:
        """The training pairs as token ids."""
        return _encode(self.tokenizer, self.train)

    def build_model(self) -> Transformer:
        """A fresh model, its weights drawn with the training's seed."""
        torch.manual_seed(self.training.seed)
        return Transformer(self.config)

    def evaluator(
        self, split: str | None = None, n_sentences: int = 200
    ) -> Callable[[Transformer], dict[str, Any]]:
        """For the trainer: scores on the first sentences of a split (the first one if None)."""
        split = split or next(iter(self.splits))
        if split not in self.splits:
            raise ValueError(f"no split {split!r}; there are {', '.join(self.splits)}")
        text = self.splits[split]
        sources, references = text.source[:n_sentences], text.target[:n_sentences]

        def evaluate(model: Transformer) -> dict[str, Any]:
            scores = Translator(model, self.tokenizer).evaluate(sources, references)
            return {"split": split, **scores.to_dict()}

        return evaluate


def copy_task(model: Settings | None = None, training: Settings | None = None) -> Task:
    """Copy ten random symbols: 600 steps, seconds on a CPU."""
    symbols = CopyTask()
    tokenizer = WordTokenizer(str(i) for i in range(symbols.n_symbols))
    recipe: dict[str, Any] = {"steps": 600, "max_tokens": 704, "warmup": 100, "factor": 0.24}
    recipe |= {"label_smoothing": 0.1, "log_every": 50, **(training or {})}

    def text(n: int, seed: int) -> ParallelText:
        lines = [tokenizer.decode(source) for source, _ in symbols.pairs(n, seed)]
        return ParallelText(lines, lines)

    seed = recipe.get("seed", 0)
    train = text(40_000, seed)
    # Seeds of the test stand apart from any seed that somebody trains with.
    return _task(
        "copy", tokenizer, train, {"test": text(1000, -1 - seed)}, {"dropout": 0.0}, model, recipe
    )


def toy_german_task(model: Settings | None = None, training: Settings | None = None) -> Task:
    """Translate the sentences of a small grammar: about three minutes on a CPU."""
    from transformer.data.toy_german import toy_german, vocabulary

    german, english = vocabulary()
    tokenizer = WordTokenizer([*german, *english])
    corpus = toy_german(n_train=80_000)
    splits = {
        "test_combinations": _as_text(corpus.test_combinations),
        "test_longer": _as_text(corpus.test_longer),
        "valid": _as_text(corpus.valid),
    }
    recipe = {"steps": 4500, "max_tokens": 1024, "warmup": 200, "factor": 0.4, "clip": 1.0}
    recipe |= {"label_smoothing": 0.1, "log_every": 50, **(training or {})}
    shape = {"d_model": 128, "d_ff": 512, "dropout": 0.0}
    train = _as_text(corpus.train)
    return _task("toy", tokenizer, train, splits, shape, model, recipe)


def multi30k_task(
    folder: Path | str | None = None,
    *,
    vocab_size: int = 6000,
    source: str = "de",
    target: str = "en",
    model: Settings | None = None,
    training: Settings | None = None,
) -> Task:
    """Translate captions of photographs: an hour on a CPU, minutes on a GPU."""
    from transformer.data.multi30k import load_multi30k

    corpus = load_multi30k(folder, source=source, target=target)
    tokenizer = BPETokenizer.train([*corpus.train.source, *corpus.train.target], vocab_size)
    splits = {"valid": corpus.valid, **corpus.tests}
    shape = {"d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 3, "dropout": 0.2}
    recipe = {"epochs": 10, "max_tokens": 1024, "warmup": 1000, "factor": 1.5}
    recipe |= {"label_smoothing": 0.1, "log_every": 50, **(training or {})}
    return _task("multi30k", tokenizer, corpus.train, splits, shape, model, recipe)


TASKS: dict[str, Callable[..., Task]] = {
    "copy": copy_task,
    "toy": toy_german_task,
    "multi30k": multi30k_task,
}


def _task(
    name: str,
    tokenizer: Tokenizer,
    train: ParallelText,
    splits: dict[str, ParallelText],
    shape: Settings,
    model: Settings | None,
    recipe: dict[str, Any],
) -> Task:
    config = TransformerConfig.tiny(
        src_vocab_size=tokenizer.vocab_size, **{**shape, **(model or {})}
    )
    epochs = recipe.pop("epochs", None)
    if "steps" not in recipe:
        pairs = _encode(tokenizer, train)
        budget = recipe["max_tokens"]
        n_batches = sum(1 for _ in token_batches(pairs, budget, seed=0))
        per_epoch = n_batches / recipe.get("accumulate", 1)
        recipe["steps"] = max(1, round(epochs * per_epoch))
        recipe.setdefault("evaluate_every", max(1, round(per_epoch)))
    return Task(name, tokenizer, train, splits, config, TrainingConfig(**recipe))


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
