"""Which words of a toy German sentence depend on each other: known, because the grammar wrote it.

The relations are those that the paper's attention figures are about, in German: a verb in two
parts that stand far apart, pronouns and what they mean, and what makes up a phrase.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from transformer.data.toy_german import german
from transformer.data.toy_german.corpus import MIN_WORDS, TRAIN_MAX_WORDS, is_held_out
from transformer.data.toy_german.sampling import sample
from transformer.data.toy_german.syntax import (
    Clause,
    NounPhrase,
    Phrase,
    PronounPhrase,
    RelativePronoun,
    Sentence,
    clauses,
    combinations,
    phrases,
)

RELATIONS = ("verb", "clause", "pronoun", "relative pronoun", "article", "adjective")
"""From a word to the word that it depends on, or that says what it means:

- verb: what stands apart of a verb (prefix, participle, infinitive) to its finite form
- clause: the finite verb at the end of a clause to the conjunction or the relative pronoun that
  opens the clause
- pronoun: er, sie or es, which English calls it, to the noun that it stands for
- relative pronoun: to the noun that its clause is about
- article, adjective: to its noun
"""

Link = tuple[int, int]


@dataclass(frozen=True)
class RelatedWords:
    """A German sentence and its relations.

    Attributes:
        words: the words and marks.
        links: relation -> (position, position of the word that it depends on), counted from 0.
            A relation that the sentence does not show has no entry.
        nouns: position of each noun -> its gender, "pl" in the plural.
        phrases: the positions of each noun phrase's article, adjective and noun, those it has.
    """

    words: tuple[str, ...]
    links: dict[str, frozenset[Link]]
    nouns: dict[int, str]
    phrases: tuple[tuple[int, ...], ...]


def related_words(plan: Sentence) -> RelatedWords:
    """The German sentence that a plan stands for, with its relations."""
    words = german.sentence(plan)
    where: dict[object, list[int]] = {}
    for i, (_, units) in enumerate(words):
        for unit in units:
            where.setdefault(unit, []).append(i)
    links: dict[str, set[Link]] = {}

    def link(name: str, dependent: object, head: object) -> None:
        """One link from every word of a unit to the word of another, unless it is the same."""
        for i in where.get(dependent, ()):
            for j in where.get(head, ()):
                if i != j:
                    links.setdefault(name, set()).add((i, j))

    for clause in clauses(plan):
        for part in ("verb", "particle"):
            link("verb", (clause, part), (clause, "finite"))
    if plan.subordinate is not None:
        link("clause", (plan.subordinate, "finite"), (plan, "conjunction"))
    first = plan.subordinate if plan.subordinate_first else plan.main
    for clause, phrase in _phrases(plan):
        noun = (phrase, "noun")
        if isinstance(phrase, PronounPhrase) and not phrase.pronoun.personal and first is not None:
            link("pronoun", noun, (first.subject, "noun"))
        if isinstance(phrase, RelativePronoun):
            link("clause", (clause, "finite"), noun)
        if isinstance(phrase, NounPhrase):
            link("article", (phrase, "determiner"), noun)
            link("adjective", (phrase, "adjective"), noun)
            if phrase.relative is not None:
                link("relative pronoun", (_opening(phrase.relative), "noun"), noun)
    full = [phrase for _, phrase in _phrases(plan) if isinstance(phrase, NounPhrase)]
    return RelatedWords(
        words=tuple(word for word, _ in words),
        links={name: frozenset(found) for name, found in links.items()},
        nouns={i: phrase.agreement for phrase in full for i in where[phrase, "noun"]},
        phrases=tuple(
            tuple(
                i
                for part in ("determiner", "adjective", "noun")
                for i in where.get((noun, part), ())
            )
            for noun in full
        ),
    )


def unseen_sentences(n: int, seed: int = 0) -> list[RelatedWords]:
    """Different sentences, as long as those of training, each with a held-out combination."""
    rng = random.Random(f"relations {seed}")
    found: dict[tuple[str, ...], RelatedWords] = {}
    while len(found) < n:
        plan = sample(rng)
        if any(map(is_held_out, combinations(plan))):
            sentence = related_words(plan)
            if MIN_WORDS <= len(sentence.words) <= TRAIN_MAX_WORDS:
                found.setdefault(sentence.words, sentence)
    return list(found.values())


def _phrases(plan: Sentence) -> Iterator[tuple[Clause, Phrase]]:
    for clause in clauses(plan):
        for _, phrase in phrases(clause):
            yield clause, phrase


def _opening(clause: Clause) -> Phrase:
    """The relative pronoun of a relative clause."""
    return next(part for _, part in phrases(clause) if isinstance(part, RelativePronoun))
