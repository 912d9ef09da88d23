"""Token embeddings (section 3.4) and positions (section 3.5)."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class TokenEmbedding(nn.Module):
    """Section 3.4: each token's learned vector, times sqrt(d_model).

    The factor lets one matrix serve two purposes: as an embedding its rows should be about as
    long as the positions that are added to them, as the output projection they must be short, so
    that the first logits are small.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        self.scale = math.sqrt(d_model)

    def forward(self, tokens: Int[Tensor, "batch len"]) -> Float[Tensor, "batch len d_model"]:
        """Look the tokens up."""
        return F.embedding(tokens, self.weight) * self.scale


def sinusoidal_positions(length: int, d_model: int) -> Float[Tensor, "length d_model"]:
    """Section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same).

    One frequency for each pair of columns; wavelengths from 2 pi to 10000 * 2 pi positions.
    Computed in float64 and rounded once, so that far positions are exact too.
    """
    if d_model % 2:
        raise ValueError(
            f"d_model ({d_model}) must be even: a sine and a cosine for each frequency"
        )
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = 10_000.0 ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * frequency  # (length, d_model / 2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


class SinusoidalPositions(nn.Module):
    """Adds the sinusoids to the embeddings; nothing in it is learned."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.table: Tensor
        # Not persistent: a checkpoint need not carry what a formula gives back.
        self.register_buffer("table", sinusoidal_positions(max_len, d_model), persistent=False)

    def forward(
        self, x: Float[Tensor, "batch len d_model"], start: int = 0
    ) -> Float[Tensor, "batch len d_model"]:
        """Add positions `start`, `start` + 1, ... to the vectors of x."""
        return x + self.table[start : start + x.size(1)]


class LearnedPositions(nn.Module):
    """Table 3, row E: a table of the same size, but trained."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_len, d_model))
        # As long as the sinusoids, whose squares average 1/2.
        nn.init.normal_(self.table, std=math.sqrt(0.5))

    def forward(
        self, x: Float[Tensor, "batch len d_model"], start: int = 0
    ) -> Float[Tensor, "batch len d_model"]:
        """Add positions `start`, `start` + 1, ... to the vectors of x."""
        return x + self.table[start : start + x.size(1)]
