"""Intervals of paired differences, and what they decide."""

import math

import pytest

from transformer_book.ablation import ROWS
from transformer_book.ablation.findings import (
    FINDINGS,
    Finding,
    Interval,
    difference,
    verdict,
    verdicts_of,
)
from transformer_book.ablation.trial import TESTS


def test_an_interval_by_hand() -> None:
    """Mean 2, deviations -1, 0, 1: standard deviation 1, standard error 1 / sqrt(3)."""
    interval = Interval.of([1.0, 2.0, 3.0])
    assert interval.mean == 2 and interval.n == 3
    assert interval.half_width == pytest.approx(4.303 / math.sqrt(3))
    assert not interval.excludes_zero
    assert Interval.of([5.0, 6.0, 7.0]).excludes_zero
    assert Interval.of([-5.0, -6.0, -7.0]).excludes_zero
    with pytest.raises(ValueError, match="at least two numbers, and there are 1"):
        Interval.of([1.0])


def result(**losses: list[float | None]) -> dict:
    """A table in which rows have these losses with seeds 1, 2, 3; None is a run that failed."""
    runs = []
    for name, values in losses.items():
        for seed, loss in enumerate(values, 1):
            scores = {"test_combinations": {"loss": loss, "bleu": 100 - (loss or 0)}}
            found = {"failed": "not finite"} if loss is None else scores
            runs.append({"row": name, "seed": seed, **found})
    return {"runs": runs}


def test_rows_are_compared_seed_by_seed() -> None:
    """What a seed does to both cancels out: the rows vary by 10, their differences hardly."""
    table = result(base=[10.0, 20.0, 30.0], A1=[11.0, 21.1, 30.9])
    interval = difference(table, "A1")
    assert interval.mean == pytest.approx(1) and interval.half_width < 0.3
    assert difference(table, "A1", "bleu").mean == pytest.approx(-1)
    assert difference(table, "base", against="A1").mean == pytest.approx(-1)


def test_a_run_that_failed_is_left_out_with_its_partner() -> None:
    table = result(base=[10.0, 20.0, 30.0], A1=[11.0, None, 31.0])
    assert difference(table, "A1") == Interval(1.0, 0.0, 2)
    with pytest.raises(ValueError, match="A1 and base need two seeds in common, and have 1"):
        difference(result(base=[10.0, 20.0], A1=[None, 20.0]), "A1")


@pytest.mark.parametrize(
    ("measure", "mean", "expected", "said"),
    [
        ("loss", 1.0, "worse", "same direction"),
        ("loss", 1.0, "better", "opposite direction"),
        ("loss", -1.0, "better", "same direction"),
        ("bleu", -1.0, "worse", "same direction"),
        ("bleu", 1.0, "worse", "opposite direction"),
        ("loss", 1.0, "same", "different"),
        ("loss", 0.1, "worse", "not significant"),
        ("loss", 0.1, "same", "not significant"),
    ],
)
def test_a_verdict_needs_an_interval_without_zero(measure, mean, expected, said) -> None:
    finding = Finding("A1", expected, "6.2", measure)
    assert verdict(finding, Interval(mean, 0.5, 3)) == said


def test_every_finding_names_rows_and_sentences_that_there_are_and_stands_once() -> None:
    assert {name for f in FINDINGS for name in (f.row, f.against)} <= ROWS.keys()
    assert {f.test for f in FINDINGS} == set(TESTS)
    assert len({(f.row, f.against, f.measure, f.test) for f in FINDINGS}) == len(FINDINGS)


def test_all_findings_are_reported_also_where_there_are_too_few_runs() -> None:
    scores = {"loss": 1.0, "bleu": 50.0}
    table = {
        "runs": [
            {"row": row, "seed": seed, **{test: {**scores, "loss": loss + seed} for test in TESTS}}
            for row, loss in {"base": 1.0, "A1": 2.0, "D1": 0.5, "E": 1.0}.items()
            for seed in (1, 2, 3)
            if (row, seed) != ("E", 3)
        ]
    }
    verdicts = {(f.row, f.measure): said for f, _, said in verdicts_of(table)}
    assert len(verdicts_of(table)) == len(FINDINGS)
    assert verdicts["A1", "loss"] == "same direction"
    assert verdicts["A1", "bleu"] == "not significant"
    assert verdicts["D1", "loss"] == "opposite direction"
    assert {verdicts[row, "loss"] for row in ("C1", "E", "A1_no_scaling")} == {"too few runs"}
