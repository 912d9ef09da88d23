"""Candidates for the tests of the rerank explorer, without a model."""

from collections.abc import Iterable

from transformer_book.both_ways import Candidate
from transformer_book.widgets import RerankExplorer

SENTENCES = ["Weder er noch ich.", "Bei Weitem der beste."]
READ = [
    [
        Candidate("I can.", -1.0, -20.0, 4),
        Candidate("Neither he nor I.", -3.0, -4.0, 6),
        Candidate("Neither he nor me, of all the people that one could have asked.", -4.0, -3.0, 9),
    ],
    [Candidate("The best.", -1.5, -9.0, 4), Candidate("By far the best.", -2.0, -2.0, 6)],
]


class Reader:
    """Knows two sentences, and has one candidate for all others."""

    def candidates(self, texts: Iterable[str], beam_size: int) -> list[list[Candidate]]:
        """What is known."""
        known = dict(zip(SENTENCES, READ, strict=True))
        for text in texts:
            if len(text) > 99:
                raise ValueError("sentence 1 has 120 tokens, more than the model takes (99)")
        return [known.get(text, [Candidate(text.upper(), -1.0, -1.0, 3)]) for text in texts]


def explorer(**settings: object) -> RerankExplorer:
    """With both sentences, and what the first one means."""
    return RerankExplorer(Reader(), {SENTENCES[0]: "Neither of us.", SENTENCES[1]: ""}, **settings)
