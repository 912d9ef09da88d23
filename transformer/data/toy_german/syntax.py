"""What a sentence says, before it has words: the structures both languages are spelled out from.

A German and an English sentence are two spellings of one `Sentence`. While `german` and `english`
write it down, each word carries the parts of the structure that it expresses ("units"); two words
are aligned where they share a unit. So the alignment is known and not guessed.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Union

from transformer.data.toy_german import lexicon

Unit = tuple[object, str]
"""A part of the structure: a node and which part of it, such as (noun phrase, "noun")."""

Word = tuple[str, tuple[Hashable, ...]]
"""A word and the units it expresses."""


class _OfNoun:
    """What phrases that stand for a noun have in common."""

    __slots__ = ()
    noun: lexicon.Noun
    plural: bool

    @property
    def agreement(self) -> str:
        """The gender in the singular, "pl" in the plural."""
        return "pl" if self.plural else self.noun.gender

    @property
    def person(self) -> str:
        """Which finite form the phrase takes as a subject: "sg" or "pl"."""
        return "pl" if self.plural else "sg"


@dataclass(frozen=True, eq=False, slots=True)
class NounPhrase(_OfNoun):
    """Determiner ("def", "indef", "no", "my", "bare"), adjective, noun and a relative clause."""

    noun: lexicon.Noun
    determiner: str = "def"
    plural: bool = False
    adjective: lexicon.Adjective | None = None
    relative: Union["Clause", None] = None


@dataclass(frozen=True, eq=False, slots=True)
class PronounPhrase:
    """A personal pronoun."""

    pronoun: lexicon.Pronoun

    @property
    def person(self) -> str:
        """Which finite form the pronoun takes as a subject: "ich", "sg" or "pl"."""
        return self.pronoun.person


@dataclass(frozen=True, eq=False, slots=True)
class RelativePronoun(_OfNoun):
    """The pronoun that opens a relative clause about a noun: it agrees with the noun."""

    noun: lexicon.Noun
    plural: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class QuestionWord:
    """One of wer, wen, was, wo, warum."""

    word: str

    @property
    def person(self) -> str:
        """Question words take the er-form."""
        return "sg"


Phrase = NounPhrase | PronounPhrase | RelativePronoun | QuestionWord


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A preposition and what it governs."""

    relation: lexicon.Relation
    phrase: Phrase


@dataclass(frozen=True, eq=False, slots=True)
class Clause:
    """A verb with everything that belongs to it.

    `recipient` is the dative, `theme` the accusative object. `front` names the part that opens a
    German clause: "subject", "recipient", "theme", "place", "adverb", "question" (wo, warum), or
    "" where none is moved (yes/no questions, clauses that a conjunction opens).
    """

    verb: lexicon.Verb
    mode: lexicon.Mode
    subject: Phrase
    recipient: Phrase | None = None
    theme: Phrase | None = None
    place: Place | None = None
    adverb: lexicon.Adverb | None = None
    adjective: lexicon.Adjective | None = None
    question: QuestionWord | None = None
    negated: bool = False
    asks: bool = False
    front: str = "subject"


@dataclass(frozen=True, eq=False, slots=True)
class Sentence:
    """A main clause, alone or with a subordinate clause that follows or opens the sentence."""

    main: Clause
    conjunction: str = ""
    subordinate: Clause | None = None
    subordinate_first: bool = False


def phrases(clause: Clause) -> list[tuple[str, Phrase]]:
    """The phrases of a clause with their roles, the nested clauses' phrases not included."""
    named: list[tuple[str, Phrase]] = [("subject", clause.subject)]
    if clause.recipient is not None:
        named.append(("recipient", clause.recipient))
    if clause.theme is not None:
        named.append(("theme", clause.theme))
    if clause.place is not None:
        named.append(("place", clause.place.phrase))
    return named


def clauses(sentence: Sentence) -> list[Clause]:
    """All clauses of a sentence: main, subordinate, relative."""
    outer = [sentence.main] + ([sentence.subordinate] if sentence.subordinate else [])
    inner = [
        phrase.relative
        for clause in outer
        for _, phrase in phrases(clause)
        if isinstance(phrase, NounPhrase) and phrase.relative is not None
    ]
    return outer + inner


def combinations(sentence: Sentence) -> frozenset[tuple[str, str]]:
    """The pairs (verb, noun of its object) and (adjective, its noun), as dictionary forms.

    The dative of gefallen is not counted: it is no object in English.
    """
    pairs = set()
    for clause in clauses(sentence):
        for role, phrase in phrases(clause):
            if not isinstance(phrase, NounPhrase | RelativePronoun):
                continue
            if role in ("recipient", "theme") and clause.verb.frame != "like":
                pairs.add((clause.verb.name, phrase.noun.name))
            if role == "subject" and clause.adjective is not None:
                pairs.add((clause.adjective.name, phrase.noun.name))
            if isinstance(phrase, NounPhrase) and phrase.adjective is not None:
                pairs.add((phrase.adjective.name, phrase.noun.name))
    return frozenset(pairs)


FEATURES = (
    "adjective",
    "coreference",
    "dative",
    "experiencer",
    "future",
    "inversion",
    "modal",
    "negation",
    "perfect",
    "plural",
    "preposition",
    "preterite",
    "pronoun",
    "question",
    "relative",
    "separable",
    "subordinate",
)
"""The names that a pair's `features` are taken from, in alphabetical order."""


def features(sentence: Sentence) -> frozenset[str]:
    """Which of `FEATURES` the sentence shows."""
    names: set[str] = set()
    for clause in clauses(sentence):
        mode, verb = clause.mode, clause.verb
        shown = {
            "adjective": clause.adjective is not None,
            "experiencer": verb.frame == "like",
            "future": mode.name == "future",
            "inversion": not isinstance(clause.subject, RelativePronoun)
            and (clause.asks or clause.front not in ("subject", "")),
            "modal": mode in lexicon.MODALS,
            "negation": clause.negated or (clause.adverb is not None and clause.adverb.negative),
            "perfect": mode.name == "past" and verb.preterite is None,
            "preterite": mode.time == "past" and (mode.name != "past" or bool(verb.preterite)),
            "preposition": clause.place is not None,
            "question": clause.asks,
            "separable": bool(verb.prefix),
        }
        names.update(name for name, holds in shown.items() if holds)
        for role, phrase in phrases(clause):
            if role == "recipient" or (role == "place" and _case_of_place(clause) == "dat"):
                names.add("dative")
            if isinstance(phrase, PronounPhrase):
                names.add("pronoun")
                names.update(() if phrase.pronoun.personal else ("coreference",))
            elif isinstance(phrase, NounPhrase):
                names.update(("plural",) if phrase.plural else ())
                names.update(("adjective",) if phrase.adjective else ())
                names.update(("relative",) if phrase.relative else ())
                names.update(("negation",) if phrase.determiner == "no" else ())
    if sentence.subordinate is not None:
        names.add("subordinate")
        names.update(("inversion",) if sentence.subordinate_first else ())
    return frozenset(names)


def _case_of_place(clause: Clause) -> str:
    return clause.place.relation.case if clause.place is not None else ""
