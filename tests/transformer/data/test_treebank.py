"""Toy English has trees: over just its words, as a linguist would draw them, truly held out."""

import random
import re

import pytest

from transformer.data.toy_german import (
    LABELS,
    SentencePair,
    Treebank,
    about_subject,
    generate,
    toy_treebank,
)
from transformer.text.trees import bracket_tokens, leaves, read_tree


@pytest.fixture(scope="module")
def bank() -> Treebank:
    """The splits in small."""
    return toy_treebank(n_train=4_000, n_valid=50, n_test=50)


@pytest.fixture(scope="module")
def some() -> dict[str, SentencePair]:
    """Sentences of every kind, by their English."""
    rng = random.Random(1)
    return {" ".join(pair.target): pair for pair in (generate(rng) for _ in range(3_000))}


def drawn(pair: SentencePair) -> str:
    """The brackets as linguists print them, with the words in their places."""
    words = iter(pair.target)
    tokens = [next(words) if token == "XX" else token for token in pair.brackets.split()]
    return re.sub(r" ?\)\w+", ")", " ".join(tokens))


def test_every_tree_is_well_formed_and_stands_over_the_words(some: dict[str, SentencePair]) -> None:
    tokens = set(bracket_tokens(LABELS))
    for pair in some.values():
        tree, well_formed = read_tree(pair.brackets.split(), pair.target)
        assert well_formed
        assert tuple(leaves(tree)) == pair.target
        assert tree.label == {".": "S", "?": "SBARQ"}[pair.target[-1]] or tree.label == "SQ"
        assert tokens.issuperset(pair.brackets.split())


def test_every_label_but_one_that_no_sentence_needs_is_used(some: dict[str, SentencePair]) -> None:
    used = {
        token[1:] for pair in some.values() for token in pair.brackets.split() if token[0] == "("
    }
    assert used == set(LABELS) - {"WHPP"}  # with whom: the grammar can, but chance draws none


@pytest.mark.parametrize(
    "tree",
    [
        "(S (NP children) (VP have (NP soup)) .)",
        "(S (NP no bed) (VP is (ADJP small)) .)",
        "(S (NP she) (VP will (VP help (NP them))) .)",
        "(S (NP a beautiful woman) (VP wants (S (VP to (VP arrive)))) .)",
        "(S (NP the big doctors) (VP may not (VP pick (PRT up) (NP my book))) .)",
        "(S (NP my newspapers) (VP did not (VP lie (PP in front of (NP the school)))) .)",
        # never belongs before the verb, and then to the sentence
        "(S (NP I) (ADVP always) (VP had (S (VP to (VP invite (NP the boy))))) .)",
        # a clause that is said belongs to the verb, a reason to the sentence
        "(S (NP the woman) (VP knows (SBAR that (S (NP the old men) (VP work)))) .)",
        "(S (NP the doctor) (VP works (PP with (NP big cats))) "
        "(SBAR when (S (NP they) (VP like (NP the ball)))) .)",
        "(S (SBAR when (S (NP a dog) (VP has (S (VP to (VP sleep (PP in (NP the school)))))))) , "
        "(NP it) (VP will (VP look (PP for (NP the doctor)))) .)",
        # questions: the finite verb and the subject stand side by side
        "(SQ do (NP we) (VP like (NP the garden)) ?)",
        "(SBARQ (WHNP who) (SQ (VP wants (S (VP to (VP show (NP the woman) "
        "(NP expensive schools)))))) ?)",
        # a relative clause
        "(S (NP (NP the old man) (SBAR (WHNP whom) (S (NP she) (VP invites)))) "
        "(ADVP always) (VP calls (NP the tired neighbour)) .)",
    ],
)
def test_trees_are_as_a_linguist_would_draw_them(some: dict[str, SentencePair], tree: str) -> None:
    words = re.sub(r"\(\w+ |\)", "", tree)
    assert drawn(some[words]) == tree


def test_a_relative_clause_about_a_subject_is_told_from_one_about_something_else(
    some: dict[str, SentencePair],
) -> None:
    texts = [text for text, pair in some.items() if about_subject(pair)]
    assert "the old man whom she invites always calls the tired neighbour ." in texts
    others = [t for t, p in some.items() if "(NP (NP" in p.brackets and not about_subject(p)]
    assert texts and others
    # Behind a subject something must follow its relative clause: a verb at least.
    assert all(re.search(r" (who|whom|which) .* .* \.|\?", text) for text in texts)


def test_no_sentence_is_in_two_splits_and_every_word_was_trained(bank: Treebank) -> None:
    splits = list(vars(bank).values())
    texts = [pair.target for split in splits for pair in split]
    assert len(set(texts)) == len(texts) == 4_000 + 4 * 50
    words = {word for pair in bank.train for word in pair.target}
    assert all(words.issuperset(text) for text in texts)


def test_test_sets_ask_for_what_training_never_shows(bank: Treebank) -> None:
    longest = max(len(pair.target) for pair in [*bank.train, *bank.valid, *bank.test])
    assert all(len(pair.target) > longest for pair in bank.test_longer)
    for pairs in (bank.train, bank.valid, bank.test, bank.test_longer):
        assert not any(map(about_subject, pairs))
    assert all(map(about_subject, bank.test_constructions))
    assert any("(NP (NP" in pair.brackets for pair in bank.train)  # about something else


def test_the_same_seed_gives_the_same_trees() -> None:
    assert toy_treebank(600, 3, 3, seed=1) == toy_treebank(600, 3, 3, seed=1)
    assert toy_treebank(600, 0, 0, seed=1).train != toy_treebank(600, 0, 0, seed=2).train


def test_sizes_that_cannot_be_had_are_refused() -> None:
    with pytest.raises(ValueError, match=r"n_test \(-1\) must not be negative"):
        toy_treebank(10, 1, -1)
    with pytest.raises(ValueError, match=r"n_train \(3\) is too small"):
        toy_treebank(3, 10, 0)
