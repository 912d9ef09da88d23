"""One stack that reads the source and writes the target (Liu et al. 2018)."""

from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer.attention import Mask
from transformer.cache import KeyValueCache, SelfAttentionCache
from transformer.layers import DecoderLayer, EncoderLayer, SourceMask, TargetMask, Vectors
from transformer.masks import causal_mask
from transformer.model import Transformer
from transformer.variants.variant import NoPositions, Variant

Memory = Float[Tensor, "batch src_len d_model"]


class CausalLayer(nn.Module):
    """A layer of either half without attention to the other: what remains is the same in both."""

    def __init__(self, layer: EncoderLayer | DecoderLayer) -> None:
        super().__init__()
        self.self_attention = layer.self_attention
        self.feed_forward = layer.feed_forward
        self.self_attention_residual = layer.self_attention_residual
        self.feed_forward_residual = layer.feed_forward_residual

    def forward(
        self, x: Vectors, mask: Mask | None = None, cache: SelfAttentionCache | None = None
    ) -> Vectors:
        """`mask` hides the future and the padding."""
        x = self.self_attention_residual(x, lambda h: self.self_attention(h, h, h, mask, cache))
        return self.feed_forward_residual(x, self.feed_forward)


class Unread(nn.Module):
    """In the place of the encoder: the source's embeddings go on to the one stack as they are."""

    def forward(self, x: Vectors, mask: Mask | None = None) -> Vectors:
        """The vectors as they are."""
        return x


class OneStack(nn.Module):
    """In the place of the decoder: source and target are one text, read from left to right.

    The layers are the encoder's and, on top, the decoder's.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        layers = [*model.encoder.layers, *model.decoder.layers]
        self.layers = nn.ModuleList([CausalLayer(layer) for layer in layers])
        self.norm, self.dropout = model.decoder.norm, model.dropout
        self.positions = model.tgt_positions

    def forward(
        self,
        x: Vectors,
        memory: Memory,
        src_mask: SourceMask | None = None,
        tgt_mask: TargetMask | None = None,
        cache: KeyValueCache | None = None,
    ) -> Vectors:
        """The target's vectors; `memory` is the source's embeddings.

        The first step with a cache reads the whole source, each later one only its token.
        """
        memory, words = aligned(memory, src_mask)
        start = 0 if cache is None else cache.length
        mask = self._mask(words, x.size(1), tgt_mask, start)
        text = x if start else torch.cat([memory, x], dim=1)  # (batch, src_len + len, d_model)
        # A column's position, were there no padding in front of the sentence.
        column = torch.arange(start, start + text.size(1), device=x.device)
        padding = (~words).sum(dim=1, keepdim=True)
        hidden = self.dropout(self._placed(text, (column - padding).clamp(min=0)))
        for i, layer in enumerate(self.layers):
            hidden = layer(hidden, mask, cache.layers[i][0] if cache is not None else None)
        return self.norm(hidden)[:, -x.size(1) :]

    def _placed(self, text: Vectors, position: Int[Tensor, "batch len"]) -> Vectors:
        if isinstance(self.positions, NoPositions):
            return text
        return text + self.positions.table[position]

    def _mask(
        self, words: Bool[Tensor, "batch src_len"], n: int, tgt_mask: Tensor | None, start: int
    ) -> Mask:
        """Causal over both sentences: (batch, 1, src_len + n, src_len + n), or the last n rows."""
        src_len = words.size(1)
        if tgt_mask is None:  # nothing of the target is padding
            older = max(0, start - src_len)
            tgt_mask = causal_mask(older + n, words.device)[:, :, older:]
        tgt_mask = tgt_mask.expand(len(words), 1, n, -1)
        below = torch.cat([words[:, None, None].expand(-1, 1, n, -1), tgt_mask], dim=-1)
        if start:
            return below
        # Padding looks at itself, because a query has to look somewhere.
        itself = torch.eye(src_len, dtype=torch.bool, device=words.device)
        source = causal_mask(src_len, words.device) & (words[:, None, None] | itself)
        return torch.cat([F.pad(source, (0, below.size(-1) - src_len)), below], dim=2)


def aligned(
    memory: Memory, src_mask: SourceMask | None
) -> tuple[Memory, Bool[Tensor, "batch src_len"]]:
    """Padding goes to the front, so that every target follows its source at once.

    Returns the source's vectors in this order, and which of them are words.
    """
    if src_mask is None:
        return memory, torch.ones(memory.shape[:2], dtype=torch.bool, device=memory.device)
    words = src_mask[:, 0, 0].expand(memory.shape[:2])  # (batch, src_len)
    order = words.int().argsort(dim=1, stable=True)  # padding is 0, words are 1
    return memory.gather(1, order[..., None].expand_as(memory)), words.gather(1, order)


def apply(model: Transformer) -> None:
    """The encoder's layers go below the decoder's, which lose their view of the memory.

    `config.n_layers` and `config.max_len` become those of the one stack: both double.

    Raises:
        ValueError: the positions are a learned table, which is too short for both sentences.
    """
    config = replace(
        model.config, n_layers=2 * model.config.n_layers, max_len=2 * model.config.max_len
    )
    if config.positions == "learned" and not isinstance(model.tgt_positions, NoPositions):
        raise ValueError(
            'positions="learned" has a table for one sentence, and a single stack reads two; use '
            'positions="sinusoidal" or the variant "rotary"'
        )
    stack = OneStack(model)
    if not isinstance(stack.positions, NoPositions):
        stack.positions = type(stack.positions)(config.max_len, config.d_model)
    model.register_module("encoder", Unread())
    model.register_module("decoder", stack)
    for part in ("src_positions", "tgt_positions"):
        model.register_module(part, NoPositions())
    model.register_module("dropout", nn.Identity())  # the stack's own comes after the positions
    model.config = config


VARIANT = Variant(
    "decoder_only",
    "One causal stack of all layers reads the source and goes on with the target.",
    "liu2018generating",
    apply,
)
