"""Looking inside a running model: attention weights, recorded on request."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from torch import Tensor

from transformer.attention import MultiHeadAttention
from transformer.model import Transformer


def attention_modules(model: Transformer) -> dict[str, MultiHeadAttention]:
    """The model's attentions by name: "encoder.0.self", "decoder.0.self", "decoder.0.cross"."""
    modules: dict[str, MultiHeadAttention] = {}
    for i, layer in enumerate(model.encoder.layers):
        modules[f"encoder.{i}.self"] = layer.self_attention
    for i, layer in enumerate(model.decoder.layers):
        modules[f"decoder.{i}.self"] = layer.self_attention
        modules[f"decoder.{i}.cross"] = layer.cross_attention
    return modules


@contextmanager
def record_attention(model: Transformer) -> Iterator[dict[str, Tensor]]:
    """Inside the block, a forward pass or a decode leaves its weights in the dictionary.

    Each tensor is (batch, heads, query, key), detached, taken before dropout, so that a row sums
    to 1 in training mode too. A later pass replaces an earlier one. After the block nothing is
    recorded any more, and the model runs its fast path again.
    """
    weights: dict[str, Tensor] = {}
    modules = attention_modules(model)
    outer = {name: module.on_weights for name, module in modules.items()}

    def keep(name: str, value: Tensor) -> None:
        weights[name] = value.detach()

    try:
        for name, module in modules.items():
            module.on_weights = partial(keep, name)
        yield weights
    finally:
        for name, module in modules.items():
            module.on_weights = outer[name]


@contextmanager
def pause_recording(model: Transformer) -> Iterator[bool]:
    """Run the fast path inside the block; yields whether somebody was recording."""
    modules = attention_modules(model).values()
    outer = [module.on_weights for module in modules]
    try:
        for module in modules:
            module.on_weights = None
        yield any(listener is not None for listener in outer)
    finally:
        for module, listener in zip(modules, outer, strict=True):
            module.on_weights = listener
