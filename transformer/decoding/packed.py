"""Decoding steps with as little around the arithmetic as PyTorch allows."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.embedding import LearnedPositions, SinusoidalPositions, TokenEmbedding
from transformer.layers import DecoderLayer, FeedForward, Residual
from transformer.masks import padding_mask
from transformer.model import Decoder, Transformer


def is_plain(model: Transformer) -> bool:
    """Whether the weights alone say what the decoder computes: no hooks, nothing replaced."""
    parts = [*model.decoder.modules(), model.tgt_embedding, model.tgt_positions, model.output]
    known = {Decoder, DecoderLayer, MultiHeadAttention, FeedForward, Residual, TokenEmbedding}
    known |= {SinusoidalPositions, LearnedPositions}
    known |= {nn.Linear, nn.LayerNorm, nn.Dropout, nn.Identity, nn.ModuleList}
    replaced = type(model) is not Transformer or {"decode", "logits"} & vars(model).keys()
    hooked = any(part._forward_hooks or part._forward_pre_hooks for part in parts)
    return not replaced and not hooked and all(type(part) in known for part in parts)


class PackedSteps:
    """The same arithmetic as `CachedSteps`, with its data laid out for few rows.

    - Weights are stored by columns, and those that multiply the same vectors side by side in one
      matrix: a step with few rows spends its time on reading weights, and so reads them in order.
    - The beginnings of a sentence share its source's keys and values, as so many queries.
    - All layers' keys and values of the output lie in one tensor, and what changes moves alone.
    - No module is called, and no mask is made where nothing is padded.
    """

    def __init__(self, model: Transformer, src: Tensor, rows: int = 1) -> None:
        self.model, self.rows = model, rows
        memory = model.encode(src)
        self.mask = padding_mask(src, model.config.pad_id)
        self.any_padding = not bool(self.mask.all())
        self.any_padding_read = False
        layers = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
        self.layers = [_PackedLayer(layer) for layer in layers]
        # For each layer the source's keys and values, (batch, heads, src_len, width) each.
        self.source = [
            (a.split(a.w_key(memory)), a.split(a.w_value(memory)))
            for a in (layer.cross_attention for layer in layers)
        ]
        self.to_logits = _by_columns(model.output)
        attention = layers[0].self_attention
        self.length = 0
        # The output's, side by side: (layers, rows, heads, places, d_k + d_v).
        width = attention.d_k + attention.d_v
        self.held = memory.new_empty(len(layers), rows * len(src), attention.n_heads, 16, width)

    def __call__(self, output: Int[Tensor, "rows len"]) -> Float[Tensor, "rows vocab"]:
        """The logits after each beginning."""
        model, token = self.model, output[:, -1]
        self.any_padding_read |= bool((token == model.config.pad_id).any())
        seen = padding_mask(output, model.config.pad_id) if self.any_padding_read else None
        mask = self.mask if self.any_padding else None
        if self.length == self.held.size(3):  # room for twice as many
            self.held = torch.cat([self.held, torch.empty_like(self.held)], dim=3)
        embedding = F.embedding(token, model.tgt_embedding.weight) * model.tgt_embedding.scale
        x = embedding + model.tgt_positions.table[self.length]
        self.length += 1
        held = self.held[:, :, :, : self.length].unbind()
        for layer, own, source in zip(self.layers, held, self.source, strict=True):
            x = layer(x, own, source, seen, mask)
        return model.decoder.norm(x) @ self.to_logits

    def select(self, sentences: Tensor) -> None:
        """Keep these sentences, each with all its rows."""
        self.mask = self.mask[sentences]
        self.source = [(keys[sentences], values[sentences]) for keys, values in self.source]
        self.held = self.held[:, all_rows(sentences, self.rows)]

    def reorder(self, rows: Tensor) -> None:
        """Put the rows into another order, each within its sentence."""
        moved = (rows != torch.arange(len(rows), device=rows.device)).nonzero().flatten()
        held = self.held[:, :, :, : self.length]
        held[:, moved] = held[:, rows[moved]]


class _PackedLayer:
    """A `DecoderLayer` for one new position a row."""

    def __init__(self, layer: DecoderLayer) -> None:
        own, cross, ffn = layer.self_attention, layer.cross_attention, layer.feed_forward
        self.n_heads, self.d_k, self.d_v = own.n_heads, own.d_k, own.d_v
        # A head's keys and values beside each other, as they are stored.
        pairs = [w.weight.unflatten(0, (own.n_heads, -1)) for w in (own.w_key, own.w_value)]
        both = torch.cat(pairs, dim=1).flatten(0, 1)
        self.own_in = torch.cat([own.w_query.weight, both]).t().contiguous()
        self.own_out = _by_columns(own.w_output)
        self.cross_in, self.cross_out = _by_columns(cross.w_query), _by_columns(cross.w_output)
        self.inner, self.outer = _by_columns(ffn.inner), _by_columns(ffn.outer)
        self.inner_bias, self.outer_bias = ffn.inner.bias, ffn.outer.bias
        self.residuals = [part for part in layer.residuals if isinstance(part, Residual)]

    def __call__(
        self,
        x: Tensor,
        own: Tensor,
        source: tuple[Tensor, Tensor],
        seen: Tensor | None,
        mask: Tensor | None,
    ) -> Tensor:
        """(rows, d_model) -> (rows, d_model); fills the last place of the row's own keys."""
        sublayers = (
            lambda h: self._self_attention(h, own, seen),
            lambda h: self._cross_attention(h, *source, mask),
            self._feed_forward,
        )
        for residual, sublayer in zip(self.residuals, sublayers, strict=True):
            x = _add_and_norm(residual, x, sublayer)
        return x

    def _self_attention(self, x: Tensor, own: Tensor, seen: Tensor | None) -> Tensor:
        n_queries = self.n_heads * self.d_k
        projected = (x @ self.own_in).unsqueeze(1)
        query = projected[..., :n_queries].view(-1, self.n_heads, 1, self.d_k)
        own[:, :, -1:] = projected[..., n_queries:].view(-1, self.n_heads, 1, own.size(-1))
        keys, values = own[..., : self.d_k], own[..., self.d_k :]
        attended = F.scaled_dot_product_attention(query, keys, values, attn_mask=seen)
        return attended.reshape(len(x), -1) @ self.own_out

    def _cross_attention(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
    ) -> Tensor:
        # (batch, heads, beginnings, d_k)
        query = (x @ self.cross_in).view(len(keys), -1, self.n_heads, self.d_k).transpose(1, 2)
        attended = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        return attended.transpose(1, 2).reshape(len(x), -1) @ self.cross_out

    def _feed_forward(self, x: Tensor) -> Tensor:
        inner = torch.addmm(self.inner_bias, x, self.inner).relu_()
        return torch.addmm(self.outer_bias, inner, self.outer)


def _add_and_norm(residual: Residual, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    # `Residual` without its modules' calls.
    norm = residual.norm
    settings = (list(norm.normalized_shape), norm.weight, norm.bias, norm.eps)
    if residual.pre_norm:
        return x + sublayer(torch.layer_norm(x, *settings))
    return torch.layer_norm(x + sublayer(x), *settings)


def _by_columns(linear: nn.Linear) -> Tensor:
    """The weight as (d_in, d_out), each row in one piece."""
    return linear.weight.t().contiguous()


def all_rows(sentences: Tensor, rows: int) -> Tensor:
    """The rows of these sentences, where each has so many."""
    within = torch.arange(rows, device=sentences.device)
    return (rows * sentences[:, None] + within).flatten()
