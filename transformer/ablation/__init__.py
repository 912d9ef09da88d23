"""Ablations (section 6.2, Table 3): what becomes worse when one thing is changed."""

from transformer.ablation.findings import FINDINGS, Interval, difference, judged, scores_of
from transformer.ablation.rows import ROWS, Row, chosen_rows
from transformer.ablation.sweep import RESULTS, sweep
from transformer.ablation.trial import Sizes, build_row, run_row

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
    "judged",
    "run_row",
    "scores_of",
    "sweep",
]
