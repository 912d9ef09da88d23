"""A replication of Table 3 in small that can see what it asks: planned, powered, then run.

Written down before the runs: the rows, what is expected of each, and how their number is chosen. A
pilot with seeds of its own trains each row at three learning rates, and takes the one with the
lowest loss on validation sentences. A second seed of the pilot shows how far the difference between
a row and base scatters; from that follows how many seeds the table takes. The pilot never sees the
table's test sentences.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from transformer_book.ablation.findings import MARGIN, Finding
from transformer_book.ablation.rows import ROWS
from transformer_book.ablation.sweep import sweep
from transformer_book.ablation.trial import Sizes
from transformer_book.results import write_result
from transformer_book.student import quantile_975

EXPECTED = (
    Finding("A1", "worse", "6.2"),
    Finding("B1", "worse", "6.2"),
    Finding("C1", "worse", "6.2"),
    Finding("C4", "worse", "6.2"),
    Finding("C5", "better", "6.2"),
    Finding("D1", "worse", "6.2"),
    Finding("E", "same", "6.2"),
    Finding("no_positions", "worse", "3.5"),
    Finding("no_residuals", "worse", "ours"),
)
PLANNED = ("base", *(finding.row for finding in EXPECTED))
SIZES = Sizes(sentences=1000, test_sentences=2000, steps=2000, valid_sentences=500, one_test=True)
FACTORS = (0.15, 0.3, 0.6)  # of the learning rate; every row has the one that suits it best
PILOT_SEEDS = (101, 102)
PILOT_SENTENCES = 100  # of the test sets that a run of the pilot draws, at most
SMALLEST = 0.1  # nats: so large an effect is to be found in four experiments of five
SEEDS = range(5, 9)  # so many seeds at least, and fewer than that
RECORD = "replication.json"
# Student's t, 80 % quantiles for 1, 2, 3, ... degrees of freedom.
STUDENT_80 = (1.376, 1.061, 0.978, 0.941, 0.920, 0.906, 0.896, 0.889, 0.883, 0.879)


def smallest_effect(spread: float, n: int) -> float:
    """The effect that four experiments of five find, in the unit of the spread.

    Args:
        spread: standard deviation of the paired differences.
        n: seeds.

    Raises:
        ValueError: one seed has no interval.
    """
    if n < 2:
        raise ValueError(f"an interval needs at least two seeds, not {n}")
    beyond = STUDENT_80[min(n - 1, len(STUDENT_80)) - 1]
    return (quantile_975(n - 1) + beyond) * spread / math.sqrt(n)


def seeds_for(spread: float) -> int:
    """The fewest of the seeds allowed that find the smallest effect; the most, where none does."""
    enough = [n for n in SEEDS if smallest_effect(spread, n) <= SMALLEST]
    return min(enough, default=SEEDS[-1])


def spread_of(pilot: Mapping[str, Any]) -> float:
    """How far a row's difference from base scatters over seeds, all rows of a pilot together.

    Each row of the paper has two seeds; what its differences deviate from their mean is pooled.

    Raises:
        ValueError: no row has a difference for both seeds.
    """
    losses: dict[str, dict[int, float]] = {}
    for run in pilot["runs"]:
        if "failed" not in run:
            losses.setdefault(run["row"], {})[run["seed"]] = run["valid"]
    variances = []
    for row, of_seed in losses.items():
        seeds = sorted(of_seed.keys() & losses["base"].keys())
        if row != "base" and ROWS[row].in_paper and len(seeds) == len(PILOT_SEEDS):
            variances.append(statistics.variance(of_seed[s] - losses["base"][s] for s in seeds))
    if not variances:
        raise ValueError("no row of the pilot has two seeds that base has too")
    return math.sqrt(statistics.fmean(variances))


def best_factors(pilots: Mapping[float, Mapping[str, Any]]) -> dict[str, float]:
    """For each row the factor of the learning rate with the lowest validation loss, by one seed."""
    best: dict[str, tuple[float, float]] = {}
    for factor, pilot in pilots.items():
        for run in pilot["runs"]:
            if run["seed"] == PILOT_SEEDS[0] and "failed" not in run:
                found = (run["valid"], factor)
                best[run["row"]] = min(best.get(run["row"], found), found)
    return {row: factor for row, (_, factor) in best.items()}


def replicate(
    folder: Path,
    *,
    processes: int = 1,
    device: str | None = None,
    sizes: Sizes = SIZES,
    rows: Sequence[str] = PLANNED,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """The pilot, the plan that follows from it, the table; what the folder holds is not repeated.

    Args:
        folder: gets a folder for each learning rate of pilot and table, and `RECORD`.
        processes: so many runs at once.
        device: for all runs; None takes the GPUs in turn, or the CPU.
        sizes: of every run, but for the learning rate.
        rows: names in `ROWS`, base among them.
        say: told of each run that ends; a function of a module, since other processes call it.

    Returns:
        `pilot`, by factor; `factors` that were chosen, by row; `spread` in nats; `seeds`; and
        `table`, whose runs have seeds from 1.

    Raises:
        RunError: the folder holds something else, or another command is at work in it.
        FileError: the folder cannot be written to.
    """

    def runs(
        part: str, names: Sequence[str], first: int, n: int, sizes: Sizes, factor: float
    ) -> dict[str, Any]:
        return sweep(
            {name: ROWS[name] for name in names},
            n,
            replace(sizes, factor=factor),
            folder / f"{part}-{factor}",
            first_seed=first,
            processes=processes,
            device=device,
            say=say,
        )

    n_test = min(PILOT_SENTENCES, sizes.test_sentences)
    small = replace(sizes, one_test=False, test_sentences=n_test)
    middle = FACTORS[len(FACTORS) // 2]
    n_pilot = {factor: len(PILOT_SEEDS) if factor == middle else 1 for factor in FACTORS}
    pilots = {
        factor: runs("pilot", rows, PILOT_SEEDS[0], n, small, factor)
        for factor, n in n_pilot.items()
    }
    factors, spread = best_factors(pilots), spread_of(pilots[middle])
    n = seeds_for(spread)
    say(f"Differences scatter by {spread:.3f} nats: {n} seeds a row.")
    tables = {
        factor: runs("table", names, 1, n, sizes, factor)
        for factor in FACTORS
        if (names := [row for row in rows if factors.get(row) == factor])
    }
    result = {
        "expected": [asdict(finding) for finding in EXPECTED if finding.row in rows],
        "margin": MARGIN,
        "pilot": {str(factor): pilot for factor, pilot in pilots.items()},
        "factors": factors,
        "spread": round(spread, 4),
        "seeds": n,
        "table": joined(tables),
    }
    write_result(folder / RECORD, result)
    return result


def joined(tables: Mapping[float, Mapping[str, Any]]) -> dict[str, Any]:
    """Tables of several learning rates as one, each run with its own."""
    first = next(iter(tables.values()))
    records: list[Any] = []
    runs = []
    for factor, table in tables.items():
        for run in table["runs"]:
            record = table["records"][run["record"]]
            if record not in records:
                records.append(record)
            runs.append({**run, "factor": factor, "record": records.index(record)})
    rows = {name: row for table in tables.values() for name, row in table["rows"].items()}
    return {**first, "rows": rows, "records": records, "runs": runs}
