"""English spelling of a sentence: subject, verb, object, and the help of do, as a tree.

German present becomes the simple present, the German perfect (of sein, haben and modal verbs: the
preterite) the simple past. Time and place go to the end, wherever they stand in German, except
that an adverb which opens the German sentence opens the English one too.

The grammar writes constituents, and a sentence is the words of its tree. Labels are the Penn
Treebank's (Marcus et al. 1993), and so are most shapes; where it would leave a trace of something
that has moved (whom does he see _), here is nothing, as in the trees that parsers learn from.
Two shapes are simpler: a preposition of several words is one flat part, and a clause with
because, although or when is a part of the sentence, where a clause with that or whether is the
verb's.
"""

from collections.abc import Iterable

from transformer.data.toy_german import lexicon
from transformer.data.toy_german.syntax import (
    Clause,
    Phrase,
    Place,
    PronounPhrase,
    QuestionWord,
    RelativePronoun,
    Sentence,
    Word,
)
from transformer.text.trees import Tree

Constituent = Tree[Word]
Part = Word | Constituent

CLAUSES, QUESTIONS = ("S", "SBAR"), ("SQ", "SBARQ", "WHNP", "WHPP", "WHADVP")
LABELS = (*CLAUSES, *QUESTIONS, "NP", "VP", "PP", "ADJP", "ADVP", "PRT")


def sentence(plan: Sentence) -> Constituent:
    """The tree of the whole sentence; a comma only behind a subordinate clause in front."""
    mark: Word = ("?" if plan.main.asks else ".", ((plan, "mark"),))
    if plan.subordinate is None:
        return _closed(clause_tree(plan.main), mark)
    opening: Word = (lexicon.CONJUNCTIONS[plan.conjunction], ((plan, "conjunction"),))
    subordinate = Tree("SBAR", (opening, clause_tree(plan.subordinate)))
    if plan.subordinate_first:
        label, parts = clause_tree(plan.main)
        return Tree(label, (subordinate, (",", ((plan, "comma"),)), *parts, mark))
    if plan.main.verb.frame == "clause":  # he says that ...
        return _closed(clause_tree(plan.main, said=subordinate), mark)
    return _closed(clause_tree(plan.main), subordinate, mark)


def clause_tree(clause: Clause, said: Constituent | None = None) -> Constituent:
    """A clause: opening word, subject, verb, objects, place, time; `said` is the verb's clause."""
    subject: Phrase = clause.subject
    recipient, theme, place = clause.recipient, clause.theme, clause.place
    if clause.verb.frame == "like":
        if clause.recipient is None:
            raise ValueError("gefallen needs a recipient, the one who likes")
        subject, recipient, theme = clause.recipient, None, clause.subject
    inverted = clause.asks and not isinstance(subject, QuestionWord)
    helper, verb = _verb(clause, subject, needs_do=clause.negated or inverted)
    if clause.negated and helper[0][0] == "can":
        helper = [("cannot", (*helper[0][1], (clause, "not")))]

    front: list[Part] = []
    if clause.question is not None and clause.front == "question":
        front.append(Tree("WHADVP", phrase(clause.question, subject=False).parts))
    moved = [part for part in (recipient, theme) if part is not None and _opens(part)]
    front += [phrase(part, subject=False) for part in moved]
    if place is not None and _opens(place.phrase):
        front.append(_place(place))
    named = [phrase(subject, subject=True)]
    if _opens(subject):
        front, named = [*front, *named], []

    between: list[Part] = []  # after the first part of the verb
    if clause.negated and helper[0][0] != "cannot":
        between.append(("not", ((clause, "not"),)))
    if clause.adverb is not None and clause.front != "adverb" and clause.adverb.frequency:
        between.append(_adverb(clause))

    after: list[Part] = []
    if recipient is not None and recipient not in moved:
        after.append(phrase(recipient, subject=False))
    after += _theme_and_particle(clause, theme if theme not in moved else None)
    if place is not None and not _opens(place.phrase):
        after.append(_place(place))
    if clause.adjective is not None:
        adjective: Word = (clause.adjective.english, ((clause, "adjective"),))
        after.append(Tree("ADJP", (adjective,)))
    if clause.adverb is not None and clause.front != "adverb" and not clause.adverb.frequency:
        after.append(_adverb(clause))
    after += [said] if said is not None else []

    rest = [_verb_phrase(verb, after)] if verb else after  # of is, there is no rest
    if inverted:
        parts: Iterable[Part] = (*helper, *named, *between, *rest)
    elif helper:
        parts = (*named, Tree("VP", (*helper, *between, *rest)))
    else:
        parts = (*named, *between, *rest)
    if clause.adverb is not None and clause.front == "adverb":
        parts = (_adverb(clause), *parts)
    core = Tree("SQ" if clause.asks else "S", tuple(parts))
    return Tree("SBARQ" if clause.asks else "SBAR", (*front, core)) if front else core


def phrase(part: Phrase, *, subject: bool) -> Constituent:
    """A phrase with its relative clause, as a subject or elsewhere."""
    noun = ((part, "noun"),)
    if isinstance(part, PronounPhrase):
        return Tree("NP", ((part.pronoun.subject if subject else part.pronoun.object, noun),))
    if isinstance(part, RelativePronoun):
        person = "person" in part.noun.kinds
        return Tree("WHNP", ((("who" if subject else "whom") if person else "which", noun),))
    if isinstance(part, QuestionWord):
        return Tree("WHNP", ((lexicon.QUESTION_WORDS[part.word][0 if subject else 1], noun),))
    words: list[Word] = []
    if part.adjective is not None:
        words.append((part.adjective.english, ((part, "adjective"),)))
    words.append((part.noun.english_plural if part.plural else part.noun.english, noun))
    article = lexicon.ENGLISH_DETERMINERS.get(part.determiner)
    if part.determiner == "indef":
        article = "an" if words[0][0][0] in "aeiou" else "a"
    if article is not None:
        words.insert(0, (article, ((part, "determiner"),)))
    whole = Tree("NP", tuple(words))
    return Tree("NP", (whole, clause_tree(part.relative))) if part.relative is not None else whole


def _closed(tree: Constituent, *last: Part) -> Constituent:
    return Tree(tree.label, (*tree.parts, *last))


def _opens(part: Phrase) -> bool:
    """Whether the phrase moves to the front of an English clause."""
    return isinstance(part, RelativePronoun | QuestionWord)


def _adverb(clause: Clause) -> Constituent:
    if clause.adverb is None:
        raise ValueError("the clause has no adverb")
    return Tree("ADVP", ((clause.adverb.english, ((clause, "adverb"),)),))


def _place(place: Place) -> Constituent:
    unit = ((place, "preposition"),)
    opening: list[Word] = [(word, unit) for word in place.relation.english]
    label = "WHPP" if _opens(place.phrase) else "PP"
    return Tree(label, (*opening, phrase(place.phrase, subject=False)))


def _verb_phrase(verb: list[Word], after: list[Part]) -> Constituent:
    """The verb with what follows it; of "wants to see" each word opens a phrase of its own."""
    inner = Tree("VP", (verb[-1], *after))
    if len(verb) == 1:
        return inner
    wanted, to = verb[:2]
    return Tree("VP", (wanted, Tree("S", (Tree("VP", (to, inner)),))))


def _verb(clause: Clause, subject: Phrase, *, needs_do: bool) -> tuple[list[Word], list[Word]]:
    """The auxiliary, if there is one, and the rest of the verb."""
    mode, verb = clause.mode, clause.verb
    finite, lexical = (clause, "finite"), (clause, "verb")
    # The separable prefix has a word of its own (ab: up) or is a part of the verb's meaning.
    own = (lexical,) if verb.english_particle else (lexical, (clause, "particle"))
    person = subject.person
    form = 2 if mode.time == "past" else 1 if person == "sg" else 0

    if verb.frame == "adjective":
        present = {"ich": "am", "sg": "is", "pl": "are"}[person]
        past = "were" if person == "pl" else "was"
        return [(past if form == 2 else present, (finite, lexical))], []
    if mode.english and not mode.with_to:
        return [(mode.english[0], (finite,))], [(verb.english, own)]
    helper: list[Word] = [(("do", "does", "did")[form], (finite,))] if needs_do else []
    if needs_do:
        form = 0
    if mode.with_to:
        rest: list[Word] = [(mode.english[form], (finite,)), ("to", (finite,))]
        return helper, [*rest, (verb.english, own)]
    word = (verb.english, verb.english_s, verb.english_past)[form]
    return helper, [(word, own if needs_do else (finite, *own))]


def _theme_and_particle(clause: Clause, theme: Phrase | None) -> list[Part]:
    """The direct object and a particle: looks for him, picks up the letter, picks him up."""
    parts: list[Part] = [phrase(theme, subject=False)] if theme is not None else []
    if not clause.verb.english_particle:
        return parts
    unit = (clause, "particle") if clause.verb.prefix else (clause, "verb")
    particle: Word = (clause.verb.english_particle, (unit,))
    if not clause.verb.particle_moves:
        return [Tree("PP", (particle, *parts))]
    if isinstance(theme, PronounPhrase):
        return [*parts, Tree("PRT", (particle,))]
    return [Tree("PRT", (particle,)), *parts]
