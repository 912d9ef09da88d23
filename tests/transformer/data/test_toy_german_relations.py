"""The grammar knows which words of its sentences belong together."""

import random
import re
from functools import cache

import pytest

from transformer.data.toy_german import generate, toy_german
from transformer.data.toy_german.relations import RELATIONS, RelatedWords, unseen_sentences


@cache
def sentences() -> list[RelatedWords]:
    return unseen_sentences(1500)


def links(name: str) -> list[tuple[RelatedWords, int, int]]:
    return [(s, a, b) for s in sentences() for a, b in sorted(s.links.get(name, ()))]


def test_every_relation_occurs_and_no_other() -> None:
    assert {name for s in sentences() for name in s.links} == set(RELATIONS)


def test_articles_and_adjectives_stand_before_their_noun_and_in_its_phrase() -> None:
    for name in ("article", "adjective"):
        for sentence, word, noun in links(name):
            assert 1 <= noun - word <= 2
            assert noun in sentence.nouns
            assert any({word, noun} <= set(phrase) for phrase in sentence.phrases)


def test_the_finite_verb_closes_the_clause_that_a_conjunction_opens() -> None:
    openings = set()
    for sentence, verb, opening in links("clause"):
        assert opening < verb
        openings.add(sentence.words[opening])
    assert {"dass", "weil", "wenn", "ob", "obwohl"} < openings
    assert openings & {"der", "die", "das", "den"}  # relative pronouns


def test_the_parts_of_a_verb_belong_to_one_clause() -> None:
    """Between them there is a comma only where a relative clause with both its commas stands."""
    far = [(s, a, b) for s, a, b in links("verb") if a - b >= 4]
    assert len(far) > 100
    for sentence, part, finite in far:
        assert sentence.words[finite + 1 : part].count(",") in (0, 2)
        assert re.fullmatch(r"[a-zäöüß]+", sentence.words[part])


def test_a_pronoun_means_the_one_noun_of_its_gender_before_it() -> None:
    genders = {"er": "m", "sie": "f", "es": "n"}
    for sentence, pronoun, noun in links("pronoun"):
        wanted = genders[sentence.words[pronoun]]
        same = [i for i, gender in sentence.nouns.items() if gender == wanted and i < pronoun]
        assert same == [noun]


def test_a_relative_pronoun_follows_its_noun() -> None:
    for sentence, pronoun, noun in links("relative pronoun"):
        assert sentence.words[pronoun - 1] == ","
        assert noun == max(i for i in sentence.nouns if i < pronoun)


@pytest.mark.slow
def test_none_of_the_sentences_can_stand_in_training() -> None:
    known = {pair.source for pair in toy_german(n_train=20_000, n_valid=0, n_test=0).train}
    assert not known & {sentence.words for sentence in sentences()}


def test_the_words_are_those_of_the_grammar() -> None:
    rng = random.Random(0)
    words = {word for _ in range(2000) for word in generate(rng).source}
    ours = {word for sentence in sentences() for word in sentence.words}
    assert len(ours - words) < 0.1 * len(ours)
