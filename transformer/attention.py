"""Scaled dot-product attention and multi-head attention (section 3.2)."""

import math
from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.cache import CrossAttentionCache, SelfAttentionCache

# `keys` and not `key`: while decoding, the mask covers the keys in the cache too.
Mask = Bool[Tensor, "#batch #heads #query keys"]
Heads = Float[Tensor, "batch heads len width"]


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "*batch query d_v"], Float[Tensor, "*batch query key"]]:
    """Equation 1, written out: softmax(Q K^T / sqrt(d_k)) V.

    Args:
        query: Q; leading axes (batch, heads) are carried along, here and below.
        key: K.
        value: V.
        mask: True where a query may attend to a key; any shape that broadcasts to the scores.

    Returns:
        The weighted sums of the values, and the weights. A query's weights sum to 1; a query
        that may attend nowhere has weights and output 0.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)  # (..., query, key), each row sums to 1
    if mask is not None:
        # A row of nothing but -inf comes out of the softmax as NaN; this makes it zero, and its
        # gradient too. Everywhere else a masked weight is zero already.
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights  # (..., query, d_v), (..., query, key)


class MultiHeadAttention(nn.Module):
    """Section 3.2.2: h heads attend side by side, each in its own projection of the input.

    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O, where head_i is the attention of
    Q W_i^Q, K W_i^K and V W_i^V. The h matrices W_i^Q lie side by side in one: `w_query`.

    Args:
        d_model: width of the input and of the output.
        n_heads: h.
        d_k, d_v: width of one head's queries and keys, and of its values; d_model / h when None.
        dropout: share of the attention weights that is dropped in training.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if d_model % n_heads and (d_k is None or d_v is None):
            raise ValueError(
                f"d_model ({d_model}) must be divisible by n_heads ({n_heads}), or give d_k and d_v"
            )
        self.n_heads = n_heads
        self.d_k = d_model // n_heads if d_k is None else d_k
        self.d_v = d_model // n_heads if d_v is None else d_v
        self.w_query = nn.Linear(d_model, n_heads * self.d_k, bias=False)
        self.w_key = nn.Linear(d_model, n_heads * self.d_k, bias=False)
        self.w_value = nn.Linear(d_model, n_heads * self.d_v, bias=False)
        self.w_output = nn.Linear(n_heads * self.d_v, d_model, bias=False)
        self.dropout = dropout
        # Set by introspect.record_attention: somebody who wants to see the weights.
        self.on_weights: Callable[[Tensor], None] | None = None

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
        mask: Mask | None = None,
        cache: SelfAttentionCache | CrossAttentionCache | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Each query's mixture of the values. `mask` is True where it may attend.

        `key` and `value` are the vectors that are projected; while decoding, `cache` adds what
        earlier steps have projected.
        """
        q = self.split(self.w_query(query))  # (batch, heads, query, d_k)
        if cache is not None and cache.complete:
            k, v = cache.read()
        else:
            k = self.split(self.w_key(key))  # (batch, heads, key, d_k)
            v = self.split(self.w_value(value))  # (batch, heads, key, d_v)
            if cache is not None:
                k, v = cache.update(k, v)  # (batch, heads, keys, ...), earlier ones too
        heads = self._attend(q, k, v, mask)  # (batch, heads, query, d_v)
        return self.w_output(self.join(heads))  # (batch, query, d_model)

    def _attend(
        self,
        q: Float[Tensor, "batch heads query d_k"],
        k: Float[Tensor, "batch heads keys d_k"],
        v: Float[Tensor, "batch heads keys d_v"],
        mask: Mask | None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        dropout = self.dropout if self.training else 0.0
        if self.on_weights is None:  # the same computation in one fused kernel
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        self.on_weights(weights)  # (batch, heads, query, keys)
        return F.dropout(weights, dropout) @ v if dropout else output

    def split(self, x: Float[Tensor, "batch len channels"]) -> Heads:
        """(batch, len, heads * width) -> (batch, heads, len, width)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def join(self, x: Heads) -> Float[Tensor, "batch len channels"]:
        """(batch, heads, len, width) -> (batch, len, heads * width): the heads side by side."""
        return x.transpose(1, 2).flatten(2)
