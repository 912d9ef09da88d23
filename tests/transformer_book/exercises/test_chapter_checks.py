"""Checks of a chapter's own: right answers of any form pass, others get a sentence."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from transformer_book.exercises import compare, compare_function, judge


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (0.5, 0.5),
        ("1/2", 0.5),
        (Fraction(1, 2), 0.5),
        (Decimal("0.5"), 0.5),
        (torch.tensor(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (0.333, 1 / 3),
        (64, 64.0),
        (64.0, 64),
        (" GRU", "gru"),
        (True, True),
        (torch.tensor(True), True),
        ([1, 2], torch.tensor([1.0, 2.0])),
        (torch.tensor([1, 2]), [1, 2]),
        ((1, 2), [1, 2]),
        (np.eye(2), torch.eye(2)),
        ([[True, False]], torch.tensor([[True, False]])),
        ([2, 1, 1], {1, 2}),
        (torch.tensor([2, 1]), {1, 2}),
        (np.array([2, 1]), {1, 2}),
        ([torch.tensor(2), torch.tensor(1)], {1, 2}),
        (torch.tensor([False, True, True]).nonzero().tolist(), {1, 2}),
        ([[1, 2], [3, 4]], {(1, 2), (3, 4)}),
        (torch.tensor([[1, 2], [3, 4]]), {(1, 2), (3, 4)}),
        ({"a": 0.3333, "b": (1, "x")}, {"a": 1 / 3, "b": (1, "x")}),
        (math.nan, math.nan),
        (slice(1), slice(1)),
    ],
)
def test_a_right_answer_passes_in_each_of_its_forms(answer: Any, expected: Any) -> None:
    result = compare(answer, expected)
    assert result.passed, result
    assert repr(result) == "✓ Your answer is right."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (0.73, 0.7310586),
        (0.7, 0.7310586),
        ("73%", 0.7310586),
        ("0.62", 0.6225),
        (7e-4, 0.00069877),
        (Decimal("1.0"), 1.04),
        ((0.73, 0.2689414), (0.7310586, 0.2689414)),
    ],
)
def test_a_number_that_is_right_to_the_digits_it_has_is_right(answer: Any, expected: Any) -> None:
    said = "✓ Your answer is right to the digits it has."
    assert repr(compare(answer, expected, slips={"Forgotten.": 0.5})) == said


def test_what_fits_a_slip_too_or_was_computed_is_not_right_to_its_digits() -> None:
    assert not compare(0.73, 0.7311, slips={"Forgotten.": 0.7264})
    assert not compare(1, 1.04) and not compare(0.7312, 0.7399) and not compare(0.74, 0.7311)
    assert not compare("6.6e4", 65536) and not compare(0.1, 0.125)


@pytest.mark.parametrize(
    ("answer", "expected", "said"),
    [
        (0.4, 0.5, "Your answer is 0.4, which is too small."),
        (0.335, 1 / 3, "Your answer is 0.335, which is too large."),
        (65, 64, "Your answer is 65, which is too large."),
        (-0.5, 0.5, "Your answer is -0.5: right but for its sign."),
        (50, 0.5, "Your answer is 50: the digits are right, the power of ten is not."),
        ("half", 0.5, "Your answer is a str; it should be a number."),
        (True, 1, "Your answer is a bool; it should be a number."),
        (1j, 1, "Your answer is a complex; it should be a number."),
        (1, True, "Your answer is an int; it should be True or False."),
        (False, True, "Your answer is False, and should be True."),
        (1, "one", "Your answer is an int; it should be a text (str)."),
        ("two", "one", "Your answer is 'two', and is wrong."),
        ("x", torch.ones(2), "Your answer is a str; it should be a tensor, or lists of numbers."),
        ([1.0], torch.ones(2), "Your answer has shape (1,); it should have (2,)."),
        (
            [[1, 0]],
            torch.tensor([[True, False]]),
            "Your answer holds numbers; it should hold True and False.",
        ),
        (
            [1.0, 3.0],
            torch.tensor([1.0, 2.0]),
            "Entry [1] of your answer is 3, which is too large (1 of 2 entries differ).",
        ),
        (
            [[True, True]],
            torch.tensor([[True, False]]),
            "Entry [0, 1] of your answer is True, and should be False (1 of 2 entries differ).",
        ),
        (torch.ones(2).to_sparse(), torch.ones(2), "Your answer should be an ordinary tensor"),
        ([1], [1, 2], "Your answer has 1 element, which is not their number."),
        ([1, 3], [1, 2], "Element 1 of your answer is 3, which is too large."),
        (3, [1, 2], "Your answer is an int; it should be a list of whole numbers."),
        (3, (1, 2), "Your answer is an int; it should be 2 things."),
        ({1, 2, 3}, {1, 2}, "Your answer has 3, which does not belong there."),
        ([1], {1, 2}, "Your answer is right as far as it goes, but lacks 1 more."),
        ([[1, 2]], {(1, 2), (3, 4)}, "Your answer is right as far as it goes, but lacks 1 more."),
        ([[2, 1]], {(1, 2)}, "Your answer has [2, 1], which does not belong there."),
        ([{1: 2}], {1}, "Your answer has {1: 2}, which does not belong there."),
        (torch.tensor([True, False]), {0, 1}, "Your answer has True, which does not belong there."),
        ("12", {1, 2}, "Your answer is a str; it should be a set or a list."),
        ([1], {"a": 1}, "Your answer is a list; it should be a dictionary."),
        ({"b": 1}, {"a": 1}, "Your answer has the key 'b', which does not belong there."),
        ({}, {"a": 1}, "Your answer lacks the key 'a'."),
        ({"a": 2}, {"a": 1}, "Your answer at 'a' is 2, which is too large."),
        (slice(2), slice(1), "Your answer is slice(None, 2, None), and that is wrong."),
    ],
)
def test_a_wrong_answer_gets_a_sentence(answer: Any, expected: Any, said: str) -> None:
    result = compare(answer, expected)
    assert not result.passed
    assert result.written
    assert result.sentence.startswith(said)


def test_a_slip_is_named() -> None:
    slips = {"That is one row.": 7, "Those are the keys.": torch.zeros(2)}
    assert compare(7, 49, slips=slips).sentence == "That is one row."
    assert compare([0, 0], 49, slips=slips).sentence == "Those are the keys."
    assert compare(8, 49, slips=slips).sentence == "Your answer is 8, which is too small."


def test_a_slip_that_is_right_is_refused_whatever_the_answer() -> None:
    with pytest.raises(ValueError, match=r"'Wrong\.'"):
        compare(None, 49, slips={"Wrong.": 49})


@pytest.mark.parametrize("right", [3.6e16, 4 * 10**16, 37.5])
def test_an_explicit_tolerance_holds_for_whole_numbers_too(right: float) -> None:
    slips = {"That is half.": right / 2}
    for share in (0.85, 1, 1.15):
        assert compare(share * right, right, tolerance=0.2, slips=slips).passed
    assert not compare(0.75 * right, right, tolerance=0.2, slips=slips).passed
    assert compare(0.45 * right, right, tolerance=0.2, slips=slips).mistake == "That is half."
    with pytest.raises(ValueError, match="is the right answer"):
        compare(None, right, tolerance=0.2, slips={"That is near.": 0.9 * right})


@pytest.mark.parametrize("answer", [None, ..., (None, ...)])
def test_what_is_not_there_is_neither_right_nor_wrong(answer: Any) -> None:
    assert not compare(answer, 1, name="your number").written
    assert repr(compare(answer, 1, name="your number")).startswith("○ Nothing is here yet")
    assert not judge(answer, {"Wrong.": lambda *a: True}).written


def test_a_part_that_is_missing_is_not_called_nothing() -> None:
    def skeleton(x): ...

    said = "One part of your pair is still missing."
    assert compare((1, None), (1, 2), name="your pair").sentence == said
    result = judge((doubled, skeleton), {"Wrong.": lambda a, b: True}, name="your pair")
    assert result.sentence == said
    assert not result.written
    result = compare((..., 1, None), (1, 1, 1), name="your list")
    assert result.sentence == "2 parts of your list are still missing."


def doubled(x: list[int]) -> list[int]:
    return [2 * each for each in x]


INPUTS = [([1, 2],), ([2, 2],)]
SLIPS = {"That squares.": lambda x: [each**2 for each in x]}


def changes(x: list[int]) -> list[int]:
    x[:] = doubled(x)
    return x


def endless(x: list[int]) -> list[int]:
    while True:
        pass


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: [each * each for each in x], "That squares."),
        (lambda x: x, "doubled is wrong: element 0 of the result is 1, and should be 2."),
        (lambda x: x[5], "doubled raises IndexError: list index out of range"),
        (lambda x, y: x, "doubled cannot be called as its skeleton is, doubled(x): "),
        (lambda x: print("never"), "doubled returns nothing (None): is a `return` missing?"),
        (lambda x: 4, "doubled is wrong: the result is an int; it should be a list of "),
        (changes, "doubled changes its argument x"),
        (endless, "doubled was stopped: it did not return within 0.5 seconds."),
        ([2, 4], "The check takes the function itself: doubled, not doubled(...)."),
    ],
)
def test_a_wrong_function_gets_a_sentence(function: Any, said: str) -> None:
    result = compare_function(function, doubled, INPUTS, slips=SLIPS, seconds=0.5)
    assert not result.passed
    assert result.written
    assert result.sentence.startswith(said)


def test_a_wrong_function_is_shown_with_its_arguments_and_the_target() -> None:
    result = compare_function(lambda x: [9, 9], doubled, INPUTS)
    assert list(result.values) == ["x", "yours", "target"]
    assert "x = [1, 2]" in repr(result)


@pytest.mark.parametrize("function", [doubled, lambda x: [each + each for each in x]])
def test_a_right_function_passes(function: Any) -> None:
    result = compare_function(function, doubled, INPUTS, slips=SLIPS)
    assert repr(result) == "✓ doubled is right.\nShown: the same as ours on 2 inputs."


def test_whole_numbers_of_a_function_are_exact_and_others_rounded() -> None:
    assert not compare_function(lambda n: n + 1, lambda n: n, [(10**6,)]).passed
    assert compare_function(lambda n: n + 1e-6, lambda n: n / 1, [(1.0,)]).passed


def test_a_skeleton_is_neither_right_nor_wrong() -> None:
    def skeleton(x):
        """Twice each."""
        ...

    result = compare_function(skeleton, doubled, INPUTS)
    assert not result.written
    assert result.sentence.startswith("doubled is not written yet")
    assert not judge(skeleton, {"Wrong.": lambda f: f(1) is None}).written


def test_a_slip_of_a_function_that_is_right_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'Adds\.'"):
        compare_function(None, doubled, [([2],)], slips={"Adds.": lambda x: [n + 2 for n in x]})


def test_two_slips_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'One\.' and 'Two\.'"):
        compare(None, 49, slips={"One.": 7, "Two.": 7.0})
    slips = {"One.": lambda x: x, "Two.": lambda x: list(x)}
    with pytest.raises(ValueError, match=r"'One\.' and 'Two\.'"):
        compare_function(None, doubled, INPUTS, slips=slips)


def test_a_slip_that_raises_is_known_by_its_error() -> None:
    slips = {"That needs a tensor.": lambda x: x.double()}
    result = compare_function(lambda x: x.double(), doubled, INPUTS, slips=slips)
    assert result.sentence == "That needs a tensor."


def test_the_first_fault_is_named_and_none_is_right() -> None:
    faults = {"It is odd.": lambda n: n % 2 == 1, "It is small.": lambda n: n < 10}
    assert judge(3, faults).sentence == "It is odd."
    assert judge(4, faults).sentence == "It is small."
    assert judge(12, faults, name="your number").sentence == "Your number is right."


def test_examples_get_the_sentence_of_their_fault_or_are_refused() -> None:
    faults = {"It is odd.": lambda n: n % 2 == 1, "It is small.": lambda n: n < 10}
    assert not judge(None, faults, examples=[3, 4]).written
    assert not judge(None, faults, examples=[None, 4]).written
    with pytest.raises(ValueError, match=r"'It is small\.' is answered by 'It is odd\.'"):
        judge(None, faults, examples=[3, 5])
    with pytest.raises(ValueError, match="shorter"):
        judge(None, faults, examples=[3])
    assert judge(12, faults, examples=[4, 3]).passed


def test_several_answers_are_handed_over_apart() -> None:
    faults = {"They are equal.": lambda a, b: a == b}
    assert judge((1, 1), faults).sentence == "They are equal."
    assert judge((1, 2), faults).passed


def test_a_tuple_is_one_answer_to_a_fault_of_one_argument() -> None:
    faults = {"They are three.": lambda merges: len(merges) != 3}
    assert judge(("th", "the", "he"), faults).passed
    assert judge(("th", "the"), faults).sentence == "They are three."
    assert not judge(None, faults, examples=[("th", "the")]).written
    mixed = {**faults, "The first is the last.": lambda a, *others, by=0: a == others[-1 - by]}
    assert judge((1, 2, 1), mixed).sentence == "The first is the last."


@pytest.mark.parametrize("answer", ["2.83", Decimal("2.83"), "283/100"])
def test_a_number_written_as_text_is_judged_as_the_number(answer: Any) -> None:
    faults = {"That is 2.": lambda x: abs(x - 2) < 0.1, "Another.": lambda x: abs(x - 2.83) > 0.1}
    assert judge(answer, faults).passed
    assert judge("2", faults).sentence == "That is 2."
    assert judge((answer, 2), {"The first is less.": lambda a, b: a - b < 0.0}).passed
    assert judge("2", {"It is a number.": lambda text: text.isdigit()}).mistake


def test_an_answer_that_breaks_the_check_gets_a_sentence_too() -> None:
    result = judge("three", {"It is odd.": lambda n: n + 1 == 1}, name="your number")
    assert result.sentence.startswith("Your number")
    assert "str" in result.sentence


def test_a_judge_stops_what_never_ends() -> None:
    result = judge(endless, {"Wrong.": lambda f: f([1])}, seconds=0.3, name="your function")
    assert "was stopped" in result.sentence
