"""Feed-forward networks with a gate (Shazeer 2020)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.layers import FeedForward, Vectors
from transformer.model import Transformer
from transformer.variants.variant import Variant, glorot, replace_each

# The family: what the gate passes through on its way to the product. SiLU is also called Swish.
GATES: dict[str, Callable[[Tensor], Tensor]] = {
    "glu": torch.sigmoid,
    "reglu": F.relu,
    "geglu": F.gelu,
    "swiglu": F.silu,
    "bilinear": lambda x: x,
}


class GatedFeedForward(nn.Module):
    """FFN(x) = (gate(x W) * x V) W_2: each inner unit has a second one that opens and shuts it.

    There are three matrices in place of two, and no biases.

    Args:
        d_model: width of the input and of the output.
        d_ff: inner width. Two thirds of the paper's d_ff make as many weights as two matrices.
        gate: one of `GATES`.
    """

    def __init__(self, d_model: int, d_ff: int, gate: str = "swiglu") -> None:
        super().__init__()
        if gate not in GATES:
            raise ValueError(f"gate ({gate!r}) must be one of {', '.join(GATES)}")
        self.gate = GATES[gate]
        self.inner_gate = nn.Linear(d_model, d_ff, bias=False)  # W
        self.inner = nn.Linear(d_model, d_ff, bias=False)  # V
        self.outer = nn.Linear(d_ff, d_model, bias=False)  # W_2

    def forward(self, x: Vectors) -> Vectors:
        """Each position's vector by itself."""
        hidden = self.gate(self.inner_gate(x)) * self.inner(x)  # (batch, len, d_ff)
        return self.outer(hidden)  # (batch, len, d_model)


def apply(model: Transformer) -> None:
    """Every feed-forward network gets a gate, and keeps its number of weights."""

    def gated(ffn: FeedForward) -> GatedFeedForward:
        return glorot(
            GatedFeedForward(ffn.inner.in_features, round(ffn.inner.out_features * 2 / 3))
        )

    replace_each(model, FeedForward, gated)


VARIANT = Variant(
    "swiglu",
    "Feed-forward networks multiply their inner units with a gate, SiLU of a second projection.",
    "shazeer2020glu",
    apply,
)
