"""What can be seen of a translation's errors without reading it: features that a program can count.

A feature is no proof. Each rule looks at words only, and a good translation may break one of them.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from transformer.text import UNK_ID, Tokenizer

MANY_PIECES = 4
RULES = {
    "too short": "at most two thirds of the reference's number of words",
    "too long": "at least one and a half times the reference's number of words",
    "repetition": "a word twice in a row, or three words in a row that come back, "
    "where the reference has no such thing",
    "rare word": f"a source word that takes {MANY_PIECES} subwords or more",
    "unseen character": "a source character spelled in bytes, or an unknown word",
    "copied word": "a source word of four letters or more that stands unchanged in the translation "
    "and in no reference of the test set",
    "number": "other numbers than in the reference, in digits or as words from two to twelve",
}
_COUNTED = "two three four five six seven eight nine ten eleven twelve"
_VALUES = {word: str(value) for value, word in enumerate(_COUNTED.split(), start=2)}


def words_of(text: str) -> list[str]:
    """The words of a text as they stand, without punctuation."""
    return re.findall(r"\w+(?:['’]\w+)*", text)


def error_features(
    source: str,
    translation: str,
    reference: str,
    tokenizer: Tokenizer,
    target_words: Collection[str],
) -> list[str]:
    """The names of the `RULES` that a translation into English falls under, in their order.

    Args:
        tokenizer: the model's; it says which source words are rare.
        target_words: the words that any reference of the test set uses, in small letters.
    """
    output, wanted = words_of(translation.casefold()), words_of(reference.casefold())
    features = {
        "too short": 3 * len(output) <= 2 * len(wanted),
        "too long": 2 * len(output) >= 3 * len(wanted),
        "repetition": bool(repetitions(output) - repetitions(wanted)),
        "rare word": any(len(tokenizer.encode(word)) >= MANY_PIECES for word in words_of(source)),
        "unseen character": _has_unseen(source, tokenizer),
        "copied word": bool(_copied(source, translation) - set(target_words)),
        "number": _numbers(output) != _numbers(wanted),
    }
    return [name for name in RULES if features[name]]


def repetitions(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Words that stand twice in a row, and groups of three that occur more than once."""
    twice = {pair for pair in pairwise(words) if pair[0] == pair[1]}
    threes = Counter(zip(words, words[1:], words[2:], strict=False))
    return {*twice, *(three for three, count in threes.items() if count > 1)}


def _has_unseen(source: str, tokenizer: Tokenizer) -> bool:
    ids = tokenizer.encode(source)
    return UNK_ID in ids or any(piece.startswith("<0x") for piece in tokenizer.pieces(ids))


def _copied(source: str, translation: str) -> set[str]:
    """The source's longer words that the translation has too, in small letters."""
    long = {word for word in words_of(source) if len(word) >= 4 and word.isalpha()}
    return {word.casefold() for word in long & set(words_of(translation))}


def _numbers(words: Sequence[str]) -> Counter[str]:
    return Counter(_VALUES.get(word, word) for word in words if word in _VALUES or word.isdigit())
