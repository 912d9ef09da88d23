"""Every word form that toy German and its English can show, worked out from the lexicon."""

from collections.abc import Iterator

from transformer.data.toy_german import english, german, lexicon
from transformer.data.toy_german.syntax import NounPhrase
from transformer.text.trees import leaves


def vocabulary() -> tuple[list[str], list[str]]:
    """All German and all English words, sorted; the marks . , ? are among them."""
    german_words, english_words = {",", ".", "?"}, {",", ".", "?"}
    for phrase in _noun_phrases():
        for case in ("nom", "acc", "dat"):
            german_words.update(word for word, _ in german.phrase(phrase, case))
        english_words.update(word for word, _ in leaves(english.phrase(phrase, subject=False)))
    for adjective in lexicon.ADJECTIVES:
        german_words.add(adjective.name)
    for verb in lexicon.VERBS:
        german_words.update(_german_forms(verb))
        if verb.frame != "adjective":
            english_words.update((verb.english, verb.english_s, verb.english_past))
            english_words.add(verb.english_particle)
    for mode in lexicon.MODES.values():
        german_words.update(mode.german or ())
        english_words.update(mode.english)
        english_words.update(("to",) if mode.with_to else ())
    for pronoun in lexicon.PRONOUNS:
        german_words.update(pronoun.german.values())
        english_words.update((pronoun.subject, pronoun.object))
    for relation in lexicon.RELATIONS.values():
        german_words.add(relation.german)
        english_words.update(relation.english)
    for adverb in lexicon.ADVERBS:
        german_words.add(adverb.german)
        english_words.add(adverb.english)
    for forms in lexicon.AUXILIARIES.values():
        german_words.update(forms)
    for pronoun_forms in lexicon.RELATIVE_PRONOUNS.values():
        # As an indirect object the pronoun could be spelled, but `sampling` draws none.
        german_words.update((pronoun_forms["nom"], pronoun_forms["acc"]))
    for translations in lexicon.QUESTION_WORDS.values():
        english_words.update(translations)
    german_words.update(lexicon.CONTRACTIONS.values(), lexicon.CONJUNCTIONS, ["nicht"])
    german_words.update(lexicon.QUESTION_WORDS)
    english_words.update(lexicon.CONJUNCTIONS.values(), ["who", "whom", "which"])
    english_words.update(["am", "is", "are", "was", "were", "do", "does", "did", "not", "cannot"])
    return sorted(german_words - {""}), sorted(english_words - {""})


def _noun_phrases() -> Iterator[NounPhrase]:
    """Every noun with every determiner and adjective that can go with it."""
    for noun in lexicon.NOUNS:
        adjectives = [a for a in lexicon.ADJECTIVES if noun.is_a(a.kinds)]
        for adjective in [None, *adjectives]:
            for determiner in ("def", "indef", "no", "my", "bare"):
                if determiner != ("bare" if noun.plural is None else "indef"):
                    yield NounPhrase(noun, determiner, noun.plural is not None, adjective)
                if determiner != ("indef" if noun.plural is None else "bare"):
                    yield NounPhrase(noun, determiner, False, adjective)


def _german_forms(verb: lexicon.Verb) -> set[str]:
    """Finite forms with the prefix apart and attached, infinitive, participle, past."""
    finite = (verb.singular, verb.plural)
    return {
        *finite,
        verb.prefix,
        *(verb.prefix + form for form in finite),
        verb.participle,
        *(verb.preterite or ()),
    }
