"""Chance: which sentence is said. Every choice is drawn here, with the rules that keep it sensible.

What a German sentence means must be beyond doubt, since a translation is right or wrong word for
word. So a draft refuses what a reader could take in two ways: objects in front that look like
subjects (die Katze sieht das Kind), relative clauses of the same kind (die Frau, die das Kind
sieht), pronouns that could mean a person and a thing, and two negations in one clause.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from transformer.data.toy_german import german, lexicon
from transformer.data.toy_german.lexicon import MODALS, MODES, RELATIONS, VERBS, Noun, Verb
from transformer.data.toy_german.syntax import (
    Clause,
    NounPhrase,
    Phrase,
    Place,
    PronounPhrase,
    QuestionWord,
    RelativePronoun,
    Sentence,
)

T = TypeVar("T")

# What fits what, worked out once
_SUBJECTS = {v.name: tuple(n for n in lexicon.NOUNS if n.is_a(v.subjects)) for v in VERBS}
_OBJECTS = {v.name: tuple(n for n in lexicon.NOUNS if n.is_a(v.objects)) for v in VERBS}
_PLACES = {
    name: tuple(n for n in lexicon.NOUNS if n.is_a(r.kinds)) for name, r in RELATIONS.items()
}
_ADJECTIVES = {
    n.name: tuple(a for a in lexicon.ADJECTIVES if n.is_a(a.kinds)) for n in lexicon.NOUNS
}
_PEOPLE = tuple(noun for noun in lexicon.NOUNS if noun.is_a(("person",)))

# How often: an entry that stands three times is drawn three times as often.
_OFTEN = {"sein": 3, "liegen": 2}
_FREE_VERBS = tuple(v for v in VERBS if v.frame != "clause" for _ in range(_OFTEN.get(v.name, 1)))
_PLAIN_VERBS = tuple(dict.fromkeys(_FREE_VERBS))
_CLAUSE_VERBS = tuple(verb for verb in VERBS if verb.frame == "clause")
_DATIVE_FRAMES = ("dat", "dat acc", "like")
_TIMES = ("present",) * 5 + ("past",) * 4 + ("future",)
_SUBJECT_DETERMINERS = ("def",) * 6 + ("indef",) * 4 + ("my",) * 2
_OBJECT_DETERMINERS = ("def",) * 5 + ("indef",) * 4 + ("my",) * 2
_DEFINITE = ("def", "def", "def", "my")

_QUESTION_VERBS = {
    "": _FREE_VERBS,
    "warum": _FREE_VERBS,
    "wer": tuple(v for v in _FREE_VERBS if "person" in v.subjects and v.frame != "like"),
    "wen": tuple(v for v in _FREE_VERBS if v.frame == "acc" and "person" in v.objects),
    "was": tuple(v for v in _FREE_VERBS if "acc" in v.frame and "reading" in v.objects),
    "wo": tuple(v for v in _FREE_VERBS if "in" in v.relations or v.name == "liegen"),
}


class Refused(Exception):
    """The draft came out unclear or clumsy; draw another."""


def sample(rng: random.Random) -> Sentence:
    """One sentence of any length."""
    while True:
        try:
            return Draft(rng).sentence()
        except Refused:
            continue


class Draft:
    """One sentence in the making: the source of chance, and what has been mentioned so far.

    A clause's `position` is "main", "question", "final" (subordinate, behind the main clause),
    "first" (subordinate, opening the sentence), "second" (the main clause behind that) or
    "relative".
    """

    def __init__(self, rng: random.Random) -> None:
        self.random = rng.random  # the one method whose sequence Python promises to keep
        self.mentioned: list[NounPhrase | PronounPhrase] = []
        self.main_subject: Phrase | None = None
        self.verbs: list[Verb] = []
        self.predicated: list[str] = []
        self.time_is_set = False
        self.relative_share = 0.18
        self.has_relative = False

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random() < probability

    # Sentences

    def sentence(self) -> Sentence:
        """A statement, a question, or two clauses joined by a conjunction."""
        kind = self.random()
        if kind < 0.38:
            return Sentence(self.clause(self.pick(_FREE_VERBS), self.pick(_TIMES), "main"))
        if kind < 0.52:
            word = self.pick(("", "", "", "wer", "wen", "was", "wo", "warum"))
            verb = self.pick(_QUESTION_VERBS[word])
            return Sentence(self.clause(verb, self.pick(_TIMES), "question", word=word))
        self.relative_share = 0.0  # a sentence is nested once, not twice
        return self.reported() if kind < 0.68 else self.reasoned()

    def reported(self) -> Sentence:
        """dass- and ob-clauses: she says that ..., he does not know whether ..."""
        verb = self.pick(_CLAUSE_VERBS)
        time = self.pick(("present", "past"))
        main = self.clause(verb, time, "main")
        conjunction = "ob" if verb.name == "wissen" and main.negated else "dass"
        said = "past" if time == "past" else self.pick(_TIMES)
        return Sentence(main, conjunction, self.clause(self.verb_about_it(), said, "final"))

    def reasoned(self) -> Sentence:
        """weil, obwohl and wenn, behind the main clause or in front of it."""
        conjunction = self.pick(("weil", "weil", "obwohl", "wenn"))
        time = self.pick(_TIMES)
        reason = time
        if conjunction == "wenn":
            time, reason = self.pick(("present", "present", "future")), "present"
            self.time_is_set = True
        elif time != "past":
            reason = self.pick(("present", "present", "past"))
        if self.chance(0.3):
            first = self.clause(self.pick(_FREE_VERBS), reason, "first")
            main = self.clause(self.verb_about_it(), time, "second")
            return Sentence(main, conjunction, first, subordinate_first=True)
        main = self.clause(self.pick(_FREE_VERBS), time, "main")
        return Sentence(main, conjunction, self.clause(self.verb_about_it(), reason, "final"))

    def verb_about_it(self) -> Verb:
        """A verb for the second clause; often one that lets it go on about an animal or a thing."""
        subject = self.main_subject
        if self.thing_pronouns() and isinstance(subject, NounPhrase) and self.chance(0.7):
            return self.pick([v for v in _FREE_VERBS if subject.noun.is_a(v.subjects)])
        return self.pick(_FREE_VERBS)

    # Clauses

    def clause(
        self,
        verb: Verb,
        time: str,
        position: str,
        *,
        word: str = "",
        role: str = "",
        given: RelativePronoun | None = None,
    ) -> Clause:
        """A clause around a verb.

        `word` is a question word; in a relative clause `given` is the pronoun and `role` its part
        in the clause.
        """
        if verb in self.verbs and verb.frame != "adjective":
            raise Refused
        self.verbs.append(verb)
        nested = given is not None  # relative clauses are kept short
        mode = MODES[time] if nested else self.mode(verb, time)
        denial = "" if nested else self.denial(verb, mode, position)
        if denial:
            self.relative_share = 0.0
        place_name = self.place_name(verb, denial, word, nested=nested)
        adverb = None if denial or nested else self.adverb(verb, mode, position)
        front = self.opening(position, word, role, adverb)
        # A relative clause must not come between its noun and what English puts last.
        time_last = adverb is not None and not adverb.frequency and front != "adverb"
        ends_in_object = not (place_name or time_last or denial == "nicht" or nested)

        subject = self.subject(
            verb, mode, position, denial, given if role == "subject" else None, word
        )
        recipient: Phrase | None = None
        if verb.frame in _DATIVE_FRAMES:
            people = _OBJECTS[verb.name] if verb.frame == "dat" else _PEOPLE
            relative = ends_in_object and verb.frame == "dat"
            recipient = self.object(people, subject, "recipient", denial, relative=relative)
        theme: Phrase | None = None
        if role == "theme":
            theme = given
        elif word in ("wen", "was"):
            theme = QuestionWord(word)
        elif "acc" in verb.frame:
            things = _OBJECTS[verb.name]
            theme = self.object(things, subject, "theme", denial, relative=ends_in_object)
        place = None
        if place_name:
            place = self.place(place_name, relative=not (nested or time_last))
        clause = Clause(
            verb=verb,
            mode=mode,
            subject=subject,
            recipient=recipient,
            theme=theme,
            place=place,
            adverb=adverb,
            adjective=self.predicate(subject, adverb) if verb.frame == "adjective" else None,
            question=QuestionWord(word) if word in ("wo", "warum") else None,
            negated=denial == "nicht",
            asks=position == "question",
            front=front,
        )
        if front == "subject" and position == "main":
            clause = replace(clause, front=self.moved(clause))
        if _reads_two_ways(clause):
            raise Refused
        return clause

    def mode(self, verb: Verb, time: str) -> lexicon.Mode:
        """The plain tense, or a modal verb of that time; lasting states stay plain."""
        if not verb.passing:
            return MODES["present" if time == "future" else time]
        if time != "future" and self.chance(0.3):
            return self.pick([mode for mode in MODALS if mode.time == time])
        return MODES[time]

    def denial(self, verb: Verb, mode: lexicon.Mode, position: str) -> str:
        """What is denied: "" nothing, "nicht" the clause; kein goes to the part named."""
        if position in ("question", "first") or not self.chance(0.17):
            return ""
        options = ["nicht", "nicht", "subject"]
        if "acc" in verb.frame and mode not in MODALS:
            options.append("theme")  # muss kein Brot kaufen: the modal verb would be denied
        if verb.frame in _DATIVE_FRAMES and mode not in MODALS:
            options.append("recipient")
        return self.pick(options)

    def place_name(self, verb: Verb, denial: str, word: str, *, nested: bool) -> str:
        """Which prepositional phrase the clause will have: one that it needs, or one at will."""
        if word == "wo" or not verb.relations:
            return ""
        if not verb.needs_relation and (nested or denial == "nicht" or self.chance(0.55)):
            return ""
        return self.pick(verb.relations)

    def adverb(self, verb: Verb, mode: lexicon.Mode, position: str) -> lexicon.Adverb | None:
        """An adverb that goes with the tense; one of time at most once in a sentence."""
        if not (verb.passing or verb.frame == "adjective") or self.chance(0.65):
            return None
        may_wait = mode in MODALS and mode.time == "present"  # morgen muss er arbeiten
        options = [
            adverb
            for adverb in lexicon.ADVERBS
            if (mode.time in adverb.times or (may_wait and "future" in adverb.times))
            and (adverb.frequency or not self.time_is_set)
            and not (adverb.negative and position == "question")
        ]
        adverb = self.pick(options)
        self.time_is_set = self.time_is_set or not adverb.frequency
        return adverb

    def opening(self, position: str, word: str, role: str, adverb: lexicon.Adverb | None) -> str:
        """Which part opens the German clause, as far as its kind decides."""
        if position == "relative":
            return role
        if position == "question" and word:
            return {"wer": "subject", "wen": "theme", "was": "theme"}.get(word, "question")
        if position != "main":
            return ""
        return "adverb" if adverb is not None and adverb.fronts and self.chance(0.6) else "subject"

    def moved(self, clause: Clause) -> str:
        """Sometimes an object or the place opens a main clause, if no one can mistake it."""
        if clause.verb.frame == "like":
            return self.pick(("recipient", "subject"))
        subject = clause.subject
        new = isinstance(subject, NounPhrase) and subject.determiner not in ("def", "my")
        if not self.chance(0.3) or new or self.has_relative:
            return "subject"
        options = [
            role
            for role, part in (("recipient", clause.recipient), ("theme", clause.theme))
            if isinstance(part, NounPhrase)
            and part.determiner in ("def", "indef", "my")
            and not _reads_two_ways(replace(clause, front=role))
        ]
        if clause.place is not None and not clause.negated:
            options.append("place")
        return self.pick(options) if options else "subject"

    # Phrases

    def subject(
        self,
        verb: Verb,
        mode: lexicon.Mode,
        position: str,
        denial: str,
        given: RelativePronoun | None,
        word: str,
    ) -> Phrase:
        """A noun phrase, or a pronoun whose reference is clear."""
        subject: Phrase
        if given is not None:
            return given
        if word == "wer":
            return QuestionWord(word)
        main = self.main_subject
        things = self.thing_pronouns() if position in ("final", "second") else []
        refers = isinstance(main, NounPhrase) and main.noun.is_a(verb.subjects)
        if things and refers and denial != "subject" and self.chance(0.8):
            return PronounPhrase(self.pick(things))
        if denial == "subject":
            determiners: tuple[str, ...] = ("no",)
        elif "person" in verb.subjects and self.chance(0.3):
            has_ich_form = mode.name != "present" or verb.name in lexicon.AUXILIARIES
            people = list(lexicon.FIRST_PERSON if has_ich_form else lexicon.FIRST_PERSON[1:])
            if position != "first":
                people += [word for word in lexicon.THIRD_PERSON if self.may_mean_person(word)]
            subject = PronounPhrase(self.pick(people))
            self.mentioned.append(subject)
            return self.as_main_subject(subject, position)
        else:
            determiners = _SUBJECT_DETERMINERS
        relative = position in ("main", "final", "second")
        subject = self.noun_phrase(_SUBJECTS[verb.name], determiners, relative=relative)
        return self.as_main_subject(subject, position)

    def as_main_subject(self, subject: Phrase, position: str) -> Phrase:
        """Remembers the first clause's subject."""
        if position in ("main", "first"):
            self.main_subject = subject
        return subject

    def object(
        self, nouns: tuple[Noun, ...], subject: Phrase, role: str, denial: str, *, relative: bool
    ) -> Phrase:
        """An object: a noun phrase, or a pronoun that has the case."""
        case = "dat" if role == "recipient" else "acc"
        if nouns[0] in _PEOPLE and denial != role and self.chance(0.25):
            first = isinstance(subject, PronounPhrase) and subject.pronoun in lexicon.FIRST_PERSON
            people = [] if first else list(lexicon.FIRST_PERSON)
            people += [word for word in lexicon.THIRD_PERSON if self.may_mean_person(word)]
            people = [word for word in people if word.german[case]]
            if people:
                chosen = PronounPhrase(self.pick(people))
                self.mentioned.append(chosen)
                return chosen
        if denial == role:
            return self.noun_phrase(nouns, ("no",), relative=relative)
        determiners = _DEFINITE if denial else _OBJECT_DETERMINERS
        return self.noun_phrase(nouns, determiners, relative=relative)

    def place(self, name: str, *, relative: bool) -> Place:
        """A prepositional phrase; with people also mit ihm, für mich, zu ihr."""
        relation = RELATIONS[name]
        if "person" in relation.kinds and self.chance(0.2):
            people = [lexicon.FIRST_PERSON[0]]
            people += [word for word in lexicon.THIRD_PERSON if self.may_mean_person(word)]
            people = [word for word in people if word.german[relation.case]]
            if any(isinstance(other, PronounPhrase) for other in self.mentioned) or not people:
                raise Refused
            return Place(relation, PronounPhrase(self.pick(people)))
        determiners = ("indef", "indef", "def") if name == "with-food" else (*_DEFINITE, "indef")
        return Place(relation, self.noun_phrase(_PLACES[name], determiners, relative=relative))

    def noun_phrase(
        self, nouns: tuple[Noun, ...], determiners: tuple[str, ...], *, relative: bool
    ) -> NounPhrase:
        """A noun that the sentence has not named yet, with what goes with it."""
        noun = self.pick(nouns)
        if any(isinstance(other, NounPhrase) and other.noun is noun for other in self.mentioned):
            raise Refused
        settled = noun.is_a(("building", "outdoors", "furniture"))
        plural = noun.plural is not None and self.chance(0.15 if settled else 0.28)
        determiner = self.pick(determiners)
        if determiner == "my" and (noun.name in lexicon.NEVER_MINE or (settled and plural)):
            determiner = "def"
        if determiner == "indef" and (plural or noun.plural is None):
            determiner = "bare"
        adjective = self.pick(_ADJECTIVES[noun.name])
        has_adjective = self.chance(0.45 if determiner == "bare" else 0.3)
        chosen = NounPhrase(noun, determiner, plural, adjective if has_adjective else None)
        self.mentioned.append(chosen)
        if relative and determiner != "my" and self.chance(self.relative_share):
            self.relative_share, self.has_relative = 0.0, True  # one relative clause is enough
            chosen = replace(chosen, relative=self.relative_clause(noun, plural))
        return chosen

    def relative_clause(self, noun: Noun, plural: bool) -> Clause:
        """A clause in which the noun is the subject or the object."""
        role = self.pick(("subject", "theme"))
        if role == "subject":
            options = [verb for verb in _PLAIN_VERBS if noun.is_a(verb.subjects)]
        else:
            options = [v for v in _PLAIN_VERBS if v.frame == "acc" and noun in _OBJECTS[v.name]]
        if not options:
            raise Refused
        verb, time = self.pick(options), self.pick(("present", "present", "past"))
        pronoun = RelativePronoun(noun, plural)
        return self.clause(verb, time, "relative", role=role, given=pronoun)

    def predicate(self, subject: Phrase, adverb: lexicon.Adverb | None) -> lexicon.Adjective:
        """What can be said of the subject; with an adverb only a mood, which passes."""
        noun = lexicon.NOUNS[0]
        if isinstance(subject, NounPhrase | RelativePronoun):
            noun = subject.noun
        elif isinstance(subject, PronounPhrase) and not subject.pronoun.personal:
            noun = self.main_subject.noun if isinstance(self.main_subject, NounPhrase) else noun
        named = [
            other.adjective.scale
            for other in self.mentioned
            if isinstance(other, NounPhrase) and other.adjective is not None
        ]
        named += self.predicated
        options = [
            adjective
            for adjective in _ADJECTIVES[noun.name]
            if adjective.scale not in named and (adverb is None or adjective.scale == "mood")
        ]
        if not options:
            raise Refused
        chosen = self.pick(options)
        self.predicated.append(chosen.scale)
        return chosen

    # Reference

    def may_mean_person(self, word: lexicon.Pronoun) -> bool:
        """Whether er, sie, ihm, ihr can only mean a person: no thing of that gender was named."""
        return word.person == "pl" or not any(
            isinstance(other, NounPhrase)
            and other.agreement == word.agreement
            and "person" not in other.noun.kinds
            for other in self.mentioned
        )

    def thing_pronouns(self) -> list[lexicon.Pronoun]:
        """er, sie or es for the first clause's subject, if nothing else of that gender is named."""
        subject = self.main_subject
        if not isinstance(subject, NounPhrase) or "person" in subject.noun.kinds:
            return []
        rivals = [
            other
            for other in self.mentioned
            if (other.agreement if isinstance(other, NounPhrase) else other.pronoun.agreement)
            == subject.agreement
        ]
        return [w for w in lexicon.THINGS if w.agreement == subject.agreement and len(rivals) == 1]


def _reads_two_ways(clause: Clause) -> bool:
    """Whether an object in front, or in a relative clause, could be taken for the subject.

    Number or sense alone would tell them apart in some of the clauses refused here; a case ending
    must show it. Only was stands where sense decides (was kauft das Kind?).
    """
    subject, theme = clause.subject, clause.theme
    odd_order = clause.front == "theme" or isinstance(subject, RelativePronoun)
    if theme is None or not odd_order:
        return False
    if isinstance(theme, QuestionWord):
        return theme.word == "was" and "reading" in clause.verb.subjects
    if not isinstance(theme, RelativePronoun) and not isinstance(subject, RelativePronoun):
        return not _shows_case(theme)
    return not (_shows_case(subject) or _shows_case(theme))


def _shows_case(part: Phrase) -> bool:
    """Whether the nominative differs from the accusative."""
    if isinstance(part, PronounPhrase) and not part.pronoun.german["acc"]:
        return False  # sie: toy German does without the accusative, a reader knows it
    nominative, accusative = (german.phrase(part, case) for case in ("nom", "acc"))
    return [word for word, _ in nominative] != [word for word, _ in accusative]
