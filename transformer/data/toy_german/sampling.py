"""Chance: which sentence is said. Every choice is drawn here, with the rules that keep it sensible.

What a German sentence means must be beyond doubt, since a translation is right or wrong word for
word. So the draft refuses what a reader could take in two ways: objects in front that look like
subjects (die Katze sieht das Kind), relative clauses of the same kind (die Frau, die das Kind
sieht), pronouns that could refer to a person and to a thing, and two negations in one clause.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from transformer.data.toy_german import german, lexicon
from transformer.data.toy_german.lexicon import MODES, RELATIONS, VERB, VERBS, Noun, Verb
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

_SUBJECTS = {
    verb.name: tuple(noun for noun in lexicon.NOUNS if noun.is_a(verb.subjects)) for verb in VERBS
}
_OBJECTS = {
    verb.name: tuple(noun for noun in lexicon.NOUNS if noun.is_a(verb.objects)) for verb in VERBS
}
_PLACES = {
    name: tuple(noun for noun in lexicon.NOUNS if noun.is_a(relation.kinds))
    for name, relation in RELATIONS.items()
}
_ADJECTIVES = {
    noun.name: tuple(a for a in lexicon.ADJECTIVES if noun.is_a(a.kinds)) for noun in lexicon.NOUNS
}
_PEOPLE = tuple(noun for noun in lexicon.NOUNS if noun.is_a(("person",)))
_RECIPIENT_FRAMES = ("dat", "dat acc", "like")
_STATEMENT_VERBS = tuple(verb for verb in VERBS if verb.frame != "clause")
_CLAUSE_VERBS = tuple(verb for verb in VERBS if verb.frame == "clause")
_SUBJECT_DETERMINERS = ("def",) * 7 + ("indef",) * 3 + ("my",) * 2
_OBJECT_DETERMINERS = ("def",) * 5 + ("indef",) * 4 + ("my",) * 2
_DEFINITE = ("def", "def", "def", "my")


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
    """One sentence in the making: the source of chance, and what has been mentioned so far."""

    def __init__(self, rng: random.Random) -> None:
        self.random = rng.random  # the one method that Python promises never to change
        self.mentioned: list[NounPhrase | PronounPhrase] = []
        self.main_subject: Phrase | None = None
        self.time_is_set = False
        self.relatives_left = 1

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, all equally likely."""
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random() < probability

    # --- sentences

    def sentence(self) -> Sentence:
        """A statement, a question, or two clauses joined by a conjunction."""
        kind = self.random()
        if kind < 0.38:
            return Sentence(self.clause(self.pick(_STATEMENT_VERBS), self.time(), "main"))
        if kind < 0.52:
            return Sentence(self.question())
        if kind < 0.70:
            return self.reported()
        return self.reasoned()

    def reported(self) -> Sentence:
        """dass- and ob-clauses: she says that ..., he does not know whether ..."""
        verb = self.pick(_CLAUSE_VERBS)
        time = self.pick(("present", "past"))
        main = self.clause(verb, time, "main")
        doubt = verb.name == "wissen" and main.negated
        inner = "past" if time == "past" else self.time()
        return Sentence(main, "ob" if doubt else "dass", self.clause(self.free(), inner, "final"))

    def reasoned(self) -> Sentence:
        """weil, obwohl and wenn, behind the main clause or in front of it."""
        conjunction = self.pick(("weil", "weil", "obwohl", "wenn"))
        time = self.time()
        inner = time
        if conjunction == "wenn" or time == "future":
            time = "future" if self.chance(0.3) else "present"
            inner = "present"
        elif time == "present" and self.chance(0.3):
            inner = "past"
        if self.chance(0.3):
            first = self.clause(self.free(), inner, "first")
            main = self.clause(self.free(), time, "second")
            return Sentence(main, conjunction, first, subordinate_first=True)
        main = self.clause(self.free(), time, "main")
        return Sentence(main, conjunction, self.clause(self.free(), inner, "final"))

    def question(self) -> Clause:
        """Yes/no questions and those with wer, wen, was, wo, warum."""
        word = self.pick(("", "", "", "wer", "wen", "was", "wo", "warum"))
        if word in ("", "warum"):
            return self.clause(self.free(), self.time(), "question", word=word)
        fits = {
            "wer": lambda verb: "person" in verb.subjects and verb.frame != "like",
            "wen": lambda verb: verb.frame == "acc" and "person" in verb.objects,
            "was": lambda verb: verb.frame in ("acc", "dat acc") and len(verb.objects) > 1,
            "wo": lambda verb: "in" in verb.relations or verb.name == "liegen",
        }[word]
        verb = self.pick([verb for verb in _STATEMENT_VERBS if fits(verb)])
        return self.clause(verb, self.time(), "question", word=word)

    def time(self) -> str:
        """Present, past or future, as the tense of a clause's time."""
        return self.pick(("present",) * 5 + ("past",) * 4 + ("future",))

    def free(self) -> Verb:
        """A verb that needs no dass-clause."""
        return self.pick(_STATEMENT_VERBS)

    # --- clauses

    def clause(
        self,
        verb: Verb,
        time: str,
        position: str,
        *,
        word: str = "",
        given: Phrase | None = None,
        role: str = "",
        relation: str = "",
    ) -> Clause:
        """A clause around a verb.

        `position` is "main", "question", "final" (behind a main clause), "first" (a subordinate
        clause that opens the sentence), "second" (the main clause behind that) or "relative"; then
        `given` is the relative pronoun and `role` its part in the clause.
        """
        nested, asks = position == "relative", position == "question"
        states_fact = not asks and position != "first"
        if verb.passing or time == "future":
            mode = self.mode(time)
        else:
            mode = MODES[time]
        if mode.name == "future" and not verb.passing and verb.name != "gefallen":
            mode = MODES["present"]
            time = "present"
        if verb.name == "sein" and time == "future":
            raise Refused
        adjective = None
        denial = self.pick(("",) * 15 + ("nicht", "nicht", "kein")) if states_fact else ""
        fixed: dict[str, Phrase] = {role: given} if given is not None else {}
        if word == "wer":
            fixed["subject"] = QuestionWord(word)
        elif word in ("wen", "was"):
            fixed["theme"] = QuestionWord(word)

        # What the place, the adverb and the denial leave open for the objects.
        place_name = relation or self.place_name(verb, denial, word)
        adverb = None if denial else self.adverb(verb, mode, position)
        front = "" if position in ("final", "first") or (asks and not word) else "subject"
        if adverb is not None and front and not asks and not nested and adverb.fronts:
            front = "adverb" if self.chance(0.6) else front
        in_the_way = place_name or denial == "nicht" or (adverb is not None and front != "adverb")
        relative_theme = not nested and not (in_the_way and not (adverb and adverb.frequency))
        relative_theme = relative_theme and not place_name and denial != "nicht"

        subject = fixed.get("subject") or self.subject(verb, mode, position, denial)
        if position in ("main", "first"):
            self.main_subject = subject
        denied = isinstance(subject, NounPhrase) and subject.determiner == "no"
        if verb.frame == "adjective":
            adjective = self.predicate(subject, adverb)
        recipient = fixed.get("recipient")
        if recipient is None and verb.frame in _RECIPIENT_FRAMES:
            people = _PEOPLE if verb.frame != "dat" else _OBJECTS[verb.name]
            relative = relative_theme and verb.frame == "dat"
            recipient = self.object(people, subject, "dat", denial, relative=relative)
        theme = fixed.get("theme")
        if theme is None and "acc" in verb.frame:
            deny = denial == "kein" and not denied and mode not in lexicon.MODALS
            denied = denied or deny
            theme = self.object(
                _OBJECTS[verb.name],
                subject,
                "acc",
                "kein" if deny else denial,
                relative=relative_theme,
            )
        place = fixed_place(given, relation) if relation else self.place(place_name, nested, adverb)
        if denial == "kein" and not denied:
            denial = ""

        clause = Clause(
            verb=verb,
            mode=mode,
            subject=subject,
            recipient=recipient,
            theme=theme,
            place=place,
            adverb=adverb,
            adjective=adjective,
            question=QuestionWord(word) if word in ("wo", "warum") else None,
            negated=denial == "nicht",
            asks=asks,
            front=front,
        )
        return self.with_front(clause, position, word, role)

    def mode(self, time: str) -> lexicon.Mode:
        """The plain tense, or a modal verb of that time."""
        if time == "future":
            return MODES["future"]
        if self.chance(0.3):
            return self.pick([mode for mode in lexicon.MODALS if mode.time == time])
        return MODES[time]

    def place_name(self, verb: Verb, denial: str, word: str) -> str:
        """Which prepositional phrase the clause will have; one that it needs, or one at will."""
        if word == "wo" or not verb.relations:
            return ""
        if verb.needs_relation:
            return self.pick(verb.relations)
        if denial == "nicht" or self.chance(0.55):
            return ""
        return self.pick(verb.relations)

    def adverb(self, verb: Verb, mode: lexicon.Mode, position: str) -> lexicon.Adverb | None:
        """An adverb that goes with the tense; one of time at most once in a sentence."""
        state = verb.frame == "adjective"
        if not (verb.passing or state) or self.chance(0.65):
            return None
        tomorrow = mode in lexicon.MODALS and mode.time == "present"
        options = [
            adverb
            for adverb in lexicon.ADVERBS
            if (mode.time in adverb.times or (tomorrow and adverb.german == "morgen"))
            and not (self.time_is_set and not adverb.frequency)
            and not (position == "question" and adverb.negative)
        ]
        adverb = self.pick(options)
        self.time_is_set = self.time_is_set or not adverb.frequency
        return adverb

    def with_front(self, clause: Clause, position: str, word: str, role: str) -> Clause:
        """Moves a part to the front, and refuses the clause if it then reads two ways."""
        front = clause.front
        if position == "relative":
            front = role
        elif word:
            front = {"wer": "subject", "wo": "question", "warum": "question"}.get(word, "theme")
        elif front == "subject" and position == "main":
            front = self.choose_front(clause)
        clause = replace(clause, front=front)
        relative_subject = position == "relative" and front == "subject"
        if (front == "theme" or relative_subject) and _reads_two_ways(clause):
            raise Refused
        return clause

    def choose_front(self, clause: Clause) -> str:
        """Sometimes the object or the place opens a main clause."""
        if clause.verb.frame == "like" and self.chance(0.5):
            return "recipient"
        if clause.verb.frame == "like" or not self.chance(0.3):
            return "subject"
        movable = [
            role
            for role, part in (("recipient", clause.recipient), ("theme", clause.theme))
            if isinstance(part, NounPhrase) and part.determiner in ("def", "indef", "my")
        ]
        if clause.place is not None and not clause.negated:
            movable.append("place")
        return self.pick(movable) if movable else "subject"

    # --- phrases

    def subject(self, verb: Verb, mode: lexicon.Mode, position: str, denial: str) -> Phrase:
        """A noun phrase, or a pronoun whose reference is clear."""
        plain = mode.name == "present" and verb.name not in lexicon.AUXILIARIES
        people = list(lexicon.FIRST_PERSON[1:] if plain else lexicon.FIRST_PERSON)
        if position != "first":
            people += [word for word in lexicon.THIRD_PERSON if self.may_mean_person(word)]
        refers = self.thing_pronouns() if position in ("final", "second") else []
        if refers and self.main_subject_fits(verb) and self.chance(0.5):
            return PronounPhrase(self.pick(refers))
        if "person" in verb.subjects and self.chance(0.3):
            chosen = PronounPhrase(self.pick(people))
            self.mentioned.append(chosen)
            return chosen
        determiners = ("no",) if denial == "kein" and self.chance(0.5) else _SUBJECT_DETERMINERS
        return self.noun_phrase(
            _SUBJECTS[verb.name], determiners, relative=position in ("main", "final", "second")
        )

    def object(
        self, nouns: tuple[Noun, ...], subject: Phrase, case: str, denial: str, *, relative: bool
    ) -> Phrase:
        """An object: a noun phrase, or a pronoun that has the case."""
        first = isinstance(subject, PronounPhrase) and subject.pronoun in lexicon.FIRST_PERSON
        people = [word for word in lexicon.FIRST_PERSON if not first] + [
            word for word in lexicon.THIRD_PERSON if self.may_mean_person(word)
        ]
        people = [word for word in people if word.german[case]]
        if nouns[0] in _PEOPLE and people and denial != "kein" and self.chance(0.25):
            chosen = PronounPhrase(self.pick(people))
            self.mentioned.append(chosen)
            return chosen
        determiners = {"kein": ("no",), "nicht": _DEFINITE}.get(denial, _OBJECT_DETERMINERS)
        if case == "dat" and denial == "kein":
            determiners = _DEFINITE
        return self.noun_phrase(nouns, determiners, relative=relative)

    def place(self, name: str, nested: bool, adverb: lexicon.Adverb | None) -> Place | None:
        """A prepositional phrase; with people also mit ihm, für uns, zu ihr."""
        if not name:
            return None
        relation = RELATIONS[name]
        people = [
            word
            for word in (lexicon.FIRST_PERSON[0], *lexicon.THIRD_PERSON)
            if word.german[relation.case]
            and (word.person == "ich" or self.may_mean_person(word))
            and not any(isinstance(other, PronounPhrase) for other in self.mentioned)
        ]
        if "person" in relation.kinds and people and self.chance(0.25):
            return Place(relation, PronounPhrase(self.pick(people)))
        time = adverb is not None and not adverb.frequency
        phrase = self.noun_phrase(
            _PLACES[name], _DEFINITE + ("indef",), relative=not nested and not time
        )
        return Place(relation, phrase)

    def noun_phrase(
        self, nouns: tuple[Noun, ...], determiners: tuple[str, ...], *, relative: bool
    ) -> NounPhrase:
        """A noun that the sentence has not named yet, with what goes with it."""
        noun = self.pick(nouns)
        named = [other.noun for other in self.mentioned if isinstance(other, NounPhrase)]
        if noun in named:
            raise Refused
        plural = noun.plural is not None and self.chance(0.27)
        determiner = self.pick(determiners)
        if determiner == "indef" and (plural or noun.plural is None):
            determiner = "bare"
        adjective = self.pick(_ADJECTIVES[noun.name]) if _ADJECTIVES[noun.name] else None
        if adjective is not None and not self.chance(0.4 if determiner == "bare" else 0.3):
            adjective = None
        chosen = NounPhrase(noun, determiner, plural, adjective)
        self.mentioned.append(chosen)
        if relative and determiner != "my" and self.relatives_left and self.chance(0.14):
            self.relatives_left -= 1
            chosen = replace(chosen, relative=self.relative_clause(noun, plural))
        return chosen

    def relative_clause(self, noun: Noun, plural: bool) -> Clause:
        """A clause in which the noun is the subject, an object, or stands with a preposition."""
        pronoun = RelativePronoun(noun, plural)
        role = self.pick(("subject", "subject", "theme", "theme", "recipient", "place"))
        frames = {"theme": ("acc",), "recipient": ("dat", "like"), "place": ("none", "acc")}
        options = []
        for verb in _STATEMENT_VERBS:
            if role == "subject" and noun.is_a(verb.subjects):
                options.append((verb, ""))
            elif role in ("theme", "recipient") and verb.frame in frames[role]:
                nouns = _PEOPLE if verb.frame == "like" else _OBJECTS[verb.name]
                options += [(verb, "")] if noun in nouns else []
            elif role == "place" and verb.frame in frames[role]:
                options += [
                    (verb, name)
                    for name in verb.relations
                    if noun in _PLACES[name] and name in ("in", "on", "under", "with", "for")
                ]
        if not options:
            raise Refused
        verb, relation = self.pick(options)
        time = self.pick(("present", "present", "past"))
        return self.clause(
            verb, time, "relative", given=pronoun, role=role, relation=relation
        )

    def predicate(self, subject: Phrase, adverb: lexicon.Adverb | None) -> lexicon.Adjective:
        """What can be said of the subject; with an adverb only what can change."""
        if isinstance(subject, NounPhrase | RelativePronoun):
            options = _ADJECTIVES[subject.noun.name]
        elif isinstance(subject, PronounPhrase) and not subject.pronoun.personal:
            assert isinstance(self.main_subject, NounPhrase)
            options = _ADJECTIVES[self.main_subject.noun.name]
        else:
            options = _ADJECTIVES["Mann"]
        fitting = [option for option in options if option.passing or adverb is None]
        named = [subject.adjective] if isinstance(subject, NounPhrase) else []
        fitting = [option for option in fitting if option not in named]
        if not fitting:
            raise Refused
        return self.pick(fitting)

    # --- reference

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

    def main_subject_fits(self, verb: Verb) -> bool:
        """Whether the first clause's subject could do what the verb says."""
        return isinstance(self.main_subject, NounPhrase) and self.main_subject.noun.is_a(
            verb.subjects
        )


def fixed_place(pronoun: Phrase | None, relation: str) -> Place | None:
    """The place of a relative clause: in dem, mit denen."""
    return Place(RELATIONS[relation], pronoun) if pronoun is not None else None


def _reads_two_ways(clause: Clause) -> bool:
    """Whether subject and object could change places: same look, same number, same sense."""
    subject, theme, verb = clause.subject, clause.theme, clause.verb
    if theme is None or subject.person != theme.person:
        return False
    for part in (subject, theme):
        looks = [[word for word, _ in german.phrase(part, case)] for case in ("nom", "acc")]
        if looks[0] != looks[1] and not isinstance(part, QuestionWord):
            return False
    return _may_be(subject, verb.objects) and _may_be(theme, verb.subjects)


def _may_be(part: Phrase, kinds: tuple[str, ...]) -> bool:
    if isinstance(part, NounPhrase | RelativePronoun):
        return part.noun.is_a(kinds)
    if isinstance(part, QuestionWord):
        return part.word == "wen" and "person" in kinds
    return "person" in kinds


assert set(VERB) == set(_SUBJECTS)
