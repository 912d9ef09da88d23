"""English spelling of a sentence: subject, verb, object, and the help of do.

German present becomes the simple present, the German perfect (of sein, haben and modal verbs: the
preterite) the simple past. Time and place go to the end, wherever they stand in German, except
that an adverb which opens the German sentence opens the English one too.
"""

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


def sentence(plan: Sentence) -> list[Word]:
    """The words of the whole sentence; a comma only behind a subordinate clause in front."""
    words = clause_words(plan.main)
    if plan.subordinate is not None:
        opening: Word = (lexicon.CONJUNCTIONS[plan.conjunction], ((plan, "conjunction"),))
        subordinate = [opening, *clause_words(plan.subordinate)]
        if plan.subordinate_first:
            words = [*subordinate, (",", ((plan, "comma"),)), *words]
        else:
            words = [*words, *subordinate]
    return [*words, ("?" if plan.main.asks else ".", ((plan, "mark"),))]


def clause_words(clause: Clause) -> list[Word]:
    """A clause: opening word, subject, verb, objects, place, time."""
    subject: Phrase = clause.subject
    recipient, theme = clause.recipient, clause.theme
    if clause.verb.frame == "like":
        if clause.recipient is None:
            raise ValueError("gefallen needs a recipient, the one who likes")
        subject, recipient, theme = clause.recipient, None, clause.subject
    inverted = clause.asks and not isinstance(subject, QuestionWord)
    helper, verb = _verb(clause, subject, needs_do=clause.negated or inverted)

    front: list[Word] = []
    if clause.adverb is not None and clause.front == "adverb":
        front = [(clause.adverb.english, ((clause, "adverb"),))]
    elif clause.question is not None and clause.front == "question":
        front = phrase(clause.question, subject=False)
    moved = [part for part in (recipient, theme) if part is not None and _opens(part)]
    front += [word for part in moved for word in phrase(part, subject=False)]
    place = clause.place
    if place is not None and _opens(place.phrase):
        front += _place(place)

    words = [*front, *(helper if inverted else [])]
    words += phrase(subject, subject=True)
    words += helper if not inverted else []
    if clause.negated and helper[0][0] == "can":
        words[-1] = ("cannot", (*helper[0][1], (clause, "not")))
    elif clause.negated:
        words.append(("not", ((clause, "not"),)))
    if clause.adverb is not None and clause.front != "adverb" and clause.adverb.frequency:
        words.append((clause.adverb.english, ((clause, "adverb"),)))
    words += verb
    if recipient is not None and recipient not in moved:
        words += phrase(recipient, subject=False)
    words += _theme_and_particle(clause, theme if theme not in moved else None)
    if place is not None and not _opens(place.phrase):
        words += _place(place)
    if clause.adjective is not None:
        words.append((clause.adjective.english, ((clause, "adjective"),)))
    if clause.adverb is not None and clause.front != "adverb" and not clause.adverb.frequency:
        words.append((clause.adverb.english, ((clause, "adverb"),)))
    return words


def phrase(part: Phrase, *, subject: bool) -> list[Word]:
    """A phrase with its relative clause, as a subject or elsewhere."""
    noun = ((part, "noun"),)
    if isinstance(part, PronounPhrase):
        return [(part.pronoun.subject if subject else part.pronoun.object, noun)]
    if isinstance(part, RelativePronoun):
        if "person" not in part.noun.kinds:
            return [("which", noun)]
        return [("who" if subject else "whom", noun)]
    if isinstance(part, QuestionWord):
        return [(lexicon.QUESTION_WORDS[part.word][0 if subject else 1], noun)]
    words: list[Word] = []
    if part.adjective is not None:
        words.append((part.adjective.english, ((part, "adjective"),)))
    words.append((part.noun.english_plural if part.plural else part.noun.english, noun))
    article = lexicon.ENGLISH_DETERMINERS.get(part.determiner)
    if part.determiner == "indef":
        article = "an" if words[0][0][0] in "aeiou" else "a"
    if article is not None:
        words.insert(0, (article, ((part, "determiner"),)))
    return words + (clause_words(part.relative) if part.relative is not None else [])


def _opens(part: Phrase) -> bool:
    """Whether the phrase moves to the front of an English clause."""
    return isinstance(part, RelativePronoun | QuestionWord)


def _place(place: Place) -> list[Word]:
    unit = ((place, "preposition"),)
    opening: list[Word] = [(word, unit) for word in place.relation.english]
    return opening + phrase(place.phrase, subject=False)


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


def _theme_and_particle(clause: Clause, theme: Phrase | None) -> list[Word]:
    """The direct object and a particle: looks for him, picks up the letter, picks him up."""
    words = phrase(theme, subject=False) if theme is not None else []
    if not clause.verb.english_particle:
        return words
    unit = (clause, "particle") if clause.verb.prefix else (clause, "verb")
    particle: Word = (clause.verb.english_particle, (unit,))
    if clause.verb.particle_moves and isinstance(theme, PronounPhrase):
        return [*words, particle]
    return [particle, *words]
