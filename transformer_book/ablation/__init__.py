"""Ablations (section 6.2, Table 3): what becomes worse when one thing is changed."""

from transformer_book.ablation.findings import (
    FINDINGS,
    Interval,
    difference,
    scores_of,
    verdicts_of,
)
from transformer_book.ablation.rows import ROWS, Row, chosen_rows
from transformer_book.ablation.sweep import RESULTS, sweep
from transformer_book.ablation.trial import Sizes, build_row, run_row

__all__ = [
    "FINDINGS",
    "RESULTS",
    "ROWS",
    "Interval",
    "Row",
    "Sizes",
    "build_row",
    "chosen_rows",
    "difference",
    "run_row",
    "scores_of",
    "sweep",
    "verdicts_of",
]
