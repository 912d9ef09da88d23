"""The copy task: give back a sequence of random symbols. The smallest test of a whole model."""

import random
from dataclasses import dataclass

from transformer.text import SPECIALS

Pair = tuple[list[int], list[int]]


@dataclass(frozen=True)
class CopyTask:
    """Random sequences over `n_symbols` symbols, min_length to max_length long.

    Source and target are equal; the marks for start and end are no symbols, so that nothing of
    the answer is given away.
    """

    n_symbols: int = 10
    min_length: int = 10
    max_length: int = 10

    def __post_init__(self) -> None:
        if self.n_symbols < 2:
            raise ValueError(f"n_symbols ({self.n_symbols}) must be at least 2")
        if not 1 <= self.min_length <= self.max_length:
            raise ValueError(
                f"lengths from {self.min_length} to {self.max_length} are empty; "
                "give 1 <= min_length <= max_length"
            )

    @property
    def vocab_size(self) -> int:
        """The symbols and the special tokens."""
        return len(SPECIALS) + self.n_symbols

    def pairs(self, n: int, seed: int) -> list[Pair]:
        """N sequence pairs of token ids, without marks; the same for the same seed."""
        rng = random.Random(seed)
        return [(sequence, sequence) for sequence in (self._sequence(rng) for _ in range(n))]

    def _sequence(self, rng: random.Random) -> list[int]:
        length = rng.randint(self.min_length, self.max_length)
        first = len(SPECIALS)
        return [rng.randrange(first, first + self.n_symbols) for _ in range(length)]
