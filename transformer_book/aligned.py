"""Everyday sentences with an English translation, aligned by hand, word by word.

They are rows of `transformer.data.own_sentences`, its columns "german" and "english". Who trains a
translator can hold its attention against what a person says belongs together. Sure and possible
links are those of Och and Ney (2003):

- sure: the words translate each other. An English compound of two words, and both halves of a
  separable verb, have a sure link each; so have *im* and both words of *in the*.
- possible: one may draw the link or leave it. The English *is* of a progressive form that German
  does not have, *to* before an infinitive, *sich*, an article that the other language lacks.
- *don't*, *can't* and the like are one word: a sure link to the negation; *can't* also to *kann*,
  while *don't* and *doesn't* may be linked to the verb. Other short forms (*I'll*, *it's*) are two
  words.
- *do* in questions, and auxiliaries that only one of the languages has, have a possible link to
  the main verb of the other; *hat gesagt* and *did say* have sure links, word by word.
- Two words that are one in the other language (*noch einmal*, *zu spät*; *had to*) have a sure link
  each.
- A semicolon is linked to the comma in its place; a comma that only one language has, to nothing.
"""

import re
from dataclasses import dataclass

# Phenomenon | German | English, each word with the positions (from 0) of the German words that it
# translates; a question mark: possible, not sure.
_PAIRS = """
questions | Weißt du , wann der nächste Bus zum Krankenhaus fährt ?
    Do/0? you/1 know/0 when/3 the/4 next/5 bus/6 to/7 the/7 hospital/8 leaves/9 ?/10
questions | Welche von den beiden Jacken gefällt dir besser ?
    Which/0 of/1 the/2 two/3 jackets/4 do/5? you/6 like/5 better/7 ?/8
questions | Ist noch Milch im Kühlschrank , oder soll ich welche kaufen ?
    Is/0 there/0? any/2? milk/2 left/1 in/3 the/3 fridge/4 ,/5 or/6 should/7 I/8 buy/10 some/9 ?/11
questions | Was hat der Mechaniker zu deinem Auto gesagt ?
    What/0 did/1 the/2 mechanic/3 say/7 about/4 your/5 car/6 ?/8
negation | Niemand hat uns gesagt , dass der Kurs heute ausfällt .
    Nobody/0 told/1?,3 us/2 that/5 today/8 's/6?,8? class/7 is/9? cancelled/9 ./10
negation | Ich trinke abends keinen Kaffee mehr .
    I/0 don't/1?,3 drink/1 coffee/4 in/2 the/2 evening/2 anymore/5 ./6
negation | Wir waren noch nie in diesem Museum .
    We/0 have/1? never/2?,3 been/1 to/4 this/5 museum/6 ./7
negation | Weder mein Bruder noch ich können gut schwimmen .
    Neither/0 my/1 brother/2 nor/3 I/4 can/5 swim/7 well/6 ./8
negation | Ohne Brille kann ich das Schild nicht lesen .
    I/3 can't/2,6 read/7 the/4 sign/5 without/0 my/1? glasses/1 ./8
du and Sie | Bitte zieh die Schuhe aus , bevor du reinkommst .
    Please/0 take/1,4? off/1?,4 your/2? shoes/3 before/6 you/7 come/8 in/8 ./9
du and Sie | Kann ich dich morgen früh noch einmal anrufen ?
    Can/0 I/1 call/7 you/2 again/5,6 tomorrow/3 morning/4 ?/8
du and Sie | Hat dir das Konzert am Samstag gefallen ?
    Did/0 you/1 like/6 the/2 concert/3 on/4 Saturday/5 ?/7
du and Sie | Sie haben Ihren Regenschirm im Taxi vergessen .
    You/0 forgot/1?,6 your/2 umbrella/3 in/4 the/4 taxi/5 ./7
tenses | Die Fähre war schon abgefahren , als wir am Hafen ankamen .
    The/0 ferry/1 had/2 already/3 left/4 when/6 we/7 arrived/10 at/8 the/8 harbour/9 ./11
tenses | Nächstes Jahr werden wir in eine größere Wohnung ziehen .
    Next/0 year/1 we/3 will/2 move/8 to/4 a/5 bigger/6 apartment/7 ./9
tenses | Wenn du früher angerufen hättest , hätten wir mit dem Essen auf dich gewartet .
    If/0 you/1 had/4 called/3 earlier/2 ,/5 we/7 would/6 have/6 waited/13 for/11 you/12 with/8
    dinner/9?,10 ./14
tenses | Seit drei Jahren lernt meine Tante Italienisch .
    My/4 aunt/5 has/3? been/3? learning/3 Italian/6 for/0 three/1 years/2 ./7
tenses | Hast du schon einmal auf einem Boot übernachtet ?
    Have/0 you/1 ever/2,3 slept/7 on/4 a/5 boat/6 ?/8
separable verbs | Bitte stell die Heizung ab , bevor du ins Wochenende fährst .
    Please/0 turn/1,4? off/1?,4 the/2 heating/3 before/6 you/7 go/10 away/10? for/8 the/8
    weekend/9 ./11
separable verbs | Ich hole die Kinder nach dem Training ab .
    I/0 'll/1? pick/1,7? up/1?,7 the/2 kids/3 after/4 practice/5?,6 ./8
separable verbs | Wann kommt dein Zug in Hannover an ?
    When/0 does/1? your/2 train/3 arrive/1,6 in/4 Hanover/5 ?/7
separable verbs | Er gibt nie zu , dass er sich geirrt hat .
    He/0 never/2 admits/1,3 that/5 he/6 was/8?,9? wrong/7?,8 ./10
separable verbs | Ich schlage vor , dass wir das morgen besprechen .
    I/0 suggest/1,2 that/4 we/5 discuss/8 this/6 tomorrow/7 ./9
separable verbs | Wir haben sie zu unserer Hochzeit eingeladen , aber sie hat abgesagt .
    We/0 invited/1?,6 her/2 to/3 our/4 wedding/5 ,/7 but/8 she/9 declined/10?,11 ./12
subordinate clauses | Ich weiß nicht , ob er den Brief schon bekommen hat .
    I/0 don't/1?,2 know/1 whether/4 he/5 has/10 received/9 the/6 letter/7 yet/8 ./11
subordinate clauses | Weil der Aufzug kaputt war , mussten wir die Treppe nehmen .
    Because/0 the/1 lift/2 was/4 broken/3 ,/5 we/7 had/6 to/6 take/10 the/8 stairs/9 ./11
subordinate clauses | Die Frau , die neben mir saß , kam aus Portugal .
    The/0 woman/1 who/3 was/6? sitting/6 next/4 to/4 me/5 was/8 from/9 Portugal/10 ./11
subordinate clauses | Obwohl es schon spät war , spielten die Kinder noch draußen .
    Although/0 it/1 was/4 already/2 late/3 ,/5 the/7 children/8 were/6? still/9 playing/6
    outside/10 ./11
subordinate clauses | Bevor du unterschreibst , solltest du den Vertrag genau lesen .
    Before/0 you/1 sign/2 ,/3 you/5 should/4 read/9 the/6 contract/7 carefully/8 ./10
idioms | Diese Hose hat mich ein Vermögen gekostet .
    These/0 trousers/1 cost/2?,6 me/3 a/4 fortune/5 ./7
idioms | Mit deiner Vermutung hast du den Nagel auf den Kopf getroffen .
    You/4 hit/3?,10 the/5 nail/6 on/7 the/8 head/9 with/0 your/1 guess/2 ./11
names and numbers | Frau Schneider arbeitet seit 2012 in unserer Bibliothek .
    Ms/0 Schneider/1 has/2? worked/2 in/5 our/6 library/7 since/3 2012/4 ./8
names and numbers | Eine Fahrkarte nach Köln kostet heute nur 19,90 Euro .
    A/0 ticket/1 to/2 Cologne/3 costs/4 only/6 19.90/7 euros/8 today/5 ./9
names and numbers | Paul hat in drei Wochen fast fünf Kilo abgenommen .
    Paul/0 has/1 lost/8 almost/5 five/6 kilos/7 in/2 three/3 weeks/4 ./9
names and numbers | Anna und Jonas haben im Juni 2019 geheiratet .
    Anna/0 and/1 Jonas/2 got/3?,7? married/7 in/4 June/5 2019/6 ./8
modal verbs | Ich muss morgen vor sechs aufstehen .
    I/0 have/1 to/1 get/5 up/5 before/3 six/4 tomorrow/2 ./6
modal verbs | Kannst du den Koffer allein tragen , oder brauchst du Hilfe ?
    Can/0 you/1 carry/5 the/2 suitcase/3 by/4 yourself/4 ,/6 or/7 do/8? you/9 need/8 help/10 ?/11
modal verbs | Die Kinder dürfen am Wochenende länger aufbleiben .
    The/0 children/1 are/2? allowed/2 to/2?,6? stay/6 up/6 later/5 at/3 weekends/4 ./7
pronouns | Die Lampe ist schön , aber sie passt nicht ins Wohnzimmer .
    The/0 lamp/1 is/2 nice/3 ,/4 but/5 it/6 doesn't/7?,8 fit/7 in/9 the/9 living/10 room/10 ./11
pronouns | Mein Koffer ist weg , ich habe ihn im Zug stehen lassen .
    My/0 suitcase/1 is/2 gone/3 ;/4 I/5 left/6?,10,11 it/7 on/8 the/8 train/9 ./12
pronouns | Unser Auto ist alt , aber es fährt noch gut .
    Our/0 car/1 is/2 old/3 ,/4 but/5 it/6 still/8 runs/7 well/9 ./10
pronouns | Die Suppe ist zu salzig , ich kann sie nicht essen .
    The/0 soup/1 is/2 too/3 salty/4 ,/5 I/6 can't/7,9 eat/10 it/8 ./11
comparison | Mein Bruder ist genauso groß wie unser Vater .
    My/0 brother/1 is/2 just/3 as/3 tall/4 as/5 our/6 father/7 ./8
comparison | Der zweite Teil des Buches ist spannender als der erste .
    The/0 second/1 part/2 of/3 the/3 book/4 is/5 more/6 exciting/6 than/7 the/8 first/9 ./10
requests and thanks | Kannst du mir bis Freitag zwanzig Euro leihen ?
    Can/0 you/1 lend/7 me/2 twenty/5 euros/6 until/3 Friday/4 ?/8
requests and thanks | Entschuldigung , ist der Platz am Fenster noch frei ?
    Excuse/0 me/0 ,/1 is/2 the/3 seat/4 by/5 the/5 window/6 still/7 free/8 ?/9
weather | Nimm eine Jacke mit , am Abend wird es kühl .
    Take/0,3? a/1 jacket/2 with/3 you/3 ,/4 it/8 gets/7 cool/9 in/5 the/5 evening/6 ./10
weather | Der Wind war so stark , dass Bäume umgestürzt sind .
    The/0 wind/1 was/2 so/3 strong/4 that/6 trees/7 fell/8,9? over/8 ./10
weather | Wegen des Schnees kamen viele Züge zu spät .
    Because/0 of/0 the/1 snow/2 ,/ many/4 trains/5 were/3 late/6,7 ./8
travel | Wir haben ein Zimmer mit Blick auf das Meer gebucht .
    We/0 booked/1?,9 a/2 room/3 with/4 a/5? view/5 of/6 the/7 sea/8 ./10
travel | Sie ist letztes Jahr allein durch Südamerika gereist .
    She/0 travelled/1?,7 through/5 South/6 America/6 alone/4 last/2 year/3 ./8
family | Meine Cousine erwartet im Oktober ihr erstes Kind .
    My/0 cousin/1 is/2? expecting/2 her/5 first/6 child/7 in/3 October/4 ./8
family | Mein Mann bringt die Kinder ins Bett , während ich koche .
    My/0 husband/1 puts/2 the/3 children/4 to/5 bed/6 while/8 I/9 cook/10 ./11
health | Der Arzt hat ihr geraten , weniger Salz zu essen .
    The/0 doctor/1 advised/2?,4 her/3 to/8 eat/9 less/6 salt/7 ./10
health | Nach der Operation musste er drei Tage im Krankenhaus bleiben .
    After/0 the/1 operation/2 ,/ he/4 had/3 to/3 stay/9 in/7 hospital/8 for/5?,6? three/5 days/6
    ./10
work | Die Besprechung wurde auf nächsten Mittwoch verschoben .
    The/0 meeting/1 was/2 postponed/6 until/3 next/4 Wednesday/5 ./7
work | Unser Drucker funktioniert seit heute Morgen nicht mehr .
    Our/0 printer/1 hasn't/2?,6,7? been/2? working/2 since/3 this/4 morning/5 ./8
work | Vor der Mittagspause muss ich noch drei E-Mails beantworten .
    I/4 still/5 have/3 to/3 answer/8 three/6 emails/7 before/0 my/1 lunch/2 break/2 ./9
food | Möchten Sie das Fleisch lieber gebraten oder gegrillt ?
    Would/0 you/1 like/0,4? the/2 meat/3 fried/5 or/6 grilled/7 ?/8
food | Zum Nachtisch gibt es Erdbeeren mit Sahne .
    For/0 dessert/1 there/2?,3 are/2 strawberries/4 with/5 cream/6 ./7
food | Meine Frau isst seit zwei Jahren kein Fleisch mehr .
    My/0 wife/1 hasn't/2?,6,8? eaten/2 meat/7 for/3 two/4 years/5 ./9
food | Für den Teig brauchst du drei Eier und ein Pfund Mehl .
    For/0 the/1 dough/2 you/4 need/3 three/5 eggs/6 and/7 a/8 pound/9 of/9? flour/10 ./11
"""

# The sentence that the book begins with, beside what the shipped model makes of it.
_OPENING = """opening | Zwei Hunde spielen im Schnee .
    Two/0 dogs/1 are/2? playing/2 in/3 the/3 snow/4 ./5"""


@dataclass(frozen=True)
class AlignedPair:
    """A German sentence, its translation, and which words belong together.

    Attributes:
        source, target: the words, German and English; marks are words.
        sure: (source position, target position) links that nobody would dispute.
        possible: the same with the links that one may draw; contains `sure`.
        feature: the phenomenon of the test set that it stands for.
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


def aligned_everyday() -> list[AlignedPair]:
    """The pairs in the order of the test set; each one's feature is its phenomenon."""
    return read_pairs(_PAIRS)


def opening_sentence() -> AlignedPair:
    """The sentence that goes through the model when the book begins; none of the test set's.

    It is linked by the same rules. The English side is what the shipped model says, word for word.
    """
    (pair,) = read_pairs(_OPENING)
    return pair


def read_pairs(text: str) -> list[AlignedPair]:
    """Pairs as they are written down in this file, each on a line and those indented below it.

    Args:
        text: feature | German words, and below, indented, the English words: each with a slash and
            the positions (from 0) of the German words that it translates, between commas. A
            position with a question mark is a possible link, without one a sure link.

    Raises:
        ValueError: a pair is not written like that, or names a German word that is not there.
    """
    return [_read(entry) for entry in re.split(r"\n(?=\S)", text.strip())]


def _read(entry: str) -> AlignedPair:
    first, _, english = entry.partition("\n")
    feature, bar, german = first.partition(" | ")
    source = tuple(german.split())
    if not (bar and source and english.strip()):
        raise ValueError(f"{entry!r} is not feature | German words, and English words below")
    target: list[str] = []
    sure: set[tuple[int, int]] = set()
    possible: set[tuple[int, int]] = set()
    for word in english.split():
        text, slash, positions = word.rpartition("/")
        if not (text and slash and re.fullmatch(r"(\d+\??(,\d+\??)*)?", positions)):
            raise ValueError(f"{word!r} below {first!r} is not a word, a slash and positions")
        for position in filter(None, positions.split(",")):
            link = (int(position.removesuffix("?")), len(target))
            if link[0] >= len(source):
                raise ValueError(f"{word!r} names word {link[0]} of {german!r}; count from 0")
            possible.add(link)
            if not position.endswith("?"):
                sure.add(link)
        target.append(text)
    return AlignedPair(source, tuple(target), frozenset(sure), frozenset(possible), feature)


def _written(words: tuple[str, ...]) -> str:
    return re.sub(r" (?=[.,;?!]|'\w)", "", " ".join(words))
