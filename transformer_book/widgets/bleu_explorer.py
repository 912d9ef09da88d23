"""BLEU of one sentence (section 6.1): its n-grams, what is clipped, and what brevity costs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from transformer.evaluation import bleu_counts, bleu_tokens, sentence_bleu
from transformer.text import normalize
from transformer.text.scripts import without_spaces

from transformer_book.widgets.base import Foretold, Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTHS = (1, 2, 3, 4)
MOST_LETTERS = 240
REFERENCE = "the brown dog runs across a green meadow"
READY = {
    "word for word": REFERENCE,
    "another order": "across a green meadow runs the brown dog",
    "a synonym": "the brown dog sprints across a green meadow",
    "another animal": "the brown cat runs across a green meadow",
    "half of it": "the brown dog runs",
    "one word only": "the the the the",
}


class BleuExplorer(Widget, Foretold):
    """A candidate that is typed, or changed word by word, below its reference, and its score.

    Args:
        reference: what a person wrote.
        ready: name -> a candidate to try; the first is shown at the beginning.
        ask: a question about them, to be answered before anything can be changed, with its
            `answers`, names of ready candidates, of which `right` is what comes out, and the
            sentence `why`. That is said once all of them are tried.

    Attributes:
        candidate: what is scored, of at most 240 characters.
        ready: the candidates to try as a list of [name, candidate].

    Raises:
        ValueError: a question has no right answer, or an answer is no ready candidate.
        traitlets.TraitError: a text is too long, or the reference has no word, or no spaces.
    """

    description = traitlets.Unicode(
        "A reference and below it a candidate: each n-gram of one to four words is a line along "
        "its words, thick where it stands in the reference, dashed where it is clipped. Bars show "
        "the four precisions, the brevity penalty and the BLEU that they make."
    ).tag(sync=True)
    constants = handed_over(most_letters=MOST_LETTERS)
    reference = traitlets.Unicode(REFERENCE).tag(sync=True)
    candidate = traitlets.Unicode().tag(sync=True)
    ready: "traitlets.List[Any]" = traitlets.List().tag(sync=True)
    ask = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        reference: str = REFERENCE,
        ready: Mapping[str, str] = READY,
        *,
        ask: str = "",
        answers: Sequence[str] = (),
        right: str = "",
        **settings: Any,
    ) -> None:
        for answer in answers:
            if answer not in ready:
                raise ValueError(f"the answer {answer!r} must name one of {[*ready]}")
        super().__init__(
            reference=reference, ready=[list(item) for item in ready.items()], ask=ask,
            **self.judged(ask, answers, right),
            **{"candidate": next(iter(ready.values()), ""), **settings},
        )  # fmt: skip

    @traitlets.validate("reference", "candidate")
    def _is_short(self, proposal: dict[str, Any]) -> str:
        name, text = proposal["trait"].name, str(proposal["value"])
        if len(text) > MOST_LETTERS:
            raise traitlets.TraitError(
                f"the {name} has {len(text)} characters; give at most {MOST_LETTERS}"
            )
        if name == "reference" and not bleu_tokens(text):
            raise traitlets.TraitError("the reference has no word; give at least one")
        if name == "reference" and without_spaces([normalize(text)]):
            raise traitlets.TraitError(
                "the reference sets no spaces between words; give one that does"
            )
        return text

    def precisions(self) -> list[tuple[int, int]]:
        """p_1 to p_4, each as n-grams that stand in the reference, and all of the candidate's."""
        counts = bleu_counts([self.candidate], [self.reference])[0]
        return list(zip(counts[2:6], counts[6:10], strict=True))

    def penalty(self) -> float:
        """What is left of the score after the brevity penalty, 0 to 1."""
        length, wanted = bleu_counts([self.candidate], [self.reference])[0][:2]
        return min(1.0, math.exp(1 - wanted / length)) if length else 0.0

    def score(self, candidate: str | None = None) -> float:
        """BLEU of the candidate, or of another one, 0 to 100."""
        return sentence_bleu(
            [self.candidate if candidate is None else candidate], [self.reference]
        )[0]

    def marks(self, n: int, candidate: str | None = None) -> list[str]:
        """What becomes of each n-gram, from left to right: "found", "clipped" or "absent"."""
        text = self.candidate if candidate is None else candidate
        wanted, ours = (_ngrams(self._words(side), n) for side in (self.reference, text))
        left = Counter(wanted)
        marks = []
        for gram in ours:
            marks.append("found" if left[gram] > 0 else "clipped" if gram in left else "absent")
            left.subtract([gram] if gram in left else [])
        return marks

    def twin(self) -> "Figure":
        """On paper: the candidate and those that are ready, each with its marks and its score."""
        from transformer_book.figures.evaluation import marked_ngrams

        known = {text: name for name, text in self.ready}
        texts = dict.fromkeys([self.candidate, *known])
        rows = []
        for text in texts:
            marks = [self.marks(n, text) for n in LENGTHS]
            rows.append((known.get(text, "yours"), self._words(text), marks, self.score(text)))
        return marked_ngrams(self._words(self.reference), rows)

    def _words(self, text: str) -> list[str]:
        return bleu_tokens(text, references=[self.reference])


def _ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
