"""Subwords that the reader's `merge_pair` cuts."""

import json
from collections.abc import Iterable, Sequence

from transformer.text import SPECIALS, WordTokenizer, normalize
from transformer.text.bpe import SPACE, alphabet, learn_merges, word_counts

from transformer_book.exercises.track.parts import Parts


class OwnSubwords:
    """A tokenizer: every word is spelled in characters, which the merges join.

    Args:
        merges: the pairs, in the order in which they were learned.
        characters: of which the words consist.
        parts: with the reader's `merge_pair`, which applies the merges.
    """

    def __init__(
        self, merges: Sequence[tuple[str, str]], characters: Iterable[str], parts: Parts
    ) -> None:
        self.merges, self.parts = merges, parts
        self._tokens = WordTokenizer([*characters, *map("".join, merges)])
        self._known: dict[str, list[int]] = {}

    @classmethod
    def learn(cls, text: str, n_merges: int, parts: Parts) -> "OwnSubwords":
        """The merges of a text."""
        counts = word_counts(text)
        return cls(learn_merges(counts, n_merges), alphabet(counts), parts)

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones included."""
        return self._tokens.vocab_size

    def spell(self, word: str) -> list[str]:
        """The pieces of a word, which begins with ▁."""
        pieces, merge = list(word), self.parts["merge_pair"]
        for pair in self.merges:
            pieces = list(merge(pieces, pair))
        return pieces

    def encode(self, text: str) -> list[int]:
        """The ids of the pieces of all words."""
        ids: list[int] = []
        for word in normalize(text).split():
            if word not in self._known:
                self._known[word] = self._tokens.ids(self.spell(SPACE + word))
            ids += self._known[word]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The words with spaces between them; marks are left out."""
        pieces = self._tokens.pieces([i for i in ids if i >= len(SPECIALS)])
        return "".join(pieces).replace(SPACE, " ").strip()

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each id's piece."""
        return self._tokens.pieces(ids)

    def to_json(self) -> str:
        """The merges, and the pieces."""
        return json.dumps({"merges": [*self.merges], "tokens": json.loads(self._tokens.to_json())})
