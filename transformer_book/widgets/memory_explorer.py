"""What a step of training keeps in the memory, and in how many turns it fits a device."""

import math
from typing import TYPE_CHECKING, Any

import traitlets

from transformer_book.widgets.base import Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST, MOST = 2, 32  # GB (10^9 bytes) of a device, and of the axis
FLOAT32 = 4  # bytes
COPIES = 4  # of the weights: themselves, gradients, Adam's two averages; of the logits, as many


class MemoryExplorer(Widget):
    """Bars of what is kept: by the step at once, and by one of the turns in which it fits.

    Args:
        n_parameters: of the model.
        kept_per_token: bytes that its layers keep for a token, until the way back has used them.
        tokens: of the step, on each side.
        vocabulary: of the output: so many logits has a token.
        settings: the trait.

    Attributes:
        memory: of the device in GB (10^9 bytes).

    Raises:
        ValueError: weights, gradients and averages leave nothing of the smallest device.
        traitlets.TraitError: no device of this memory is offered.
    """

    description = traitlets.Unicode(
        "Two bars of what a step of training keeps in the memory, of the whole step and of one of "
        "its turns. The loss and what the layers keep shrink with the turns; the weights, their "
        "gradients and Adam's averages do not."
    ).tag(sync=True)
    constants = traitlets.Dict(read_only=True).tag(sync=True)
    memory = traitlets.Int(16, min=LEAST, max=MOST).tag(sync=True)

    def __init__(
        self,
        n_parameters: int,
        kept_per_token: float,
        *,
        tokens: int = 25_000,
        vocabulary: int = 37_000,
        **settings: Any,
    ) -> None:
        parts = {
            "model": COPIES * FLOAT32 * n_parameters / 1e9,
            "loss": COPIES * FLOAT32 * tokens * vocabulary / 1e9,
            "layers": tokens * kept_per_token / 1e9,
        }
        if parts["model"] >= LEAST:
            raise ValueError(
                f"weights, gradients and averages take {parts['model']:.1f} GB: a device of "
                f"{LEAST} GB has no room for a batch; take a smaller model"
            )
        self.set_trait(
            "constants", {"parts": parts, "tokens": tokens, "least": LEAST, "most": MOST}
        )
        super().__init__(**settings)

    def turns(self) -> int:
        """In how many equal parts the step fits the device."""
        model, *shared = self.constants["parts"].values()
        return math.ceil(sum(shared) / (self.memory - model))

    def kept(self, turns: int | None = None) -> dict[str, float]:
        """GB of each part in one of so many turns; of as many as it takes, unless given."""
        turns = self.turns() if turns is None else turns
        parts = self.constants["parts"]
        return {part: gb / (1 if part == "model" else turns) for part, gb in parts.items()}

    def twin(self) -> "Figure":
        """The bars on paper."""
        from transformer_book.figures.training import memory_bars

        n = self.turns()
        rows = {"the step at once": self.kept(1), f"one of {n} turns": self.kept()}
        return memory_bars(rows, memory=self.memory, most=MOST)
