"""The recorded table: of known rows, made by a committed state, within the budget."""

import re
import statistics
from dataclasses import asdict

from transformer_book.ablation import FINDINGS, ROWS, Sizes, scores_of, verdicts_of
from transformer_book.ablation.replication import (
    EXPECTED,
    FACTORS,
    PLANNED,
    SIZES,
    best_factors,
    seeds_for,
)
from transformer_book.ablation.trial import TESTS
from transformer_book.results import recorded

RECORD = recorded("ablations")


def test_the_budget_was_kept() -> None:
    assert RECORD["sizes"].items() <= Sizes().counts().items()
    seconds = [run["seconds"] for run in RECORD["runs"] if "failed" not in run]
    assert statistics.median(seconds) < 240  # the machine had other work, too
    for row in ROWS:  # the five that were foreseen
        assert [*scores_of(RECORD, row, "loss", "test_combinations")] == [1, 2, 3, 4, 5], row


def test_every_run_says_what_it_was_and_where_it_comes_from() -> None:
    known = {(run["row"], run["seed"]) for run in RECORD["runs"]}
    assert len(known) == len(RECORD["runs"]) and {row for row, _ in known} <= ROWS.keys()
    for run in RECORD["runs"]:
        record = RECORD["records"][run["record"]]
        assert record["commit"] and "dirty" not in record["commit"]
        assert re.match(r"python -m \w+ ablate", record["command"])
        assert "failed" in run or {"loss", "bleu"} <= run[TESTS[0]].keys() & run[TESTS[1]].keys()


def test_at_least_four_findings_are_significant_and_all_are_reported() -> None:
    verdicts = [said for _, _, said in verdicts_of(RECORD)]
    assert len(verdicts) == len(FINDINGS)
    assert sum(said != "not significant" for said in verdicts) >= 4


def test_the_replication_was_run_as_it_was_planned() -> None:
    record = recorded("replication")
    assert record["expected"] == [asdict(finding) for finding in EXPECTED]
    assert record["table"]["sizes"] == SIZES.counts()
    assert record["table"]["base"]["one_test"] is True
    pilots = {float(factor): pilot for factor, pilot in record["pilot"].items()}
    assert [*pilots] == [*FACTORS] and best_factors(pilots) == record["factors"]
    assert seeds_for(record["spread"]) == record["seeds"]
    runs = {(run["row"], run["seed"]): run for run in record["table"]["runs"]}
    wanted = {(row, seed) for row in PLANNED for seed in range(1, record["seeds"] + 1)}
    assert runs.keys() == wanted and len(record["table"]["runs"]) == len(wanted)
    assert all(run["factor"] == record["factors"][row] for (row, _), run in runs.items())
    for each in (record["table"], *pilots.values()):
        assert all("dirty" not in one["commit"] for one in each["records"])


def test_the_replication_takes_at_most_four_hours_of_a_core() -> None:
    record = recorded("replication")
    tables = (record["table"], *record["pilot"].values())
    assert sum(run["seconds"] for table in tables for run in table["runs"]) < 4 * 3600
