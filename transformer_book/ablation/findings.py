"""What is expected of the rows, written down before the recorded runs; and how it came out.

Budget: `Sizes`, as they are, with at least three seeds of every row and five where time allows,
counted from 1, each row having as many as the others. A pilot with seed 0 chose the sizes and the
learning rate by the base model's loss; it has looked at A1, C5 and D1 once. All findings are
reported. A difference is significant where its 95 % interval excludes 0. With so many intervals one
or two may exclude it by chance.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from transformer_book.student import quantile_975

FEWEST = 3  # seeds that two rows must have in common
# Of a replication: rows are as good as each other where the interval lies within so many nats.
MARGIN = 0.1
Expected = Literal["better", "worse", "same"]


@dataclass(frozen=True)
class Finding:
    """A row, and how it should come out beside another.

    Attributes:
        row: its name in `ROWS`.
        expected: what the row should be: "better" has a lower loss, or a higher BLEU.
        source: who says so: a section of the paper, or "ours".
        measure: "loss" or "bleu".
        test: which sentences it is measured on.
        against: the row that it is compared with.
    """

    row: str
    expected: Expected
    source: str
    measure: Literal["loss", "bleu"] = "loss"
    test: str = "test_combinations"
    against: str = "base"


FINDINGS = (
    Finding("A1", "worse", "6.2"),
    Finding("A1", "worse", "6.2", "bleu"),
    Finding("A4", "worse", "6.2"),
    Finding("A4", "worse", "6.2", "bleu"),
    Finding("B1", "worse", "6.2"),
    Finding("B2", "worse", "6.2"),
    Finding("C1", "worse", "6.2"),
    Finding("C3", "better", "6.2"),
    Finding("C4", "worse", "6.2"),
    Finding("C5", "better", "6.2"),
    Finding("C6", "worse", "6.2"),
    Finding("C7", "better", "6.2"),
    Finding("D1", "worse", "6.2"),
    Finding("D1", "worse", "6.2", "bleu"),
    Finding("D2", "worse", "Table 3"),
    Finding("D3", "better", "5.4"),
    Finding("D3", "worse", "5.4", "bleu"),
    Finding("D4", "worse", "5.4"),
    Finding("D4", "worse", "Table 3", "bleu"),
    Finding("E", "same", "6.2"),
    Finding("E", "same", "6.2", "bleu"),
    Finding("E", "worse", "3.5", test="test_longer"),
    Finding("pre_norm", "better", "ours"),
    Finding("untied", "worse", "ours"),
    Finding("no_warm_up", "worse", "ours"),
    Finding("no_scaling", "same", "3.2.1"),
    Finding("A1_no_scaling", "worse", "3.2.1", against="A1"),
    Finding("no_positions", "worse", "3.5"),
    Finding("no_residuals", "worse", "ours"),
    Finding("rms_norm", "same", "ours"),
    Finding("swiglu", "better", "ours"),
    Finding("multi_query", "worse", "ours"),
    Finding("grouped", "same", "ours"),
    Finding("rotary", "better", "ours"),
    Finding("rotary", "better", "ours", test="test_longer"),
    Finding("decoder_only", "worse", "ours"),
    Finding("modern", "better", "ours"),
    Finding("modern", "better", "ours", test="test_longer"),
)


@dataclass(frozen=True)
class Interval:
    """The mean of some numbers, and how far from it the mean of very many more may lie.

    Attributes:
        mean: of the numbers.
        half_width: of the 95 % interval, by Student's t.
        n: how many numbers there were.
    """

    mean: float
    half_width: float
    n: int

    @classmethod
    def of(cls, numbers: Sequence[float]) -> "Interval":
        """The interval of independent numbers.

        Raises:
            ValueError: there are fewer than two.
        """
        n = len(numbers)
        if n < 2:
            raise ValueError(f"an interval needs at least two numbers, and there are {n}")
        half_width = quantile_975(n - 1) * statistics.stdev(numbers) / math.sqrt(n)
        return cls(statistics.fmean(numbers), half_width, n)

    @property
    def excludes_zero(self) -> bool:
        """Whether all of it lies on one side of 0."""
        return abs(self.mean) > self.half_width


def scores_of(result: Mapping[str, Any], row: str, measure: str, test: str) -> dict[int, float]:
    """What a table's runs of a row have scored, by seed; runs that failed are left out."""
    runs = [run for run in result["runs"] if run["row"] == row and "failed" not in run]
    return {run["seed"]: run[test][measure] for run in runs}


def difference(
    result: Mapping[str, Any],
    row: str,
    measure: str = "loss",
    test: str = "test_combinations",
    against: str = "base",
) -> Interval:
    """A row less another, in pairs: runs of one seed learn from the same sentences.

    Raises:
        ValueError: they have fewer than two seeds in common.
    """
    one, other = (scores_of(result, name, measure, test) for name in (row, against))
    seeds = sorted(one.keys() & other.keys())
    if len(seeds) < 2:
        raise ValueError(f"{row} and {against} need two seeds in common, and have {len(seeds)}")
    return Interval.of([one[seed] - other[seed] for seed in seeds])


def verdict(finding: Finding, interval: Interval) -> str:
    """What an interval says of a finding, in one of four verdicts.

    "same direction" and "opposite direction" are of significant differences; they say nothing of
    their size. Where none was expected, a significant one is "different". All else is "not
    significant": that two rows are the same can be refuted, and never shown.
    """
    if not interval.excludes_zero:
        return "not significant"
    if finding.expected == "same":
        return "different"
    lower_is_better = finding.measure == "loss"
    better = (interval.mean < 0) == lower_is_better
    observed = "better" if better else "worse"
    return "same direction" if observed == finding.expected else "opposite direction"


def verdicts_of(result: Mapping[str, Any]) -> list[tuple[Finding, Interval | None, str]]:
    """Every finding, its interval and its verdict; "too few runs" where seeds are lacking."""
    verdicts: list[tuple[Finding, Interval | None, str]] = []
    for f in FINDINGS:
        one, other = (scores_of(result, row, f.measure, f.test) for row in (f.row, f.against))
        if len(one.keys() & other.keys()) < FEWEST:
            verdicts.append((f, None, "too few runs"))
        else:
            interval = difference(result, f.row, f.measure, f.test, f.against)
            verdicts.append((f, interval, verdict(f, interval)))
    return verdicts


def outcome(finding: Finding, interval: Interval, margin: float = MARGIN) -> str:
    """What became of an expectation: "as expected", "against it", or neither.

    A difference is "not significant" where its interval holds 0. Where none was expected to be
    better, "as expected" is an interval that lies within the margin, "against it" one outside, and
    all else is "undecided".
    """
    low, high = interval.mean - interval.half_width, interval.mean + interval.half_width
    if finding.expected == "same":
        if -margin < low and high < margin:
            return "as expected"
        return "against it" if low > margin or high < -margin else "undecided"
    if not interval.excludes_zero:
        return "not significant"
    observed = "worse" if interval.mean > 0 else "better"
    return "as expected" if observed == finding.expected else "against it"


def outcomes(result: Mapping[str, Any]) -> list[tuple[Finding, Interval, str]]:
    """Every expectation of a replication's record, its interval, and what became of it."""
    found = []
    for given in result["expected"]:
        finding = Finding(**given)
        interval = difference(result["table"], finding.row)
        found.append((finding, interval, outcome(finding, interval, result["margin"])))
    return found
