"""Toy German: sentence pairs from a small grammar, with the true alignment of their words."""

import functools
import random
import zlib
from dataclasses import dataclass, field

from transformer.data.toy_german import english, german, lexicon, sampling
from transformer.data.toy_german.syntax import (
    FEATURES,
    Sentence,
    combinations,
    features,
)

@dataclass(frozen=True)
class SentencePair:
    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    features: frozenset[str]
    combinations: frozenset[tuple[str, str]] = field(default=frozenset(), repr=False)


def spell_out(plan: Sentence) -> SentencePair:
    source, target = german.sentence(plan), english.sentence(plan)
    positions: dict[object, list[int]] = {}
    for i, (_, units) in enumerate(source):
        for unit in units:
            positions.setdefault(unit, []).append(i)
    links = frozenset(
        (i, j) for j, (_, units) in enumerate(target) for unit in units
        for i in positions.get(unit, ())
    )
    return SentencePair(
        tuple(w for w, _ in source), tuple(w for w, _ in target), links, features(plan),
        combinations(plan),
    )

def generate(rng, *, min_words=4, max_words=24):
    while True:
        pair = spell_out(sampling.sample(rng))
        if min_words <= len(pair.source) <= max_words and min_words <= len(pair.target) <= max_words:
            return pair
