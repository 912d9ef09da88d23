"""What no search in the same precision can save: the products with the weights, nothing else."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from transformer import Transformer


def products_alone(model: Transformer, threads: int, device: str) -> Callable[..., Callable]:
    """Makes ready, as the searches do, the matrix products that a search with a cache asks for.

    No attention, no norm, no softmax, no choice of tokens: the time is a bound for those who have
    the same matrix products to compute with.
    """
    torch.set_num_threads(threads)
    model = model.to(device)
    once: list[Tensor] = []
    at_each_step: list[Tensor] = [model.output.weight]
    layer: Any  # a ModuleList does not say what it holds
    for layer in model.encoder.layers:
        own, ffn = layer.self_attention, layer.feed_forward
        once += [_beside(own.w_query, own.w_key, own.w_value), own.w_output.weight]
        once += [ffn.inner.weight, ffn.outer.weight]
    for layer in model.decoder.layers:
        own, cross, ffn = layer.self_attention, layer.cross_attention, layer.feed_forward
        once.append(_beside(cross.w_key, cross.w_value))  # of the source
        at_each_step += [_beside(own.w_query, own.w_key, own.w_value), own.w_output.weight]
        at_each_step += [cross.w_query.weight, cross.w_output.weight]
        at_each_step += [ffn.inner.weight, ffn.outer.weight]
    widths = {weight.size(1) for weight in (*once, *at_each_step)}

    def prepare(src: Tensor, beam_size: int, n_tokens: int) -> Callable[[], list[list[int]]]:
        source = {width: torch.randn(src.numel(), width, device=device) for width in widths}
        rows = {width: torch.randn(len(src) * beam_size, width, device=device) for width in widths}

        @torch.inference_mode()
        def multiply() -> list[list[int]]:
            for weight in once:
                torch.mm(source[weight.size(1)], weight.t())
            for _ in range(n_tokens):
                for weight in at_each_step:
                    result = torch.mm(rows[weight.size(1)], weight.t())
            result[0, 0].item()  # a GPU is waited for
            return []

        return multiply

    return prepare


@torch.no_grad()
def _beside(*linears: nn.Linear) -> Tensor:
    """Several matrices that multiply the same vectors, as one."""
    return torch.cat([linear.weight for linear in linears])
