"""German spelling of a sentence: articles, endings and, above all, word order.

A clause is laid out as the grammars of German do it: the front, the finite verb, the middle field,
and at the end the rest of the verb. In a main clause the finite verb stands second, in a question
first; after a conjunction or a relative pronoun it moves behind everything else.
"""

from transformer.data.toy_german import lexicon
from transformer.data.toy_german.syntax import (
    Clause,
    NounPhrase,
    Phrase,
    Place,
    PronounPhrase,
    QuestionWord,
    RelativePronoun,
    Sentence,
    Word,
)

COMMA: Word = (",", ())


def sentence(plan: Sentence) -> list[Word]:
    """The words of the whole sentence, with commas and the final mark."""
    words = main_clause(plan.main)
    if plan.subordinate is not None:
        opening: Word = (plan.conjunction, ((plan, "conjunction"),))
        subordinate = [opening, *verb_final_clause(plan.subordinate)]
        if plan.subordinate_first:
            words = [*subordinate, (",", ((plan, "comma"),)), *words]
        else:
            words = [*words, COMMA, *subordinate]
    mark = "?" if plan.main.asks else "."
    words.append((mark, ((plan, "mark"),)))
    # A clause's closing comma gives way to the next mark.
    return [
        word
        for word, following in zip(words, [*words[1:], None], strict=True)
        if not (word is COMMA and following is not None and following[0] in {",", ".", "?"})
    ]


def main_clause(clause: Clause) -> list[Word]:
    """Verb-second order; verb-first where nothing is fronted."""
    finite, ending = _verb(clause)
    opened = clause.front != "subject"
    middle, extraposed = _middle_field(clause, bracket=bool(ending), opened=opened)
    return [*_front(clause), finite, *middle, *ending, *extraposed]


def verb_final_clause(clause: Clause) -> list[Word]:
    """The order after a conjunction or with a relative pronoun in front."""
    finite, ending = _verb(clause)
    particle = (clause, "particle")
    if ending and ending[-1][1] == (particle,):  # ruft ... an becomes anruft
        finite, ending = (ending[0][0] + finite[0], (*finite[1], particle)), []
    middle, extraposed = _middle_field(
        clause, bracket=True, opened=clause.front not in ("", "subject")
    )
    return [*_front(clause), *middle, *ending, finite, *extraposed]


def phrase(part: Phrase, case: str) -> list[Word]:
    """A phrase in a case, without its relative clause."""
    if isinstance(part, PronounPhrase):
        return [(part.pronoun.german[case], ((part, "noun"),))]
    if isinstance(part, RelativePronoun):
        return [(lexicon.RELATIVE_PRONOUNS[part.agreement][case], ((part, "noun"),))]
    if isinstance(part, QuestionWord):
        return [(part.word, ((part, "noun"),))]
    words: list[Word] = []
    has_article = part.determiner in lexicon.DETERMINERS
    if has_article:
        article = lexicon.DETERMINERS[part.determiner][part.agreement][case]
        words.append((article, ((part, "determiner"),)))
    if part.adjective is not None:
        kind = ("weak" if part.determiner == "def" else "mixed") if has_article else "strong"
        ending = lexicon.ENDINGS[kind][part.agreement][case]
        words.append((part.adjective.stem + ending, ((part, "adjective"),)))
    forms = part.noun.plural if part.plural and part.noun.plural else part.noun.singular
    words.append((forms[case], ((part, "noun"),)))
    return words


def _relative(part: Phrase) -> list[Word]:
    if isinstance(part, NounPhrase) and part.relative is not None:
        return [COMMA, *verb_final_clause(part.relative), COMMA]
    return []


def _place(place: Place) -> list[Word]:
    words = phrase(place.phrase, place.relation.case)
    preposition = (place, "preposition")
    contracted = lexicon.CONTRACTIONS.get((place.relation.german, words[0][0]))
    # No contraction before a relative clause or with a relative pronoun: in dem Haus, das ...
    if isinstance(place.phrase, NounPhrase) and not place.phrase.relative and contracted:
        return [(contracted, (preposition, *words[0][1])), *words[1:]]
    return [(place.relation.german, (preposition,)), *words]


def _verb(clause: Clause) -> tuple[Word, list[Word]]:
    """The finite verb, and what of the verb stands at the end of a main clause."""
    verb, mode = clause.verb, clause.mode
    person = ("ich", "sg", "pl").index(clause.subject.person)
    infinitive: Word = (verb.name, ((clause, "verb"), (clause, "particle")))
    if mode.german is not None:
        return (mode.german[person], ((clause, "finite"),)), [infinitive]
    whole = ((clause, "finite"), (clause, "verb"))
    if mode.name == "past" and verb.preterite is not None:
        return (verb.preterite[person == 2], whole), []
    if mode.name == "past":
        auxiliary = lexicon.AUXILIARIES[verb.auxiliary][person]
        participle: Word = (verb.participle, infinitive[1])
        return (auxiliary, ((clause, "finite"),)), [participle]
    if verb.name in lexicon.AUXILIARIES:
        return (lexicon.AUXILIARIES[verb.name][person], whole), []
    if person == 0:
        raise ValueError(f"toy German has no ich-form of {verb.name} in the present")
    ending: list[Word] = [(verb.prefix, ((clause, "particle"),))] if verb.prefix else []
    return (verb.singular if person == 1 else verb.plural, whole), ending


def _front(clause: Clause) -> list[Word]:
    """The part that opens the clause, its relative clause behind it."""
    if clause.front == "":
        return []
    if clause.front == "adverb" and clause.adverb is not None:
        return [(clause.adverb.german, ((clause, "adverb"),))]
    if clause.front == "question" and clause.question is not None:
        return phrase(clause.question, "nom")
    if clause.front == "place" and clause.place is not None:
        return [*_place(clause.place), *_relative(clause.place.phrase)]
    part, case = {
        "subject": (clause.subject, "nom"),
        "recipient": (clause.recipient, "dat"),
        "theme": (clause.theme, "acc"),
    }[clause.front]
    if part is None:
        raise ValueError(f"the clause has no {clause.front} to stand in front")
    return [*phrase(part, case), *_relative(part)]


def _middle_field(clause: Clause, *, bracket: bool, opened: bool) -> tuple[list[Word], list[Word]]:
    """The words between finite verb and clause end, and a relative clause put behind that end.

    Order: subject, pronouns, adverb, dative, accusative, nicht, place, adjective. Two exceptions:
    where something else opens the clause a pronoun precedes a full subject (heute hilft mir der
    Mann), and gefallen has the person first (dass dem Mann das Haus gefällt). `bracket` says that
    a part of the verb closes the clause; the relative clause of an object or a place that stands
    last follows behind it.
    """
    subject = [("subject", clause.subject, "nom")]
    objects = [
        (role, part, case)
        for role, part, case in (
            ("recipient", clause.recipient, "dat"),
            ("theme", clause.theme, "acc"),
        )
        if part is not None
    ]
    pronouns = [entry for entry in objects if isinstance(entry[1], PronounPhrase)]
    nouns = [entry for entry in objects if not isinstance(entry[1], PronounPhrase)]
    if not isinstance(clause.subject, NounPhrase):
        early = [*subject, *pronouns]
    elif clause.verb.frame == "like":
        early, nouns = [*objects, *subject], []
    else:
        early = [*pronouns, *subject] if opened else [*subject, *pronouns]

    groups: list[tuple[list[Word], list[Word]]] = []
    for role, part, case in early:
        if role != clause.front:
            groups.append((phrase(part, case), _relative(part)))
    n_early = len(groups)
    if clause.adverb is not None and clause.front != "adverb":
        groups.append(([(clause.adverb.german, ((clause, "adverb"),))], []))
    for role, part, case in nouns:
        if role != clause.front:
            groups.append((phrase(part, case), _relative(part)))
    if clause.negated:
        groups.append(([("nicht", ((clause, "not"),))], []))
    if clause.place is not None and clause.front != "place":
        groups.append((_place(clause.place), _relative(clause.place.phrase)))
    if clause.adjective is not None:
        groups.append(([(clause.adjective.name, ((clause, "adjective"),))], []))

    words: list[Word] = []
    extraposed: list[Word] = []
    for number, (core, relative) in enumerate(groups):
        words += core
        if bracket and number == len(groups) - 1 and number >= n_early:
            extraposed = relative
        else:
            words += relative
    return words, extraposed
