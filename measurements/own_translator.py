"""What everyday text is worth: how much a careless split leaks, how far more pairs carry.

Copying is the baseline: the translation of the training sentence that is most like the one to be
translated. It needs no model. The curve is of one small model, German to English, trained for
`--steps`, and for five passes where that is more; its sentences are short, so that minutes of one
core teach it something. `as_long` has each smaller amount once more, trained for as many steps as
the largest: what is left of the curve then is the text's. `--minutes` says when no other model is
begun, and `--parts` goes on.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from measurements.everyday_model import some
from measurements.parts import Parts
from transformer.data.everyday import everyday_corpus, families, folded
from transformer.data.parallel import ParallelText
from transformer.evaluation import score
from transformer.runs import train_task
from transformer.tasks.task import Recipe, build_task
from transformer.text import BPETokenizer
from transformer.text.batching import token_batches

from transformer_book.both_ways import without_direction

WAY = "de-en"
WORDS = 6  # of a short sentence, on either side, at most
SIZES = (3_000, 12_000, 50_000, None)  # pairs; None are all that there are
SEEDS = (1, 2, 3)
JUDGED = 1000  # pairs of a test set, at most
PASSES = 5  # over the training pairs, at least
RECIPE = Recipe(
    vocab_size=2000,
    model={"d_model": 128, "d_ff": 256, "n_heads": 4, "n_layers": 2, "norm": "pre", "dropout": 0.1},
    training={"steps": 3000, "max_tokens": 512, "warmup": 200, "factor": 0.5, "cooldown": 0.5}
    | {"log_every": 100},
)


class Neighbours:
    """Training sentences, to find the one that is most like another sentence.

    Alike are sentences that share words, rare ones above all: the cosine of their words' counts,
    each weighted by the logarithm of how rare it is.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        counts = [Counter(folded(sentence).split()) for sentence in sentences]
        found: defaultdict[str, list[int]] = defaultdict(list)
        for i, words in enumerate(counts):
            for word in words:
                found[word].append(i)
        self.n = len(sentences)
        self.rarity = {word: np.log(1 + self.n / len(where)) for word, where in found.items()}
        length = np.array([max(self._length(words), 1e-9) for words in counts])
        self.weights = {
            word: (
                np.array(where),
                np.array([counts[i][word] for i in where]) * self.rarity[word] / length[where],
            )
            for word, where in found.items()
        }

    def _length(self, words: Counter[str]) -> float:
        return float(np.sqrt(sum((n * self.rarity[word]) ** 2 for word, n in words.items())))

    def nearest(self, sentence: str, left_out: Sequence[int] = ()) -> int:
        """The index of the nearest one; the first of equals."""
        likeness = np.zeros(self.n)
        for word, n in Counter(folded(sentence).split()).items():
            if word in self.weights:
                where, weights = self.weights[word]
                likeness[where] += n * self.rarity[word] * weights
        likeness[list(left_out)] = -1
        return int(likeness.argmax())


def copied(train: ParallelText, test: ParallelText) -> dict[str, Any]:
    """The scores of copying."""
    near = Neighbours(train.source)
    outputs = [train.target[near.nearest(sentence)] for sentence in test.source]
    return score(outputs, test.target).to_dict()


def one_way(text: ParallelText, pairs: int | None = None) -> ParallelText:
    """The first so many pairs, without what asks for a language."""
    sources = [without_direction(line) for line in text.source[:pairs]]
    return ParallelText(sources, list(text.target[:pairs]))


def leak(train: ParallelText, held_out: Sequence[ParallelText], most: int) -> dict[str, Any]:
    """What test pairs drawn by chance share with the rest, and what copying gains by it.

    Both scores are of the same test pairs: once the rest may be copied from, once the rest without
    the test pair's relatives, the pairs that a chain of translations joins to it.
    """
    texts = (train, *held_out)
    pairs = [pair for text in texts for pair in zip(text.source, text.target, strict=True)]
    groups = families(pairs)
    family = {i: group for group in groups for i in group}
    chosen = random.Random(0).sample(range(len(pairs)), min(most, len(pairs) // 2))
    tested = set(chosen)
    rest = [i for i in range(len(pairs)) if i not in tested]
    index = {i: at for at, i in enumerate(rest)}
    near = Neighbours([pairs[i][0] for i in rest])
    sides = [{folded(pairs[i][side]) for i in rest} for side in (0, 1)]
    shares: Counter[str] = Counter()
    outputs: dict[str, list[str]] = {"anything": [], "no relatives": []}
    for i in chosen:
        german, english = (folded(pairs[i][side]) in sides[side] for side in (0, 1))
        relatives = [index[j] for j in family[i] if j in index]
        shares.update({"German": german, "English": english, "related": bool(relatives)})
        for name, left_out in (("anything", []), ("no relatives", relatives)):
            outputs[name].append(pairs[rest[near.nearest(pairs[i][0], left_out)]][1])
    references = [pairs[i][1] for i in chosen]
    return {
        "pairs": len(pairs),
        "families": len(groups),
        "largest_family": max(map(len, groups)),
        "tested": len(chosen),
        "in_training": dict(shares),
        "copying": {name: score(found, references).to_dict() for name, found in outputs.items()},
    }


def short(text: ParallelText) -> ParallelText:
    """The pairs of at most `WORDS` words on either side."""
    return ParallelText.of_pairs(
        (source, target)
        for source, target in zip(text.source, text.target, strict=True)
        if max(len(source.split()), len(target.split())) <= WORDS
    )


def learned(train: ParallelText, test: ParallelText, seed: int, steps: int) -> dict[str, Any]:
    """The small model, trained on these pairs: its scores, and how often it read each pair."""
    began = time.process_time()
    tokenizer = BPETokenizer.train([*train.source, *train.target], RECIPE.vocab_size)
    sides = (map(tokenizer.encode, side) for side in (train.source, train.target))
    a_pass = sum(
        1 for _ in token_batches([*zip(*sides, strict=True)], RECIPE.training["max_tokens"])
    )
    recipe = RECIPE.overridden(None, {"seed": seed, "steps": max(steps, PASSES * a_pass)})
    task = build_task("everyday", tokenizer, train, {"test": test}, recipe)
    translator, metrics = train_task(task, device="cpu", show_progress=False)
    return {
        **translator.evaluate(test.source, test.target).to_dict(),
        "steps": recipe.training["steps"],
        "epochs": metrics[-1]["epoch"],
        "loss": metrics[-1]["loss"],
        "cpu_seconds": round(time.process_time() - began),
    }


def run(
    data: Path,
    *,
    sentences: int = JUDGED,
    steps: int = RECIPE.training["steps"],
    minutes: float = 600.0,
    parts: Path | None = None,
) -> dict[str, Any]:
    """What leaks, and the curve, as far as the time allows; all sizes of a seed come together.

    Args:
        data: of the task everyday.
        sentences: of each test set, at most.
        steps: of training, for each point of the curve, at least.
        minutes: after which no other model is begun.
        parts: where finished parts are kept.
    """
    ends = time.monotonic() + 60 * minutes
    torch.set_num_threads(1)
    corpus = everyday_corpus(data)
    train = one_way(corpus.train, corpus.metadata["train_pairs"])
    valid, test = (one_way(corpus.splits[f"{name}.{WAY}"]) for name in ("valid", "test"))
    settings = {"steps": steps, "sentences": sentences, "words": WORDS, "recipe": vars(RECIPE)}
    part = Parts(parts, settings)
    leaked = part("leak", lambda: leak(train, (valid, test), sentences))
    careful = part("careful", lambda: copied(train, some(test, sentences)))
    train, test = short(train), some(short(test), sentences)
    sizes = [min(size or len(train), len(train)) for size in SIZES]
    samples = {seed: [some_of(train, size, seed) for size in sizes] for seed in SEEDS}
    copying = {
        str(seed): [
            part(f"copying {len(text)}, seed {seed}", partial(copied, text, test)) for text in texts
        ]
        for seed, texts in samples.items()
    }
    model: dict[str, list[dict[str, Any]]] = {}
    as_long: dict[str, list[dict[str, Any]]] = {}
    for seed, texts in samples.items():
        points = []
        for text in texts:
            name = f"model {len(text)}, seed {seed}"
            if name in part.done or time.monotonic() < ends:
                points.append(part(name, partial(learned, text, test, seed, steps)))
        if len(points) < len(texts):
            continue
        model[str(seed)] = points
        longer = []
        for text in texts[:-1]:
            name = f"model {len(text)}, seed {seed}, as long as {len(texts[-1])}"
            if name in part.done or time.monotonic() < ends:
                longer.append(part(name, partial(learned, text, test, seed, points[-1]["steps"])))
        if len(longer) == len(texts) - 1:
            as_long[str(seed)] = longer
    return {
        "data": corpus.metadata,
        "settings": settings,
        "leak": leaked,
        "careful": careful,
        "curve": {"pairs": sizes, "copying": copying, "model": model, "as_long": as_long},
    }


def some_of(text: ParallelText, size: int, seed: int) -> ParallelText:
    """So many pairs, drawn with this seed."""
    chosen = random.Random(seed).sample(range(len(text)), size)
    return ParallelText([text.source[i] for i in chosen], [text.target[i] for i in chosen])


def table(result: dict[str, Any]) -> str:
    """What leaks, and a line for each point of the curve."""
    found = result["leak"]
    lines = [
        f"of {found['tested']:,} test pairs drawn by chance have a relative in the training text: "
        f"{found['in_training']['related']:,}"
    ]
    lines += [
        f"copying, {name:14} BLEU {one['bleu']:5.1f}" for name, one in found["copying"].items()
    ]
    lines.append(f"copying, careful split  BLEU {result['careful']['bleu']:5.1f}")
    curve = result["curve"]
    for name in ("copying", "model", "as_long"):
        lines += [
            f"{name}, seed {seed}: "
            + ", ".join(
                f"{pairs:,} pairs BLEU {point['bleu']:.1f}"
                for pairs, point in zip(curve["pairs"][: len(points)], points, strict=True)
            )
            for seed, points in curve[name].items()
        ]
    return "\n".join(lines)
