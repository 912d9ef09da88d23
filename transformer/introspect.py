"""Looking inside a running model: attention weights, recorded on request."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.attention import MultiHeadAttention
from transformer.model import Transformer


def attention_modules(model: Transformer) -> dict[str, MultiHeadAttention]:
    """The model's attentions by name: "encoder.0.self", "decoder.0.self", "decoder.0.cross"."""
    modules: dict[str, MultiHeadAttention] = {}
    for side, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        for path, module in stack.named_modules():
            if isinstance(module, MultiHeadAttention):
                name = path.removeprefix("layers.").removesuffix("_attention")
                modules[f"{side}.{name}"] = module  # deeper in a part put in: a longer name
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


def mass_on(
    weights: Float[Tensor, "heads query key"], links: Collection[tuple[int, int]]
) -> Float[Tensor, "heads"]:
    """How much of its attention each head spends on given (query, key) links, 0 to 1.

    The mean is taken over the queries that have a link; with the true word alignment as links it
    says how far a head has found it.

    Raises:
        ValueError: there are no links, or one lies outside the weights.
    """
    wanted = torch.zeros(weights.shape[1:], dtype=torch.bool, device=weights.device)
    for query, key in links:
        if not (0 <= query < wanted.size(0) and 0 <= key < wanted.size(1)):
            raise ValueError(f"link {(query, key)} is outside weights of {tuple(wanted.shape)}")
        wanted[query, key] = True
    if not links:
        raise ValueError("there are no links to look for")
    return (weights * wanted).sum(-1)[:, wanted.any(-1)].mean(-1)
