"""Softmax and scaled dot-product attention (section 3.2.1)."""

import math

from jaxtyping import Bool, Float
from torch import Tensor


def softmax(x: Float[Tensor, "*batch keys"]) -> Float[Tensor, "*batch keys"]:
    """Positive weights along the last axis that sum to 1: e^x over the sum of all e^x.

    Scores of thousands must not overflow.
    """
    powers = (x - x.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    mask: Bool[Tensor, "*#batch #query key"] | None = None,
) -> tuple[Float[Tensor, "*batch query d_v"], Float[Tensor, "*batch query key"]]:
    """Equation 1: the weighted sums of the values, and the weights.

    The mask is True where a query may attend to a key. A query that may attend nowhere gets
    weights and an output of 0.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights
