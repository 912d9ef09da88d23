"""Ablations (section 6.2, Table 3): what becomes worse when one thing is changed."""

from transformer.ablation.rows import ROWS, Row, chosen_rows
from transformer.ablation.sweep import RESULTS, sweep
from transformer.ablation.trial import Sizes, build_row, run_row

__all__ = ["RESULTS", "ROWS", "Row", "Sizes", "build_row", "chosen_rows", "run_row", "sweep"]
