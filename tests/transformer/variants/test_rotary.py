"""Rotary positions: what they keep, and what they make of distances."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import same, seeds, sentences, small_config
from transformer.embedding import sinusoidal_positions
from transformer.variants import build
from transformer.variants.rotary import RotaryAttention, rotate

places = st.integers(0, 40)


def turned(x: torch.Tensor, position: int) -> torch.Tensor:
    return rotate(x[None], sinusoidal_positions(position + 1, x.numel())[position:].double())[0]


@given(seeds, places, places, places)
def test_a_dot_product_depends_on_the_distance_alone(seed, m, n, shift):
    q, k = torch.randn(2, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    here, there = turned(q, m) @ turned(k, n), turned(q, m + shift) @ turned(k, n + shift)
    same(there, here, 1e-5)  # the angles are rounded to float32
    same(turned(q, m).norm(), q.norm(), 1e-6)


def test_a_pair_turns_by_its_position_times_its_frequency():
    """By hand: at position 3 the first pair turns by 3, the second of four components by 0.03."""
    x = torch.tensor([1.0, 0.0, 0.0, 2.0], dtype=torch.float64)
    slow = 3 / 10_000**0.5
    expected = [math.cos(3), math.sin(3), -2 * math.sin(slow), 2 * math.cos(slow)]
    same(turned(x, 3), torch.tensor(expected, dtype=torch.float64), 1e-6)


def test_they_are_as_hugging_face_turns_them():
    """Which pairs component i with i + d/2, where we have neighbours."""
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    x = torch.randn(1, 2, 7, 8)
    halves = torch.arange(8).view(4, 2).T.flatten()  # 0 2 4 6 1 3 5 7
    angle = torch.arange(7)[:, None] * 10_000.0 ** -(torch.arange(0, 8, 2) / 8)
    angle = torch.cat([angle, angle], dim=-1)[None]
    theirs, _ = llama.apply_rotary_pos_emb(x[..., halves], x[..., halves], angle.cos(), angle.sin())
    same(rotate(x, sinusoidal_positions(7, 8))[..., halves], theirs, 1e-5)


@torch.no_grad()
def test_a_model_knows_order_by_its_self_attentions_alone():
    """Without them, the memory of a reversed sentence would be the memory reversed."""
    model, src = build(small_config(), "rotary").eval(), sentences([5])
    assert (model.encode(src.flip(1)).flip(1) - model.encode(src)).abs().max() > 1e-3
    turning = [name for name, part in model.named_modules() if isinstance(part, RotaryAttention)]
    assert len(turning) == 4
    assert all(name.endswith("self_attention") for name in turning)


@torch.no_grad()
def test_words_in_front_that_nobody_sees_change_nothing():
    """Only distances count: with a mask over them, three more words in front move all others."""
    model, src = build(small_config(), "rotary").double().eval(), sentences([5])
    longer = torch.cat([torch.tensor([[7, 8, 9]]), src], dim=1)
    mask = (torch.arange(8) >= 3)[None, None, None]
    same(model.encode(longer, mask)[:, 3:], model.encode(src), 1e-6)


def test_an_odd_width_gets_a_sentence():
    with pytest.raises(ValueError, match=r"d_k \(3\) must be even for rotary positions"):
        build(small_config(d_k=3), "rotary")
