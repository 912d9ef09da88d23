"""The parts of a layer: feed-forward, residual with its norm, encoder and decoder layer."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import norms, same, seeds, small_config
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from transformer.masks import causal_mask

few = settings(max_examples=20)


def vectors(*shape: int) -> Tensor:
    return torch.randn(*shape, 16, dtype=torch.float64)


def test_feed_forward_is_equation_2_in_numpy() -> None:
    torch.manual_seed(0)
    feed_forward = FeedForward(16, 24).double()
    x = vectors(2, 3)
    w1, b1, w2, b2 = (p.detach().numpy() for p in feed_forward.parameters())
    expected = np.maximum(0, x.numpy() @ w1.T + b1) @ w2.T + b2
    same(feed_forward(x), torch.from_numpy(expected))


def test_feed_forward_treats_every_position_alike_and_apart() -> None:
    torch.manual_seed(0)
    feed_forward = FeedForward(16, 24).double()
    x = vectors(2, 5)
    order = torch.randperm(5)
    same(feed_forward(x[:, order]), feed_forward(x)[:, order])
    same(feed_forward(x[:, 2:3]), feed_forward(x)[:, 2:3])


# Residual ------------------------------------------------------------------------------------


def layer_norm(x: np.ndarray) -> np.ndarray:
    """The layer-norm paper's: biased variance, epsilon inside the root."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def test_post_norm_is_the_norm_of_the_sum() -> None:
    torch.manual_seed(0)
    x = vectors(2, 3)
    output = Residual(16, 0.0, "post").double()(x, lambda h: 3 * h.cos())
    same(output, torch.from_numpy(layer_norm((x + 3 * x.cos()).numpy())))


def test_pre_norm_is_the_sum_with_the_normed_branch() -> None:
    torch.manual_seed(0)
    x = vectors(2, 3)
    normed = torch.from_numpy(layer_norm(x.numpy()))
    output = Residual(16, 0.0, "pre").double()(x, lambda h: 3 * h.cos())
    same(output, x + 3 * normed.cos())


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_falls_on_the_branch_and_never_on_the_shortcut(norm: str) -> None:
    torch.manual_seed(0)
    p, x = 0.4, torch.zeros(50, 4, 16, dtype=torch.float64)
    residual = Residual(16, p, norm).double()
    if norm == "post":
        residual.norm = torch.nn.Identity()  # to see the sum
    shortcut = x + 7.0
    output = residual(shortcut, lambda h: torch.ones_like(h))
    kept = output != 7.0
    assert (~kept).double().mean().item() == pytest.approx(p, abs=0.03)
    same(output[kept], torch.full_like(output[kept], 7 + 1 / (1 - p)))
    same(residual.eval()(shortcut, lambda h: torch.ones_like(h)), torch.full_like(x, 8.0))


def test_a_constant_vector_is_normed_to_zeros_not_to_nan() -> None:
    output = Residual(16, 0.0, "post")(torch.full((1, 2, 16), 5.0), torch.zeros_like)
    same(output, torch.zeros(1, 2, 16), 1e-6)


# The two layers ------------------------------------------------------------------------------


def encoder_layer(seed: int, norm: str) -> EncoderLayer:
    torch.manual_seed(seed)
    return EncoderLayer(small_config(norm=norm)).double().eval()


def decoder_layer(seed: int, norm: str) -> DecoderLayer:
    torch.manual_seed(seed)
    return DecoderLayer(small_config(norm=norm)).double().eval()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_an_encoder_layer_is_attention_then_feed_forward(norm: str) -> None:
    layer = encoder_layer(0, norm)
    x, mask = vectors(2, 4), torch.rand(2, 1, 4, 4) < 0.7

    def normed(sublayer: str, h: Tensor) -> Tensor:
        norm = layer.get_submodule(f"{sublayer}_residual.norm")
        return F.layer_norm(h, (16,), norm.weight, norm.bias)

    if norm == "post":
        h = normed("self_attention", x + layer.self_attention(x, x, x, mask))
        expected = normed("feed_forward", h + layer.feed_forward(h))
    else:
        n = normed("self_attention", x)
        h = x + layer.self_attention(n, n, n, mask)
        expected = h + layer.feed_forward(normed("feed_forward", h))
    same(layer(x, mask), expected)


@few
@given(seed=seeds, norm=norms, length=st.integers(1, 6))
def test_an_encoder_layer_commutes_with_permutations(seed: int, norm: str, length: int) -> None:
    layer = encoder_layer(seed, norm)
    x = vectors(2, length)
    order = torch.randperm(length)
    same(layer(x[:, order]), layer(x)[:, order])


@few
@given(seed=seeds, norm=norms)
def test_a_decoder_layer_takes_queries_from_the_target_and_keys_from_the_memory(
    seed: int, norm: str
) -> None:
    layer = decoder_layer(seed, norm)
    x, memory = vectors(2, 3), vectors(2, 5)
    mask = torch.rand(2, 1, 1, 5) < 0.7
    output = layer(x, memory, mask, causal_mask(3))
    assert output.shape == x.shape  # the target's length, not the source's
    order = torch.randperm(5)
    same(layer(x, memory[:, order], mask[..., order], causal_mask(3)), output)
    hidden = memory.masked_fill(~mask[:, 0, 0, :, None], 9.0)  # what nobody may see
    same(layer(x, hidden, mask, causal_mask(3)), output)
    assert not torch.allclose(layer(x, memory.flip(2), mask, causal_mask(3)), output) or not (
        mask.any()
    )


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_reaches_every_place_that_section_5_4_names_and_the_weights(norm: str) -> None:
    layer = DecoderLayer(small_config(norm=norm, dropout=0.25))
    residuals = [part for part in layer.modules() if isinstance(part, Residual)]
    assert [residual.dropout.p for residual in residuals] == [0.25] * 3
    assert layer.self_attention.dropout == layer.cross_attention.dropout == 0.25
    assert EncoderLayer(small_config(dropout=0.25)).self_attention.dropout == 0.25


def test_the_weights_may_have_a_dropout_of_their_own() -> None:
    layer = DecoderLayer(small_config(dropout=0.25, attention_dropout=0.0))
    assert layer.self_attention.dropout == layer.cross_attention.dropout == 0.0
    assert layer.feed_forward_residual.dropout.p == 0.25
