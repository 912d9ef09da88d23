"""Costs, intervals and brackets: what is asked, and what goes wrong."""

import math
import statistics
from itertools import starmap

from transformer.ablation.findings import STUDENT
from transformer.exercises.answers import number
from transformer.exercises.exercise import Case, Exercise, Mistake
from transformer.exercises.inputs import Draw
from transformer.exercises.solutions import findings as solutions
from transformer.exercises.solutions.findings import Span

Runs = list[float]
Trees = list[list[Span]]

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
    solutions.training_flops,
    chapter="findings/results",
    title="What a layer costs in training",
    difficulty=2,
    minutes=15,
    hints=(
        "List the products with their shapes: four projections, two with a pair of positions each, "
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
    solutions.paired_interval,
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

# Brackets ------------------------------------------------------------------------------------


def itself_is_perfect(case: Case) -> str | None:
    """What was wanted has F1 100."""
    wanted = case.inputs["wanted"]
    found = case.call(proposed=[list(tree) for tree in wanted])
    if math.isclose(found, 100.0):
        return None
    return f"The wanted constituents themselves get {number(float(found))}, and should get 100."


def both_sides_count_alike(case: Case) -> str | None:
    """Exchanged, both sides give the same."""
    i = case.inputs
    found = case.call(proposed=i["wanted"], wanted=i["proposed"])
    both_nan = math.isnan(found) and math.isnan(case.answer)
    if both_nan or math.isclose(found, case.answer, rel_tol=1e-6, abs_tol=1e-9):
        return None
    return (
        f"Exchanged, proposed and wanted give {number(float(found))} in the place of "
        f"{number(float(case.answer))}; precision and recall change places, and F1 stays."
    )


def _f1(right: float, proposed: float, wanted: float) -> float:
    return 200 * right / (proposed + wanted)


def _right(found: list[Span], true: list[Span]) -> int:
    left = list(true)
    for span in found:
        if span in left:
            left.remove(span)
    return len(true) - len(left)


def as_sets(proposed: Trees, wanted: Trees) -> float:
    pairs = [(set(a), set(b)) for a, b in zip(proposed, wanted, strict=True)]
    return _f1(
        *(sum(c) for c in zip(*((len(a & b), len(a), len(b)) for a, b in pairs), strict=True))
    )


def whoever_is_in_the_other(proposed: Trees, wanted: Trees) -> float:
    right = sum(sum(s in b for s in a) for a, b in zip(proposed, wanted, strict=True))
    return _f1(right, sum(map(len, proposed)), sum(map(len, wanted)))


def without_labels(proposed: Trees, wanted: Trees) -> float:
    bare = [[[("", *span[1:]) for span in tree] for tree in trees] for trees in (proposed, wanted)]
    return solutions.bracketing_f1(*bare)


def mean_of_the_sentences(proposed: Trees, wanted: Trees) -> float:
    singles = [([a], [b]) for a, b in zip(proposed, wanted, strict=True)]
    return statistics.fmean(starmap(solutions.bracketing_f1, singles))


def precision(proposed: Trees, wanted: Trees) -> float:
    right = sum(_right(a, b) for a, b in zip(proposed, wanted, strict=True))
    return 100 * right / sum(map(len, proposed))


def recall(proposed: Trees, wanted: Trees) -> float:
    right = sum(_right(a, b) for a, b in zip(proposed, wanted, strict=True))
    return 100 * right / sum(map(len, wanted))


def the_plain_mean(proposed: Trees, wanted: Trees) -> float:
    return (precision(proposed, wanted) + recall(proposed, wanted)) / 2


def a_share_of_1(proposed: Trees, wanted: Trees) -> float:
    return solutions.bracketing_f1(proposed, wanted) / 100


def over_all_sentences_at_once(proposed: Trees, wanted: Trees) -> float:
    flat = [[span for tree in trees for span in tree] for trees in (proposed, wanted)]
    return solutions.bracketing_f1([flat[0]], [flat[1]])


S, NP, VP = ("S", 0, 5), ("NP", 0, 2), ("VP", 2, 5)
WANTED = ([[S, NP]], [[S, NP, VP], [("S", 0, 3), ("NP", 0, 1)]], [[S, NP, VP, ("NP", 3, 5)], [NP]])
PROPOSED = (
    ([[S, ("VP", 0, 2), ("NP", 2, 5)]], [[NP, ("S", 0, 5), S]]),
    ([[S, ("NP", 0, 1), VP], [("S", 0, 3)]], [[S, NP, NP, VP], [VP]]),
    ([[S, NP, VP, VP], [("NP", 0, 3)]], [[("NP", 3, 5), VP], [NP, NP]]),
)

BRACKETING = Exercise(
    solutions.bracketing_f1,
    chapter="findings/parsing",
    title="How good a parse is",
    difficulty=2,
    minutes=20,
    hints=(
        "Three numbers are counted: how many are right, how many proposed, how many wanted. Sum "
        "each over all sentences, and divide once.",
        "F1 of precision right/proposed and recall right/wanted is 2 right / (proposed + wanted).",
        "`Counter(found) & Counter(true)` keeps of each constituent the smaller of both counts, "
        "and `.total()` sums them.",
    ),
    properties=(itself_is_perfect, both_sides_count_alike),
    values={
        "proposed": lambda draw: [list(tree) for tree in PROPOSED[draw.level][draw.seed % 2]],
        "wanted": lambda draw: [list(tree) for tree in WANTED[draw.level]],
    },
    edges=(
        lambda draw: {"proposed": [[]]},
        lambda draw: {"wanted": [[S, S]], "proposed": [[S, S, S]]},
    ),
    differentiable=False,
    tolerance=1e-6,
    mistakes=(
        Mistake(
            as_sets,
            "Constituents are counted as sets, in which two equal ones are one; count them "
            "(Counter).",
        ),
        Mistake(
            whoever_is_in_the_other,
            "One that is wanted once is right as often as it is proposed: who writes every "
            "constituent twice would gain. Each wanted one may be found once.",
        ),
        Mistake(without_labels, "The labels are not compared: an NP is not a VP."),
        Mistake(
            mean_of_the_sentences,
            "This is the mean of the sentences' F1; the counts are to be summed over all sentences "
            "and divided once.",
        ),
        Mistake(precision, "This is the precision: of what was proposed, how much is right."),
        Mistake(recall, "This is the recall: of what was wanted, how much was found."),
        Mistake(
            the_plain_mean,
            "This is the plain mean of precision and recall; F1 is the harmonic one.",
        ),
        Mistake(a_share_of_1, "This is a share of 1; F1 is wanted from 0 to 100."),
        Mistake(
            over_all_sentences_at_once,
            "The constituents of all sentences lie in one heap, so that one may be found in "
            "another sentence: compare sentence by sentence, then sum.",
        ),
    ),
)
