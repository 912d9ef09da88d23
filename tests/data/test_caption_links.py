"""What the rules find in captions, and where they hold back."""

from collections.abc import Callable

import pytest

from transformer.data.aligned_captions import aligned_captions
from transformer.data.caption_links import (
    adjective_links,
    article_links,
    caption_words,
    nouns_before,
    owner_links,
    possessive_pairs,
    possible_owners,
    prefix_links,
)


def named(rule: Callable[[list[str]], set[tuple[int, int]]], caption: str) -> set[tuple[str, str]]:
    """The links as words."""
    words = caption_words(caption)
    return {(words[a], words[b]) for a, b in rule(words)}


@pytest.mark.parametrize(
    ("caption", "owner"),
    [
        ("Ein Mann mit Hut spielt in seinem Garten.", "Mann"),
        ("Eine Frau zeigt einem Mann ihr Fahrrad.", "Frau"),
        ("Eine Frau zeigt einem Mann sein altes Fahrrad.", "Mann"),
        ("Zwei kleine Mädchen spielen mit ihrem Hund.", "Mädchen"),
        ("Ein Mann sieht einem kleinen Jungen mit seinem Ball zu.", None),  # two could be
        ("Ein Mann und eine Frau essen ihr Brot.", None),  # theirs, not hers
        ("Eine Frau sitzt und ein Kind steht neben ihr.", None),  # no possessive
        ("Ein Mann lächelt, um freundlich zu sein.", None),
    ],
)
def test_the_owner_is_the_one_noun_that_agrees(caption: str, owner: str | None) -> None:
    assert {b for _, b in named(owner_links, caption)} == ({owner} if owner else set())


@pytest.mark.parametrize(
    ("caption", "link"),
    [
        ("Zwei Mädchen sehen sich im Wohnzimmer einen Film an.", ("an", "sehen")),
        ("Ein Mann sitzt da und zieht seine schwarze neue Jacke aus.", ("aus", "zieht")),
        ("Ein Mann zieht Schuhe an.", None),  # too near
        ("Ein Hund wartet auf seinen alten Freund.", None),
    ],
)
def test_a_prefix_at_the_end_belongs_to_the_verb(caption: str, link: object) -> None:
    assert named(prefix_links, caption) == ({link} if link else set())


def test_articles_and_adjectives_belong_to_the_noun_behind_them() -> None:
    caption = "Der Mann, der die alte Uhr trägt, sieht dem Hund in die Augen."
    assert named(article_links, caption) == {
        ("Der", "Mann"), ("die", "Uhr"), ("dem", "Hund"), ("die", "Augen")
    }  # fmt: skip
    assert named(adjective_links, caption) == {("alte", "Uhr")}


def test_the_rules_agree_with_the_links_that_a_person_drew() -> None:
    """A prefix and its verb have an English word in common in the captions aligned by hand."""
    checked = 0
    for pair in aligned_captions():
        for prefix, verb in prefix_links(list(pair.source)):
            shared = [{t for s, t in pair.possible if s == position} for position in (prefix, verb)]
            assert shared[0] & shared[1], pair.source
            checked += 1
    assert checked >= 4


def test_one_or_many_girls_are_told_apart() -> None:
    assert possible_owners(["Ein", "kleines", "Mädchen"]) == {2: "n"}
    assert possible_owners(["Zwei", "Mädchen"]) == {1: "pl"}
    assert nouns_before(["Ein", "Mann", "am", "Strand", "mit"], 5) == [1, 3]


def test_a_possessive_pair_differs_in_one_word_which_turns_the_owner() -> None:
    pairs = possessive_pairs()
    assert len(pairs) == 24
    for his, her in pairs:
        differing = [i for i, (a, b) in enumerate(zip(his.words, her.words, strict=True)) if a != b]
        assert differing == [his.pronoun] == [her.pronoun]
        assert (his.owner, his.other) == (her.other, her.owner)
        assert max(his.owner, his.other) < his.pronoun
    assert sum(his.owner < his.other for his, _ in pairs) == 12  # who comes first decides nothing
