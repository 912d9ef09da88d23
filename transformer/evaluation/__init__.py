"""How good outputs are: scores of translations with their intervals, and of parses."""

from transformer.evaluation.bracketing import (
    MARKS,
    Bracketing,
    Brackets,
    bracket_counts,
    bracketing,
)
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
    "Bracketing",
    "Brackets",
    "Interval",
    "Scores",
    "bleu_counts",
    "bleu_tokens",
    "bracket_counts",
    "bracketing",
    "paired_bootstrap",
    "score",
    "sentence_bleu",
    "sentence_chrf",
]
