"""Normalisation without centring (Zhang and Sennrich 2019)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.model import Transformer
from transformer.variants.variant import Variant, replace_each


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2)), times a learned gain: a layer norm that subtracts no mean.

    It has no bias either, so half the parameters of a layer norm.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Each vector by itself."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # 300 squared is no float16
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return self.weight * (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype)


def apply(model: Transformer) -> None:
    """Every layer norm becomes an RMS norm."""
    replace_each(model, nn.LayerNorm, lambda norm: RMSNorm(norm.normalized_shape[0], norm.eps))


VARIANT = Variant(
    "rms_norm",
    "Norms divide by the root of the mean square, and subtract no mean.",
    "zhang2019root",
    apply,
)
