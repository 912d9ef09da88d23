"""Brackets: what is asked, and what goes wrong."""

import math
import statistics
from itertools import starmap

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Mistake
from transformer_book.exercises.solutions import findings as solutions
from transformer_book.exercises.solutions.findings import Span

Trees = list[list[Span]]


def itself_is_perfect(case: Case) -> str | None:
    """What was wanted has F1 100."""
    wanted = case.inputs["wanted"]
    score = case.call(proposed=[list(tree) for tree in wanted])
    if math.isclose(score, 100.0):
        return None
    return f"The wanted constituents themselves get {number(float(score))}, and should get 100."


def both_sides_count_alike(case: Case) -> str | None:
    """Exchanged, both sides give the same."""
    i = case.inputs
    exchanged = case.call(proposed=i["wanted"], wanted=i["proposed"])
    both_nan = math.isnan(exchanged) and math.isnan(case.answer)
    if both_nan or math.isclose(exchanged, case.answer, rel_tol=1e-6, abs_tol=1e-9):
        return None
    return (
        f"Exchanged, proposed and wanted give {number(float(exchanged))} in the place of "
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
    solution=solutions.bracketing_f1,
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
