"""The captions aligned by hand: every link is there, none is absurd, and nothing is borrowed."""

import gzip
from pathlib import Path

import pytest

from transformer.data.aligned_captions import AlignedPair, aligned_captions, opening_caption
from transformer.head_measures import alignment_error_rate, word_groups

OPENING = opening_caption()
PAIRS = aligned_captions()
ALL = [OPENING, *PAIRS]
# What may stand without a partner: a comma (German has more of them), nothing else.
WITHOUT_PARTNER = {","}
# What may have possible links only.
FUNCTION_WORDS = {
    *("is", "are", "does", "to", "down", "the", "a", "of", "'s", ","),
    *("sich", "um", "aus", "Das", "Die", "man", ","),
}
FEATURES = {"articles", "compound", "negation", "separable", "verb-final", "verb-second"}


def named(words: str) -> AlignedPair:
    return next(pair for pair in PAIRS if words in pair.source_text)


def test_there_are_thirty_different_pairs_of_all_features() -> None:
    assert len({pair.source for pair in PAIRS}) == len(PAIRS) == 30
    assert {pair.feature for pair in PAIRS} == FEATURES
    counts = [sum(pair.feature == feature for pair in PAIRS) for feature in FEATURES]
    assert min(counts) >= 3


@pytest.mark.parametrize("pair", ALL, ids=lambda pair: pair.source_text)
def test_links_lie_inside_and_every_content_word_has_a_sure_one(pair: AlignedPair) -> None:
    assert pair.sure <= pair.possible
    for side, words in enumerate((pair.source, pair.target)):
        linked = {link[side] for link in pair.possible}
        assert linked <= set(range(len(words)))
        assert {w for i, w in enumerate(words) if i not in linked} <= WITHOUT_PARTNER
        surely = {link[side] for link in pair.sure}
        assert {w for i, w in enumerate(words) if i not in surely} <= FUNCTION_WORDS


@pytest.mark.parametrize("pair", ALL, ids=lambda pair: pair.source_text)
def test_the_ends_of_the_sentences_are_linked_to_each_other_and_nothing_else(
    pair: AlignedPair,
) -> None:
    ends = len(pair.source) - 1, len(pair.target) - 1
    assert (pair.source[-1], pair.target[-1]) == (".", ".")
    assert ends in pair.sure
    assert [link for link in pair.possible if link[0] == ends[0] or link[1] == ends[1]] == [ends]


@pytest.mark.parametrize("pair", ALL, ids=lambda pair: pair.source_text)
def test_no_word_is_linked_with_half_a_sentence(pair: AlignedPair) -> None:
    for side in range(2):
        partners = [link[side] for link in pair.possible]
        assert max(partners.count(place) for place in partners) <= 3


def test_the_written_sentences_have_their_marks_at_their_words() -> None:
    pair = named("Während")
    assert pair.source_text.startswith("Während die Eltern Kaffee trinken, rutschen")
    assert named("Mädchens").target_text == "The girl's bike is lying next to the bus stop."
    for pair in ALL:
        for text, words in ((pair.source_text, pair.source), (pair.target_text, pair.target)):
            assert text.replace(" ", "") == "".join(words)
            assert " ." not in text and " ," not in text and "  " not in text


def test_what_the_docstring_says_of_verbs_compounds_and_contractions_is_so() -> None:
    film = named("Film an")  # sehen ... an: watch; im: in the; Wohnzimmer: living room
    watch, in_, the, living, room = map(film.target.index, ("watch", "in", "the", "living", "room"))
    for german, english in (("sehen", watch), ("an", watch), ("im", in_), ("im", the)):
        assert (film.source.index(german), english) in film.sure
    assert {(film.source.index("Wohnzimmer"), t) for t in (living, room)} <= film.sure
    shoes = named("keine Schuhe")
    progressive = (shoes.source.index("trägt"), shoes.target.index("is"))
    assert progressive in shoes.possible - shoes.sure
    assert (shoes.source.index("keine"), shoes.target.index("no")) in shoes.sure


def test_every_negation_is_linked_with_a_negation() -> None:
    german, english = {"keine", "nicht", "Niemand"}, {"no", "not", "Nobody"}
    for pair in PAIRS:
        found = {(s, t) for s, t in pair.sure if pair.source[s] in german}
        assert all(pair.target[t] in english for _, t in found)
        assert bool(found) == (pair.feature == "negation")


def test_word_order_is_what_the_feature_promises() -> None:
    def place(pair: AlignedPair, english: str) -> float:
        """How far down the German sentence the partners of an English word stand."""
        t = pair.target.index(english)
        return max(s for s, b in pair.sure if b == t) / (len(pair.source) - 1)

    for words, verb in (("gefangen", "caught"), ("gebaut", "built"), ("pflücken", "pick")):
        pair = named(words)
        assert place(pair, verb) > 0.85 > pair.target.index(verb) / (len(pair.target) - 1)
    for pair in PAIRS:
        crossings = [
            (a, b) for a in pair.sure for b in pair.sure if (a[0] - b[0]) * (a[1] - b[1]) < 0
        ]
        if pair.feature in ("verb-final", "separable", "verb-second"):
            assert crossings or pair.source[:2] in {("Das", "Auto"), ("Ein", "Koch")}, pair


def test_the_alignment_of_the_gold_with_itself_has_no_error_and_the_diagonal_has() -> None:
    sure, possible = [p.sure for p in PAIRS], [p.possible for p in PAIRS]
    assert alignment_error_rate(sure, sure, possible) == 0
    assert alignment_error_rate(possible, sure, possible) == 0
    straight = [{(i, i) for i in range(min(len(p.source), len(p.target)))} for p in PAIRS]
    assert alignment_error_rate(straight, sure, possible) > 0.3


def test_the_shipped_model_spells_every_word() -> None:
    from transformer.shipped import shipped_model

    tokenizer = shipped_model().tokenizer
    for pair in ALL:
        for text, words in ((pair.source_text, pair.source), (pair.target_text, pair.target)):
            pieces = tokenizer.pieces(tokenizer.encode(text))
            assert len(word_groups(pieces, words)) == len(words)


def test_no_caption_is_one_of_multi30k(real_data: Path) -> None:
    known = set()
    for path in (real_data / "multi30k").glob("*.gz"):
        known |= set(gzip.decompress(path.read_bytes()).decode().split("\n"))
    assert len(known) > 50_000
    for pair in ALL:
        assert not {pair.source_text, pair.target_text} & known


def test_the_opening_caption_stands_beside_what_the_shipped_model_says() -> None:
    from transformer.shipped import shipped_model

    assert OPENING.source_text == "Zwei Hunde spielen im Schnee."
    assert OPENING not in PAIRS
    assert OPENING.possible == OPENING.sure
    for beam_size in (1, 4):
        said = shipped_model().translate([OPENING.source_text], beam_size=beam_size)
        assert said == [OPENING.target_text]
