"""Attention without a matrix of weights (Dao et al. 2022): no variant, but the same function.

The fused kernel that `MultiHeadAttention` calls does this in the fast memory of a processor. Here
it is in a few lines, to be read and compared.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def attention_in_blocks(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    block: int = 64,
) -> Float[Tensor, "*batch query d_v"]:
    """Equation 1, a block of keys at a time: the softmax is "online" (Milakov and Gimelshein 2018).

    Each query remembers the largest score so far, and two sums of e^(score - largest): of the
    values weighted with it, and of it alone. A larger score makes both sums smaller afterwards.

    Args:
        query, key, value, mask: as in `scaled_dot_product_attention`.
        block: how many keys are looked at together; only their scores are ever in memory.

    Returns:
        The weighted sums of the values.
    """
    shape = query.shape[:-1]
    largest = query.new_full((*shape, 1), torch.finfo(query.dtype).min)
    weighted, total = query.new_zeros(*shape, value.size(-1)), query.new_zeros(*shape, 1)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-1], key.size(-2))
    for start in range(0, key.size(-2), block):
        keys = slice(start, start + block)
        scores = query @ key[..., keys, :].transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask[..., keys], -math.inf)
        larger = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        weights, shrink = (scores - larger).exp(), (largest - larger).exp()
        weighted = weighted * shrink + weights @ value[..., keys, :]
        total = total * shrink + weights.sum(dim=-1, keepdim=True)
        largest = larger
    # A query that may attend nowhere has two sums of 0, and gets 0.
    return weighted / total.clamp(min=torch.finfo(query.dtype).tiny)
