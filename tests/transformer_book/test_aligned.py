"""Everyday sentences aligned by hand: pairs of the book's test set, with every link that is due."""

from collections import Counter
from collections.abc import Set
from pathlib import Path

import pytest

from transformer.data.everyday import asking_for, everyday_corpus
from transformer.data.own_sentences import own_sentences
from transformer.text import BPETokenizer

from transformer_book.aligned import AlignedPair, aligned_everyday, opening_sentence, read_pairs
from transformer_book.heads.measures import alignment_error_rate, word_groups
from transformer_book.shipped import shipped_model

PAIRS = aligned_everyday()
# What may have possible links only: auxiliaries, articles, and words that the other language lacks.
FUNCTION_WORDS = {
    *("do", "does", "have", "has", "been", "is", "are", "was", "were", "got", "'ll", "'s"),
    *("to", "a", "of", "for", "any", "there", "my", "your", "away", ","),
    *("habe", "haben", "hast", "hat", "ist", "sind", "sich", "der", "die", "dem"),
    *("noch", "mehr", "lieber"),
}


def named(words: str) -> AlignedPair:
    return next(pair for pair in PAIRS if words in pair.source_text)


def linked(pair: AlignedPair, german: str, english: str) -> str:
    """How two words that each stand once in their sentence are linked."""
    link = pair.source.index(german), pair.target.index(english)
    return "surely" if link in pair.sure else "possibly" if link in pair.possible else "not"


def test_at_least_forty_rows_of_the_test_set_are_aligned_in_its_order() -> None:
    rows = [(row.phenomenon, row.german, row.english) for row in own_sentences()]
    places = [rows.index((pair.feature, pair.source_text, pair.target_text)) for pair in PAIRS]
    assert places == sorted(set(places))
    assert len(places) >= 40


def test_every_phenomenon_has_at_least_two() -> None:
    counts = Counter(pair.feature for pair in PAIRS)
    assert counts.keys() == {row.phenomenon for row in own_sentences()}
    assert min(counts.values()) >= 2


def test_links_lie_inside_and_every_content_word_has_a_sure_one() -> None:
    lower = FUNCTION_WORDS | {word.capitalize() for word in FUNCTION_WORDS}
    for pair in PAIRS:
        check_links(pair, lower)


def test_the_ends_of_the_sentences_are_linked_to_each_other_and_nothing_else() -> None:
    for pair in PAIRS:
        check_ends(pair, {".", "?"})


def test_no_word_is_linked_with_half_a_sentence() -> None:
    for pair in PAIRS:
        check_partners(pair)


def test_the_written_sentences_have_their_marks_at_their_words() -> None:
    for pair in PAIRS:
        check_written(pair)
    assert named("Mein Koffer").target_text == "My suitcase is gone; I left it on the train."
    assert named("Niemand").target_text == "Nobody told us that today's class is cancelled."


def test_what_the_docstring_says_of_short_forms_auxiliaries_and_pairs_of_words_is_so() -> None:
    glasses = named("Ohne Brille")
    assert linked(glasses, "kann", "can't") == linked(glasses, "nicht", "can't") == "surely"
    letter = named("Ich weiß nicht")
    assert linked(letter, "nicht", "don't") == "surely"
    assert linked(letter, "weiß", "don't") == "possibly"
    mechanic = named("Mechaniker")
    assert linked(mechanic, "hat", "did") == linked(mechanic, "gesagt", "say") == "surely"
    assert linked(named("Italienisch"), "lernt", "been") == "possibly"
    again = named("noch einmal anrufen")
    assert linked(again, "noch", "again") == linked(again, "einmal", "again") == "surely"
    suitcase = named("Mein Koffer")
    assert linked(suitcase, ",", ";") == "surely"


def test_every_negation_is_linked_with_a_negation() -> None:
    german = {"nicht", "nie", "niemand", "keinen", "kein", "weder"}
    english = {"not", "never", "nobody", "neither", "no"}
    checked = 0
    for pair in PAIRS:
        for s, word in enumerate(pair.source):
            if word.lower() in german:
                partners = {pair.target[t].lower() for a, t in pair.sure if a == s}
                assert any(p in english or p.endswith("n't") for p in partners), pair
                checked += 1
    assert checked >= 10


def test_both_halves_of_a_separable_verb_lead_to_its_translation() -> None:
    halves = [("stell", "ab", "turn"), ("hole", "ab", "pick"), ("kommt", "an", "arrive")]
    halves += [("gibt", "zu", "admits"), ("schlage", "vor", "suggest"), ("zieh", "aus", "take")]
    for verb, prefix, english in halves:
        (pair,) = [p for p in PAIRS if {verb, prefix} <= {*p.source} and english in p.target]
        assert linked(pair, verb, english) == "surely"
        assert linked(pair, prefix, english) != "not"


def test_the_links_agree_with_themselves_and_the_diagonal_does_not_with_them() -> None:
    sure, possible = [p.sure for p in PAIRS], [p.possible for p in PAIRS]
    assert alignment_error_rate(sure, sure, possible) == 0
    straight = [{(i, i) for i in range(min(len(p.source), len(p.target)))} for p in PAIRS]
    assert alignment_error_rate(straight, sure, possible) > 0.3


def test_subwords_never_reach_from_one_word_into_the_next() -> None:
    """So that weights between pieces can be summed to weights between the words linked here."""
    texts = [text for pair in PAIRS for text in (pair.source_text, pair.target_text)]
    tokenizer = BPETokenizer.train(texts, 800)
    for pair in PAIRS:
        for text, words in ((pair.source_text, pair.source), (pair.target_text, pair.target)):
            pieces = tokenizer.pieces(tokenizer.encode(text))
            assert len(word_groups(pieces, words)) == len(words)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("negation | Nein .", "is not feature . German words, and English words below"),
        ("Nein .\n    No/0 ./1", "is not feature . German words, and English words below"),
        ("negation | Nein .\n    No ./1", "'No' below .* is not a word, a slash and positions"),
        ("negation | Nein .\n    No/0! ./1", "'No/0!' below .* is not a word, a slash and pos"),
        ("negation | Nein .\n    No/2? ./1", r"'No/2\?' names word 2 of 'Nein \.'; count from 0"),
    ],
)
def test_what_is_wrong_with_a_pair_as_it_is_written_down_is_said(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_pairs(text)


def test_the_opening_sentence_stands_beside_what_the_shipped_model_says() -> None:
    opening = opening_sentence()
    assert opening.source_text == "Zwei Hunde spielen im Schnee." and opening not in PAIRS
    check_links(opening, FUNCTION_WORDS)
    for beam_size in (1, 4):
        said = shipped_model().translate([opening.source_text], beam_size=beam_size)
        assert said == [opening.target_text]


def test_the_shipped_model_spells_every_word() -> None:
    tokenizer = shipped_model().tokenizer
    for pair in PAIRS:
        for text, words in ((pair.source_text, pair.source), (pair.target_text, pair.target)):
            assert len(word_groups(tokenizer.pieces(tokenizer.encode(text)), words)) == len(words)


@pytest.mark.slow
def test_none_is_a_pair_that_the_shipped_model_has_learned_from(real_data: Path) -> None:
    learned = set(everyday_corpus(real_data / "everyday").train.source)
    assert len(learned) > 100_000
    for pair in [opening_sentence(), *PAIRS]:
        assert (
            not {asking_for("en", [pair.source_text])[0], asking_for("de", [pair.target_text])[0]}
            & learned
        )


# What may stand without a partner: a comma (German has more of them), nothing else.
WITHOUT_PARTNER = {","}


def check_links(pair: AlignedPair, function_words: Set[str]) -> None:
    """Links lie inside; all words have one, and all but function words have a sure one."""
    assert pair.sure <= pair.possible
    for side, words in enumerate((pair.source, pair.target)):
        linked = {link[side] for link in pair.possible}
        assert linked <= set(range(len(words))), pair
        assert {w for i, w in enumerate(words) if i not in linked} <= WITHOUT_PARTNER, pair
        surely = {link[side] for link in pair.sure}
        assert {w for i, w in enumerate(words) if i not in surely} <= function_words, pair


def check_ends(pair: AlignedPair, marks: Set[str]) -> None:
    """The marks at the ends are linked to each other and to nothing else."""
    ends = len(pair.source) - 1, len(pair.target) - 1
    assert pair.source[-1] == pair.target[-1] and pair.source[-1] in marks, pair
    assert ends in pair.sure
    assert [link for link in pair.possible if link[0] == ends[0] or link[1] == ends[1]] == [ends]


def check_partners(pair: AlignedPair) -> None:
    """No word is linked with half a sentence."""
    for side in range(2):
        partners = [link[side] for link in pair.possible]
        assert max(partners.count(position) for position in partners) <= 3, pair


def check_written(pair: AlignedPair) -> None:
    """The sentences as one writes them have the same words, and marks that stand at their words."""
    for text, words in ((pair.source_text, pair.source), (pair.target_text, pair.target)):
        assert text.replace(" ", "") == "".join(words)
        assert not any(apart in text for apart in (" .", " ,", " ;", " ?", " '", "  "))
