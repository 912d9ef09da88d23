"""For ONNX Runtime, in whatever language and on whatever device: two graphs and a search around.

The encoder gives the keys and values of its memory, once a sentence; a step takes one token and the
keys and values so far. Both also give the weights of all heads, in which the words can be seen that
a token comes from.
"""

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.cache import CrossAttentionCache, KeysAndValues, KeyValueCache, SelfAttentionCache
from transformer.introspect import record_attention
from transformer.model import Transformer
from transformer.text import Tokenizer

from transformer_book.export.library_tokenizer import library_tokenizer

# What each graph takes and gives. Keys, values and the heads' weights of all layers are one tensor.
INPUTS = {
    "encoder": ("src",),
    "step": ("token", "src", "past_keys", "past_values", "source_keys", "source_values"),
}
OUTPUTS = {
    "encoder": ("keys", "values", "looked"),
    "step": ("log_probs", "new_keys", "new_values", "own", "cross"),
}


class Encoder(nn.Module):
    """Source tokens to the keys and values that each decoder layer asks."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, src: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """From (batch, n), padded: (layers, batch, heads, n, width), and the heads' weights."""
        with record_attention(self.model) as looked:
            memory = self.model.encode(src)
        parts: list[Any] = [layer.cross_attention for layer in self.model.decoder.layers]
        keys = torch.stack([part.split(part.w_key(memory)) for part in parts])
        values = torch.stack([part.split(part.w_value(memory)) for part in parts])
        return keys, values, torch.stack([*looked.values()])


class DecoderStep(nn.Module):
    """One token more for each row, and what is known after it."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        token: Tensor,
        src: Tensor,
        past_keys: Tensor,
        past_values: Tensor,
        source_keys: Tensor,
        source_values: Tensor,
    ) -> tuple[Tensor, ...]:
        """Log-probabilities of the next token, all keys and values, and the heads' weights.

        The token is (batch, 1), the source (batch, n) is needed for its padding, keys and values
        are (layers, batch, heads, length, width); at first the length of the past is 0.
        """
        cache = KeyValueCache(0)
        for i in range(self.model.config.n_layers):
            cross = CrossAttentionCache()
            cross.update(source_keys[i], source_values[i])
            cache.layers.append((_Longer(past_keys[i], past_values[i]), cross))
        with record_attention(self.model) as looked:
            unread = torch.zeros(*src.shape, self.model.config.d_model)  # its keys are there
            hidden = self.model.decode(token, unread, src, cache=cache)
        log_probs = self.model.logits(hidden).log_softmax(dim=-1)
        after = zip(*(own.read() for own, _ in cache.layers), strict=True)
        own, cross_weights = (
            [weights for name, weights in looked.items() if name.endswith(kind)]
            for kind in ("self", "cross")
        )
        return (log_probs, *(torch.stack([*x]) for x in (*after, own, cross_weights)))


class _Longer(SelfAttentionCache):
    """One that makes new tensors: a graph cannot write into those that it was given."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.buffers, self.length = (keys, values), keys.size(2)

    def read(self) -> KeysAndValues:
        """All keys and values so far."""
        assert self.buffers is not None
        return self.buffers

    def update(self, k: Tensor, v: Tensor) -> KeysAndValues:
        """Put the new position's key and value behind the others, and return all."""
        keys, values = self.read()
        self.buffers = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
        return self.buffers


def write(model: Transformer, tokenizer: Tokenizer, folder: Path) -> None:
    """Write the graphs and tokenizer.json; see `export_model`."""
    write_graphs(model, folder)
    library_tokenizer(tokenizer).save(str(folder / "tokenizer.json"))


def write_graphs(model: Transformer, folder: Path) -> None:
    """Write encoder.onnx and step.onnx, for any batch and any length up to the model's."""
    c = model.cpu().eval().config

    def example(n: int, width: int) -> Tensor:  # tensors of their own: equal ones would become one
        return torch.randn(c.n_layers, 2, c.n_heads, n, width)

    src, token = torch.ones(2, 5).long(), torch.ones(2, 1).long()
    past, source = ([example(n, w) for w in (c.key_width, c.value_width)] for n in (3, 5))
    free = torch.export.Dim.DYNAMIC
    sentence, cached = {0: free, 1: free}, {1: free, 3: free}
    _write(Encoder(model), (src,), (sentence,), folder / "encoder.onnx")
    shapes = ({0: free}, sentence, *[cached] * 4)
    _write(DecoderStep(model), (token, src, *past, *source), shapes, folder / "step.onnx")


def _write(module: nn.Module, example: tuple[Tensor, ...], shapes: Any, path: Path) -> None:
    with quietly(), torch.no_grad():
        torch.onnx.export(
            module.eval(), example, path, dynamo=True, external_data=False, verbose=False,
            input_names=INPUTS[path.stem], output_names=OUTPUTS[path.stem], dynamic_shapes=shapes,
        )  # fmt: skip


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without what torch, onnxscript and ONNX Runtime say while they work."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
