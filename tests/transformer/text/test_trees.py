"""Trees become tokens and come back; what is no tree is mended in one known way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.text.trees import (
    TOP,
    WORD,
    Span,
    Tree,
    bracket_tokens,
    leaves,
    linearised,
    read_tree,
    spans,
)

SENTENCE = ["he", "sees", "the", "cat", "."]
TREE: Tree[str] = Tree(
    "S", (Tree("NP", ("he",)), Tree("VP", ("sees", Tree("NP", ("the", "cat")))), ".")
)
TOKENS = "(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S"

labels = st.sampled_from(["S", "NP", "VP"])
words = st.sampled_from(["he", "sees", "the", "cat", "."])
trees = st.recursive(
    st.builds(Tree, labels, st.lists(words, min_size=1, max_size=3).map(tuple)),
    lambda inner: st.builds(
        Tree, labels, st.lists(words | inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=8,
)


def test_a_tree_is_written_with_labels_on_both_brackets_and_one_stand_in_for_all_words() -> None:
    assert " ".join(linearised(TREE)) == TOKENS
    assert list(leaves(TREE)) == SENTENCE
    assert set(linearised(TREE)) <= set(bracket_tokens(["S", "NP", "VP"]))


@given(trees)
def test_every_tree_comes_back(tree: Tree[str]) -> None:
    assert read_tree(linearised(tree), list(leaves(tree))) == (tree, True)


@pytest.mark.parametrize(
    ("tokens", "mended"),
    [
        ("(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX", TOKENS),  # not closed
        ("(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S )S", TOKENS),  # closed twice
        ("(S (NP XX )VP (VP XX (NP XX XX )S )NP XX )VP", TOKENS),  # other labels at the end
        ("(S (NP XX )NP (ADVP )ADVP (VP XX (NP XX XX )NP )VP XX )S", TOKENS),  # around nothing
        ("(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX XX XX )S", TOKENS),  # words too many
        ("(S (NP XX )NP he (VP XX (NP XX XX )NP )VP XX )S", TOKENS),  # a word of the sentence
        ("(S (NP XX )NP ( ) <unk> (VP XX (NP XX XX )NP )VP XX )S", TOKENS),
        ("(S (NP XX )NP (VP XX )VP )S", "(TOP (S (NP XX )NP (VP XX )VP )S XX XX XX )TOP"),
        ("(NP XX )NP (VP XX XX XX )VP XX", "(TOP (NP XX )NP (VP XX XX XX )VP XX )TOP"),
        ("", "(TOP XX XX XX XX XX )TOP"),
        (")NP )S", "(TOP XX XX XX XX XX )TOP"),
    ],
)
def test_what_is_no_tree_is_mended_without_a_guess_and_reported(tokens: str, mended: str) -> None:
    tree, well_formed = read_tree(tokens.split(), SENTENCE)
    assert " ".join(linearised(tree)) == mended
    assert list(leaves(tree)) == SENTENCE
    assert not well_formed


@given(st.lists(st.sampled_from([*bracket_tokens(["S", "NP"]), "he"]), max_size=20))
def test_whatever_is_written_becomes_a_tree_over_the_words(tokens: list[str]) -> None:
    tree, well_formed = read_tree(tokens, SENTENCE)
    assert list(leaves(tree)) == SENTENCE
    assert well_formed == (linearised(tree) == tokens)


def test_constituents_are_spans_of_words_the_outer_before_the_inner() -> None:
    assert spans(TREE) == [
        *(Span("S", 0, 5), Span("NP", 0, 1), Span("VP", 1, 4), Span("NP", 2, 4)),
    ]


def test_marks_take_no_place_and_are_no_constituent() -> None:
    tree: Tree[str] = Tree(
        "S", (Tree("NP", (",", "he")), ",", Tree("X", (".",)), Tree("VP", ("is",)))
    )
    assert spans(tree, frozenset(",.")) == [
        *(Span("S", 0, 2), Span("NP", 0, 1), Span("VP", 1, 2)),
    ]
    assert spans(Tree(TOP, (TREE,))) == spans(TREE)
    assert WORD in linearised(tree)
