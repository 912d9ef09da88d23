"""The words of toy German, as tables: change a line here and the language changes with it.

The grammar (`syntax`, `german`, `english`) knows rules only; every word form stands in this file.
A table is a text with one entry a line; its columns are named in the comment above it. Entries are
compared by identity: there is one of each.
"""

from dataclasses import dataclass

Forms = dict[str, str]
"""Word forms by case: the keys are "nom", "acc" and "dat"."""


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun with all its forms; `plural` is None for what cannot be counted (bread)."""

    name: str
    gender: str
    singular: Forms
    plural: Forms | None
    english: str
    english_plural: str
    kinds: tuple[str, ...]

    def is_a(self, kinds: tuple[str, ...]) -> bool:
        """Whether the noun belongs to one of these kinds of things."""
        return any(kind in kinds for kind in self.kinds)


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective: its bare form, the stem its endings are added to, and its translation.

    Adjectives of one `scale` exclude each other (old and young).
    """

    name: str
    stem: str
    english: str
    scale: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb, its translation, and what may be its subject, its object and its place.

    `frame` says which objects it takes: "none", "acc", "dat", "dat acc", "clause" (a dass-clause),
    "like" (gefallen: the German dative is the English subject) or "adjective" (sein).
    `preterite` is None for verbs whose past is the perfect. `english_particle` is the word that
    follows the English verb ("up", "for"); with `particle_moves` a pronoun goes in between.
    """

    name: str
    prefix: str
    singular: str
    plural: str
    participle: str
    auxiliary: str
    preterite: tuple[str, str] | None
    frame: str
    english: str
    english_s: str
    english_past: str
    english_particle: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    relations: tuple[str, ...]
    needs_relation: bool
    passing: bool

    @property
    def particle_moves(self) -> bool:
        """Whether an English object pronoun stands before the particle: picks him up."""
        return self.english_particle == "up"


@dataclass(frozen=True, eq=False)
class Mode:
    """Tense or modal verb: the German finite forms for ich, er and sie (plural), and the English.

    `english` is an auxiliary ("can", "will") or, if `with_to`, a verb followed by "to"
    (base form, form with -s, past); it is empty for the plain present and past.
    """

    name: str
    german: tuple[str, str, str] | None
    english: tuple[str, ...]
    with_to: bool
    time: str


@dataclass(frozen=True, eq=False)
class Pronoun:
    """A personal pronoun; an empty form is one that toy German does not use."""

    german: Forms
    subject: str
    object: str
    agreement: str
    person: str
    personal: bool


@dataclass(frozen=True, eq=False)
class Adverb:
    """An adverb of time (clause-final in English) or of frequency (before the English verb)."""

    german: str
    english: str
    frequency: bool
    fronts: bool
    times: tuple[str, ...]

    @property
    def negative(self) -> bool:
        """Whether the adverb denies the clause by itself: nie."""
        return self.english == "never"


@dataclass(frozen=True, eq=False)
class Relation:
    """A preposition in one of its meanings: the case it asks for decides between in and into."""

    name: str
    german: str
    case: str
    english: tuple[str, ...]
    kinds: tuple[str, ...]


def _rows(table: str, columns: int) -> list[list[str]]:
    """The cells of a table whose columns are separated by blanks, or by | where there is one."""
    rows = []
    for line in table.strip().splitlines():
        cells = line.split("|") if "|" in line else line.split()
        cells = [cell.strip() for cell in cells]
        if len(cells) != columns:
            raise ValueError(f"a row of this table needs {columns} cells: {line!r}")
        rows.append(["" if cell == "-" else cell for cell in cells])
    return rows


def _noun(cells: list[str]) -> Noun:
    name, gender, oblique, plural, plural_dative, english, english_plural, kinds = cells
    return Noun(
        name=name,
        gender=gender,
        singular={"nom": name, "acc": oblique or name, "dat": oblique or name},
        plural={"nom": plural, "acc": plural, "dat": plural_dative} if plural else None,
        english=english,
        english_plural=english_plural,
        kinds=tuple(kinds.split(",")),
    )


# nominative, gender, accusative and dative singular where they differ (weak nouns), plural,
# dative plural, English singular, English plural, kinds
NOUNS = [
    _noun(cells)
    for cells in _rows(
        """
Mann      m  -         Männer    Männern    man        men         person,adult
Frau      f  -         Frauen    Frauen     woman      women       person,adult
Kind      n  -         Kinder    Kindern    child      children    person
Junge     m  Jungen    Jungen    Jungen     boy        boys        person
Mädchen   n  -         Mädchen   Mädchen    girl       girls       person
Lehrer    m  -         Lehrer    Lehrern    teacher    teachers    person,adult
Ärztin    f  -         Ärztinnen Ärztinnen  doctor     doctors     person,adult
Nachbar   m  Nachbarn  Nachbarn  Nachbarn   neighbour  neighbours  person,adult
Hund      m  -         Hunde     Hunden     dog        dogs        animal,pet
Katze     f  -         Katzen    Katzen     cat        cats        animal,pet
Pferd     n  -         Pferde    Pferden    horse      horses      animal
Buch      n  -         Bücher    Büchern    book       books       reading
Brief     m  -         Briefe    Briefen    letter     letters     reading
Zeitung   f  -         Zeitungen Zeitungen  newspaper  newspapers  reading
Ball      m  -         Bälle     Bällen     ball       balls       item
Tasche    f  -         Taschen   Taschen    bag        bags        item
Apfel     m  -         Äpfel     Äpfeln     apple      apples      food
Käse      m  -         -         -          cheese     -           food,mass
Suppe     f  -         -         -          soup       -           food,mass
Brot      n  -         -         -          bread      -           food,mass
Tür       f  -         Türen     Türen      door       doors       opening
Fenster   n  -         Fenster   Fenstern   window     windows     opening
Tisch     m  -         Tische    Tischen    table      tables      furniture
Bett      n  -         Betten    Betten     bed        beds        furniture
Haus      n  -         Häuser    Häusern    house      houses      building
Schule    f  -         Schulen   Schulen    school     schools     building
Garten    m  -         Gärten    Gärten     garden     gardens     outdoors
Stadt     f  -         Städte    Städten    city       cities      outdoors
""",
        8,
    )
]

# bare form, stem, English, what it measures (a thing has one age), kinds it goes with
ADJECTIVES = [
    Adjective(name, stem, english, scale, tuple(kinds.split()))
    for name, stem, english, scale, kinds in _rows(
        """
alt   | alt   | old       | age   | adult animal reading item furniture opening building
jung  | jung  | young     | age   | adult animal
neu   | neu   | new       | age   | reading item furniture opening building
klein | klein | small     | size  | person animal reading item furniture opening building outdoors
groß  | groß  | big       | size  | person animal reading item furniture opening building outdoors
schön | schön | beautiful | looks | person animal reading item furniture building outdoors
müde  | müd   | tired     | mood  | person animal
teuer | teur  | expensive | price | reading item furniture building food
frisch| frisch| fresh     | state | food
""",
        5,
    )
]

# Words that mean something else behind a possessive: mein Mann is my husband
NEVER_MINE = ("Mann", "Frau")

# The preposition in each of its meanings: name, German, case, English, kinds of its noun
RELATIONS = {
    name: Relation(name, german, case, tuple(english.split()), tuple(kinds.split()))
    for name, german, case, english, kinds in _rows(
        """
in        | in    | dat | in          | building outdoors
into      | in    | acc | into        | building outdoors
on        | auf   | dat | on          | furniture
onto      | auf   | acc | onto        | furniture
under     | unter | dat | under       | furniture
to-under  | unter | acc | under       | furniture
before    | vor   | dat | in front of | building opening
with      | mit   | dat | with        | person animal item reading
with-food | mit   | dat | with        | food
for       | für   | acc | for         | person
to        | zu    | dat | to          | person building
""",
        5,
    )
}

# What a definite article melts into
CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}


# Kinds of nouns that often go together
GROUPS = {
    "animate": "person animal",
    "goods": "reading item food",
    "movable": "animal reading item",
    "lying": "pet reading item",
    "sights": "animal reading item building",
    "all": "person animal reading item food furniture opening building outdoors",
}


def _kinds(cell: str) -> tuple[str, ...]:
    return tuple(kind for word in cell.split() for kind in GROUPS.get(word, word).split())


def _verb(cells: list[str]) -> Verb:
    name, er, participle, auxiliary, frame, english, particle, subjects, objects, *rest = cells
    prefix, _, stem = name.rpartition("+")
    base, with_s, past = english.split()
    return Verb(
        name=prefix + stem,
        prefix=prefix,
        singular=er,
        plural="sind" if stem == "sein" else stem,
        participle=participle,
        auxiliary=auxiliary,
        preterite={"haben": ("hatte", "hatten"), "sein": ("war", "waren")}.get(stem),
        frame=frame,
        english=base,
        english_s=with_s,
        english_past=past,
        english_particle=particle,
        subjects=_kinds(subjects),
        objects=_kinds(objects),
        relations=tuple(rest[0].split()),
        needs_relation="place" in rest[1],
        passing="lasting" not in rest[1],
    )


# infinitive (what stands before a + is a separable prefix), er-form, participle, auxiliary of the
# perfect, frame, English forms, English particle, kinds of subject, kinds of object, relations,
# marks (lasting: a state, so without modal verbs and most adverbs; place: incomplete without one)
VERBS = [
    _verb(cells)
    for cells in _rows(
        """
sehen     |sieht   |gesehen   |haben|acc|see sees saw|-|animate|person sights|in|-
kaufen    |kauft   |gekauft   |haben|acc|buy buys bought|-|person|goods furniture|for|-
suchen    |sucht   |gesucht   |haben|acc|look looks looked|for|animate|person movable|in|-
finden    |findet  |gefunden  |haben|acc|find finds found|-|animate|person movable|in|-
lesen     |liest   |gelesen   |haben|acc|read reads read|-|person|reading|in|-
essen     |isst    |gegessen  |haben|acc|eat eats ate|-|animate|food|in with-food|-
haben     |hat     |-         |haben|acc|have has had|-|person|animal goods|-|lasting
helfen    |hilft   |geholfen  |haben|dat|help helps helped|-|person|animate|in|-
folgen    |folgt   |gefolgt   |sein |dat|follow follows followed|-|animate|animate|into|-
gefallen  |gefällt |gefallen  |haben|like|like likes liked|-|sights outdoors|person|-|lasting
geben     |gibt    |gegeben   |haben|dat acc|give gives gave|-|person|goods|-|-
zeigen    |zeigt   |gezeigt   |haben|dat acc|show shows showed|-|person|sights|-|-
schlafen  |schläft |geschlafen|haben|none|sleep sleeps slept|-|animate|-|in before|-
arbeiten  |arbeitet|gearbeitet|haben|none|work works worked|-|person|-|in for with|-
spielen   |spielt  |gespielt  |haben|none|play plays played|-|animate|-|in with before|-
kommen    |kommt   |gekommen  |sein |none|come comes came|-|animate|-|into to with|-
gehen     |geht    |gegangen  |sein |none|go goes went|-|animate|-|into to|place
laufen    |läuft   |gelaufen  |sein |none|run runs ran|-|animate|-|into to in|-
liegen    |liegt   |gelegen   |haben|none|lie lies lay|-|lying|-|on under before|lasting place
legen     |legt    |gelegt    |haben|acc|put puts put|-|person|reading item|onto to-under|place
an+rufen  |ruft    |angerufen |haben|acc|call calls called|-|person|person|-|-
ab+holen  |holt    |abgeholt  |haben|acc|pick picks picked|up|person|person reading item|-|-
auf+machen|macht   |aufgemacht|haben|acc|open opens opened|-|person|opening|for|-
zu+machen |macht   |zugemacht |haben|acc|close closes closed|-|person|opening|for|-
ein+laden |lädt    |eingeladen|haben|acc|invite invites invited|-|person|person|-|-
an+kommen |kommt   |angekommen|sein |none|arrive arrives arrived|-|animate|-|with|-
sagen     |sagt    |gesagt    |haben|clause|say says said|-|person|-|-|-
wissen    |weiß    |gewusst   |haben|clause|know knows knew|-|person|-|-|lasting
sein      |ist     |-         |sein |adjective|be is was|-|all|-|-|lasting
""",
        11,
    )
]

# Finite forms of the auxiliaries: with ich, with er, with sie (plural)
AUXILIARIES = {"haben": ("habe", "hat", "haben"), "sein": ("bin", "ist", "sind")}

MODES = {
    mode.name: mode
    for mode in [
        Mode("present", None, (), False, "present"),
        Mode("past", None, (), False, "past"),
        Mode("future", ("werde", "wird", "werden"), ("will",), False, "future"),
        Mode("können", ("kann", "kann", "können"), ("can",), False, "present"),
        Mode("konnte", ("konnte", "konnte", "konnten"), ("could",), False, "past"),
        Mode("dürfen", ("darf", "darf", "dürfen"), ("may",), False, "present"),
        Mode("müssen", ("muss", "muss", "müssen"), ("have", "has", "had"), True, "present"),
        Mode("musste", ("musste", "musste", "mussten"), ("have", "has", "had"), True, "past"),
        Mode("wollen", ("will", "will", "wollen"), ("want", "wants", "wanted"), True, "present"),
        Mode("wollte", ("wollte", "wollte", "wollten"), ("want", "wants", "wanted"), True, "past"),
    ]
}
MODALS = tuple(mode for mode in MODES.values() if mode.german and mode.name != "future")

# German nominative, accusative, dative; English subject, object; agreement (gender or pl); person
# (ich, sg, pl: which finite form it takes); whether it stands for people
PRONOUNS = [
    Pronoun(
        {"nom": nom, "acc": acc, "dat": dat}, subject, object_, agreement, person, personal == "yes"
    )
    for nom, acc, dat, subject, object_, agreement, person, personal in _rows(
        """
ich  mich  mir    I     me    -   ich  yes
wir  uns   uns    we    us    pl  pl   yes
er   ihn   ihm    he    him   m   sg   yes
sie  -     ihr    she   her   f   sg   yes
sie  -     ihnen  they  them  pl  pl   yes
er   -     -      it    it    m   sg   no
sie  -     -      it    it    f   sg   no
es   -     -      it    it    n   sg   no
""",
        8,
    )
]
FIRST_PERSON, THIRD_PERSON, THINGS = PRONOUNS[:2], PRONOUNS[2:5], PRONOUNS[5:]

# German, English, kind, whether it may begin the sentence, tenses it goes with
ADVERBS = [
    Adverb(german, english, kind == "frequency", fronts == "yes", tuple(times.split()))
    for german, english, kind, fronts, times in _rows(
        """
gestern  | yesterday | time      | yes | past
heute    | today     | time      | yes | present past future
morgen   | tomorrow  | time      | yes | future
oft      | often     | frequency | -   | present past
manchmal | sometimes | frequency | yes | present past
immer    | always    | frequency | -   | present past future
nie      | never     | frequency | -   | present past future
""",
        5,
    )
]

# Determiners by agreement (gender or pl) and case; "indef" and "bare" plurals have none
DETERMINERS = {
    "def": {
        "m": {"nom": "der", "acc": "den", "dat": "dem"},
        "f": {"nom": "die", "acc": "die", "dat": "der"},
        "n": {"nom": "das", "acc": "das", "dat": "dem"},
        "pl": {"nom": "die", "acc": "die", "dat": "den"},
    },
    **{
        name: {
            "m": {"nom": stem, "acc": stem + "en", "dat": stem + "em"},
            "f": {"nom": stem + "e", "acc": stem + "e", "dat": stem + "er"},
            "n": {"nom": stem, "acc": stem, "dat": stem + "em"},
            "pl": {"nom": stem + "e", "acc": stem + "e", "dat": stem + "en"},
        }
        for name, stem in [("indef", "ein"), ("no", "kein"), ("my", "mein")]
    },
}
ENGLISH_DETERMINERS = {"def": "the", "no": "no", "my": "my"}
RELATIVE_PRONOUNS = {**DETERMINERS["def"], "pl": {"nom": "die", "acc": "die", "dat": "denen"}}

# Adjective endings: weak after der, mixed after ein, kein, mein, strong where no determiner is
ENDINGS = {
    "weak": {
        "m": {"nom": "e", "acc": "en", "dat": "en"},
        "f": {"nom": "e", "acc": "e", "dat": "en"},
        "n": {"nom": "e", "acc": "e", "dat": "en"},
        "pl": {"nom": "en", "acc": "en", "dat": "en"},
    },
    "mixed": {
        "m": {"nom": "er", "acc": "en", "dat": "en"},
        "f": {"nom": "e", "acc": "e", "dat": "en"},
        "n": {"nom": "es", "acc": "es", "dat": "en"},
        "pl": {"nom": "en", "acc": "en", "dat": "en"},
    },
    "strong": {
        "m": {"nom": "er", "acc": "en", "dat": "em"},
        "f": {"nom": "e", "acc": "e", "dat": "er"},
        "n": {"nom": "es", "acc": "es", "dat": "em"},
        "pl": {"nom": "e", "acc": "e", "dat": "en"},
    },
}

CONJUNCTIONS = {
    "dass": "that",
    "ob": "whether",
    "weil": "because",
    "wenn": "when",
    "obwohl": "although",
}
# Question words: German, English as a subject, English elsewhere
QUESTION_WORDS = {
    "wer": ("who", ""),
    "wen": ("", "whom"),
    "was": ("", "what"),
    "wo": ("", "where"),
    "warum": ("", "why"),
}
