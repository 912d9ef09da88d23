"""Noisy-channel reranking: the candidates of a beam, and what reading each back has to say."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import traitlets

from transformer.text import normalize

from transformer_book.widgets.base import Number, Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CANDIDATES = 12  # as `TwoWayTranslator` has them
MOST = 0.5  # of the weight
DIGITS = 2  # of each logarithm that the page gets
LEAST = -999.0  # of one that cannot be read back, and so cannot win: JSON has no infinity
NOTHING = "nothing (the end mark comes first)"  # as the page says it


class Candidate(Protocol):
    """A translation with its score, and that of reading the sentence back out of it."""

    @property
    def text(self) -> str:
        """The translation."""

    @property
    def forward(self) -> float:
        """How probable it is, as a logarithm."""

    @property
    def backward(self) -> float:
        """How probable the sentence is, given it."""


@runtime_checkable
class ReadsBack(Protocol):
    """What the explorer asks of a `TwoWayTranslator`."""

    def candidates(self, texts: Iterable[str], beam_size: int) -> Sequence[Sequence[Candidate]]:
        """What a beam finishes for each text, each read back once."""


class RerankExplorer(Widget):
    """Candidates ranked by forward + weight * backward, as the reader moves the weight.

    The page gets numbers with two decimals; `ranking` returns the same. A bonus for each token is
    left out; `TwoWayTranslator.rerank` adds none either.

    Args:
        translator: of two directions.
        sentences: what to translate, each with what it means, for those who cannot read it, or a
            list of sentences; with a kernel, or `live` on a page, readers can add their own.
        beam_size: how many candidates.
        settings: the traits example (counted from 0), weight, and live, what `page_model` says of
            the model.

    Raises:
        ValueError: there is no sentence, or one is empty or too long.
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "The candidates of a beam search as bars: what each costs to write, and what it costs to "
        "read the sentence back out of it. They are ranked by both."
    ).tag(sync=True)
    example = traitlets.Int(0, min=0).tag(sync=True)
    weight = Number(0.0, min=0.0, max=MOST).tag(sync=True)
    contents = traitlets.Dict().tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    live = traitlets.Dict().tag(sync=True)
    constants = handed_over(most=MOST, digits=DIGITS, least=LEAST)

    def __init__(
        self,
        translator: ReadsBack,
        sentences: Mapping[str, str] | Sequence[str],
        *,
        beam_size: int = CANDIDATES,
        **settings: Any,
    ) -> None:
        if isinstance(sentences, str) or not sentences:
            raise ValueError(f"sentences are {sentences!r}; give a list of one at least")
        self._translator = translator
        meanings = sentences if isinstance(sentences, Mapping) else dict.fromkeys(sentences, "")
        contents = {"beam_size": beam_size, "examples": []}
        for sentence, meaning in meanings.items():
            contents = self._with(contents, sentence, meaning)
        super().__init__(contents=contents, **settings)

    def ranking(self) -> list[dict[str, Any]]:
        """The candidates of the shown sentence: text, forward, backward and score, best first."""
        examples = self.contents["examples"]
        found = examples[min(self.example, len(examples) - 1)]["candidates"]
        scored = [one | {"score": one["forward"] + self.weight * one["backward"]} for one in found]
        return sorted(scored, key=lambda one: -one["score"])

    def twin(self) -> "Figure":
        """The same bars, for paper."""
        from transformer_book.figures.beam import rerank_bars
        from transformer_book.figures.style import figure_of

        ranking = self.ranking()
        costs = [[-one["forward"], -self.weight * one["backward"]] for one in ranking]
        return figure_of(rerank_bars([one["text"] or NOTHING for one in ranking], costs))

    def _with(self, contents: dict[str, Any], sentence: str, meaning: str = "") -> dict[str, Any]:
        """The contents with one more sentence."""
        if not normalize(sentence):
            raise ValueError("a sentence is empty; there is nothing to translate")
        (found,) = self._translator.candidates([sentence], contents["beam_size"])
        candidates = [
            {
                "text": one.text,
                "forward": round(one.forward, DIGITS),
                "backward": round(max(one.backward, LEAST), DIGITS),
            }
            for one in found
        ]
        example = {"source": sentence, "meaning": meaning, "candidates": candidates}
        return contents | {"examples": [*contents["examples"], example]}

    @traitlets.validate("example")
    def _is_there(self, proposal: dict[str, Any]) -> int:
        n, value = len(self.contents.get("examples", [])), int(proposal["value"])
        if n and value >= n:
            raise traitlets.TraitError(f"example ({value}) must be 0 to {n - 1}")
        return value

    @traitlets.observe("sentence")
    def _read_back(self, change: Any) -> None:
        if not self.sentence.strip():
            return
        self.message = ""
        try:
            contents = self._with(self.contents, self.sentence)
        except ValueError as error:
            self.message = str(error)
            return
        with self.hold_sync():
            self.contents = contents
            self.example = len(contents["examples"]) - 1
