"""English sentences with their trees, split so that the test sets ask for what was not seen."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from transformer.data.toy_german.corpus import TRAIN_MAX_WORDS, SentencePair, draw_pairs
from transformer.text.trees import Tree, read_tree


@dataclass(frozen=True)
class Treebank:
    """The splits; no English sentence stands in two of them, or twice in one.

    `test`: sentences of the same kind as in training. `test_constructions`: each has a relative
    clause about a subject (the man who sleeps sees the cat), which `train` and `valid` never show;
    there only other noun phrases have one. `test_longer`: more words than any sentence in `train`.
    Every word of the test sets occurs in `train`.
    """

    train: list[SentencePair]
    valid: list[SentencePair]
    test: list[SentencePair]
    test_constructions: list[SentencePair]
    test_longer: list[SentencePair]


def about_subject(pair: SentencePair) -> bool:
    """Whether a subject of the English sentence has a relative clause."""
    if "(NP (NP" not in pair.brackets:  # no relative clause at all, as in most sentences
        return False
    return _about_subject(read_tree(pair.brackets.split(), pair.target).tree)


def _about_subject(tree: Tree[str]) -> bool:
    inner = [part for part in tree.parts if isinstance(part, Tree)]
    if tree.label in ("S", "SQ"):  # a noun phrase right below a clause is its subject
        subjects = [part for part in inner if part.label == "NP"]
        if any(isinstance(p, Tree) and p.label == "SBAR" for s in subjects for p in s.parts):
            return True
    return any(map(_about_subject, inner))


def toy_treebank(
    n_train: int = 40_000, n_valid: int = 500, n_test: int = 500, seed: int = 0
) -> Treebank:
    """The splits, with n_test sentences in each test set; the same for the same seed.

    Raises:
        ValueError: so few training sentences are asked for that they do not hold the words of the
            other splits, or a size is negative.
    """
    for name, size in (("n_train", n_train), ("n_valid", n_valid), ("n_test", n_test)):
        if size < 0:
            raise ValueError(f"{name} ({size}) must not be negative")
    seen: set[tuple[str, ...]] = set()
    words: set[str] = set()

    def split(name: str, size: int, wanted: Callable[[SentencePair], bool]) -> list[SentencePair]:
        rng = random.Random(f"trees {name} {seed}")
        return draw_pairs(rng, name, size, n_train, wanted, lambda p: p.target, seen)

    def short(pair: SentencePair) -> bool:
        return len(pair.target) <= TRAIN_MAX_WORDS

    def known(pair: SentencePair) -> bool:
        return words.issuperset(pair.target)

    train = split("train", n_train, lambda p: short(p) and not about_subject(p))
    for pair in train:
        words.update(pair.target)
    return Treebank(
        train=train,
        valid=split("valid", n_valid, lambda p: short(p) and known(p) and not about_subject(p)),
        test=split("test", n_test, lambda p: short(p) and known(p) and not about_subject(p)),
        test_constructions=split(
            "test_constructions", n_test, lambda p: short(p) and known(p) and about_subject(p)
        ),
        test_longer=split(
            "test_longer", n_test, lambda p: not short(p) and known(p) and not about_subject(p)
        ),
    )
