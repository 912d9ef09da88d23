"""Another exam with other numbers: `python -m tools.exam --seed 7` prints questions and solutions.

The questions stand on the lecturers' page, the solutions in a file that is no page. Here stands how
the solution of each question with numbers follows from them: so the numbers of the first exam are
checked, and others get their solution. What a solution says in words, that the longer hypothesis
wins or that greedy search misses the best, holds for whatever is drawn.
"""

import argparse
import math
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import torch

from transformer import TransformerConfig
from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.decoding.beam import penalty
from transformer.embedding import sinusoidal_positions
from transformer.evaluation import bleu_counts
from transformer.layers import FeedForward
from transformer.text.bpe import MergeStep, merge_steps
from transformer.training import label_smoothing_loss, noam_rate

from transformer_book.ablation.findings import quantile_975
from transformer_book.widgets.seeds_explorer import RULE

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "book/lecturers.md"
SOLUTIONS = ROOT / "book/lecturers/exam_solutions.md"
HEADING = "## Exam questions"
BEGINS = re.compile(r"^(?:\*\*)?(\d+)\.(?:\*\*)? ", re.MULTILINE)
ALPHA = 0.6  # of the paper's length penalty
WORDS = {4: "four", 5: "five", 8: "eight", 10: "ten"}

# What is asked and what comes out, each as it is printed, in the order of the text.
Printed = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Question:
    """A question: its numbers on the page, how others are drawn, and what is printed of them."""

    first: tuple[Any, ...]
    draw: Callable[[Random], tuple[Any, ...]]
    printed: Callable[..., Printed]


def attention(query: list[int], keys: list[list[int]], values: list[int]) -> Printed:
    """One query meets three keys, in two dimensions."""
    q, k = torch.tensor([query]).double(), torch.tensor(keys).double()
    output, weights = scaled_dot_product_attention(q, k, torch.tensor(values).double()[:, None])
    scores = (k @ q[0]).tolist()
    scaled = [score / math.sqrt(2) for score in scores]
    below = [x - max(scaled) for x in scaled]
    hints = [rf"e^{{{x:.3f}}} \approx {math.exp(x):.3f}" for x in sorted(below)[1::-1]]
    asked = [_pair(query), *map(_pair, keys), f"values {_listed(values)}", *hints]
    relative = ", ".join(f"{math.exp(x):.3f}" if x else "1" for x in below)
    solved = [
        f"Scores {_row(scores)}; divided",
        ", ".join(f"{x:.3f}" for x in scaled),
        f"largest: {relative}",
        "Weights " + ", ".join(f"{w:.3f}" for w in weights[0].tolist()),
        f"output {output.item():.2f}",
    ]
    return asked, solved


def _other_attention(random: Random) -> tuple[Any, ...]:
    while True:
        query = [random.randint(1, 3), random.randint(1, 3)]
        keys = random.sample([[1, 0], [0, 1], [1, 1], [2, 0], [0, 2]], 3)
        values = random.sample(range(0, 13, 2), 3)
        if len({key[0] * query[0] + key[1] * query[1] for key in keys}) == 3:
            return query, keys, values


def hidden(scores: list[int]) -> Printed:
    """The third key is hidden, as it should be and by a multiplication."""
    right = torch.tensor([float(scores[0]), scores[1], -math.inf]).softmax(0).tolist()
    wrong = torch.tensor([float(scores[0]), scores[1], 0.0]).softmax(0).tolist()
    solved = [f"{right[0]:.3f}, {right[1]:.3f}, 0.", ", ".join(f"{w:.3f}" for w in wrong)]
    return [f"$({_row(scores)})$"], solved


def parameters(d_model: int, n_heads: int, narrow: int) -> Printed:
    """Of multi-head attention, with wide and narrow keys, and of the network that follows it."""
    wide, d_ff = d_model // n_heads, 4 * d_model
    asked = [
        rf"= {d_model}$",
        f"$h = {n_heads}$",
        f"= d_v = {wide}$",
        f"$d_k = {narrow}$",
        f"= {d_ff:,}$".replace(",", "{,}"),
    ]
    counts = [
        sum(p.numel() for p in MultiHeadAttention(d_model, n_heads, d_k, wide).parameters())
        for d_k in (wide, narrow)
    ]
    inner = sum(p.numel() for p in FeedForward(d_model, d_ff).parameters() if p.dim() == 2)
    return asked, [f"{counts[0]:,}", f"$d_k = {narrow}$", f"{counts[1]:,}", f"{inner:,}"]


def _other_parameters(random: Random) -> tuple[Any, ...]:
    d_model, n_heads = random.choice([128, 384, 512, 768]), random.choice([2, 4, 8])
    return d_model, n_heads, d_model // n_heads // random.choice([2, 4])


def cross_weights(pairs: int, source: int, target: int, n_heads: int) -> Printed:
    """The shape of the weights of a cross-attention."""
    asked = [f"{pairs} sentence", f"source has {source}", f"target {target}", f"$h = {n_heads}$"]
    shape = (pairs, n_heads, target, source)
    return asked, [_pair(shape), f"{math.prod(shape):,} numbers"]


def codes(position: int, gap: int) -> Printed:
    """A sinusoidal code of four numbers, and the product of two."""
    table = sinusoidal_positions(64, 4)
    later, moved = position + gap, position + 10
    assert torch.isclose(table[position] @ table[later], table[moved] @ table[moved + gap])
    asked = [f"position {position} ", f"{position} and {later},", f"{moved} and {moved + gap}?"]
    slow = f"{position / 100:g}"
    solved = [
        rf"(\sin {position}, \cos {position}, \sin {slow}, \cos {slow})$",
        _minus("(" + ", ".join(f"{x:.3f}" for x in table[position].tolist()) + ")"),
        rf"$\cos {gap} + \cos {gap / 100:g}$",
        _minus(f"{table[position] @ table[later]:.3f}, both"),
    ]
    return asked, solved


def rates(warmup: int) -> Printed:
    """The paper's rate at a quarter of the warm-up, at its end, and at four times its length."""
    steps = (warmup // 4, warmup, 4 * warmup)
    asked = [f"{warmup:,} steps of", f"{steps[0]:,}, {steps[1]:,} and {steps[2]:,}"]
    values = [f"{noam_rate(step, 512, warmup):.6f}" for step in steps]
    return asked, [f"{values[0]}, {values[1]} and {values[2]}"]


def smoothed(epsilon: float, tokens: int) -> Printed:
    """What label smoothing asks for, and the loss below which no model gets."""
    wanted = torch.full((1, tokens), epsilon / tokens)
    wanted[0, 1] += 1 - epsilon
    floor, _ = label_smoothing_loss(wanted.log(), torch.tensor([1]), epsilon, pad_id=0)
    solved = [
        f"{wanted[0, 1]:g} for the true",
        f"{wanted[0, 0]:g} for each",
        f"{floor.item():.3f} nats",
    ]
    return [rf"$\epsilon = {epsilon}$", f"over {WORDS[tokens]} tokens"], solved


def search(a: float, after_a: tuple[float, float], after_b: float) -> Printed:
    """Greedy search finds *a c*, and *b c* is better."""
    c, d = after_a
    assert a > 0.5 and c > d > 1 - c - d and a * c < (1 - a) * after_b
    asked = [
        f"gives *a* {a:g} and *b* {1 - a:g}",
        f"*c* {c:g}, *d* {d:g}, *e* {1 - c - d:g}",
        f"*c* {after_b:g}, *d* {1 - after_b:g}",
    ]
    return asked, [f"*a c*, {a * c:.4g}.", f"*b c*, {(1 - a) * after_b:.4g}."]


def _other_search(random: Random) -> tuple[Any, ...]:
    after_a = random.choice([(0.4, 0.35), (0.45, 0.3), (0.4, 0.32), (0.5, 0.3)])
    return random.choice([0.55, 0.6]), after_a, random.choice([0.8, 0.85, 0.9, 0.95])


def hypotheses(short: tuple[int, float], long: tuple[int, float]) -> Printed:
    """Of two hypotheses the longer one wins by the paper's penalty, and only by that."""
    asked, divided, scores = [], [], []
    for length, total in (short, long):
        asked.append(f"{length} tokens with")
        divided.append(penalty(length, ALPHA))
        scores.append(total / divided[-1])
        asked.append(_minus(f"{total:.1f}"))
    assert scores[1] > scores[0] and long[1] < short[1]
    solved = [" and ".join(f"{p:.3f}" for p in divided)]
    return asked, [*solved, " and ".join(_minus(f"{score:.2f}") for score in scores)]


def _other_hypotheses(random: Random) -> tuple[Any, ...]:
    while True:
        first, more = random.randint(4, 7), random.randint(3, 6)
        total = random.randint(30, 50) / 10
        long = (first + more, -total - random.randint(3, 9) / 10)
        ours = long[1] / penalty(long[0], ALPHA), -total / penalty(first, ALPHA)
        if ours[0] - ours[1] > 0.05:
            return (first, -total), long


def cache(written: int, kept: int) -> Printed:
    """Positions that pass through the decoder, and numbers that it keeps."""
    base = TransformerConfig.base()
    numbers = base.n_layers * 2 * base.d_model * kept
    asked = [f"Writing {written} tokens", f"one sentence of {kept} tokens"]
    passed = f"{sum(range(written + 1))} and {written}."
    return asked, [passed, f"each of {kept} tokens", f"{numbers:,} numbers"]


def clipped(output: str, reference: str) -> Printed:
    """Clipped precisions of words and of pairs, with the brevity penalty of a longer output: 1."""
    counts = bleu_counts([output], [reference])[0]
    right, total = counts[2:4], counts[6:8]
    assert len(output.split()) > len(reference.split())
    solved = [f"{right[0]} of {total[0]} words", f"{right[1]} of {total[1]} pairs"]
    return [f"*{output}*", f"*{reference}*"], solved


def _other_clipped(random: Random) -> tuple[Any, ...]:
    return random.choice(
        [
            ("a dog a dog sees a cat", "a dog sees the cat"),
            ("the man and the man and the dog", "the man and the dog walk"),
            ("she reads the the book at the table", "she reads the book at a table"),
        ]
    )


def merges(counts: dict[str, int]) -> Printed:
    """The first two merges of byte-pair encoding."""
    asked = [f"*{word}* {count}" for word, count in counts.items()]
    first = list(islice(merge_steps(counts), 2))
    return asked, [f"*{' + '.join(step.pair)}* ({step.count})" for step in first]


def _other_merges(random: Random) -> tuple[Any, ...]:
    while True:
        words = random.choice([("hat", "hot", "pan", "ban"), ("rest", "nest", "most", "rust")])
        counts = {word: random.randint(2, 9) for word in words}
        if all(_decided(step) for step in islice(merge_steps(counts), 2)):
            return (counts,)


def _decided(step: MergeStep) -> bool:
    """Whether one pair alone was the most frequent one."""
    return list(step.candidates.values()).count(step.count) == 1


def paired(seeds: int, mean: float, spread: float) -> Printed:
    """The interval of paired differences, and the effect that four plans of five find."""
    t, error = round(quantile_975(seeds - 1), 2), spread / math.sqrt(seeds)
    half = t * error
    assert 0 < half < mean  # the words say that it is significant
    asked = [
        f"{seeds} seeds",
        f"differ by {mean:g} nats",
        f"deviation of {spread:g}",
        f"t_{{{seeds - 1}}} = {t:.2f}",
    ]
    divided = rf"\cdot {spread:g} / \sqrt{{{seeds}}}$ ="
    solved = [
        f"{t:.2f} {divided} {half:.3f}",
        f"from {mean - half:.3f} to {mean + half:.3f}",
        f"{RULE} {divided} {RULE * error:.3f}",
    ]
    return asked, solved


def _other_paired(random: Random) -> tuple[Any, ...]:
    seeds, spread = random.choice([9, 16, 25]), random.choice([0.05, 0.08, 0.1, 0.12])
    error = spread / math.sqrt(seeds)
    return seeds, round(random.choice([2.5, 3, 3.5]) * error, 3), spread


def _row(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:g}" for x in numbers)


def _pair(numbers: Sequence[float]) -> str:
    return f"({_row(numbers)})"


def _listed(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}"


def _minus(number: str) -> str:
    return number.replace("-", "\N{MINUS SIGN}")


QUESTIONS = {
    5: Question(([2, 1], [[1, 0], [0, 1], [1, 1]], [6, 0, 12]), _other_attention, attention),
    6: Question(([1, 0, 2],), lambda r: ([*r.sample([-1, 0, 1, 2], 2), r.randint(1, 3)],), hidden),
    7: Question((256, 4, 16), _other_parameters, parameters),
    8: Question(
        (32, 20, 15, 8),
        lambda r: (r.choice([16, 64]), r.randint(21, 40), r.randint(10, 20), r.choice([4, 16])),
        cross_weights,
    ),
    9: Question((3, 2), lambda r: (r.randint(2, 9), r.choice([1, 3, 4])), codes),
    10: Question((4000,), lambda r: (r.choice([800, 1600, 2000, 8000]),), rates),
    11: Question((0.1, 5), lambda r: (r.choice([0.1, 0.2]), r.choice([4, 8, 10])), smoothed),
    12: Question((0.6, (0.4, 0.35), 0.9), _other_search, search),
    13: Question(((5, -4.0), (9, -4.6)), _other_hypotheses, hypotheses),
    14: Question((10, 50), lambda r: (r.randint(6, 20), 10 * r.randint(2, 9)), cache),
    15: Question(("the cat the cat on the mat", "the cat sat on the mat"), _other_clipped, clipped),
    16: Question(({"hat": 5, "hot": 4, "pan": 7, "ban": 3},), _other_merges, merges),
    17: Question((16, 0.05, 0.08), _other_paired, paired),
}


def numbered(text: str) -> dict[int, str]:
    """The questions, or the solutions, of a text by their numbers."""
    begins = list(BEGINS.finditer(text))
    ends = [*(match.start() for match in begins[1:]), len(text)]
    return {int(m[1]): text[m.start() : end] for m, end in zip(begins, ends, strict=True)}


def replaced(text: str, old: Sequence[str], new: Sequence[str]) -> str:
    """A text with what was printed replaced, in its order.

    Raises:
        ValueError: something that should be printed is not there.
    """
    done, rest = "", text
    for before, after in zip(old, new, strict=True):
        # A line of the text may end wherever there is a space.
        pattern = r"\s+".join(map(re.escape, before.split(" ")))
        match = re.search(pattern, rest)
        if match is None:
            raise ValueError(f"{before!r} should stand in {' '.join(rest.split())!r}")
        done += rest[: match.start()] + after
        rest = rest[match.end() :]
    return done + rest


def shortened(text: str, without: Collection[int]) -> str:
    """A text without some of its questions, the others numbered from 1."""
    number = 0
    for old, part in numbered(text).items():
        question, level, points = part.partition("**To ")  # before the first question of a level
        number += old not in without
        kept = "" if old in without else re.sub(r"\d+", str(number), question, count=1)
        text = text.replace(part, kept + level + points)
    return text


def points_of(text: str) -> int:
    """What all questions make together."""
    levels = re.split(r"^\*\*To \w+\*\* \((\d+) points each\)$", text, flags=re.MULTILINE)[1:]
    return sum(
        int(points) * len(numbered(asked))
        for points, asked in zip(levels[::2], levels[1::2], strict=True)
    )


def exam(random: Random | None = None, without: Collection[int] = ()) -> str:
    """Questions and solutions, with the page's numbers, or with others.

    Raises:
        ValueError: a number of the page or of the solutions is not what follows from its question.
    """
    page = PAGE.read_text(encoding="utf-8")
    asked = page[page.index(HEADING) :]
    solved = SOLUTIONS.read_text(encoding="utf-8")
    for number, question in QUESTIONS.items():
        first = question.printed(*question.first)
        other = question.printed(*(question.draw(random) if random else question.first))
        for text, old, new in zip((numbered(asked), numbered(solved)), first, other, strict=True):
            part = text[number]
            try:
                changed = replaced(part, old, new)
            except ValueError as error:
                raise ValueError(f"question {number}: {error}") from error
            asked, solved = asked.replace(part, changed), solved.replace(part, changed)
    if without:
        asked, solved = shortened(asked, without), shortened(solved, without)
        asked = re.sub(r"Four of them suppose.*?points remain\.\s", "", asked, flags=re.DOTALL)
        asked = re.sub(r"make \d+ points", f"make {points_of(asked)} points", asked)
    return f"{asked.strip()}\n\n{solved[solved.index('# Solutions') :].strip()}\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, help="other numbers; without it, those of the page")
    parser.add_argument("--without", default="", help="questions to leave out, as in 15,16,17,20")
    options = parser.parse_args()
    without = {int(number) for number in re.findall(r"\d+", options.without)}
    print(exam(None if options.seed is None else Random(options.seed), without), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
