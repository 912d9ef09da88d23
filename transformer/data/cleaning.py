"""Takes out of parallel text what teaches a model nothing, and says what and why."""

import math
from typing import Any

from transformer.data.parallel import ParallelText
from transformer.text.scripts import CHARACTER, LETTER, LETTERS_A_WORD

# Learning subwords takes the square of a word's length: of a megabyte without a space, days.
LONGEST_WORD = 1000


class Dropped(dict[str, int]):
    """How many pairs were dropped, by the reason.

    Attributes:
        first: where the first of each reason stands.
    """

    def __init__(self) -> None:
        self.first: dict[str, str] = {}

    def add(self, reason: str, text: ParallelText, i: int) -> None:
        """Count pair `i` of a text."""
        self[reason] = self.get(reason, 0) + 1
        self.first.setdefault(reason, text.line(i))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """For a corpus's metadata, ready for JSON."""
        return {"dropped": self, "first_dropped": self.first}


def clean(
    text: ParallelText, *, max_words: int = 250, max_ratio: float = 4.0, slack: int = 5
) -> tuple[ParallelText, Dropped]:
    """Drop pairs that are empty, too long, or too unequal to be translations of each other.

    With them go those that hold a word of more than `LONGEST_WORD` letters, at any setting.

    Args:
        text: the pairs; words are counted by `n_words`.
        max_words: the most words of a sentence.
        max_ratio: how many times as many words the longer side may have.
        slack: so many words of difference are allowed at any ratio ("Ja ." may be a sentence).

    Returns:
        The pairs that stay, in their order, and how many were dropped for which reason.

    Raises:
        ValueError: a limit leaves nothing.
    """
    if max_words < 1 or max_ratio < 1 or slack < 0:
        raise ValueError(
            f"max_words ({max_words}) and max_ratio ({max_ratio}) must be at least 1, "
            f"slack ({slack}) at least 0"
        )
    dropped = Dropped()
    kept: list[int] = []
    for i, pair in enumerate(text.normal_pairs()):
        shorter, longer = sorted(map(n_words, pair))
        if not shorter:
            dropped.add("a side is empty", text, i)
        elif max(map(longest_word, pair)) > LONGEST_WORD:
            dropped.add(f"a word has more than {LONGEST_WORD:,} letters", text, i)
        elif longer > max_words:
            dropped.add(f"more than {max_words} words", text, i)
        elif longer > max_ratio * shorter and longer - shorter > slack:
            dropped.add(f"one side more than {max_ratio:g} times as long", text, i)
        else:
            kept.append(i)
    return text.only(kept), dropped


def longest_word(text: str) -> int:
    """How many characters the longest word has, as the subwords know words: between spaces."""
    return max(map(len, text.split(" ")))


def n_words(text: str) -> int:
    """About how many words a text has: what spaces separate, and what is written without them."""
    spaced = LETTER.sub(" ", CHARACTER.sub(" ", text))
    letters = math.ceil(len(LETTER.findall(text)) / LETTERS_A_WORD)
    return len(spaced.split()) + len(CHARACTER.findall(text)) + letters
