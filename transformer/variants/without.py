"""The paper's model with one idea taken out: what was it good for?"""

import math
from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from transformer.attention import Mask, MultiHeadAttention
from transformer.layers import Residual, Vectors
from transformer.model import Transformer
from transformer.variants.variant import NoPositions, Variant, become

PAPER = "vaswani2017attention"


class UnscaledAttention(MultiHeadAttention):
    """Attention without the division by sqrt(d_k) of equation 1 (section 3.2.1)."""

    def _attend(
        self,
        q: Float[Tensor, "batch heads query d_k"],
        k: Float[Tensor, "batch groups keys d_k"],
        v: Float[Tensor, "batch groups keys d_v"],
        mask: Mask | None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        # What is divided by further on is multiplied here: the fused kernel and the written-out
        # function both come after it.
        return super()._attend(q * math.sqrt(self.d_k), k, v, mask)


class NoResidual(Residual):
    """A sub-layer without the shortcut around it (section 3.1); its dropout and its norm stay."""

    def forward(self, x: Vectors, sublayer: Callable[[Tensor], Tensor]) -> Vectors:
        """Post-norm: LayerNorm(Dropout(Sublayer(x))). Pre-norm: Dropout(Sublayer(LayerNorm(x)))."""
        if self.pre_norm:
            return self.dropout(sublayer(self.norm(x)))
        return self.norm(self.dropout(sublayer(x)))


def without_scaling(model: Transformer) -> None:
    """No attention divides its scores."""
    for part in [part for part in model.modules() if isinstance(part, MultiHeadAttention)]:
        become(part, UnscaledAttention)


def without_residuals(model: Transformer) -> None:
    """No sub-layer has a shortcut."""
    for part in [part for part in model.modules() if isinstance(part, Residual)]:
        become(part, NoResidual)


def without_positions(model: Transformer) -> None:
    """Nothing is added to the embeddings."""
    for side in ("src_positions", "tgt_positions"):
        model.register_module(side, NoPositions())


VARIANTS = (
    Variant("no_scaling", "Scores are not divided by the root of d_k.", PAPER, without_scaling),
    Variant("no_positions", "Nothing says where a token stands.", PAPER, without_positions),
    Variant("no_residuals", "No shortcut leads around a sub-layer.", PAPER, without_residuals),
)
