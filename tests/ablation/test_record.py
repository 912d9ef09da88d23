"""The recorded table: of known rows, made by a committed state, within the budget."""

import statistics
from dataclasses import asdict

from transformer.ablation import FINDINGS, ROWS, Sizes, judged, scores_of
from transformer.ablation.trial import TESTS
from transformer.results import recorded

RECORD = recorded("ablations")


def test_the_budget_was_kept() -> None:
    assert RECORD["sizes"] == asdict(Sizes())
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
        assert record["command"].startswith("python -m transformer ablate")
        assert "failed" in run or {"loss", "bleu"} <= run[TESTS[0]].keys() & run[TESTS[1]].keys()


def test_at_least_four_findings_are_decided_and_all_are_reported() -> None:
    verdicts = [said for _, _, said in judged(RECORD)]
    assert len(verdicts) == len(FINDINGS)
    assert sum(said in ("seen again", "the other way round") for said in verdicts) >= 4
