"""Our Transformer with the reader's functions inside.

Each class is one of ours with the same weights under the same names, whose computation is a
function of the reader's. So weights of the one fit the other, and both must give the same.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.cache import CrossAttentionCache, KeyValueCache, SelfAttentionCache
from transformer.config import TransformerConfig
from transformer.embedding import SinusoidalPositions, TokenEmbedding
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from transformer.model import Transformer
from transformer.weights import new_settings

from transformer_book.exercises.track.parts import Parts

AnyMask = Bool[Tensor, "..."]
Vectors = Float[Tensor, "batch len d_model"]


class OwnAttention(MultiHeadAttention):
    """`multi_head_attention`; where its weights are looked at, the functions that it is made of."""

    def __init__(self, ours: MultiHeadAttention, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.n_heads, self.d_k, self.d_v = ours.n_heads, ours.d_k, ours.d_v
        self.w_query, self.w_key, self.w_value = ours.w_query, ours.w_key, ours.w_value
        self.w_output, self.dropout, self.on_weights = ours.w_output, ours.dropout, None
        self.parts = parts

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
        mask: AnyMask | None = None,
        cache: SelfAttentionCache | CrossAttentionCache | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """As ours; the exercise knows neither a cache nor dropout."""
        dropped = self.training and self.dropout
        if cache is not None or dropped or self.on_weights is not None:
            return super().forward(query, key, value, mask, cache)
        linears = (self.w_query, self.w_key, self.w_value, self.w_output)
        weights = (linear.weight.t() for linear in linears)
        attention = self.parts["multi_head_attention"]
        return attention(query, key, value, *weights, self.n_heads, mask)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: AnyMask | None) -> Tensor:
        output, weights = self.parts["scaled_dot_product_attention"](q, k, v, mask)
        if self.on_weights is not None:
            self.on_weights(weights)
        dropout = self.dropout if self.training else 0.0
        return F.dropout(weights, dropout) @ v if dropout else output

    def split(self, x: Tensor) -> Tensor:
        """`split_heads`."""
        return self.parts["split_heads"](x, self.n_heads)

    def join(self, x: Tensor) -> Tensor:
        """`join_heads`."""
        return self.parts["join_heads"](x)


class OwnFeedForward(FeedForward):
    """`feed_forward`."""

    def __init__(self, ours: FeedForward, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.inner, self.outer, self.parts = ours.inner, ours.outer, parts

    def forward(self, x: Vectors) -> Vectors:
        """As ours."""
        inner, outer = self.inner, self.outer
        weights = (inner.weight.t(), inner.bias, outer.weight.t(), outer.bias)
        return self.parts["feed_forward"](x, *weights)


class OwnNorm(nn.LayerNorm):
    """`layer_norm`."""

    def __init__(self, ours: nn.LayerNorm, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.normalized_shape, self.eps = ours.normalized_shape, ours.eps
        self.elementwise_affine = ours.elementwise_affine
        self.weight, self.bias, self.parts = ours.weight, ours.bias, parts

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """As ours."""
        return self.parts["layer_norm"](x, self.weight, self.bias, self.eps)


class OwnResidual(Residual):
    """`residual`, which is the paper's: the norm comes last."""

    def __init__(self, ours: Residual, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.norm, self.dropout, self.pre_norm = ours.norm, ours.dropout, False
        self.parts = parts

    def forward(self, x: Vectors, sublayer: Callable[[Tensor], Tensor]) -> Vectors:
        """As ours."""
        return self.parts["residual"](x, sublayer, self.norm, self.dropout)


class OwnEncoderLayer(EncoderLayer):
    """`encoder_layer`."""

    def __init__(self, ours: EncoderLayer, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.self_attention, self.feed_forward = ours.self_attention, ours.feed_forward
        self.self_attention_residual = ours.self_attention_residual
        self.feed_forward_residual = ours.feed_forward_residual
        self.parts = parts

    def forward(self, x: Vectors, mask: AnyMask | None = None) -> Vectors:
        """As ours."""
        residuals = (self.self_attention_residual, self.feed_forward_residual)
        layer = self.parts["encoder_layer"]
        return layer(x, mask, self.self_attention, self.feed_forward, *residuals)


class OwnDecoderLayer(DecoderLayer):
    """`decoder_layer`."""

    def __init__(self, ours: DecoderLayer, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.self_attention, self.cross_attention = ours.self_attention, ours.cross_attention
        self.feed_forward = ours.feed_forward
        self.self_attention_residual = ours.self_attention_residual
        self.cross_attention_residual = ours.cross_attention_residual
        self.feed_forward_residual = ours.feed_forward_residual
        self.parts = parts

    def forward(
        self,
        x: Vectors,
        memory: Float[Tensor, "batch src_len d_model"],
        src_mask: AnyMask | None = None,
        tgt_mask: AnyMask | None = None,
        caches: tuple[SelfAttentionCache, CrossAttentionCache] | None = None,
    ) -> Vectors:
        """As ours, without a cache.

        Raises:
            ValueError: there are caches; the exercise's function knows none.
        """
        if caches is not None:
            raise ValueError(
                "the reader's decoder layer knows no cache; search with use_cache=False"
            )
        return self.parts["decoder_layer"](
            x,
            memory,
            src_mask,
            tgt_mask,
            self.self_attention,
            self.cross_attention,
            self.feed_forward,
            self.self_attention_residual,
            self.cross_attention_residual,
            self.feed_forward_residual,
        )


class OwnEmbedding(TokenEmbedding):
    """`token_embedding`."""

    def __init__(self, ours: TokenEmbedding, parts: Parts) -> None:
        nn.Module.__init__(self)
        self.weight, self.scale, self.parts = ours.weight, ours.scale, parts

    def forward(self, tokens: Int[Tensor, "batch len"]) -> Float[Tensor, "batch len d_model"]:
        """As ours."""
        return self.parts["token_embedding"](tokens, self.weight)


def own_positions(ours: SinusoidalPositions, parts: Parts) -> SinusoidalPositions:
    """Ours, whose table is made by `sinusoidal_positions`."""
    ours.table = parts["sinusoidal_positions"](*ours.table.shape).to(ours.table)
    return ours


# From the inside out: what contains others takes them as they are by then.
OWN: dict[type[nn.Module], Callable[[Any, Parts], nn.Module]] = {
    nn.LayerNorm: OwnNorm,
    MultiHeadAttention: OwnAttention,
    FeedForward: OwnFeedForward,
    Residual: OwnResidual,
    EncoderLayer: OwnEncoderLayer,
    DecoderLayer: OwnDecoderLayer,
    TokenEmbedding: OwnEmbedding,
    SinusoidalPositions: own_positions,
}


class OwnTransformer(Transformer):
    """The paper's model, with functions of the reader's in the places of ours.

    With the same seed its weights are drawn as those of a `Transformer` are.

    Args:
        config: of a model of the paper's kind: post-norm, with sinusoids.
        parts: the functions.

    Raises:
        ValueError: the exercises know no such model.
    """

    def __init__(self, config: TransformerConfig, parts: Parts) -> None:
        if config.norm != "post" or config.positions != "sinusoidal" or new_settings(config):
            raise ValueError(
                'the exercises build the paper\'s model; give norm="post" and '
                'positions="sinusoidal"'
            )
        super().__init__(config)
        self.parts = parts
        for kind, own in OWN.items():
            for parent in [*self.modules()]:
                for name, module in parent.named_children():
                    if type(module) is kind:
                        parent.register_module(name, own(module, parts))

    def encode(
        self, src: Int[Tensor, "batch src_len"], src_mask: AnyMask | None = None
    ) -> Float[Tensor, "batch src_len d_model"]:
        """As ours; where no mask is given, `padding_mask` makes it."""
        if src_mask is None:
            src_mask = self.parts["padding_mask"](src, self.config.pad_id)
        return super().encode(src, src_mask)

    def decode(
        self,
        tgt: Int[Tensor, "batch tgt_len"],
        memory: Float[Tensor, "batch src_len d_model"],
        src: Int[Tensor, "batch src_len"],
        src_mask: AnyMask | None = None,
        tgt_mask: AnyMask | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch tgt_len d_model"]:
        """As ours; where no masks are given, `padding_mask` and `causal_mask` make them."""
        padding, pad_id = self.parts["padding_mask"], self.config.pad_id
        if src_mask is None:
            src_mask = padding(src, pad_id)
        if tgt_mask is None:
            causal = self.parts["causal_mask"](tgt.size(1)).to(tgt.device)
            tgt_mask = padding(tgt, pad_id) & causal
        return super().decode(tgt, memory, src, src_mask, tgt_mask, cache)

    def probabilities(self, logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
        """The top of Figure 1: `softmax`."""
        return self.parts["softmax"](logits)


def build(config: TransformerConfig, parts: Parts, seed: int = 0) -> OwnTransformer:
    """A fresh model, its weights drawn with a seed."""
    torch.manual_seed(seed)
    return OwnTransformer(config, parts)
