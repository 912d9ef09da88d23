"""What a search returns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """One output sentence.

    Attributes:
        tokens: its token ids, without the start and end marks.
        score: the sum of the log-probabilities of its tokens and of the end mark, if it ended.
    """

    tokens: list[int]
    score: float
