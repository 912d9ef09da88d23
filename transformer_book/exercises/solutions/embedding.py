"""Token embeddings (section 3.4) and positions (section 3.5)."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor


def token_embedding(
    tokens: Int[Tensor, "batch len"], table: Float[Tensor, "vocab d_model"]
) -> Float[Tensor, "batch len d_model"]:
    """Each token's row of the table, times the root of d_model."""
    return table[tokens] * math.sqrt(table.size(1))


def sinusoidal_positions(length: int, d_model: int) -> Float[Tensor, "length d_model"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same)."""
    position = torch.arange(length)[:, None]
    angle = position / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
