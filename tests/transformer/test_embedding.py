"""Token embeddings and positions: the paper's formula, and the rotation that it was chosen for."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import same, seeds
from transformer.embedding import (
    LearnedPositions,
    SinusoidalPositions,
    TokenEmbedding,
    sinusoidal_positions,
)

few = settings(max_examples=25)
even_widths = st.integers(1, 40).map(lambda half: 2 * half)


def test_an_embedding_is_the_tokens_row_times_the_root_of_d_model() -> None:
    embedding = TokenEmbedding(5, 16)
    with torch.no_grad():
        embedding.weight.copy_(torch.randn(5, 16))
    tokens = torch.tensor([[4, 0], [1, 1]])
    same(embedding(tokens), embedding.weight[tokens] * 4.0, 1e-6)


# Sinusoids -----------------------------------------------------------------------------------


def formula(position: int, column: int, d_model: int) -> float:
    """Section 3.5, one entry, in Python's float64."""
    angle = position / 10_000 ** (2 * (column // 2) / d_model)
    return math.cos(angle) if column % 2 else math.sin(angle)


@few
@given(d_model=even_widths, position=st.integers(0, 5000), data=st.data())
def test_sinusoids_are_the_papers_formula(d_model: int, position: int, data: st.DataObject) -> None:
    column = data.draw(st.integers(0, d_model - 1))
    table = sinusoidal_positions(position + 1, d_model)
    assert table.shape == (position + 1, d_model)
    assert table[position, column].item() == pytest.approx(
        formula(position, column, d_model), abs=1e-7
    )


@pytest.mark.parametrize("position", [0, 1, 65_535, 1_000_000])
def test_far_positions_are_as_exact_as_near_ones(position: int) -> None:
    row = sinusoidal_positions(position + 1, 4)[position]
    exact = np.array([formula(position, column, 4) for column in range(4)])
    np.testing.assert_array_equal(row.numpy(), exact.astype(np.float32))


def test_the_first_positions_by_hand() -> None:
    expected = [[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]
    same(sinusoidal_positions(2, 4), torch.tensor(expected), 1e-7)


def test_each_pair_of_columns_turns_slower_than_the_one_before() -> None:
    # Section 3.5: wavelengths form a geometric progression from 2 pi towards 10000 * 2 pi.
    d_model = 512
    table = sinusoidal_positions(2, d_model).double()
    angle = torch.atan2(table[1, 0::2], table[1, 1::2])  # radians a position, pair by pair
    ratio = angle[1:] / angle[:-1]
    assert angle[0].item() == pytest.approx(1.0)
    same(ratio, torch.full_like(ratio, 10_000 ** (-2 / d_model)), 1e-4)


def test_sinusoids_give_every_position_a_vector_of_its_own() -> None:
    table = sinusoidal_positions(1024, 64)
    distance = torch.cdist(table, table) + 10 * torch.eye(1024)
    assert distance.min() > 0.5


def rotation(k: int, d_model: int) -> Tensor:
    """The matrix that turns each pair (sin, cos) by k times its frequency."""
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        angle = k / 10_000 ** (i / d_model)
        s, c = math.sin(angle), math.cos(angle)
        matrix[i : i + 2, i : i + 2] = torch.tensor([[c, s], [-s, c]])
    return matrix


@few
@given(d_model=even_widths, k=st.integers(-60, 60), position=st.integers(60, 140))
def test_pe_of_pos_plus_k_is_the_rotation_of_pe_of_pos(d_model: int, k: int, position: int) -> None:
    table = sinusoidal_positions(201, d_model).double()
    same(table[position + k], rotation(k, d_model) @ table[position], 1e-6)


@few
@given(d_model=even_widths, k=st.integers(0, 50), a=st.integers(0, 100), b=st.integers(0, 100))
def test_the_product_of_two_positions_depends_on_their_distance_only(
    d_model: int, k: int, a: int, b: int
) -> None:
    table = sinusoidal_positions(151, d_model).double()
    same(table[a] @ table[a + k], table[b] @ table[b + k], 1e-5)


def residual_of_linear_map(table: np.ndarray, k: int) -> float:
    """How far the best linear map from PE(pos) to PE(pos + k) is off, at worst."""
    before, after = table[:-k], table[k:]
    best, *_ = np.linalg.lstsq(before, after, rcond=None)
    return float(np.abs(before @ best - after).max())


@pytest.mark.parametrize("k", [1, 7, 50])
def test_only_one_frequency_for_each_pair_makes_a_shift_linear(k: int) -> None:
    length, d_model = 200, 16
    assert residual_of_linear_map(sinusoidal_positions(length, d_model).double().numpy(), k) < 1e-6
    # A widespread mistake: a frequency of its own for every column.
    column = np.arange(d_model)
    angle = np.arange(length)[:, None] / 10_000 ** (2 * column / d_model)
    wrong = np.where(column % 2, np.cos(angle), np.sin(angle))
    assert residual_of_linear_map(wrong, k) > 0.01


@pytest.mark.parametrize("d_model", [1, 7])
def test_an_odd_width_has_no_pairs(d_model: int) -> None:
    with pytest.raises(ValueError, match=rf"d_model \({d_model}\) must be even"):
        sinusoidal_positions(4, d_model)


# The modules ---------------------------------------------------------------------------------


@few
@given(seed=seeds, start=st.integers(0, 6), length=st.integers(1, 4))
@pytest.mark.parametrize("module", [SinusoidalPositions, LearnedPositions])
def test_positions_are_added_from_the_given_start(
    module: type[SinusoidalPositions | LearnedPositions], seed: int, start: int, length: int
) -> None:
    torch.manual_seed(seed)
    positions = module(10, 8)
    x = torch.randn(2, length, 8)
    same(positions(x, start), x + positions.table[start : start + length], 1e-7)
    same(positions(x), x + positions.table[:length], 1e-7)


def test_sinusoids_are_not_learned_and_not_saved() -> None:
    positions = SinusoidalPositions(10, 8)
    assert torch.equal(positions.table, sinusoidal_positions(10, 8))
    assert not list(positions.parameters())
    assert not positions.state_dict()


def test_learned_positions_are_learned_saved_and_as_long_as_sinusoids() -> None:
    torch.manual_seed(0)
    positions = LearnedPositions(1000, 64)
    x = torch.zeros(1, 2, 64)
    positions(x).sum().backward()
    assert positions.table.grad is not None
    assert positions.table.grad[:2].all()
    assert not positions.table.grad[2:].any()
    assert set(positions.state_dict()) == {"table"}
    square = positions.table.square().mean().item()
    assert square == pytest.approx(sinusoidal_positions(1000, 64).square().mean().item(), rel=0.02)
