"""Bracketing scores are EVALB's on examples counted by hand, and hide nothing malformed."""

import pytest

from transformer.evaluation import Brackets, bracket_counts, bracketing

SENTENCE = "he sees the cat today ."
# S 0-5, NP 0-1, VP 1-5, NP 2-4, ADVP 4-5
REFERENCE = "(S (NP XX )NP (VP XX (NP XX XX )NP (ADVP XX )ADVP )VP XX )S"


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        (REFERENCE, (5, 5, 5)),
        # the adverb hangs higher: the verb phrase ends one word too early
        ("(S (NP XX )NP (VP XX (NP XX XX )NP )VP (ADVP XX )ADVP XX )S", (4, 5, 5)),
        # another label on the right words
        ("(SQ (NP XX )NP (VP XX (NP XX XX )NP (ADVP XX )ADVP )VP XX )SQ", (4, 5, 5)),
        # the mark inside the verb phrase: marks are not counted, so nothing is lost
        ("(S (NP XX )NP (VP XX (NP XX XX )NP (ADVP XX )ADVP XX )VP )S", (5, 5, 5)),
        # a constituent twice is there twice, and right once
        ("(S (NP (NP XX )NP )NP (VP XX (NP XX XX )NP (ADVP XX )ADVP )VP XX )S", (5, 6, 5)),
        # flat
        ("(S XX XX XX XX XX XX )S", (1, 1, 5)),
        # a word is missing, so all that follows moves; the S ends with the last word, as it should
        ("(S (NP XX )NP (VP XX (NP XX )NP (ADVP XX )ADVP )VP XX )S", (2, 5, 5)),
        # nothing at all
        ("", (0, 0, 5)),
    ],
)
def test_constituents_are_counted_as_by_hand(output: str, counts: tuple[int, int, int]) -> None:
    assert bracket_counts(SENTENCE, output, REFERENCE) == Brackets(*counts)


def test_sums_come_before_the_division() -> None:
    """A short sentence without a fault, 3 of 3, and a flat one: 1 of 1 where 5 are wanted."""
    short = "(S (NP XX )NP (VP XX )VP XX )S"
    found = bracketing(
        ["he sleeps .", SENTENCE], [short, "(S XX XX XX XX XX XX )S"], [short, REFERENCE]
    )
    assert found.precision == 100
    assert found.recall == pytest.approx(100 * 4 / 8)
    assert found.f1 == pytest.approx(2 * 100 * 50 / 150)
    assert (found.exact, found.malformed, found.n_sentences) == (0.5, 0.0, 2)


def test_a_malformed_parse_counts_like_any_other_and_is_reported() -> None:
    """EVALB would pass over it, and the score would be 100."""
    cut_off = REFERENCE.removesuffix(" )NP (ADVP XX )ADVP )VP XX )S")
    found = bracketing([SENTENCE] * 2, [REFERENCE, cut_off], [REFERENCE] * 2)
    # Of the second, the NP of "he" and that of "the cat" are right; S and VP end too early.
    assert found.recall == pytest.approx(100 * (5 + 2) / 10)
    assert found.precision == pytest.approx(100 * (5 + 2) / 9)
    assert found.malformed == 0.5
    assert "50.0% malformed" in str(found)
    assert found.to_dict()["malformed"] == 0.5


def test_a_parser_that_says_nothing_scores_nothing() -> None:
    assert bracketing([SENTENCE], [""], [REFERENCE]).f1 == 0.0
    assert bracketing(["."], [""], ["XX"]).to_dict()["precision"] == 0.0


@pytest.mark.parametrize("sizes", [(0, 0, 0), (2, 1, 2), (1, 1, 2)])
def test_sizes_that_do_not_fit_are_refused(sizes: tuple[int, int, int]) -> None:
    sentences, outputs, references = ([text] * n for text, n in zip("abc", sizes, strict=True))
    with pytest.raises(ValueError, match=rf"{sizes[0]} sentences, {sizes[1]} parses"):
        bracketing(sentences, outputs, references)
