"""Student's t: its quantiles are where they are said to be."""

import math

import pytest

from transformer_book.student import quantile_975


def beyond(t: float, freedom: int, n: int = 4000) -> float:
    """The share of Student's t above t: its density from t to infinity, by the midpoint rule.

    With x = sqrt(freedom) tan(a) the density is a power of a cosine, from a finite angle to 90
    degrees.
    """
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    constant /= math.sqrt(math.pi)
    first = math.atan(t / math.sqrt(freedom))
    width = (math.pi / 2 - first) / n
    angles = (first + (i + 0.5) * width for i in range(n))
    return constant * width * sum(math.cos(angle) ** (freedom - 1) for angle in angles)


def test_the_quantiles_leave_two_and_a_half_percent_beyond_them() -> None:
    for freedom in (*range(1, 60), 1000):  # within the table, and beyond it
        assert beyond(quantile_975(freedom), freedom) == pytest.approx(0.025, abs=3e-5)
