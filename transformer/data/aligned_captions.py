"""Thirty German captions with an English translation, aligned by hand, word by word.

Written for this book: they describe pictures as the captions of Multi30k do, and none is among
them. Who trains on Multi30k can hold a model's attention against what a person says belongs
together. Sure and possible links are those of Och and Ney (2003):

- sure: the words translate each other. An English compound of two words, and both halves of a
  separable verb, have a sure link each; so have *im* and both words of *in the*.
- possible: one may draw the link or leave it. The English *is* of a progressive form that German
  does not have, *to* before an infinitive, *sich*, an article that the other language lacks, one
  half of a verb and the other half of its translation.
- Commas that only one of the languages has, and articles without a partner, have no link.
"""

import re
from dataclasses import dataclass

# Feature | German | English, each word with the positions (from 0) of the German words that it
# translates; a question mark: possible, not sure.
_PAIRS = """
articles | Ein Mann mit einem roten Hut sitzt auf einer Bank und liest .
    A/0 man/1 with/2 a/3 red/4 hat/5 is/6? sitting/6 on/7 a/8 bench/9 and/10 reading/11 ./12
verb-final | Eine Frau lacht , weil ihr Hund im Schnee spielt .
    A/0 woman/1 laughs/2 because/4 her/5 dog/6 is/9? playing/9 in/7 the/7 snow/8 ./10
verb-final | Ein Junge , der einen blauen Helm trägt , fährt Fahrrad .
    A/0 boy/1 who/3 is/7? wearing/7 a/4 blue/5 helmet/6 is/9? riding/9 a/10? bike/10 ./11
separable | Zwei Mädchen sehen sich im Wohnzimmer einen Film an .
    Two/0 girls/1 watch/2,3?,8 a/6 movie/7 in/4 the/4 living/5 room/5 ./9
separable | Der Mann zieht seine schwarze Jacke aus .
    The/0 man/1 takes/2,6? off/2?,6 his/3 black/4 jacket/5 ./7
separable | Eine alte Frau steigt vor dem Bahnhof aus dem Bus aus .
    An/0 old/1 woman/2 gets/3,10? off/3?,7?,10 the/8 bus/9 in/4 front/4 of/4 the/5 station/6 ./11
compound | Ein Straßenmusiker spielt in der Fußgängerzone Geige .
    A/0 street/1 musician/1 plays/2 the/6? violin/6 in/3 the/4 pedestrian/5 zone/5 ./7
compound | Die Kinder bauen am Strand eine große Sandburg .
    The/0 children/1 are/2? building/2 a/5 big/6 sand/7 castle/7 at/3 the/3 beach/4 ./8
negation | Das Kind trägt keine Schuhe .
    The/0 child/1 is/2? wearing/2 no/3 shoes/4 ./5
negation | Der Hund will nicht ins Wasser springen .
    The/0 dog/1 does/2?,3? not/3 want/2 to/6? jump/6 into/4 the/4 water/5 ./7
verb-final | Der Torwart hat den Ball mit beiden Händen gefangen .
    The/0 goalkeeper/1 has/2 caught/8 the/3 ball/4 with/5 both/6 hands/7 ./9
verb-final | Ein kleiner Junge hat einen Turm aus Holzklötzen gebaut .
    A/0 little/1 boy/2 has/3 built/8 a/4 tower/5 out/6 of/6 wooden/7 blocks/7 ./9
verb-second | Vor dem Laden wartet ein Mann mit zwei Hunden .
    A/4 man/5 with/6 two/7 dogs/8 is/3? waiting/3 in/0 front/0 of/0 the/1 store/2 ./9
verb-second | Im Park spielen drei alte Männer Schach .
    Three/3 old/4 men/5 are/2? playing/2 chess/6 in/0 the/0 park/1 ./7
verb-final | Eine Frau bückt sich , um eine Blume zu pflücken .
    A/0 woman/1 bends/2 down/2,3? to/5?,8 pick/9 a/6 flower/7 ./10
verb-final | Die Arbeiter , die auf dem Dach stehen , tragen gelbe Westen .
    The/0 workers/1 who/3 are/7? standing/7 on/4 the/5 roof/6 are/9? wearing/9 yellow/10 vests/11
    ./12
verb-final | Während die Eltern Kaffee trinken , rutschen die Kinder auf dem Spielplatz .
    While/0 the/1 parents/2 drink/4 coffee/3 ,/5 the/7 children/8 slide/6 on/9 the/10
    playground/11 ./12
compound | Ein Tourist möchte den Kirchturm fotografieren .
    A/0 tourist/1 would/2 like/2 to/5? photograph/5 the/3 church/4 tower/4 ./6
verb-final | Das Auto wird von einem Mechaniker repariert .
    The/0 car/1 is/2 being/2 repaired/6 by/3 a/4 mechanic/5 ./7
negation | Der Fahrer macht das Licht nicht aus .
    The/0 driver/1 does/2?,5? not/5 turn/2,6? the/3 light/4 off/2?,6 ./7
separable | Ein Koch schneidet das Gemüse klein , bevor er die Suppe kocht .
    A/0 cook/1 chops/2,5 the/3 vegetables/4 before/7 he/8 makes/11 the/9 soup/10 ./12
articles | Die Frau spielt Klavier , und ihr Bruder singt .
    The/0 woman/1 plays/2 the/3? piano/3 and/5 her/6 brother/7 sings/8 ./9
compound | Das Fahrrad des Mädchens liegt neben der Bushaltestelle .
    The/0?,2 girl/3 's/2?,3? bike/1 is/4? lying/4 next/5 to/5 the/6 bus/7 stop/7 ./8
negation | Niemand sitzt auf den Stühlen , die am Ufer stehen .
    Nobody/0 is/1? sitting/1 on/2 the/3 chairs/4 that/6 stand/9 on/7 the/7 shore/8 ./10
separable | Eine Gruppe von Wanderern ruht sich auf einem Felsen aus .
    A/0 group/1 of/2 hikers/3 is/4? resting/4,5?,9 on/6 a/7 rock/8 ./10
negation | Ein Feuerwehrmann rettet eine Katze , die nicht vom Baum klettern kann .
    A/0 firefighter/1 rescues/2 a/3 cat/4 that/6 can/11 not/7 climb/10 down/8? from/8 the/8
    tree/9 ./12
verb-final | Der Lehrer erklärt den Schülern , wie man eine Landkarte liest .
    The/0 teacher/1 explains/2 to/3? the/3 students/4 how/6 to/7? read/10 a/8 map/9 ./11
compound | Eine Kellnerin bringt den Gästen zwei Gläser Orangensaft .
    A/0 waitress/1 brings/2 the/3 guests/4 two/5 glasses/6 of/6?,7? orange/7 juice/7 ./8
verb-second | Auf der Wiese grasen weiße Schafe .
    White/4 sheep/5 are/3? grazing/3 in/0 the/1 meadow/2 ./6
articles | Die meisten Zuschauer stehen vor der Bühne .
    Most/0?,1 spectators/2 are/3? standing/3 in/4 front/4 of/4 the/5 stage/6 ./7
"""

# The sentence that the book begins with, beside what the shipped model makes of it.
_OPENING = """articles | Zwei Hunde spielen im Schnee .
    Two/0 dogs/1 play/2 in/3 the/3 snow/4 ./5"""


@dataclass(frozen=True)
class AlignedPair:
    """A caption, its translation, and which words belong together.

    Attributes:
        source, target: the words, German and English; marks are words.
        sure: (source position, target position) links that nobody would dispute.
        possible: the same with the links that one may draw; contains `sure`.
        feature: what is worth looking at: "articles", "compound", "negation", "separable" (verb),
            "verb-final" or "verb-second" (the sentence begins with something else than its
            subject).
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]
    feature: str

    @property
    def source_text(self) -> str:
        """The German sentence as one writes it."""
        return _written(self.source)

    @property
    def target_text(self) -> str:
        """The English sentence as one writes it."""
        return _written(self.target)


def aligned_captions() -> list[AlignedPair]:
    """The thirty pairs."""
    return [_read(entry) for entry in re.split(r"\n(?=\S)", _PAIRS.strip())]


def opening_caption() -> AlignedPair:
    """The sentence that goes through the model when the book begins; none of the thirty.

    It is linked by the same rules. The English side is what the shipped model says, word for word.
    """
    return _read(_OPENING)


def _read(entry: str) -> AlignedPair:
    first, _, english = entry.partition("\n")
    feature, source = first.split(" | ")
    target: list[str] = []
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for word in english.split():
        text, _, positions = word.rpartition("/")
        for position in filter(None, positions.split(",")):
            link = (int(position.removesuffix("?")), len(target))
            possible.add(link)
            if not position.endswith("?"):
                sure.add(link)
        target.append(text)
    words = tuple(source.split()), tuple(target)
    return AlignedPair(*words, frozenset(sure), frozenset(possible), feature)


def _written(words: tuple[str, ...]) -> str:
    return re.sub(r" (?=[.,]|'s)", "", " ".join(words))
