"""Decoding steps with as little around the arithmetic as PyTorch allows."""

import math
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.decoding.known_parts import settings_of
from transformer.embedding import LearnedPositions, SinusoidalPositions, TokenEmbedding
from transformer.layers import DecoderLayer, Residual
from transformer.masks import padding_mask
from transformer.model import Decoder, Transformer
from transformer.weights.elsewhere import new_settings

NormArguments = tuple[tuple[int, ...], Tensor, Tensor, float]
DROPOUTS = ("dropout", "word_dropout")
IN_TRAINING = {"p", "inplace", "dropout"}  # the settings that count in training only
INITIAL_SLOTS = 16  # for the tokens of each prefix; more are made as needed


def is_plain(model: nn.Module) -> bool:
    """Whether weights alone say what known parts compute: they are just as `config` builds them."""
    if type(model) is not Transformer or new_settings(model.config):
        return False
    replaced = settings_of(model) or "logits" in vars(model)
    return not replaced and _structure(model) == _structure_of(model.config)


@lru_cache
def _structure_of(config: TransformerConfig) -> list[tuple[Any, ...]]:
    with torch.device("meta"):  # nothing is drawn, and no memory taken
        fresh, c = nn.Module(), config
        fresh.tgt_embedding = TokenEmbedding(c.tgt_vocab_size, c.d_model)
        positions = LearnedPositions if c.positions == "learned" else SinusoidalPositions
        fresh.tgt_positions = positions(c.max_len, c.d_model)
        fresh.dropout, fresh.word_dropout = nn.Dropout(), nn.Dropout1d()
        fresh.decoder = Decoder(c)
        fresh.output = nn.Linear(c.d_model, c.tgt_vocab_size, bias=False)
    return _structure(fresh)


def _structure(model: nn.Module) -> list[tuple[Any, ...]]:
    """What of the decoding parts their weights do not say: kinds, hooks, settings, shapes."""
    found: list[tuple[Any, ...]] = []
    for name in ("tgt_embedding", "tgt_positions", *DROPOUTS, "decoder", "output"):
        for path, part in getattr(model, name).named_modules(remove_duplicate=False):
            tensors = [*part._parameters.items(), *part._buffers.items()]
            shapes = {k: (type(t), t.shape) for k, t in tensors if t is not None}
            others = {k: v for k, v in settings_of(part).items() if k not in IN_TRAINING}
            hooks = {*part._forward_hooks, *part._forward_pre_hooks}
            found.append((f"{name}.{path}", type(part), hooks, others, shapes))
    return found


class FusedSteps:
    """The same arithmetic as `CachedSteps`, with its data laid out for few rows.

    - The prefixes of a sentence are so many queries to one source, and to one buffer of keys and
      values. What was computed never moves: when a prefix is continued twice, both have its tokens
      in their history, which is a mask over the buffer.
    - A head's query, key and value come from one product.
    - No module is called; a shortcut's sum is made within the product that it is added to.
    """

    def __init__(self, model: Transformer, src: Tensor, rows: int = 1) -> None:
        # Taken out of the modules once: a module takes its time to give an attribute.
        self.embedding, self.scale = model.tgt_embedding.weight, model.tgt_embedding.scale
        self.positions, self.pad_id = model.tgt_positions.table, model.config.pad_id
        self.norm, self.to_logits = model.decoder.norm, model.output.weight.t()
        self.rows = rows
        memory = model.encode(src)
        mask = padding_mask(src, self.pad_id)
        self.src_mask = None if mask.all() else _added_to_scores(mask, memory.dtype)
        layers = [_require_decoder_layer(layer) for layer in model.decoder.layers]
        self.layers = [_FusedLayer(layer) for layer in layers]
        # For each layer the source's keys and values, (batch, heads, src_len, width) each.
        self.source = [
            (a.split(a.w_key(memory)), a.split(a.w_value(memory)))
            for a in (layer.cross_attention for layer in layers)
        ]
        attention = layers[0].self_attention
        size, width = rows * INITIAL_SLOTS, attention.d_k + attention.d_v
        # (layers, batch, slots, heads, d_k + d_v): a key beside its value. Each step fills `rows`
        # slots of a sentence, one for each prefix.
        self.buffer = memory.new_empty(len(layers), len(src), size, attention.n_heads, width)
        # 0 where a token is part of a prefix, -inf elsewhere.
        self.history = memory.new_full((len(src), 1, rows, size), -math.inf)
        self.length = self.filled = 0

    def __call__(self, output: Int[Tensor, "rows len"]) -> Float[Tensor, "rows vocab"]:
        """The logits after each prefix."""
        token = output[:, -1]
        if self.filled == self.buffer.size(2):
            self._free_slots()
        new = slice(self.filled, self.filled + self.rows)
        self.filled = new.stop
        # Padding is part of nothing, should a prefix contain it.
        own = self.history[:, 0, :, new].diagonal(dim1=1, dim2=2)
        own.zero_().masked_fill_((token == self.pad_id).view_as(own), -math.inf)
        history, buffer = self.history[..., : self.filled], self.buffer[:, :, : self.filled]
        embedding = F.embedding(token, self.embedding)
        x = torch.add(self.positions[self.length], embedding, alpha=self.scale)
        self.length += 1
        for layer, filled, source in zip(self.layers, buffer.unbind(), self.source, strict=True):
            x = layer(x, filled, new, history, source, self.src_mask)
        return self.norm(x) @ self.to_logits

    def select(self, sentences: Tensor) -> None:
        """Keep these sentences, each with all its rows."""
        if self.src_mask is not None:
            self.src_mask = self.src_mask[sentences]
        self.source = [(keys[sentences], values[sentences]) for keys, values in self.source]
        self.buffer, self.history = self.buffer[:, sentences], self.history[sentences]

    def reorder(self, rows: Tensor) -> None:
        """Put the rows into another order, each within its sentence."""
        self.history = self.history.flatten(0, 2)[rows].view_as(self.history)

    def _free_slots(self) -> None:
        """Throw away the tokens that are part of no prefix; double the buffer if few are."""
        if self.rows > 1:
            needed = (self.history > -math.inf).any(dim=2).flatten(1)  # (batch, slots)
            most = int(needed.sum(dim=1).max())
            self.filled = math.ceil(most / self.rows) * self.rows
            # The needed ones first, in their order; then as many others as fill up the rest.
            slots = needed.byte().argsort(dim=1, descending=True, stable=True)[:, : self.filled]
            batch = torch.arange(len(slots), device=slots.device)[:, None]
            self.buffer[:, :, : self.filled] = self.buffer[:, batch, slots]
            kept = self.history.gather(3, slots[:, None, None].expand(-1, 1, self.rows, -1))
            self.history.fill_(-math.inf)[..., : self.filled] = kept
        if 2 * self.filled > self.buffer.size(2):
            size = [*self.buffer.shape[:2], 2 * self.buffer.size(2), *self.buffer.shape[3:]]
            buffer = self.buffer.new_empty(size)
            buffer[:, :, : self.filled] = self.buffer[:, :, : self.filled]
            self.buffer = buffer
            free = torch.full_like(self.history, -math.inf)
            self.history = torch.cat([self.history, free], dim=3)


class _FusedLayer:
    """A `DecoderLayer` for one new position a row."""

    def __init__(self, layer: DecoderLayer) -> None:
        own, cross, ffn = layer.self_attention, layer.cross_attention, layer.feed_forward
        self.n_heads, self.d_k, self.d_v = own.n_heads, own.d_k, own.d_v
        projections = (own.w_query, own.w_key, own.w_value)
        by_head = [linear.weight.unflatten(0, (own.n_heads, -1)) for linear in projections]
        self.own_in = torch.cat(by_head, dim=1).flatten(0, 1).t()
        self.own_out, self.cross_in = own.w_output.weight.t(), cross.w_query.weight.t()
        self.cross_out = cross.w_output.weight.t()
        self.inner, self.inner_bias = ffn.inner.weight.t(), ffn.inner.bias
        self.outer, self.outer_bias = ffn.outer.weight.t(), ffn.outer.bias
        self.pre_norm = layer.self_attention_residual.pre_norm
        self.own_norm = _norm_arguments(layer.self_attention_residual)
        self.cross_norm = _norm_arguments(layer.cross_attention_residual)
        self.ffn_norm = _norm_arguments(layer.feed_forward_residual)

    def __call__(
        self,
        x: Tensor,
        filled: Tensor,
        new: slice,
        history: Tensor,
        source: tuple[Tensor, Tensor],
        src_mask: Tensor | None,
    ) -> Tensor:
        """(rows, d_model) -> (rows, d_model); fills the layer's new slots."""
        hidden = self._self_attention(self._before(x, self.own_norm), filled, new, history)
        x = self._after(torch.addmm(x, hidden, self.own_out), self.own_norm)
        hidden = self._cross_attention(self._before(x, self.cross_norm), source, src_mask)
        x = self._after(torch.addmm(x, hidden, self.cross_out), self.cross_norm)
        hidden = torch.addmm(self.inner_bias, self._before(x, self.ffn_norm), self.inner).relu_()
        return self._after(torch.addmm(x + self.outer_bias, hidden, self.outer), self.ffn_norm)

    def _before(self, x: Tensor, norm: NormArguments) -> Tensor:
        return torch.layer_norm(x, *norm) if self.pre_norm else x

    def _after(self, x: Tensor, norm: NormArguments) -> Tensor:
        return x if self.pre_norm else torch.layer_norm(x, *norm)

    def _self_attention(self, x: Tensor, filled: Tensor, new: slice, history: Tensor) -> Tensor:
        projected = self._heads(torch.mm(x, self.own_in), len(filled))
        filled[:, new] = projected[..., self.d_k :]
        keys, values = filled.transpose(1, 2).split((self.d_k, self.d_v), dim=3)
        return _attend(projected[..., : self.d_k], keys, values, history)

    def _cross_attention(
        self, x: Tensor, source: tuple[Tensor, Tensor], mask: Tensor | None
    ) -> Tensor:
        return _attend(self._heads(torch.mm(x, self.cross_in), len(source[0])), *source, mask)

    def _heads(self, x: Tensor, batch: int) -> Tensor:
        """(rows, heads * width) -> (batch, prefixes, heads, width)."""
        return x.view(batch, len(x) // batch, self.n_heads, -1)


def _attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """The heads side by side, (rows, heads * d_v); keys and values are (batch, heads, ...)."""
    query = query.transpose(1, 2)
    attended = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
    return attended.transpose(1, 2).flatten(2).flatten(0, 1)


def _require_decoder_layer(layer: nn.Module) -> DecoderLayer:
    if type(layer) is not DecoderLayer:
        raise TypeError(
            f"a layer of the decoder is a {type(layer).__name__}, not a DecoderLayer, so its "
            "weights do not say what it computes; use CachedSteps, which calls the layer"
        )
    return layer


def _norm_arguments(residual: Residual) -> NormArguments:
    """What `torch.layer_norm` takes besides the vectors."""
    norm = residual.norm
    return norm.normalized_shape, norm.weight, norm.bias, norm.eps


def _added_to_scores(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The mask as scaled dot-product attention uses it: made once, not at each step."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -math.inf)


def all_rows(sentences: Tensor, rows: int) -> Tensor:
    """The rows of these sentences, where each has so many."""
    within = torch.arange(rows, device=sentences.device)
    return (rows * sentences[:, None] + within).flatten()
