"""The parts of a layer (sections 3.1 and 3.3) and the two kinds of layer in Figure 1."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.attention import Mask, MultiHeadAttention
from transformer.cache import CrossAttentionCache, SelfAttentionCache
from transformer.config import NormPlacement, TransformerConfig

Vectors = Float[Tensor, "batch len d_model"]
# The keys behind the decoder's two masks: all of the source, and the target as far as it goes.
SourceMask = Bool[Tensor, "#batch #heads #query src_len"]
TargetMask = Bool[Tensor, "#batch #heads #len tgt_keys"]


class FeedForward(nn.Module):
    """Equation 2: FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, at each position alike."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x: Vectors) -> Vectors:
        """Each position's vector by itself."""
        hidden = self.inner(x).relu()  # (batch, len, d_ff)
        return self.outer(hidden)  # (batch, len, d_model)


class Residual(nn.Module):
    """The "Add & Norm" of Figure 1: a shortcut around a sub-layer, and a layer norm.

    Post-norm (the paper): LayerNorm(x + Dropout(Sublayer(x))).
    Pre-norm (most models since): x + Dropout(Sublayer(LayerNorm(x))).
    """

    def __init__(self, d_model: int, dropout: float, norm: NormPlacement) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = norm == "pre"

    def forward(self, x: Vectors, sublayer: Callable[[Tensor], Tensor]) -> Vectors:
        """Apply `sublayer` to x with its shortcut."""
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


def _attention(config: TransformerConfig) -> MultiHeadAttention:
    c = config
    return MultiHeadAttention(c.d_model, c.n_heads, c.key_width, c.value_width, c.attention_share)


def _residual(config: TransformerConfig) -> Residual:
    return Residual(config.d_model, config.dropout, config.norm)


class EncoderLayer(nn.Module):
    """Figure 1, left: self-attention, then the feed-forward network."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.self_attention_residual = _residual(config)
        self.feed_forward_residual = _residual(config)

    def forward(self, x: Vectors, mask: Mask | None = None) -> Vectors:
        """`mask` hides the source's padding."""
        x = self.self_attention_residual(x, lambda h: self.self_attention(h, h, h, mask))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Figure 1, right: masked self-attention, attention to the encoder's output, feed-forward."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.cross_attention = _attention(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.self_attention_residual = _residual(config)
        self.cross_attention_residual = _residual(config)
        self.feed_forward_residual = _residual(config)

    def forward(
        self,
        x: Vectors,
        memory: Float[Tensor, "batch src_len d_model"],
        src_mask: SourceMask | None = None,
        tgt_mask: TargetMask | None = None,
        caches: tuple[SelfAttentionCache, CrossAttentionCache] | None = None,
    ) -> Vectors:
        """`memory` is the encoder's output; `caches` hold this layer's earlier keys and values."""
        own, cross = caches or (None, None)
        x = self.self_attention_residual(x, lambda h: self.self_attention(h, h, h, tgt_mask, own))
        x = self.cross_attention_residual(
            x, lambda h: self.cross_attention(h, memory, memory, src_mask, cross)
        )
        return self.feed_forward_residual(x, self.feed_forward)
