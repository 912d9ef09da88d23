"""How good translations are: corpus scores with their intervals, and features of errors."""

from transformer.evaluation.errors import RULES, error_features, repetitions, words_of
from transformer.evaluation.scores import (
    Interval,
    Scores,
    bleu_counts,
    compare,
    score,
    sentence_chrf,
)

__all__ = [
    "RULES",
    "Interval",
    "Scores",
    "bleu_counts",
    "compare",
    "error_features",
    "repetitions",
    "score",
    "sentence_chrf",
    "words_of",
]
