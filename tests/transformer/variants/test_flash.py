"""Attention in blocks of keys is attention."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import LiveBytes, same, seeds
from transformer.attention import scaled_dot_product_attention
from transformer.masks import causal_mask
from transformer.variants.flash import attention_in_blocks


def vectors(seed: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 5 * torch.randn(*shape, dtype=torch.float64, generator=generator)


@given(seeds, st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.booleans())
@settings(max_examples=25)
def test_it_equals_the_written_out_attention_and_its_gradients(seed, n, keys, block, masked):
    q, k = vectors(seed, 2, 3, n, 4), vectors(seed + 1, 2, 3, keys, 4)
    v = vectors(seed + 2, 2, 3, keys, 5)
    mask = vectors(seed + 3, 2, 1, n, keys) > 0 if masked else None  # rows of nothing, too
    found = []
    for attend in (
        lambda q, k, v: scaled_dot_product_attention(q, k, v, mask)[0],
        lambda q, k, v: attention_in_blocks(q, k, v, mask, block),
    ):
        inputs = [x.clone().requires_grad_() for x in (q, k, v)]
        output = attend(*inputs)
        found.append([output, *torch.autograd.grad(output.square().sum(), inputs)])
    for a, b in zip(*found, strict=True):
        same(a, b)


def test_large_scores_do_not_overflow():
    q = torch.full((1, 3, 4), 200.0)
    same(attention_in_blocks(q, q, q, causal_mask(3)[0], block=1), q, 1e-6)


def test_the_memory_grows_with_the_length_not_with_its_square():
    """On the device "meta", so that only sizes are computed."""
    peaks: dict[str, list[int]] = {"whole": [], "blocks": []}
    for n in (1024, 2048):
        q = torch.empty(8, n, 64, device="meta")
        with LiveBytes() as whole:
            scaled_dot_product_attention(q, q, q)
        with LiveBytes() as blocks:
            attention_in_blocks(q, q, q, block=64)
        assert whole.peak >= 4 * 8 * n * n  # the weights
        peaks["whole"].append(whole.peak)
        peaks["blocks"].append(blocks.peak)
    assert peaks["whole"][1] / peaks["whole"][0] > 3.8
    assert peaks["blocks"][1] / peaks["blocks"][0] < 2.1
