"""What training costs (Table 2), what runs decide (Table 3), how good a parse is (Table 4)."""

import math
import statistics
from collections import Counter

from transformer_book.student import STUDENT

Span = tuple[str, int, int]


def training_flops(length: int, d_model: int, d_ff: int) -> int:
    """Operations of the matrix products of one encoder layer, in one step on one sentence.

    A product of (m, k) and (k, n) has 2mkn of them. The backward pass has twice as many as the
    forward pass. Heads make no difference: h d_k = d_model.
    """
    projections = 4 * 2 * length * d_model**2
    pairs = 2 * 2 * length**2 * d_model
    feed_forward = 2 * 2 * length * d_model * d_ff
    return 3 * (projections + pairs + feed_forward)


def paired_interval(one: list[float], other: list[float]) -> tuple[float, float]:
    """The mean difference (one less other) of runs with the same seeds; half its 95 % interval.

    Half of the interval is t times the standard deviation of the n differences, the unbiased one,
    over the root of n; t is `STUDENT[n - 2]`.
    """
    differences = [a - b for a, b in zip(one, other, strict=True)]
    n = len(differences)
    half_width = STUDENT[n - 2] * statistics.stdev(differences) / math.sqrt(n)
    return statistics.fmean(differences), half_width


def bracketing_f1(proposed: list[list[Span]], wanted: list[list[Span]]) -> float:
    """F1 of labelled constituents, 0 to 100, over all sentences together.

    A constituent is (label, start, end); each sentence has a list of them, in both arguments. One
    that is proposed twice is right twice only where it is wanted twice.
    """
    right = total = 0
    for found, true in zip(proposed, wanted, strict=True):
        right += (Counter(found) & Counter(true)).total()
        total += len(found) + len(true)
    return 200 * right / total
