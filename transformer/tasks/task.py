"""A learning task, ready to train: data, tokenizer, model and recipe together."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch

from transformer.config import TransformerConfig
from transformer.data.parallel import ParallelText
from transformer.evaluation import score
from transformer.model import Transformer
from transformer.tasks.start import Start
from transformer.text import BPETokenizer, Tokenizer, normalize
from transformer.text.batching import Lengths, TokenPair, TokenPairs, token_batches
from transformer.training import TrainingConfig, validation_loss
from transformer.translation import Translator
from transformer.weights import parameter_shapes

# Of each parameter in training: itself, its gradient and two means, in float32. And of each tensor
# what Python keeps of it and of its module.
BYTES_A_PARAMETER, BYTES_A_TENSOR = 16, 4096

Settings = Mapping[str, Any]
Splits = dict[str, ParallelText]
ANY_SIZE = 1000  # of a vocabulary, where the settings are looked at without one


@runtime_checkable
class Verdict(Protocol):
    """How good a set of outputs is: numbers for a file, and as a string one line for a terminal."""

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""


# From the sentences, the model's outputs and the references, one of each.
Judge = Callable[[Sequence[str], Sequence[str], Sequence[str]], Verdict]


def as_translations(
    sentences: Sequence[str], outputs: Sequence[str], references: Sequence[str]
) -> Verdict:
    """BLEU and chrF, for which the sentences themselves do not matter."""
    return score(outputs, references)


@dataclass(frozen=True)
class Task:
    """Something to learn, and how.

    Attributes:
        name: what `train` calls it: "copy", "toy", "multi30k", "iwslt16", ...
        tokenizer: one for both sides.
        pairs: the training pairs as token ids: tables of them, as `build_task` makes it.
        splits: the texts to be judged by; the first is looked at during training.
        config: the model's settings.
        training: the training's settings.
        metadata: where its data come from and what was dropped of them; ready for JSON.
        start: the model whose weights it begins with; None draws them.
        judge: says how good the outputs are.
    """

    name: str
    tokenizer: Tokenizer
    pairs: Sequence[TokenPair]
    splits: Splits
    config: TransformerConfig
    training: TrainingConfig
    metadata: dict[str, Any] = field(default_factory=dict)
    start: Start | None = None
    judge: Judge = as_translations

    def starting_from(self, start: Start) -> "Task":
        """The same task for a model that begins with another one's weights.

        Raises:
            ValueError: its sizes or its tokens do not fit.
        """
        start.require_fitting(self.config, self.tokenizer)
        return replace(self, start=start)

    @property
    def example(self) -> str:
        """A short sentence of the training text, as the model reads it."""
        ids = min((source for source, _ in self.pairs[:50]), key=len, default=())
        return self.tokenizer.decode([int(token) for token in ids])

    def about_data(self) -> Iterator[str]:
        """What there is to say about the data before training, a line each."""
        data = self.metadata
        if "training_text" in data:
            yield f"Trains on {data['training_text']}; tests on {', '.join(data['test_sets'])}"
        if "dropped" in data:
            held_out = data["pairs"] - sum(data["dropped"].values()) - data["train_pairs"]
            yield _about_pairs(data, data["pairs"], data["train_pairs"]) + (
                f", {held_out:,} held out" if held_out else ""
            )
        if also := data.get("also"):
            n_read = also["pairs"] + sum(also["dropped"].values())
            yield f"Also from {also['name']}: {_about_pairs(also, n_read, also['pairs'])}"
        if too_long := data.get("too_long"):
            yield (
                f"{too_long['pairs']:,} more dropped, too long for the model or a batch (first: "
                f"{too_long['first']}); {len(self.pairs):,} train"
            )
        if copies := data.get("copies"):
            yield f"{copies:,} pairs of the training text repeat another"
        longest = data.get("longest") or int(Lengths.of(self.pairs).longer.max())
        yield (
            f"The longest has {longest:,} tokens with its mark; the model takes "
            f"{self.config.max_len:,} (max_len), a batch {self.training.max_tokens:,} (max_tokens)"
        )
        if "letters" in data:
            yield (
                f"{data['letters']:,} different characters; {data['subwords_asked']:,} subwords "
                f"asked for, {data['vocab_size']:,} made"
            )
        for name, text in self.splits.items():
            if n := data.get("empty", {}).get(name):
                of_all = f"{n:,} of {n + len(text):,} pairs of {name}"
                yield f"{of_all} have an empty side, and are not scored"
            if n := data.get("in_training", {}).get(name):
                yield f"{n:,} of {len(text):,} sentences of {name} stand in the training text"
            if n := len(text) - len(translatable(text, self.tokenizer, self.config.max_len)):
                yield f"{n:,} of {len(text):,} sentences of {name} are too long, and not scored"
        if "source" in data and self.judge is as_translations:
            firsts = {name: text.target[:100] for name, text in self.splits.items()}
            ways = {name: score(lines, lines).signature for name, lines in firsts.items()}
            for way in dict.fromkeys(ways.values()):
                names = [name for name in ways if ways[name] == way]
                whose = f" ({', '.join(names)})" if len(names) < len(ways) else ""
                yield f"Scored by BLEU, {way}{whose}"

    def build_model(self) -> Transformer:
        """A fresh model, its weights drawn with the training's seed, or taken from the start.

        Raises:
            ValueError: this machine has too little memory to train it.
        """
        require_memory(self.config)
        torch.manual_seed(self.training.seed)
        model = Transformer(self.config)
        if self.start is not None:
            self.start.hand_over(model, self.tokenizer)
        return model

    def evaluator(
        self, split: str | None = None, n_sentences: int = 200
    ) -> Callable[[Transformer], dict[str, Any]]:
        """For the trainer: scores on the first sentences of a split (the first one if None).

        What the task's judge says of the outputs, and loss and perplexity of the references: those
        of them that are short enough for the model. "left_out" counts sources that are not.

        Raises:
            ValueError: there is no such split, or no pair in it that is short enough.
        """
        split = split or next(iter(self.splits))
        text = chosen_split(self.splits, split)
        every = text.only(range(min(n_sentences, len(text))))
        text = translatable(every, self.tokenizer, max_len := self.config.max_len)
        sources, references = text.source, text.target
        encoded = [*encode(self.tokenizer, every)]
        pairs = [pair for pair in encoded if max(map(len, pair)) < max_len]
        if not pairs:
            Lengths.of(encoded).require(f"no pair of {split} fits; the longest", max_len=max_len)
            raise ValueError(f"there are no pairs in {split} to evaluate on")
        left_out = {"left_out": len(every) - len(text)} if len(text) < len(every) else {}

        def evaluate(model: Transformer) -> dict[str, Any]:
            outputs = Translator(model, self.tokenizer).translate(sources)
            scores = self.judge(sources, outputs, references)
            loss = validation_loss(model, pairs, smoothing=self.training.label_smoothing)
            return {"split": split, **scores.to_dict(), **left_out, **loss}

        return evaluate


@dataclass(frozen=True)
class Recipe:
    """How a task is learned where nobody asks for something else.

    Attributes:
        model: settings of the model, on top of `TransformerConfig.tiny`.
        training: settings of the training; `epochs` (passes over the data) may replace `steps`.
        vocab_size: of tasks with subwords, how many.
    """

    model: Settings
    training: Settings
    vocab_size: int = 0

    def overridden(self, model: Settings | None, training: Settings | None) -> "Recipe":
        """The recipe with some settings replaced, refused before any data are read for them.

        Raises:
            ValueError: a setting is none, or does not go with the others.
        """
        chosen = {**self.model, **(model or {})}
        TransformerConfig.tiny(src_vocab_size=ANY_SIZE, **chosen)
        settings = _chosen(self.training, training or {})
        tried = dict(settings)
        if (epochs := tried.pop("epochs", None)) is not None:
            if not 0 < epochs < math.inf:
                raise ValueError(f"epochs ({epochs}) must be more than 0 and finite")
            tried = {"evaluate_every": 1, **tried, "steps": 1}  # as many as there are batches
        TrainingConfig(**tried)
        return replace(self, model=chosen, training=settings)


@dataclass(frozen=True)
class TaskKind:
    """A task as the command line knows it; one entry makes it known to every command.

    Attributes:
        build: makes the task. Its parameters `model` and `training` override the recipe; all its
            others are options of `train`, with the help that its docstring's `Args:` gives.
        splits: the texts by which a run is judged, from where the data lie (None: nobody said) and
            from the run's config.json. The training text need not be there.
        expect: what comes out and how long it takes, for `train --help`.
        level: the book's steps of reality, 1 for random symbols; tasks are listed in this order.
        fetch: downloads the data into a folder (None: the user's cache) and returns what `--data`
            takes; None where there is nothing to download.
        judge: says how good a run's outputs are; the same one that its task has.
        asking: tells a model of several languages which one to translate sentences into: from the
            language and the sentences what it reads. None where there is one direction.
    """

    build: Callable[..., Task]
    splits: Callable[[Path | None, Mapping[str, Any]], Splits]
    expect: str
    level: int
    fetch: Callable[[Path | None], Path] | None = None
    judge: Judge = as_translations
    asking: Callable[[str, Sequence[str]], list[str]] | None = None


def require_memory(config: TransformerConfig) -> None:
    """Refuse settings, before anything is built of them, that no memory here could hold.

    Raises:
        ValueError: training would take more than this machine has.
    """
    one, two = (parameter_shapes(replace(config, n_layers=n)) for n in (1, 2))
    sizes = [sum(map(math.prod, shapes.values())) for shapes in (one, two)]
    n_parameters = sizes[0] + (config.n_layers - 1) * (sizes[1] - sizes[0])
    n_tensors = len(one) + (config.n_layers - 1) * (len(two) - len(one))
    positions = 2 * 4 * config.max_len * config.d_model
    needed = BYTES_A_PARAMETER * n_parameters + BYTES_A_TENSOR * n_tensors + positions
    if hasattr(os, "sysconf") and needed > (
        available := os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    ):
        raise ValueError(
            f"a model of {n_parameters:,} parameters would take {needed / 2**30:,.0f} GB to train, "
            f"and this machine has {available / 2**30:,.0f} GB of memory; choose a smaller "
            "d_model, d_ff, n_layers, max_len or vocab_size"
        )


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
    train: ParallelText | Iterable[TokenPair],
    splits: Splits,
    recipe: Recipe,
    *,
    metadata: dict[str, Any] | None = None,
    judge: Judge = as_translations,
) -> Task:
    """A task, its training pairs encoded where they are text.

    Of a text from files, pairs that are too long for the model or for a batch are left out.

    Raises:
        ValueError: none is left, or the pairs come from no file.
    """
    config = TransformerConfig.tiny(src_vocab_size=tokenizer.vocab_size, **recipe.model)
    settings = _chosen(recipe.training, {})
    max_tokens = settings.get("max_tokens", TrainingConfig.max_tokens)
    limits = {"max_len": config.max_len, "max_tokens": max_tokens}
    text = train if isinstance(train, ParallelText) else ParallelText([], [])
    pairs = TokenPairs.of(encode(tokenizer, train) if isinstance(train, ParallelText) else train)
    if not len(pairs):
        why = "; ".join((metadata or {}).get("dropped", ())) or "there are none"
        raise ValueError(f"no sentence pair is left to train on: {why}")
    lengths = Lengths.of(pairs)
    long = lengths.longer > min(limits.values())
    if long.all() or not text.origins:
        lengths.require("the longest sentence to train on", **limits)
    elif long.any():
        pairs = TokenPairs(pairs[int(i)] for i in (~long).nonzero()[0])
        too_long = {"pairs": int(long.sum()), "first": text.line(int(long.argmax()))}
        longest = int(lengths.longer.max())
        metadata = {**(metadata or {}), "longest": longest, "too_long": too_long}
    return Task(
        name=name,
        tokenizer=tokenizer,
        pairs=pairs,
        splits=splits,
        config=config,
        training=_training_config(pairs, settings),
        metadata=metadata or {},
        judge=judge,
    )


def learn_subwords(text: ParallelText, vocab_size: int) -> tuple[BPETokenizer, dict[str, int]]:
    """One tokenizer for both sides, and for the metadata how many subwords and characters it met.

    Raises:
        ValueError: see `BPETokenizer.train`.
    """
    lines = [*text.source, *text.target]
    tokenizer = BPETokenizer.train(lines, vocab_size)
    counts = {"subwords_asked": vocab_size, "letters": len(set().union(*map(normalize, lines)))}
    return tokenizer, {"vocab_size": tokenizer.vocab_size, **counts}


def translatable(text: ParallelText, tokenizer: Tokenizer, max_len: int) -> ParallelText:
    """The pairs whose source, with its end mark, a model of this `max_len` takes."""
    # A letter is at most 12 tokens: three letters once normalised, in four bytes each.
    return text.only(
        i
        for i, line in enumerate(text.source)
        if 12 * len(line) + 2 < max_len or len(tokenizer.encode(line)) < max_len
    )


def _about_pairs(data: Settings, n_read: int, n_kept: int) -> str:
    """How many pairs were read, dropped and kept, and where the first of each reason stands."""
    dropped = data["dropped"].items()
    why = "; ".join(
        f"{n:,} where {why} (first: {data['first_dropped'][why]})" for why, n in dropped
    )
    n_dropped = sum(data["dropped"].values())
    return (
        f"{n_read:,} pairs, {n_dropped:,} of them dropped{': ' if why else ''}{why}; "
        f"{n_kept:,} train"
    )


def _chosen(recipe: Settings, overrides: Settings) -> dict[str, Any]:
    """The training's settings of a recipe with what replaces them."""
    if {"steps", "epochs"} <= overrides.keys():
        raise ValueError("steps and epochs both say how long to train; set one of them")
    length = {"steps", "epochs"} if {"steps", "epochs"} & overrides.keys() else set()
    settings = {key: value for key, value in recipe.items() if key not in length}
    return {"label_smoothing": 0.1, "log_every": 50, **settings, **overrides}


def _training_config(pairs: TokenPairs, settings: dict[str, Any]) -> TrainingConfig:
    """Settings that have been checked; epochs become steps."""
    if (epochs := settings.pop("epochs", None)) is not None:
        n_batches = sum(1 for _ in token_batches(pairs, settings["max_tokens"], seed=0))
        per_epoch = n_batches / settings.get("accumulate", 1)
        settings["steps"] = max(1, round(epochs * per_epoch))
        settings.setdefault("evaluate_every", max(1, round(per_epoch)))
    return TrainingConfig(**settings)


def encode(tokenizer: Tokenizer, text: ParallelText) -> Iterator[TokenPair]:
    """The sentence pairs as token ids, one after the other."""
    for source, target in zip(text.source, text.target, strict=True):
        yield tokenizer.encode(source), tokenizer.encode(target)
