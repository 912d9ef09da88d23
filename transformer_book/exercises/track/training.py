"""Training with the reader's parts: on copying, which takes seconds, and on toy German."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor

from transformer.data.toy_german import toy_german
from transformer.decoding import greedy_search
from transformer.tasks import Recipe, Task, build_task, copy_task, toy_german_splits
from transformer.text import BOS_ID, EOS_ID
from transformer.training import Trainer, linear_cooldown
from transformer.training.loss import ModelWithLoss
from transformer.translation import Translator

from transformer_book.exercises.track.model import OwnTransformer, build
from transformer_book.exercises.track.parts import Parts
from transformer_book.exercises.track.search import beam, greedy
from transformer_book.exercises.track.subwords import OwnSubwords
from transformer_book.scales import scaled

MORE = 10  # tokens than the source has are written one by one, at most
SEARCHES = ("greedy_search", "beam_step")  # the parts that write one by one
Say = Callable[[str], Any]


class OwnLoss(ModelWithLoss):
    """The model with the reader's `label_smoothing_loss`."""

    def __init__(self, model: OwnTransformer, smoothing: float) -> None:
        super().__init__(model, smoothing)
        self.parts = model.parts

    def _loss(self, logits: Tensor, target: Tensor) -> Tensor:
        pad_id = self.model.config.pad_id
        return self.parts["label_smoothing_loss"](logits, target, self.smoothing, pad_id)


class OwnTrainer(Trainer):
    """Our loop, with the reader's loss and `noam_rate`."""

    def __init__(self, model: OwnTransformer, task: Task, *, show_progress: bool) -> None:
        # These models are too small to gain from another device.
        super().__init__(
            model, task.pairs, task.training, device="cpu", show_progress=show_progress
        )
        self.parts = model.parts
        self._loss = self._shared = OwnLoss(model, task.training.label_smoothing)

    @property
    def rate(self) -> float:
        """The learning rate of the current step; the factor and the cooling down are ours."""
        c = self.config
        rate = self.parts["noam_rate"](self.step, self.model.config.d_model, c.warmup)
        return c.factor * rate * linear_cooldown(self.step, c.steps, c.cooldown)


@dataclass(frozen=True)
class Trained:
    """What came of a training.

    Attributes:
        translator: the model, with its tokenizer.
        right: how many sequences of the test come out exactly right.
        total: how many there are.
        examples: some sources, with what the model makes of them.
    """

    translator: Translator
    right: int
    total: int
    examples: list[tuple[str, str]]


def copying(parts: Parts) -> Task:
    """The copy task at the sizes of its chapter, for the paper's post-norm."""
    training = {"steps": scaled(smoke=20, cpu=300), "cooldown": 0.5}
    return copy_task(model={"norm": "post"}, training=training)


TOY = Recipe(
    model={"d_model": 128, "d_ff": 512, "n_heads": 8, "dropout": 0.0, "norm": "post"},
    training={"max_tokens": 1024, "warmup": 200, "factor": 0.5, "cooldown": 0.6, "clip": 1.0},
)


def translating(parts: Parts) -> Task:
    """Toy German in subwords; fewer sentences and steps than its own recipe has."""
    corpus = toy_german(n_train=scaled(smoke=2_000, cpu=60_000))
    lines = [(" ".join(pair.source), " ".join(pair.target)) for pair in corpus.train]
    text = "\n".join(line for pair in lines for line in pair)
    tokenizer = OwnSubwords.learn(text, scaled(smoke=30, cpu=600), parts)
    pairs = [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in lines]
    steps = scaled(smoke=20, cpu=1500)
    splits = toy_german_splits(corpus)
    return build_task("toy", tokenizer, pairs, splits, TOY.overridden(None, {"steps": steps}))


TRAINS: dict[str, Callable[[Parts], Task]] = {"copy": copying, "toy": translating}


def train(
    name: str,
    parts: Parts | None = None,
    *,
    task: Task | None = None,
    say: Say = print,
    show_progress: bool = True,
) -> Trained:
    """Train a model of the reader's parts, let it write, and say what came of it.

    Args:
        name: "copy" or "toy".
        parts: the reader's; ours alone where there are none.
        task: in the place of the one of this name, such as one with fewer steps.
        say: takes the lines.
        show_progress: draw a progress line.

    Raises:
        ValueError: there is no training of this name.
    """
    if name not in TRAINS:
        raise ValueError(f"there is no training {name!r}; choose one of {', '.join(TRAINS)}")
    parts = parts or Parts()
    parts.begin()
    task = task or TRAINS[name](parts)
    model = build(task.config, parts, task.training.seed)
    say(f"{model.n_parameters():,} weights, {task.training.steps} steps")
    OwnTrainer(model, task, show_progress=show_progress).train()
    trained = scored(Translator(model, task.tokenizer), task)
    outcome = f"{trained.right:,} of {trained.total:,} sequences it has never seen"
    say(f"Copied whole: {outcome}" if name == "copy" else f"Translated exactly: {outcome}")
    for source, output in trained.examples if name == "toy" else trained.examples[:1]:
        say(f"  {source} -> {output}")
    for line in one_by_one(model, task):
        say(line)
    return trained


def scored(translator: Translator, task: Task) -> Trained:
    """Let the model write the sources of the first split, many side by side."""
    text = next(iter(task.splits.values()))
    n = scaled(smoke=20, cpu=1000)
    sources, targets = text.source[:n], text.target[:n]
    search = partial(greedy_search, use_cache=False)
    outputs = [hypotheses[0][0] for hypotheses in translator.search(sources, search)]
    right = sum(map(str.__eq__, outputs, targets))
    examples = [*zip(sources[:3], outputs[:3], strict=True)]
    return Trained(translator, right, len(sources), examples)


def one_by_one(model: OwnTransformer, task: Task) -> Iterator[str]:
    """What the reader's searches make of a few sources, and what the heads look at."""
    text, n = next(iter(task.splits.values())), scaled(smoke=2, cpu=10)
    whose = {name: "your" if name in model.parts.yours else "our" for name in SEARCHES}
    right = {
        f"{whose['greedy_search']} greedy search": 0,
        f"a beam of 4 around {whose['beam_step']} beam_step": 0,
    }
    for line, target in zip(text.source[:n], text.target[:n], strict=True):
        source = [*task.tokenizer.encode(line), EOS_ID]
        limits = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": len(source) + MORE}
        outputs = greedy(model, source, **limits), beam(model, source, **limits).tokens
        for search, output in zip(right, outputs, strict=True):
            right[search] += task.tokenizer.decode(output) == target
    counts = (f"{search} writes {count}" for search, count in right.items())
    yield f"Of {n}, one by one, exactly right: {'; '.join(counts)}."
    if task.name == "copy":
        share = on_the_diagonal(Translator(model, task.tokenizer), text.source[0])
        yield f"The best head puts {share:.0%} of its weight on the symbol that is to be copied."


def on_the_diagonal(translator: Translator, line: str) -> float:
    """Of all heads that read the source, the most that one gives to position t at step t."""
    weights = translator.attention(line, line).weights
    cross = [each for name, each in weights.items() if name.endswith("cross")]
    return max(float(each.diagonal(dim1=-2, dim2=-1).mean(-1).max()) for each in cross)
