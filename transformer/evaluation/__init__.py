"""How good outputs are: scores of translations with their intervals, features of errors, parses."""

from transformer.evaluation.bracketing import (
    MARKS,
    Bracketing,
    Brackets,
    bracket_counts,
    bracketing,
)
from transformer.evaluation.errors import RULES, error_features, repetitions, words_of
from transformer.evaluation.scorers import scored_in_many_ways, split_compounds
from transformer.evaluation.scores import (
    Interval,
    Scores,
    bleu_counts,
    bleu_tokens,
    paired_bootstrap,
    score,
    sentence_bleu,
    sentence_chrf,
)

__all__ = [
    "MARKS",
    "RULES",
    "Bracketing",
    "Brackets",
    "Interval",
    "Scores",
    "bleu_counts",
    "bleu_tokens",
    "bracket_counts",
    "bracketing",
    "error_features",
    "paired_bootstrap",
    "repetitions",
    "score",
    "scored_in_many_ways",
    "sentence_bleu",
    "sentence_chrf",
    "split_compounds",
    "words_of",
]
