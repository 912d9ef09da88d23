"""What has changed since: another norm, other positions, another feed-forward network."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import silu


def rms_norm(
    x: Float[Tensor, "*batch d_model"], gain: Float[Tensor, "d_model"], eps: float
) -> Float[Tensor, "*batch d_model"]:
    """Divide each vector by the root of its mean square plus eps; then the gain."""
    return gain * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()


def rotate(
    x: Float[Tensor, "*batch len width"], start: int = 0
) -> Float[Tensor, "*batch len width"]:
    """Rotary positions: turn each pair of neighbouring components by pos / 10000^(2i/width).

    Pair i is the components 2i and 2i + 1; the first row of x stands at position `start`.
    """
    position = torch.arange(start, start + x.size(-2))[:, None]
    angle = position / 10_000 ** (torch.arange(0, x.size(-1), 2) / x.size(-1))
    a, b = x[..., 0::2], x[..., 1::2]
    turned = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)


def gated_unit(
    x: Float[Tensor, "*batch d_model"],
    w_gate: Float[Tensor, "d_model d_ff"],
    w_1: Float[Tensor, "d_model d_ff"],
    w_2: Float[Tensor, "d_ff d_model"],
) -> Float[Tensor, "*batch d_model"]:
    """A feed-forward network with a gate: (SiLU(x W_gate) * x W_1) W_2."""
    return (silu(x @ w_gate) * (x @ w_1)) @ w_2
