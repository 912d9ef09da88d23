"""A softmax with a temperature: the same scores, a sharper or a flatter distribution."""

from typing import Any

from torch import Tensor, isfinite, tensor
from traitlets import Float, List, TraitError, Tuple, Unicode, validate

from transformer_book.widgets.base import Number, Widget


class SoftmaxTemperature(Widget):
    """softmax(score / temperature) as bars; `scores` are pairs of a token and its score."""

    scores: "List[Any]" = List(Tuple(Unicode(), Float()), [("a", 0)], minlen=1).tag(sync=True)
    temperature = Number(1.0, min=0.1, max=5.0).tag(sync=True)
    description = Unicode("The probability of each token, as bars.").tag(sync=True)

    @validate("scores")
    def _finite(self, proposal: dict[str, Any]) -> Any:
        if isfinite(tensor([score for _, score in proposal["value"]])).all():
            return proposal["value"]
        raise TraitError(f"scores must hold finite numbers, not {proposal['value']}")

    def softmax(self) -> Tensor:
        """What the bars show."""
        return tensor([score for _, score in self.scores]).div(self.temperature).softmax(dim=0)

    def twin(self) -> Any:
        """The same numbers, for paper."""
        from transformer_book.figures.embedding import temperature_bars

        tokens, scores = map(list, zip(*self.scores, strict=True))
        return temperature_bars(tokens, scores, [self.temperature])
