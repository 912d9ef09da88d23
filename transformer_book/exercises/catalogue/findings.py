"""Costs and intervals: what is asked, and what goes wrong."""

import math
import statistics

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import findings as solutions
from transformer_book.student import STUDENT

Runs = list[float]

# Cost ----------------------------------------------------------------------------------------


def twice_the_length(case: Case) -> str | None:
    """Twice the length costs between two and four times as much."""
    more = case.call(length=2 * case.inputs["length"]) / case.answer if case.answer else math.inf
    if 2 < more < 4:
        return None
    return (
        f"Twice the length costs {number(float(more))} times as much; the projections grow with "
        "the length and the pairs with its square, so it is more than 2 and less than 4."
    )


def _cost(length: int, d_model: int, d_ff: int, projections: int = 4, pairs: int = 2) -> int:
    products = projections * length * d_model**2 + pairs * length**2 * d_model
    return 6 * (products + 2 * length * d_model * d_ff)


def multiplications_alone(length: int, d_model: int, d_ff: int) -> int:
    return _cost(length, d_model, d_ff) // 2


def forward_alone(length: int, d_model: int, d_ff: int) -> int:
    return _cost(length, d_model, d_ff) // 3


def backward_like_forward(length: int, d_model: int, d_ff: int) -> int:
    return 2 * _cost(length, d_model, d_ff) // 3


def no_output_projection(length: int, d_model: int, d_ff: int) -> int:
    return _cost(length, d_model, d_ff, projections=3)


def scores_alone(length: int, d_model: int, d_ff: int) -> int:
    return _cost(length, d_model, d_ff, pairs=1)


def no_pairs(length: int, d_model: int, d_ff: int) -> int:
    return _cost(length, d_model, d_ff, pairs=0)


def one_feed_forward_product(length: int, d_model: int, d_ff: int) -> int:
    return _cost(length, d_model, d_ff) - 6 * length * d_model * d_ff


FLOPS = Exercise(
    solution=solutions.training_flops,
    chapter="findings/results",
    title="What a layer costs in training",
    difficulty=2,
    minutes=15,
    hints=(
        "List the products with their shapes: four projections, two over all pairs of positions, "
        "two of the feed-forward network. Each of (m, k) and (k, n) has 2mkn operations.",
        "Scores: (length, d_model) times (d_model, length), all heads together. Sums of values: "
        "(length, length) times (length, d_model).",
        "The backward pass has twice the operations of the forward pass, so together it is 3.",
    ),
    properties=(twice_the_length,),
    values={
        "length": lambda draw: (3, 25, 384)[draw.level] + draw.seed,
        "d_model": lambda draw: (2, 512, 64)[draw.level],
        "d_ff": lambda draw: (5, 2048, 200)[draw.level],
    },
    edges=(lambda draw: {"length": 1},),
    differentiable=False,
    tolerance=0.0,
    mistakes=(
        Mistake(
            multiplications_alone,
            "Only multiplications are counted: with the additions a product has 2mkn operations.",
        ),
        Mistake(
            forward_alone,
            "Only the forward pass is counted: the backward pass has twice as many operations "
            "again.",
        ),
        Mistake(
            backward_like_forward,
            "The backward pass is counted like the forward pass; it has two products for each of "
            "it, one for the gradient of either factor, so that the sum is 3 and not 2.",
        ),
        Mistake(
            no_output_projection,
            "One projection is missing: queries, keys, values and W^O are four.",
        ),
        Mistake(
            scores_alone,
            "Of the two products over pairs of positions one is missing: the scores, and the sums "
            "of values.",
        ),
        Mistake(
            no_pairs,
            "The products over pairs of positions are missing, which grow with the square of the "
            "length.",
        ),
        Mistake(
            one_feed_forward_product,
            "The feed-forward network has two products, up to d_ff and back.",
        ),
    ),
)

# Intervals -----------------------------------------------------------------------------------


def not_of_the_order(case: Case) -> str | None:
    """Other seeds of both, in the same order, change nothing."""
    turned = {name: runs[::-1] for name, runs in case.inputs.items()}
    if math.isclose(case.call(**turned)[1], case.answer[1], rel_tol=1e-6):
        return None
    return "The interval changes when both lists are turned round, and the pairs stay the same."


def equal_differences_leave_nothing(case: Case) -> str | None:
    """Where all differences are equal the interval has no width."""
    shifted = [run + 2.0 for run in case.inputs["other"]]
    width = case.call(one=shifted)[1]
    if abs(width) < 1e-6:
        return None
    return (
        f"Where every run is better by 2.0 than its partner, half of the interval is "
        f"{number(float(width))}, and should be 0: take the differences pair by pair first."
    )


def _interval(differences: Runs, t: float | None = None) -> tuple[float, float]:
    n = len(differences)
    t = STUDENT[n - 2] if t is None else t
    return statistics.fmean(differences), t * statistics.stdev(differences) / math.sqrt(n)


def _differences(one: Runs, other: Runs) -> Runs:
    return [a - b for a, b in zip(one, other, strict=True)]


def without_pairs(one: Runs, other: Runs) -> tuple[float, float]:
    n, mean = len(one), statistics.fmean(_differences(one, other))
    variance = (statistics.variance(one) + statistics.variance(other)) / n
    return mean, STUDENT[n - 2] * math.sqrt(variance)


def without_pairs_more_freedom(one: Runs, other: Runs) -> tuple[float, float]:
    n, (mean, width) = len(one), without_pairs(one, other)
    return mean, width * STUDENT[2 * n - 3] / STUDENT[n - 2]


def other_less_one(one: Runs, other: Runs) -> tuple[float, float]:
    return _interval(_differences(other, one))


def the_population_deviation(one: Runs, other: Runs) -> tuple[float, float]:
    n, (mean, width) = len(one), _interval(_differences(one, other))
    return mean, width * math.sqrt((n - 1) / n)


def not_over_the_root(one: Runs, other: Runs) -> tuple[float, float]:
    mean, width = _interval(_differences(one, other))
    return mean, width * math.sqrt(len(one))


def the_normal_quantile(one: Runs, other: Runs) -> tuple[float, float]:
    return _interval(_differences(one, other), 1.96)


def n_degrees_of_freedom(one: Runs, other: Runs) -> tuple[float, float]:
    return _interval(_differences(one, other), STUDENT[len(one) - 1])


def the_whole_width(one: Runs, other: Runs) -> tuple[float, float]:
    mean, width = _interval(_differences(one, other))
    return mean, 2 * width


def the_two_ends(one: Runs, other: Runs) -> tuple[float, float]:
    mean, width = _interval(_differences(one, other))
    return mean - width, mean + width


def _runs(draw: Draw, shift: float) -> Runs:
    n = (2, 3, 5)[draw.level]
    draw.sizes["runs"] = n
    seeds = Draw(draw.level, draw.seed, {"runs": (n, n, n)}).normal("runs")
    runs: Runs = (3 + seeds + shift + 0.2 * draw.normal("runs")).tolist()
    return runs


INTERVAL = Exercise(
    solution=solutions.paired_interval,
    chapter="findings/ablations",
    title="A paired interval over seeds",
    difficulty=2,
    minutes=15,
    hints=(
        "The pairs first: from two lists of runs becomes one list of differences. All that follows "
        "looks only at that.",
        "`statistics.fmean` is the mean, `statistics.stdev` the unbiased standard deviation.",
        "Half of the interval is `STUDENT[n - 2] * stdev / math.sqrt(n)`.",
    ),
    returns=("the mean", "half of the interval"),
    properties=(equal_differences_leave_nothing, not_of_the_order),
    values={"one": lambda draw: _runs(draw, 0.1), "other": lambda draw: _runs(draw, 0.0)},
    edges=(lambda draw: {"one": [1.0, 2.0, 3.0], "other": [2.0, 2.0, 2.0]},),
    differentiable=False,
    tolerance=1e-6,
    mistakes=(
        Mistake(
            without_pairs,
            "The pairs are forgotten: what two runs of one seed have in common (the same "
            "sentences) does not cancel in two separate deviations. Take the differences first.",
        ),
        Mistake(
            without_pairs_more_freedom,
            "This is the interval for runs that have nothing in common, with 2n - 2 degrees of "
            "freedom; runs of one seed are pairs: take the differences first.",
        ),
        Mistake(other_less_one, "The sign is turned round: it is one less other."),
        Mistake(
            the_population_deviation,
            "The deviation is divided by n (pstdev); of a sample it is divided by n - 1 (stdev).",
        ),
        Mistake(
            not_over_the_root,
            "The deviation is that of one run, not of the mean of n: divide by the root of n.",
        ),
        Mistake(
            the_normal_quantile,
            "1.96 belongs to very many runs; with few the deviation itself is uncertain, and "
            "Student's t is larger: STUDENT[n - 2].",
        ),
        Mistake(
            n_degrees_of_freedom,
            "t is that of n degrees of freedom, and n differences leave n - 1: STUDENT[n - 2] is "
            "their t.",
        ),
        Mistake(the_whole_width, "This is the whole width of the interval; half of it is wanted."),
        Mistake(
            the_two_ends,
            "These are the two ends of the interval; the mean and half of its width are wanted.",
        ),
    ),
)
