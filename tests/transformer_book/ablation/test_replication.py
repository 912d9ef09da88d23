"""The replication: its plan follows from its pilot, its verdicts from the table, and it goes on."""

import math
import random
import statistics
from pathlib import Path
from typing import Any

import pytest

from transformer_book.ablation import ROWS, Sizes
from transformer_book.ablation.findings import Finding, Interval, outcome, outcomes
from transformer_book.ablation.replication import (
    EXPECTED,
    FACTORS,
    PILOT_SEEDS,
    PLANNED,
    RECORD,
    SEEDS,
    SMALLEST,
    best_factors,
    joined,
    replicate,
    seeds_for,
    smallest_effect,
    spread_of,
)
from transformer_book.ablation.trial import TESTS, sentences_of

SMALL = Sizes(sentences=200, test_sentences=4, steps=2, valid_sentences=3, one_test=True)


def pilot(**losses: tuple[float, float]) -> dict[str, Any]:
    """A pilot in which rows have these validation losses with its two seeds."""
    return {
        "runs": [
            {"row": row, "seed": seed, "valid": loss}
            for row, both in losses.items()
            for seed, loss in zip(PILOT_SEEDS, both, strict=True)
        ]
    }


def test_the_plan_names_rows_that_there_are() -> None:
    assert PLANNED[0] == "base" and ROWS.keys() >= set(PLANNED)
    assert len(set(PLANNED)) == len(PLANNED) == len(EXPECTED) + 1


@pytest.mark.parametrize("n", [5, 8])
def test_four_experiments_of_five_find_the_smallest_effect(n: int) -> None:
    rng = random.Random(n)
    effect = smallest_effect(1.0, n)
    found = [
        Interval.of([rng.gauss(effect, 1.0) for _ in range(n)]).excludes_zero for _ in range(4000)
    ]
    assert statistics.fmean(found) == pytest.approx(0.8, abs=0.03)


def test_an_effect_takes_two_seeds() -> None:
    with pytest.raises(ValueError, match="at least two seeds, not 1"):
        smallest_effect(1.0, 1)


def test_more_seeds_where_differences_scatter_more() -> None:
    assert seeds_for(0.001) == SEEDS[0] and seeds_for(10.0) == SEEDS[-1]
    between = 0.98 * SMALLEST * math.sqrt(6) / (2.571 + 0.920)
    assert seeds_for(between) == 6


def test_the_spread_is_of_differences_and_of_the_papers_rows() -> None:
    found = pilot(base=(1.0, 2.0), A1=(1.1, 2.3), D1=(1.5, 2.5), no_positions=(1.0, 9.0))
    assert spread_of(found) == pytest.approx(math.sqrt((0.02 + 0.0) / 2))
    with pytest.raises(ValueError, match="no row of the pilot"):
        spread_of(pilot(base=(1.0, 2.0)))


def test_each_row_has_the_rate_with_its_lowest_loss() -> None:
    low, middle, high = FACTORS
    pilots = {
        low: pilot(base=(1.0, 0.0), A1=(3.0, 0.0)),
        middle: pilot(base=(2.0, 0.0), A1=(2.0, 0.0)),
        high: pilot(base=(3.0, 0.0), A1=(1.0, 0.0)),
    }
    pilots[high]["runs"].append({"row": "D1", "seed": PILOT_SEEDS[0], "failed": "not finite"})
    assert best_factors(pilots) == {"base": low, "A1": high}


@pytest.mark.parametrize(
    ("expected", "mean", "half", "said"),
    [
        ("worse", 0.2, 0.1, "as expected"),
        ("worse", -0.2, 0.1, "against it"),
        ("worse", 0.1, 0.2, "not significant"),
        ("better", -0.2, 0.1, "as expected"),
        ("better", -0.1, 0.2, "not significant"),
        ("same", 0.02, 0.05, "as expected"),
        ("same", 0.08, 0.05, "undecided"),
        ("same", 0.3, 0.1, "against it"),
        ("same", -0.3, 0.1, "against it"),
    ],
)
def test_what_becomes_of_an_expectation(expected: Any, mean: float, half: float, said: str) -> None:
    assert outcome(Finding("E", expected, "6.2"), Interval(mean, half, 5)) == said


def test_tables_of_several_rates_become_one_whose_runs_say_theirs() -> None:
    one = {"rows": {"base": {}}, "records": ["here"], "runs": [{"row": "base", "record": 0}]}
    other = {"rows": {"A1": {}}, "records": ["there"], "runs": [{"row": "A1", "record": 0}]}
    both = joined({0.3: one, 0.6: other})
    assert both["runs"] == [
        {"row": "base", "record": 0, "factor": 0.3},
        {"row": "A1", "record": 1, "factor": 0.6},
    ]
    assert both["records"] == ["here", "there"] and [*both["rows"]] == ["base", "A1"]


def test_all_seeds_share_test_sentences_that_none_of_them_learns() -> None:
    one, other = (sentences_of(SMALL, seed) for seed in (1, 2))
    assert one.train != other.train and len(one.valid) == SMALL.valid_sentences
    for name in TESTS:
        shared = getattr(one, name)
        assert shared == getattr(other, name) and len(shared) == SMALL.test_sentences
        assert not set(shared) & {*one.train, *other.train, *one.valid}


@pytest.mark.slow
def test_a_replication_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    said: list[str] = []
    rows = ("base", "A1", "E")
    result = replicate(tmp_path, sizes=SMALL, rows=rows, say=said.append)
    n = result["seeds"]
    assert n in SEEDS and any(f"{n} seeds a row" in line for line in said)
    runs = {(run["row"], run["seed"]): run for run in result["table"]["runs"]}
    assert runs.keys() == {(row, seed) for row in rows for seed in range(1, n + 1)}
    assert all(run["factor"] == result["factors"][run["row"]] for run in runs.values())
    assert [finding.row for finding, _, _ in outcomes(result)] == ["A1", "E"]
    once = (tmp_path / RECORD).read_bytes()
    said.clear()
    replicate(tmp_path, sizes=SMALL, rows=rows, say=said.append)
    assert (tmp_path / RECORD).read_bytes() == once
    assert all(line.startswith(("0 of", "Differences")) for line in said)
