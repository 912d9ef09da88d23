"""Label smoothing (section 5.4): what the model is asked for, and what confidence then costs."""

import math
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from jaxtyping import Float
from torch import Tensor

from transformer.training.loss import smoothed_targets

from transformer_book.widgets.base import Number, Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 20  # up to here each token gets one of its own
TRUE_TOKEN = 0


class LabelSmoothingExplorer(Widget):
    """The target distribution as bars, and the loss over the true token's probability.

    The model that is scored gives the true token the probability p and shares the rest evenly.

    Args:
        vocab_size: V, the tokens of the vocabulary.
        smoothing: epsilon of section 5.4.
        p: where the cursor stands.

    Raises:
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "The distribution that label smoothing asks for, as bars, and the loss over the "
        "probability that the model gives to the true token: with smoothing it is lowest below "
        "1, and there it is not zero."
    ).tag(sync=True)
    constants = handed_over(most_bars=MOST_BARS)
    vocab_size = traitlets.Int(8, min=2, max=1_000_000).tag(sync=True)
    smoothing = Number(0.1, min=0.0, max=0.9).tag(sync=True)
    p = Number(0.5).tag(sync=True)

    @traitlets.validate("p")
    def _is_a_probability(self, proposal: dict[str, Any]) -> float:
        p = float(proposal["value"])
        if not 0 < p < 1:
            raise traitlets.TraitError(
                f"p ({p}) must lie between 0 and 1, or one of its logarithms is infinite"
            )
        return p

    def target(self) -> Float[Tensor, " vocab"]:
        """q: the probability that each token should get, the true one first."""
        return smoothed_targets(torch.tensor(TRUE_TOKEN), self.vocab_size, self.smoothing)

    def loss(self, p: float | None = None, smoothing: float | None = None) -> float:
        """The loss in nats of a model that gives the true token p and shares the rest evenly.

        Args:
            p: where the cursor stands if absent.
            smoothing: the widget's own if absent.
        """
        p = self.p if p is None else p
        smoothing = self.smoothing if smoothing is None else smoothing
        share = (1 - p) / (self.vocab_size - 1)
        # Not by `label_smoothing_loss`, which sums in single precision: over 37,000 tokens that
        # is off in the third digit.
        log_probabilities = torch.full((self.vocab_size,), math.log(share), dtype=torch.float64)
        log_probabilities[TRUE_TOKEN] = math.log(p)
        q = smoothed_targets(torch.tensor(TRUE_TOKEN), self.vocab_size, smoothing)
        return float(-(q.double() * log_probabilities).sum())

    def minimum(self) -> tuple[float, float]:
        """The p with the lowest loss, and that loss: the entropy of `target`."""
        q = self.target().double()
        return float(q[TRUE_TOKEN]), float(-torch.xlogy(q, q).sum())

    def twin(self) -> "Figure":
        """The target and the curves on paper."""
        import matplotlib.pyplot as plt

        from transformer_book.figures.training import confidence_curves, target_distributions

        q = self.target()
        names = ["y", *map(str, range(1, self.vocab_size))]
        if self.vocab_size > MOST_BARS:
            q, names = q[:2], ["y", f"each of the other {self.vocab_size - 1:,}"]
        figure, (bars, curves) = plt.subplots(
            2, 1, figsize=(9, 6.5), height_ratios=[1, 4], layout="constrained"
        )
        target_distributions(q.numpy()[None], ["y"], names, ax=bars)
        best, _ = self.minimum()
        even = torch.linspace(0.005, 0.995, 199).tolist()
        confidence = sorted({*even, best} if best < 1 else even)
        losses = {
            name: [self.loss(p, smoothing) for p in confidence]
            for name, smoothing in {
                "no smoothing": 0.0,
                f"$\\epsilon$ = {self.smoothing:g}": self.smoothing,
            }.items()
        }
        confidence_curves(confidence, losses, ax=curves)
        return figure
