"""German captions with links between words: by rules for anyone's captions, and pairs of our own.

The rules are made for captions, short sentences about people in the present tense, and would not
do for other German. Where a rule is not sure it gives no link.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

Link = tuple[int, int]

FAR = 4
"""From so many words on, two words count as distant."""

_GENDERS = {
    "m": "Mann Junge Jungen Hund Arbeiter Bauarbeiter Spieler Fußballspieler Baseballspieler "
    "Basketballspieler Tennisspieler Fahrer Radfahrer Motorradfahrer Läufer Sänger Gitarrist Koch "
    "Künstler Skateboarder Surfer Musiker Straßenmusiker Verkäufer Vater Sohn Athlet Skifahrer "
    "Snowboarder Tänzer Fotograf Polizist Schwimmer Ringer Boxer Reiter Teenager Student Schüler "
    "Arzt Cowboy",
    "f": "Frau Dame Mutter Tochter Sängerin Künstlerin Tänzerin Läuferin Verkäuferin Athletin "
    "Schwimmerin Spielerin Tennisspielerin Fotografin Köchin Arbeiterin Polizistin Braut Turnerin "
    "Person Gruppe Familie Mannschaft Katze",
    "n": "Kind Mädchen Baby Kleinkind Paar Team Tier Pferd",
    "pl": "Männer Frauen Kinder Leute Menschen Personen Hunde Eltern Babys Jungs",
}
OWNERS = {noun: gender for gender, nouns in _GENDERS.items() for noun in nouns.split()}
"""Who or what captions let own something: noun -> its gender, or "pl"."""

_ARTICLE = re.compile(r"(d(er|ie|as|en|em)|eine?[mnr]?)$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(sein|ihr)(e[mnrs]?)?$")
_ADJECTIVE = re.compile(r"[a-zäöüß]+e[mnrs]?$")
_FINITE = re.compile(r"[a-zäöüß]+(t|en)$")

_PREFIX = re.compile(r"(an|auf|aus|ab|ein|zu|vor|nach|fest|hoch|herunter|hinunter|zurück)$")
_NO_VERB = re.compile(
    r"(mit|den|[ks]?einen|ihren|bei|seit|dort|nicht|zusammen|neben|zwischen|gegen|unten|oben|außen|"
    r"hinten|vorn|beiden|vielen|einigen|anderen|ist|sind|hat|haben|wird|werden)$"
)


def caption_words(text: str) -> list[str]:
    """The words and marks of a caption."""
    return re.findall(r"\w[\w-]*|[^\w\s]", text)


def owner_links(words: list[str]) -> set[Link]:
    """From sein or ihr (his, its; her, their) to the owner, if just one noun before it can be.

    A noun can be the owner if it has the gender or the number that the pronoun asks for. Two
    nouns joined by und may be the owners of what is theirs; then there is no link.
    """
    pronouns = [i for i in range(len(words)) if _is_possessive(words, i)]
    if len(pronouns) != 1:
        return set()
    (pronoun,) = pronouns
    asked = ("m", "n") if words[pronoun].startswith("sein") else ("f", "pl")
    people = possible_owners(words[:pronoun])
    if "f" in asked and people and "und" in words[min(people) : max(people)]:
        return set()
    fitting = [i for i, gender in people.items() if gender in asked]
    return {(pronoun, fitting[0])} if len(fitting) == 1 else set()


def _is_possessive(words: list[str], i: int) -> bool:
    """Whether the word is sein or ihr before a noun, and not to be, her or you."""
    after = words[i + 1 : i + 3]
    before_noun = bool(after) and (
        after[0][0].isupper() or (len(after) == 2 and _describes(*after))
    )
    return bool(_POSSESSIVE.match(words[i])) and before_noun


def _describes(adjective: str, noun: str) -> bool:
    is_adjective = _ADJECTIVE.match(adjective) and not _ARTICLE.match(adjective)
    return bool(is_adjective) and noun[0].isupper()


def nouns_before(words: list[str], position: int) -> list[int]:
    """The positions of the nouns before a word.

    Nouns are the words with a capital, but for one that has it as the first word of the caption.
    """
    return [i for i in range(position) if words[i][0].isupper() and (i > 0 or words[i] in OWNERS)]


def possible_owners(words: list[str]) -> dict[int, str]:
    """The positions of nouns that may own something, with their gender, or "pl"."""
    found = {}
    for i, word in enumerate(words):
        if word in OWNERS:
            # "Jungen" and "Mädchen" are one or many: an article before it, or before its
            # adjective, says which.
            single = any(_ARTICLE.match(near) for near in words[max(0, i - 2) : i])
            alike = word in ("Jungen", "Mädchen") and not single
            found[i] = "pl" if alike else OWNERS[word]
    return found


def prefix_links(words: list[str]) -> set[Link]:
    """From a separable prefix that closes a clause to its verb, four or more words before it.

    The verb is taken to be the last word before it, behind a noun of the clause, that has a verb's
    ending and neither stands before a noun, as an adjective does, nor is one of a few common words.
    """
    links = set()
    for end, (word, mark) in enumerate(pairwise(words)):
        if not _PREFIX.match(word) or mark not in {".", ",", "und"}:
            continue
        start = max((i + 1 for i in range(end) if words[i] == ","), default=0)
        verbs = [
            i
            for i in range(start + 1, end)
            if _FINITE.match(words[i])
            and not _NO_VERB.match(words[i])
            and not (words[i].endswith("en") and words[i + 1][0].isupper())
            and any(before[0].isupper() for before in words[start:i])
        ]
        if verbs and end - verbs[-1] >= FAR:
            links.add((end, verbs[-1]))
    return links


def article_links(words: list[str]) -> set[Link]:
    """From an article to its noun: the next word, or the one behind an adjective."""
    links = set()
    for i, word in enumerate(words):
        after = words[i + 1 : i + 3]
        if _ARTICLE.match(word) and after and after[0][0].isupper():
            links.add((i, i + 1))
        elif _ARTICLE.match(word) and len(after) == 2 and _describes(*after):
            links.add((i, i + 2))
    return links


def adjective_links(words: list[str]) -> set[Link]:
    """From the adjective between an article and its noun to the noun."""
    return {(noun - 1, noun) for article, noun in article_links(words) if noun == article + 2}


# A star stands for sein or ihr. Both nouns before it may be the owner: one of them is masculine,
# the other feminine, so the pronoun alone decides. In half of the captions the woman comes first.
_EITHER = """
Ein Mann zeigt einer Frau *en Hund .
Eine Frau gibt einem Mann *e Tasche .
Eine Frau sieht einem Jungen mit *em Fahrrad zu .
Ein Mann hilft einer Frau mit *em Gepäck .
Eine Mutter sitzt mit einem Jungen neben *em Fahrrad .
Ein Vater spielt mit einer Frau vor *em Haus .
Eine Frau steht neben einem Mann und hält *en Hut .
Ein Mann steht hinter einer Frau und hält *e Jacke .
Eine Frau sitzt neben einem Mann auf *em Motorrad .
Ein Junge läuft neben einer Frau zu *em Fahrrad .
Eine Sängerin steht neben einem Mann und *er Gitarre .
Ein Gitarrist spielt für eine Frau und *en Hund .
Eine Frau tanzt mit einem Mann in *er Küche .
Ein Mann geht mit einer Frau und *em Hund spazieren .
Eine Frau geht mit einem Mann und *em Hund am Strand entlang .
Ein Mann fotografiert eine Frau mit *em Fahrrad .
Eine Frau fotografiert einen Mann mit *er Kamera .
Ein Junge umarmt eine Frau vor *em Haus .
Eine Tänzerin wartet auf einen Mann und *e Freunde .
Ein Mann wartet auf eine Frau und *e Freunde .
Eine Frau schneidet einem Mann in *er Küche die Haare .
Ein Mann malt einer Frau in *em Garten ein Bild .
Eine Dame spricht mit einem Mann über *e Arbeit .
Ein Arzt spricht mit einer Frau über *en Arm .
"""


@dataclass(frozen=True)
class Possessive:
    """A caption with a possessive pronoun and two who could be meant.

    Attributes:
        words: the words; the mark is one.
        pronoun, owner, other: the positions of the pronoun, of who is meant, of who is not.
    """

    words: tuple[str, ...]
    pronoun: int
    owner: int
    other: int


def possessive_pairs() -> list[tuple[Possessive, Possessive]]:
    """Captions of our own that differ in one word, sein or ihr, and so in the owner."""
    return [
        (_possessive(line.split(), "sein"), _possessive(line.split(), "ihr"))
        for line in _EITHER.strip().splitlines()
    ]


def _possessive(template: list[str], pronoun: str) -> Possessive:
    position = next(i for i, word in enumerate(template) if word.startswith("*"))
    words = [word.replace("*", pronoun) for word in template]
    ((_, owner),) = owner_links(words)
    (other,) = set(possible_owners(words[:position])) - {owner}
    return Possessive(tuple(words), position, owner, other)
