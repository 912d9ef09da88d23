"""Byte-pair encoding by hand (section 5.1; Sennrich et al. 2016): small enough to read whole.

The book's models use the `tokenizers` library through `transformer.text`; the merges that are
learned here are the same.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from transformer.text.normalization import normalize

Pair = tuple[str, str]
Pieces = tuple[str, ...]

SPACE = "▁"


@dataclass(frozen=True)
class MergeStep:
    """One merge, and what it was chosen from.

    Attributes:
        pair: the two pieces that become one.
        count: how often they stood side by side before the merge.
        candidates: every pair before the merge with its count, the winner first.
        words: every word's pieces after the merge.
    """

    pair: Pair
    count: int
    candidates: Mapping[Pair, int]
    words: Mapping[str, Pieces]


def word_counts(text: str) -> Counter[str]:
    """How often each word occurs; words are what stands between spaces, and begin with ▁."""
    return Counter(SPACE + word for word in normalize(text).split())


def alphabet(counts: Mapping[str, int]) -> list[str]:
    """The characters of the words in Unicode's order: the vocabulary before the first merge."""
    return sorted({character for word in counts for character in word})


def merge_steps(counts: Mapping[str, int]) -> Iterator[MergeStep]:
    """Merge the most frequent pair, again and again, until every word is one piece.

    Of pairs with the same count the one of older pieces wins: first by its left piece, then by its
    right one. Characters are oldest, in Unicode's order, then come merged pieces in the order of
    their making. Any fixed order would do; this one makes the merges those of the `tokenizers`
    library, which compares the pieces' ids.

    Args:
        counts: how often each word occurs. No merge reaches from one word into the next.

    Raises:
        ValueError: a word is empty or a count is not a positive whole number.
    """
    for word, count in counts.items():
        if not word or isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"{word!r} has the count {count!r}; give words a count of at least 1")
    words: dict[str, Pieces] = {word: tuple(word) for word in counts}
    ids = {piece: i for i, piece in enumerate(alphabet(counts))}
    pairs: Counter[Pair] = Counter()
    words_with: defaultdict[Pair, set[str]] = defaultdict(set)  # or had it
    for word, pieces in words.items():
        for pair in pairwise(pieces):
            pairs[pair] += counts[word]
            words_with[pair].add(word)

    while pairs:
        most = max(pairs.values())
        tied = [pair for pair, count in pairs.items() if count == most]
        best = min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        before = {best: pairs[best], **pairs}
        ids["".join(best)] = len(ids)
        for word in words_with.pop(best):
            # Only the words with the pair change; counting all of them anew would give the same.
            for pair in pairwise(words[word]):
                pairs[pair] -= counts[word]
                if not pairs[pair]:
                    del pairs[pair]
            words[word] = merge_pair(words[word], best)
            for pair in pairwise(words[word]):
                pairs[pair] += counts[word]
                words_with[pair].add(word)
        yield MergeStep(best, before[best], before, dict(words))


def learn_merges(counts: Mapping[str, int], n_merges: int) -> list[Pair]:
    """The first `n_merges` merges, or fewer where every word has become one piece.

    Raises:
        ValueError: n_merges is negative, or the counts are none (see `merge_steps`).
    """
    if n_merges < 0:
        raise ValueError(f"n_merges ({n_merges}) must be at least 0")
    return [step.pair for step in islice(merge_steps(counts), n_merges)]


def merge_pair(pieces: Sequence[str], pair: Pair) -> Pieces:
    """Join every occurrence of the pair, from left to right: in a a a only the first two."""
    merged: list[str] = []
    i = 0
    while i < len(pieces):
        together = tuple(pieces[i : i + 2]) == pair
        merged.append("".join(pair) if together else pieces[i])
        i += 2 if together else 1
    return tuple(merged)


def apply_merges(word: str, merges: Sequence[Pair]) -> Pieces:
    """Split any word, seen or not: its characters, joined by the merges in their order."""
    pieces: Pieces = tuple(word)
    for pair in merges:
        pieces = merge_pair(pieces, pair)
    return pieces


def token_count(counts: Mapping[str, int], words: Mapping[str, Sequence[str]]) -> int:
    """How many tokens the whole text has when its words are split like this."""
    return sum(count * len(words[word]) for word, count in counts.items())
