"""Positions that turn queries and keys (Su et al. 2021)."""

from jaxtyping import Float
from torch import Tensor, stack

from transformer.attention import Mask, MultiHeadAttention
from transformer.cache import CrossAttentionCache, SelfAttentionCache
from transformer.embedding import LearnedPositions, SinusoidalPositions, sinusoidal_positions
from transformer.model import Transformer
from transformer.variants.variant import NoPositions, Variant, become


def rotate(
    x: Float[Tensor, "*batch len width"], turns: Float[Tensor, "len width"]
) -> Float[Tensor, "*batch len width"]:
    """Turn each pair of components by the angle of its position and frequency.

    Args:
        x: queries or keys.
        turns: the rows of `sinusoidal_positions` for their positions: a sine beside its cosine.
    """
    sine, cosine = turns.unflatten(-1, (-1, 2)).unbind(-1)  # (len, width / 2) each
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)  # (..., len, width / 2) each
    return stack([a * cosine - b * sine, a * sine + b * cosine], dim=-1).flatten(-2)


class RotaryAttention(MultiHeadAttention):
    """Self-attention whose queries and keys are turned before they meet.

    A turn leaves lengths as they are, and a dot product then depends on the two vectors and the
    distance between their positions, not on where in the sentence they stand.
    """

    turns: Tensor  # (positions, d_k)

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
        mask: Mask | None = None,
        cache: SelfAttentionCache | CrossAttentionCache | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """As in `MultiHeadAttention`; a key goes into the cache turned, and stays as it is."""
        start = cache.length if isinstance(cache, SelfAttentionCache) else 0
        turns = self.turns[start : start + query.size(1)]
        q = rotate(self.split(self.w_query(query)), turns)  # (batch, heads, query, d_k)
        k = rotate(self.split(self.w_key(key)), turns)  # (batch, heads, key, d_k)
        v = self.split(self.w_value(value))
        if cache is not None:
            k, v = cache.update(k, v)
        return self.w_output(self.join(self._attend(q, k, v, mask)))


def apply(model: Transformer) -> None:
    """Nothing is added to the embeddings; all self-attentions turn their queries and keys.

    Raises:
        ValueError: d_k is odd, and what turns are pairs.
    """
    for parent in list(model.modules()):
        for name, part in list(parent.named_children()):
            if isinstance(part, SinusoidalPositions | LearnedPositions):
                parent.register_module(name, NoPositions())
            elif isinstance(part, MultiHeadAttention) and name == "self_attention":
                # A single stack reads a source and a target, each of at most max_len tokens.
                _turn(part, longest=2 * model.config.max_len)


def _turn(attention: MultiHeadAttention, longest: int) -> None:
    if attention.d_k % 2:
        raise ValueError(f"d_k ({attention.d_k}) must be even for rotary positions: pairs turn")
    turns = sinusoidal_positions(longest, attention.d_k)
    attention.register_buffer("turns", turns, persistent=False)
    become(attention, RotaryAttention)


VARIANT = Variant(
    "rotary",
    "Positions turn the queries and keys of self-attention; nothing is added to the embeddings.",
    "su2021roformer",
    apply,
)
