"""Toy German is correct German with one English translation, truly aligned, and truly held out."""

import hashlib
import random
import re
from itertools import pairwise

import pytest

from transformer.data.toy_german import (
    FEATURES,
    SentencePair,
    ToyGerman,
    generate,
    is_held_out,
    lexicon,
    spell_out,
    toy_german,
    vocabulary,
)
from transformer.data.toy_german.lexicon import MODES, RELATIONS, VERBS
from transformer.data.toy_german.syntax import (
    Clause,
    NounPhrase,
    Place,
    PronounPhrase,
    QuestionWord,
    RelativePronoun,
    Sentence,
)

# --- Samples


@pytest.fixture(scope="module")
def corpus() -> ToyGerman:
    """The splits at a quarter of their default size."""
    return toy_german(n_train=10_000, n_valid=200, n_test=400)


@pytest.fixture(scope="module")
def pairs(corpus: ToyGerman) -> list[SentencePair]:
    """Sentences of every kind and length."""
    return [*corpus.train, *corpus.valid, *corpus.test_combinations, *corpus.test_longer]


# --- German, checked with tables of its own

VERB = {verb.name: verb for verb in VERBS}
READINGS = {
    "der": "m.nom f.dat",
    "die": "f.nom f.acc pl.nom pl.acc",
    "das": "n.nom n.acc",
    "den": "m.acc pl.dat",
    "dem": "m.dat n.dat",
    "im": "m.dat n.dat",
    "zum": "m.dat n.dat",
    "ins": "n.acc",
    "zur": "f.dat",
    "ein": "m.nom n.nom n.acc",
    "eine": "f.nom f.acc",
    "einen": "m.acc",
    "einem": "m.dat n.dat",
    "einer": "f.dat",
}
for stem in ("kein", "mein"):
    for ending in ("", "e", "en", "em", "er"):
        READINGS[stem + ending] = READINGS["ein" + ending]
    READINGS[stem + "e"] += " pl.nom pl.acc"
    READINGS[stem + "en"] += " pl.dat"

WEAK = {
    "e": "m.nom f.nom f.acc n.nom n.acc",
    "en": "m.acc m.dat f.dat n.dat pl.nom pl.acc pl.dat",
}
MIXED = {"er": "m.nom", "es": "n.nom n.acc", "e": "f.nom f.acc", "en": WEAK["en"]}
STRONG = {
    "er": "m.nom f.dat",
    "e": "f.nom f.acc pl.nom pl.acc",
    "es": "n.nom n.acc",
    "en": "m.acc pl.dat",
    "em": "m.dat n.dat",
}
STEMS = ["alt", "jung", "neu", "klein", "groß", "schön", "müd", "teur", "frisch"]
NOMINAL = """
Mann m Männer Männern,Frau f Frauen Frauen,Kind n Kinder Kindern,Mädchen n Mädchen Mädchen,
Lehrer m Lehrer Lehrern,Ärztin f Ärztinnen Ärztinnen,Hund m Hunde Hunden,Katze f Katzen Katzen,
Pferd n Pferde Pferden,Buch n Bücher Büchern,Brief m Briefe Briefen,Zeitung f Zeitungen Zeitungen,
Ball m Bälle Bällen,Tasche f Taschen Taschen,Apfel m Äpfel Äpfeln,Käse m - -,Suppe f - -,
Brot n - -,Tür f Türen Türen,Fenster n Fenster Fenstern,Tisch m Tische Tischen,
Bett n Betten Betten,Haus n Häuser Häusern,Schule f Schulen Schulen,Garten m Gärten Gärten,
Stadt f Städte Städten
"""
NOUN_READINGS: dict[str, set[str]] = {}
for entry in NOMINAL.replace("\n", "").split(","):
    singular, gender, plural, plural_dative = entry.split()
    for form, readings in (
        (singular, {f"{gender}.{case}" for case in ("nom", "acc", "dat")}),
        (plural, {"pl.nom", "pl.acc"}),
        (plural_dative, {"pl.dat"}),
    ):
        NOUN_READINGS.setdefault(form, set()).update(readings)
for weak_noun, rest in (("Junge", "Jungen"), ("Nachbar", "Nachbarn")):
    NOUN_READINGS[weak_noun] = {"m.nom"}
    NOUN_READINGS[rest] = {"m.acc", "m.dat", "pl.nom", "pl.acc", "pl.dat"}

PREPOSITIONS = {
    "in": {"acc", "dat"},
    "auf": {"acc", "dat"},
    "unter": {"acc", "dat"},
    "vor": {"dat"},
    "mit": {"dat"},
    "zu": {"dat"},
    "für": {"acc"},
}


def noun_phrases(words: tuple[str, ...]) -> list[tuple[int, int]]:
    """Spans from determiner or adjective to the noun, where a determiner is sure to be one."""
    spans = []
    for end, word in enumerate(words):
        if word in NOUN_READINGS:
            start = end
            if start and adjective_ending(words[start - 1]):
                start -= 1
            if start and words[start - 1] in READINGS:
                if may_be_relative(words, start - 1):
                    continue
                start -= 1
            spans.append((start, end + 1))
    return spans


def may_be_relative(words: tuple[str, ...], at: int) -> bool:
    """Whether the word opens a part of the sentence: der Hund , mit dem Frauen spielen."""
    before = words[max(0, at - 2) : at]
    return before[-1:] == (",",) or (before[:1] == (",",) and before[1] in PREPOSITIONS)


def adjective_ending(word: str) -> str:
    found = re.fullmatch("(" + "|".join(STEMS) + ")(e|en|er|es|em)", word)
    return found[2] if found else ""


def readings_of(phrase: tuple[str, ...]) -> set[str]:
    """The (agreement, case) pairs in which all words of the phrase agree."""
    possible = set(NOUN_READINGS[phrase[-1]])
    article = phrase[0] if phrase[0] in READINGS else ""
    if article:
        possible &= set(READINGS[article].split())
    if len(phrase) > 1 and (ending := adjective_ending(phrase[-2])):
        table = STRONG if not article else MIXED if article[0] in "ekm" else WEAK
        possible &= set(table.get(ending, "").split())
    return possible


@pytest.mark.slow
def test_article_adjective_and_noun_agree_in_gender_number_and_case(
    pairs: list[SentencePair],
) -> None:
    assert readings_of(("der", "alte", "Mann")) == {"m.nom"}
    assert not readings_of(("der", "alter", "Mann"))
    assert not readings_of(("ein", "kleines", "Hund"))
    for pair in pairs:
        for start, end in noun_phrases(pair.source):
            assert readings_of(pair.source[start:end]), " ".join(pair.source)


@pytest.mark.slow
def test_prepositions_govern_their_case(pairs: list[SentencePair]) -> None:
    for pair in pairs:
        words = pair.source
        for start, end in noun_phrases(words):
            if start and words[start - 1] in PREPOSITIONS:
                cases = {reading.split(".")[1] for reading in readings_of(words[start:end])}
                assert cases & PREPOSITIONS[words[start - 1]], " ".join(words)


def test_in_with_accusative_is_into_and_with_dative_in(pairs: list[SentencePair]) -> None:
    seen = set()
    for pair in pairs:
        for start, end in noun_phrases(pair.source):
            if start and pair.source[start - 1] == "in":
                cases = {r.split(".")[1] for r in readings_of(pair.source[start:end])} - {"nom"}
                english = {pair.target[j] for i, j in pair.alignment if i == start - 1}
                if len(cases) == 1:
                    assert english == ({"into"} if cases == {"acc"} else {"in"})
                    seen |= english
    assert seen == {"in", "into"}


SINGULAR_VERBS = {verb.singular for verb in lexicon.VERBS}
FINITE = {
    *(form for verb in lexicon.VERBS for form in (verb.singular, verb.plural)),
    *(form for mode in lexicon.MODES.values() for form in mode.german or ()),
    *(form for forms in lexicon.AUXILIARIES.values() for form in forms),
    *("hatte", "hatten", "war", "waren"),
}
LAST = FINITE | {v.prefix + f for v in lexicon.VERBS for f in (v.singular, v.plural)}


def kind_of(word: str) -> str:
    """One letter for the kind of word."""
    if word in FINITE:
        return "V"
    if word in NOUN_READINGS:
        return "N"
    if word in ("im", "ins", "zum", "zur"):
        return "RD"
    if word in PREPOSITIONS:
        return "R"
    if word in READINGS:
        return "D"
    if adjective_ending(word):
        return "A"
    if word in {form for pronoun in lexicon.PRONOUNS for form in pronoun.german.values()}:
        return "P"
    return "T" if word in {adverb.german for adverb in lexicon.ADVERBS} else "?"


def test_the_verb_stands_second_in_main_clauses(pairs: list[SentencePair]) -> None:
    one_part = re.compile("P|T|RP|(R?D)?A?N|RA?N")
    fronts = set()
    for pair in pairs:
        if pair.features & {"relative", "question"} or pair.source[0] in lexicon.CONJUNCTIONS:
            continue
        kinds = [kind_of(word) for word in pair.source]
        front = "".join(kinds[: kinds.index("V")])
        assert one_part.fullmatch(front), " ".join(pair.source)
        fronts.add(front)
    assert {"P", "T", "DN", "DAN", "N", "RDN"} <= fronts


def test_the_verb_stands_last_in_subordinate_and_relative_clauses(
    pairs: list[SentencePair],
) -> None:
    checked = 0
    for pair in pairs:
        parts = [part.split() for part in " ".join(pair.source[:-1]).split(" , ")]
        for number, words in enumerate(parts):
            conjunction = words[0] in lexicon.CONJUNCTIONS
            # With a relative clause inside, a subordinate clause goes on in a later part.
            whole = conjunction and "relative" not in pair.features
            relative = number == 1 and not conjunction and words[0] not in FINITE
            if whole or relative:
                assert words[-1] in LAST, " ".join(pair.source)
                checked += 1
    assert checked > len(pairs) / 4


def test_a_prefix_apart_from_its_verb_is_aligned_with_the_verb(pairs: list[SentencePair]) -> None:
    seen = set()
    for pair in pairs:
        if pair.source[-2] in {"an", "auf", "zu", "ein", "ab"}:
            translation = {pair.target[j] for i, j in pair.alignment if i == len(pair.source) - 2}
            assert translation & {"up"} or translation & {
                form
                for verb in lexicon.VERBS
                if verb.prefix == pair.source[-2]
                for form in (verb.english, verb.english_s)
            }
            seen.add(pair.source[-2])
    assert seen == {"an", "auf", "zu", "ein", "ab"}


def test_verb_and_subject_agree(pairs: list[SentencePair]) -> None:
    singular = SINGULAR_VERBS | {"hatte", "war", "wird", "kann", "muss", "will"}
    plural = {verb.plural for verb in lexicon.VERBS} | {"hatten", "waren", "werden", "können"}
    checked = 0
    for pair in pairs:
        first, second = pair.source[:2]
        if first in ("er", "wir") and "question" not in pair.features:
            assert second not in (plural if first == "er" else singular), " ".join(pair.source)
            checked += 1
        if first == "sie":
            subject = pair.target[0] if pair.target[0] in ("she", "they") else pair.target[1]
            if subject in ("she", "they"):
                assert second not in (plural if subject == "she" else singular)
                checked += 1
    assert checked > 1_000


# --- Translation and alignment


@pytest.mark.slow
def test_no_german_sentence_has_two_translations() -> None:
    rng = random.Random(7)
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for _ in range(5_000):
        pair = generate(rng, max_words=8)  # short ones repeat
        assert found.setdefault(pair.source, pair.target) == pair.target
    assert len(found) < 5_000


def test_links_are_in_range_and_cover_every_word_but_german_commas(
    pairs: list[SentencePair],
) -> None:
    for pair in pairs:
        linked = {i for i, _ in pair.alignment}
        assert linked <= set(range(len(pair.source)))
        assert {pair.source[i] for i in set(range(len(pair.source))) - linked} <= {","}
        assert {j for _, j in pair.alignment} == set(range(len(pair.target)))


def test_nouns_and_adjectives_are_aligned_with_their_translations(
    pairs: list[SentencePair],
) -> None:
    words = {
        form: {noun.english, noun.english_plural}
        for noun in lexicon.NOUNS
        for form in {*noun.singular.values(), *(noun.plural or {}).values()}
    }
    for adjective in lexicon.ADJECTIVES:
        for ending in ("e", "en", "er", "es", "em"):
            words[adjective.stem + ending] = {adjective.english}
    for pair in pairs:
        for i, word in enumerate(pair.source):
            if word in words:
                links = [pair.target[j] for source, j in pair.alignment if source == i]
                assert len(links) == 1
                assert links[0] in words[word]


def test_lengths_are_within_4_and_24_words(corpus: ToyGerman) -> None:
    for pair in [*corpus.train, *corpus.valid, *corpus.test_combinations]:
        assert 4 <= len(pair.source) <= 16
        assert 4 <= len(pair.target) <= 16
    for pair in corpus.test_longer:
        assert 17 <= len(pair.source) <= 24
        assert 4 <= len(pair.target) <= 24
    assert {len(pair.source) for pair in corpus.train} == set(range(4, 17))
    assert {len(pair.source) for pair in corpus.test_longer} == set(range(17, 25))


def test_every_feature_occurs_and_is_listed(corpus: ToyGerman) -> None:
    assert set().union(*(pair.features for pair in corpus.test_combinations)) == set(FEATURES)
    assert list(FEATURES) == sorted(FEATURES)


# --- Vocabulary and splits


@pytest.mark.slow
def test_the_vocabulary_is_exactly_what_the_default_training_set_shows() -> None:
    german_words, english_words = vocabulary()
    corpus = toy_german(n_valid=0, n_test=0)
    assert len(corpus.train) == 40_000
    assert german_words == sorted({word for pair in corpus.train for word in pair.source})
    assert english_words == sorted({word for pair in corpus.train for word in pair.target})
    assert 350 <= len(german_words) + len(english_words) <= 500


def test_splits_are_disjoint_and_have_their_sizes(
    corpus: ToyGerman, pairs: list[SentencePair]
) -> None:
    assert len({pair.source for pair in pairs}) == len(pairs)
    assert len(corpus.train) == 10_000
    assert len(corpus.valid) == 200
    assert len(corpus.test_combinations) == len(corpus.test_longer) == 400


def test_every_word_of_the_tests_occurs_in_training(corpus: ToyGerman) -> None:
    known = {word for pair in corpus.train for word in (*pair.source, *pair.target)}
    for pair in [*corpus.valid, *corpus.test_combinations, *corpus.test_longer]:
        assert known.issuperset(pair.source + pair.target)


ENGLISH_NOUNS = {
    form: noun.name for noun in lexicon.NOUNS for form in (noun.english, noun.english_plural)
}
ENGLISH_ADJECTIVES = {adjective.english: adjective.name for adjective in lexicon.ADJECTIVES}
ENGLISH_VERBS = {
    form: verb.name
    for verb in lexicon.VERBS
    if verb.frame in ("acc", "dat", "dat acc") and verb.name != "haben"  # has is a helper too
    for form in (verb.english, verb.english_s, verb.english_past)
}


def combinations_in_words(words: tuple[str, ...]) -> set[tuple[str, str]]:
    """Adjective and noun side by side, "noun is adjective", verb and the noun phrases behind it."""
    found = set()
    for left, right in pairwise(words):
        if left in ENGLISH_ADJECTIVES and right in ENGLISH_NOUNS:
            found.add((ENGLISH_ADJECTIVES[left], ENGLISH_NOUNS[right]))
    for subject, copula, adjective in zip(words, words[1:], words[2:], strict=False):
        is_said = copula in ("is", "are", "was", "were") and adjective in ENGLISH_ADJECTIVES
        if subject in ENGLISH_NOUNS and is_said and not {"who", "whom", "which"} & {*words}:
            found.add((ENGLISH_ADJECTIVES[adjective], ENGLISH_NOUNS[subject]))
    articles = {"the", "a", "an", "no", "my", *ENGLISH_ADJECTIVES}
    for start, word in enumerate(words):
        if word in ENGLISH_VERBS:
            verb = VERB[ENGLISH_VERBS[word]]
            skipped = {verb.english_particle, *articles}
            rest = [other for other in words[start + 1 :] if other not in skipped]
            objects = 2 if verb.frame == "dat acc" else 1
            for other in rest[:objects]:
                if other not in ENGLISH_NOUNS:
                    break
                found.add((ENGLISH_VERBS[word], ENGLISH_NOUNS[other]))
    return found


def test_held_out_combinations_do_not_occur_in_training(corpus: ToyGerman) -> None:
    example = ("he", "gives", "the", "old", "woman", "a", "new", "letter", ".")
    assert combinations_in_words(example) == {
        ("geben", "Frau"),
        ("geben", "Brief"),
        ("alt", "Frau"),
        ("neu", "Brief"),
    }
    for pair in [*corpus.train, *corpus.valid, *corpus.test_longer]:
        assert not any(map(is_held_out, pair.combinations))
        assert not any(map(is_held_out, combinations_in_words(pair.target))), pair.target
    visible = 0
    for pair in corpus.test_combinations:
        assert any(map(is_held_out, pair.combinations))
        visible += any(map(is_held_out, combinations_in_words(pair.target)))
    assert visible > 250  # the others stand apart: which the woman sees, sees him and ...
    held_out = {c for p in corpus.test_combinations for c in p.combinations if is_held_out(c)}
    assert len(held_out) >= 20


def test_combinations_are_the_ones_seen_in_the_words(corpus: ToyGerman) -> None:
    for pair in corpus.train:
        assert combinations_in_words(pair.target) <= pair.combinations, " ".join(pair.target)


# --- Reproducibility and bad input


def test_the_same_seed_gives_the_same_thousand_pairs() -> None:
    rng = random.Random(0)
    digest = hashlib.sha256()
    for _ in range(1_000):
        pair = generate(rng)
        line = (" ".join(pair.source), " ".join(pair.target), sorted(pair.alignment))
        digest.update(repr((*line, sorted(pair.features))).encode())
    assert digest.hexdigest() == "ac9ea5d9a4806f24ad6b2bcb1d84cd8692108cd025e7310a383449ee68e676cb"


def test_the_seed_decides_and_sizes_do_not_disturb_other_splits() -> None:
    one, same = toy_german(1_000, 5, 5, seed=5), toy_german(1_000, 10, 5, seed=5)
    assert one.train == same.train
    assert one.valid == same.valid[:5]
    assert one.train != toy_german(1_000, 0, 0, seed=6).train


@pytest.mark.parametrize("name", ["n_train", "n_valid", "n_test"])
def test_negative_sizes_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} \(-1\) must not be negative"):
        toy_german(**{"n_train": 0, "n_valid": 0, "n_test": 0, name: -1})


def test_too_little_training_data_for_the_tests_is_refused() -> None:
    assert toy_german(0, 0, 0) == ToyGerman([], [], [], [])
    with pytest.raises(ValueError, match=r"n_train \(3\) is too small"):
        toy_german(3, 0, 10)


@pytest.mark.parametrize(("low", "high"), [(3, 10), (10, 9), (4, 25), (4, 0)])
def test_impossible_lengths_are_refused(low: int, high: int) -> None:
    with pytest.raises(ValueError, match=f"{low} to {high} words cannot be made"):
        generate(random.Random(0), min_words=low, max_words=high)


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), [(4, 4), (9, 9), (24, 24)])
def test_lengths_asked_for_are_kept(low: int, high: int) -> None:
    rng = random.Random(1)
    for _ in range(20):
        assert low <= len(generate(rng, min_words=low, max_words=high).source) <= high


# --- One sentence for each phenomenon, written by hand

NOUN = {noun.name: noun for noun in lexicon.NOUNS}
ADJECTIVE = {adjective.name: adjective for adjective in lexicon.ADJECTIVES}
ADVERB = {adverb.german: adverb for adverb in lexicon.ADVERBS}


def np(noun: str, determiner: str = "def", adjective: str = "", **more: object) -> NounPhrase:
    return NounPhrase(NOUN[noun], determiner, adjective=ADJECTIVE.get(adjective), **more)


def pronoun(german: str, english: str) -> PronounPhrase:
    (found,) = (
        p
        for p in lexicon.PRONOUNS
        if german in p.german.values() and english in (p.subject, p.object)
    )
    return PronounPhrase(found)


def clause(verb: str, subject: object, mode: str = "present", **more: object) -> Clause:
    return Clause(VERB[verb], MODES[mode], subject, **more)


def plan(verb: str, subject: object, mode: str = "present", **more: object) -> Sentence:
    return Sentence(clause(verb, subject, mode, **more))


EXAMPLES = {
    "inversion behind an adverb, perfect": (
        plan(
            "sehen",
            np("Mann", adjective="alt"),
            "past",
            theme=np("Hund", "indef"),
            adverb=ADVERB["gestern"],
            front="adverb",
        ),
        "gestern hat der alte Mann einen Hund gesehen .",
        "yesterday the old man saw a dog .",
        "0-0 1-4 2-1 3-2 4-3 5-5 6-6 7-4 8-7",
        {"inversion", "perfect", "adjective"},
    ),
    "separable verb": (
        plan("anrufen", np("Junge"), theme=np("Mädchen")),
        "der Junge ruft das Mädchen an .",
        "the boy calls the girl .",
        "0-0 1-1 2-2 3-3 4-4 5-2 6-5",
        {"separable"},
    ),
    "separable verb, English particle behind a pronoun": (
        plan("abholen", pronoun("wir", "we"), theme=pronoun("ihn", "him")),
        "wir holen ihn ab .",
        "we pick him up .",
        "0-0 1-1 2-2 3-3 4-4",
        {"separable", "pronoun"},
    ),
    "subordinate clause with a modal verb": (
        Sentence(
            clause("wissen", pronoun("sie", "she"), negated=True),
            "ob",
            clause("kaufen", np("Kind"), "können", theme=np("Apfel", "indef"), front=""),
        ),
        "sie weiß nicht , ob das Kind einen Apfel kaufen kann .",
        "she does not know whether the child can buy an apple .",
        "0-0 1-1 1-3 2-2 4-4 5-5 6-6 7-9 8-10 9-8 10-7 11-11",
        {"subordinate", "modal", "negation", "pronoun"},
    ),
    "coreference with a thing, the person likes what pleases her": (
        Sentence(
            clause("sein", np("Tasche"), adjective=ADJECTIVE["klein"]),
            "weil",
            clause("gefallen", pronoun("sie", "it"), recipient=np("Frau"), front=""),
        ),
        "die Tasche ist klein , weil sie der Frau gefällt .",
        "the bag is small because the woman likes it .",
        "0-0 1-1 2-2 3-3 5-4 6-8 7-5 8-6 9-7 10-9",
        {"subordinate", "coreference", "experiencer", "dative", "pronoun"},
    ),
    "accusative relative clause behind the verbal bracket": (
        plan(
            "suchen",
            np("Frau", "indef"),
            "müssen",
            theme=np(
                "Hund",
                relative=clause(
                    "sehen", np("Kind"), "past", theme=RelativePronoun(NOUN["Hund"]), front="theme"
                ),
            ),
        ),
        "eine Frau muss den Hund suchen , den das Kind gesehen hat .",
        "a woman has to look for the dog which the child saw .",
        "0-0 1-1 2-2 2-3 3-6 4-7 5-4 5-5 7-8 8-9 9-10 10-11 11-11 12-12",
        {"modal", "perfect", "relative"},
    ),
    "dative relative clause, plural": (
        plan(
            "schlafen",
            np(
                "Kind",
                plural=True,
                relative=clause(
                    "helfen",
                    np("Lehrer"),
                    recipient=RelativePronoun(NOUN["Kind"], True),
                    front="recipient",
                ),
            ),
            negated=True,
        ),
        "die Kinder , denen der Lehrer hilft , schlafen nicht .",
        "the children whom the teacher helps do not sleep .",
        "0-0 1-1 3-2 4-3 5-4 6-5 8-6 8-8 9-7 10-9",
        {"relative", "plural", "dative", "negation"},
    ),
    "dative and accusative object": (
        plan(
            "geben",
            np("Nachbar", "my"),
            "future",
            recipient=np("Katze", adjective="klein"),
            theme=np("Brot", "bare", "frisch"),
        ),
        "mein Nachbar wird der kleinen Katze frisches Brot geben .",
        "my neighbour will give the small cat fresh bread .",
        "0-0 1-1 2-2 3-4 4-5 5-6 6-7 7-8 8-3 9-9",
        {"future", "dative", "adjective"},
    ),
    "object in front, kein": (
        plan(
            "finden",
            pronoun("er", "he"),
            theme=np("Brief", adjective="neu"),
            adverb=ADVERB["nie"],
            front="theme",
        ),
        "den neuen Brief findet er nie .",
        "he never finds the new letter .",
        "0-3 1-4 2-5 3-2 4-0 5-1 6-6",
        {"inversion", "negation", "pronoun", "adjective"},
    ),
    "gefallen with the person in front": (
        plan("gefallen", np("Stadt", "no"), recipient=np("Ärztin", plural=True), front="recipient"),
        "den Ärztinnen gefällt keine Stadt .",
        "the doctors like no city .",
        "0-0 1-1 2-2 3-3 4-4 5-5",
        {"experiencer", "dative", "plural", "negation", "inversion"},
    ),
    "into, with the accusative and contracted": (
        plan(
            "laufen",
            np("Pferd", "indef", "jung"),
            "past",
            place=Place(RELATIONS["into"], np("Haus", adjective="alt")),
        ),
        "ein junges Pferd ist ins alte Haus gelaufen .",
        "a young horse ran into the old house .",
        "0-0 1-1 2-2 3-3 4-4 4-5 5-6 6-7 7-3 8-8",
        {"perfect", "preposition", "adjective"},
    ),
    "relative clause with a preposition": (
        plan(
            "sein",
            np(
                "Haus",
                relative=clause(
                    "arbeiten",
                    pronoun("ich", "I"),
                    "wollte",
                    place=Place(RELATIONS["in"], RelativePronoun(NOUN["Haus"])),
                    front="place",
                ),
            ),
            "past",
            adjective=ADJECTIVE["schön"],
        ),
        "das Haus , in dem ich arbeiten wollte , war schön .",
        "the house in which I wanted to work was beautiful .",
        "0-0 1-1 3-2 4-3 5-4 6-7 7-5 7-6 9-8 10-9 11-10",
        {"relative", "preterite", "modal", "preposition", "pronoun"},
    ),
    "question with help of do": (
        plan(
            "zumachen",
            np("Frau"),
            "past",
            theme=np("Tür", plural=True),
            place=Place(RELATIONS["for"], pronoun("mich", "me")),
            asks=True,
            front="",
        ),
        "hat die Frau die Türen für mich zugemacht ?",
        "did the woman close the doors for me ?",
        "0-0 1-1 2-2 3-4 4-5 5-6 6-7 7-3 8-8",
        {"question", "perfect", "separable", "plural", "preposition"},
    ),
    "question word": (
        plan("suchen", np("Hund"), theme=QuestionWord("wen"), asks=True, front="theme"),
        "wen sucht der Hund ?",
        "whom does the dog look for ?",
        "0-0 1-1 1-4 1-5 2-2 3-3 4-6",
        {"question"},
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_sentence_written_by_hand(name: str) -> None:
    sentence, german, english, links, features = EXAMPLES[name]
    pair = spell_out(sentence)
    assert " ".join(pair.source) == german
    assert " ".join(pair.target) == english
    assert " ".join(f"{i}-{j}" for i, j in sorted(pair.alignment)) == links
    assert features <= pair.features


def test_present_of_ich_is_refused_where_the_lexicon_has_no_form() -> None:
    with pytest.raises(ValueError, match="no ich-form of sehen"):
        spell_out(plan("sehen", pronoun("ich", "I"), theme=np("Hund")))
