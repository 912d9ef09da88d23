"""How good translations are: corpus scores with their intervals, and features of errors."""

from transformer.evaluation.errors import RULES, error_features, repetitions, words_of
from transformer.evaluation.scorers import compounds_apart, scored_in_many_ways
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
    "compounds_apart",
    "error_features",
    "repetitions",
    "score",
    "scored_in_many_ways",
    "sentence_chrf",
    "words_of",
]
