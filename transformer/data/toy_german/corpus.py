"""Sentence pairs by the thousand, split so that the test sets ask for what was not trained on."""

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from transformer.data.toy_german import english, german
from transformer.data.toy_german.sampling import sample
from transformer.data.toy_german.syntax import Sentence, Word, combinations, features
from transformer.text.trees import Tree, leaves, linearised

MIN_WORDS, MAX_WORDS = 4, 24
TRAIN_MAX_WORDS = 16
"""No sentence of training, validation and `test_combinations` is longer, in either language."""


@dataclass(frozen=True)
class SentencePair:
    """A German sentence, its one English translation, and which words belong together.

    `alignment` holds pairs (source position, target position), counted from 0. Every word of both
    sentences has a link, except German commas where English writes none. Links may be many to
    many: "im" belongs to "in" and "the", "hat" and "gesehen" to "saw", "vor" to "in front of".
    `features` names what the sentence shows (`FEATURES` lists the names), `combinations` its pairs
    of (verb, noun of the object) and (adjective, noun), as dictionary forms. `brackets` is the tree
    of the English sentence as `text.trees` writes it.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    features: frozenset[str]
    combinations: frozenset[tuple[str, str]] = frozenset()
    brackets: str = ""


@dataclass(frozen=True)
class ToyGerman:
    """The splits; no sentence stands in two of them, or twice in one.

    `test_combinations`: every sentence has a held-out combination, none of which occurs in `train`
    and `valid`. `test_longer`: sentences longer than any in `train`, without held-out combinations.
    Every word of the three occurs in `train`.
    """

    train: list[SentencePair]
    valid: list[SentencePair]
    test_combinations: list[SentencePair]
    test_longer: list[SentencePair]


def is_held_out(combination: tuple[str, str]) -> bool:
    """Whether a combination is kept from training: about one in ten, chosen by a checksum."""
    return zlib.crc32(" ".join(combination).encode()) % 10 == 9


def spell_out(plan: Sentence) -> SentencePair:
    """The pair of sentences that a plan stands for, with their alignment."""
    return _pair(plan, german.sentence(plan), english.sentence(plan))


def generate(
    rng: random.Random, *, min_words: int = MIN_WORDS, max_words: int = MAX_WORDS
) -> SentencePair:
    """A random pair; the German has min_words to max_words words and marks, the English at most so.

    Raises ValueError unless 4 <= min_words <= max_words <= 24.
    """
    if not MIN_WORDS <= min_words <= max_words <= MAX_WORDS:
        raise ValueError(
            f"sentences of {min_words} to {max_words} words cannot be made; "
            f"give {MIN_WORDS} <= min_words <= max_words <= {MAX_WORDS}"
        )
    while True:
        plan = sample(rng)
        source, tree = german.sentence(plan), english.sentence(plan)
        n_target = sum(1 for _ in leaves(tree))
        if min_words <= len(source) <= max_words and MIN_WORDS <= n_target <= max_words:
            return _pair(plan, source, tree)


def toy_german(
    n_train: int = 40_000, n_valid: int = 500, n_test: int = 1_000, seed: int = 0
) -> ToyGerman:
    """The four splits, with n_test sentences in each test set; the same for the same seed.

    Raises ValueError for negative sizes, and where so few training sentences are asked for that
    they do not hold the words of the other splits.
    """
    for name, size in (("n_train", n_train), ("n_valid", n_valid), ("n_test", n_test)):
        if size < 0:
            raise ValueError(f"{name} ({size}) must not be negative")
    seen: set[tuple[str, ...]] = set()
    words: set[str] = set()

    def split(
        name: str, size: int, wanted: Callable[[SentencePair], bool], **lengths: int
    ) -> list[SentencePair]:
        rng = random.Random(f"{name} {seed}")
        return draw_pairs(rng, name, size, n_train, wanted, lambda p: p.source, seen, **lengths)

    def familiar(pair: SentencePair) -> bool:
        return not any(map(is_held_out, pair.combinations))

    def known(pair: SentencePair) -> bool:
        return words.issuperset(pair.source) and words.issuperset(pair.target)

    train = split("train", n_train, familiar, max_words=TRAIN_MAX_WORDS)
    for pair in train:
        words.update(pair.source, pair.target)
    return ToyGerman(
        train=train,
        valid=split(
            "valid", n_valid, lambda p: familiar(p) and known(p), max_words=TRAIN_MAX_WORDS
        ),
        test_combinations=split(
            "test_combinations",
            n_test,
            lambda p: not familiar(p) and known(p),
            max_words=TRAIN_MAX_WORDS,
        ),
        test_longer=split(
            "test_longer",
            n_test,
            lambda p: familiar(p) and known(p),
            min_words=TRAIN_MAX_WORDS + 1,
        ),
    )


def draw_pairs(
    rng: random.Random,
    name: str,
    size: int,
    n_train: int,
    wanted: Callable[[SentencePair], bool],
    text: Callable[[SentencePair], tuple[str, ...]],
    seen: set[tuple[str, ...]],
    **lengths: int,
) -> list[SentencePair]:
    """So many random pairs of a kind, whose `text` joins those `seen`; `lengths` go to `generate`.

    Raises:
        ValueError: they are not to be found; the message names the split and its sizes.
    """
    pairs: list[SentencePair] = []
    attempts = 0
    while len(pairs) < size:
        attempts += 1
        if attempts > 1_000 + 100 * size:
            raise ValueError(
                f"{size} sentences for {name} cannot be found: n_train ({n_train}) is too "
                "small for its words to make up others, or the size too large"
            )
        pair = generate(rng, **lengths)
        if text(pair) not in seen and wanted(pair):
            seen.add(text(pair))
            pairs.append(pair)
    return pairs


def _pair(plan: Sentence, source: list[Word], tree: Tree[Word]) -> SentencePair:
    target = list(leaves(tree))
    positions: dict[object, list[int]] = {}
    for i, (_, units) in enumerate(source):
        for unit in units:
            positions.setdefault(unit, []).append(i)
    links = {
        (i, j)
        for j, (_, units) in enumerate(target)
        for unit in units
        for i in positions.get(unit, ())
    }
    return SentencePair(
        source=tuple(word for word, _ in source),
        target=tuple(word for word, _ in target),
        alignment=frozenset(links),
        features=features(plan),
        combinations=combinations(plan),
        brackets=" ".join(linearised(tree)),
    )
