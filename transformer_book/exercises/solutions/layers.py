"""The parts of a layer (sections 3.1, 3.3 and 5.4), and the two kinds of layer in Figure 1."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor


def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    gain: Float[Tensor, "d_model"],
    bias: Float[Tensor, "d_model"],
    eps: float,
) -> Float[Tensor, "*batch d_model"]:
    """Centre each vector, divide by the root of its variance plus eps; then gain and bias.

    The variance is the mean of the squares, not the unbiased one.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return gain * centred / (variance + eps).sqrt() + bias


def feed_forward(
    x: Float[Tensor, "*batch d_model"],
    w_1: Float[Tensor, "d_model d_ff"],
    b_1: Float[Tensor, "d_ff"],
    w_2: Float[Tensor, "d_ff d_model"],
    b_2: Float[Tensor, "d_model"],
) -> Float[Tensor, "*batch d_model"]:
    """Equation 2: max(0, x W_1 + b_1) W_2 + b_2."""
    return (x @ w_1 + b_1).relu() @ w_2 + b_2


def residual(
    x: Float[Tensor, "batch len d_model"],
    sublayer: Callable[[Tensor], Tensor],
    norm: Callable[[Tensor], Tensor],
    dropout: Callable[[Tensor], Tensor],
) -> Float[Tensor, "batch len d_model"]:
    """The paper's "Add & Norm": LayerNorm(x + Dropout(Sublayer(x)))."""
    return norm(x + dropout(sublayer(x)))


def encoder_layer(
    x: Float[Tensor, "batch len d_model"],
    mask: Bool[Tensor, "batch 1 1 len"],
    self_attention: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor],
    feed_forward: Callable[[Tensor], Tensor],
    residual_1: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
    residual_2: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
) -> Float[Tensor, "batch len d_model"]:
    """Figure 1, left: self-attention, then the feed-forward network.

    `self_attention(query, key, value, mask)` is a multi-head attention with its weights, and
    `residual_1(x, sublayer)` an "Add & Norm" around a sub-layer, a function of one tensor.
    """
    x = residual_1(x, lambda h: self_attention(h, h, h, mask))
    return residual_2(x, feed_forward)


def decoder_layer(
    x: Float[Tensor, "batch len d_model"],
    memory: Float[Tensor, "batch src_len d_model"],
    src_mask: Bool[Tensor, "batch 1 1 src_len"],
    tgt_mask: Bool[Tensor, "batch 1 len len"],
    self_attention: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor],
    cross_attention: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor],
    feed_forward: Callable[[Tensor], Tensor],
    residual_1: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
    residual_2: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
    residual_3: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
) -> Float[Tensor, "batch len d_model"]:
    """Figure 1, right: masked self-attention, attention to the encoder's output, feed-forward.

    The parts are as in `encoder_layer`; `memory` is the encoder's output.
    """
    x = residual_1(x, lambda h: self_attention(h, h, h, tgt_mask))
    x = residual_2(x, lambda h: cross_attention(h, memory, memory, src_mask))
    return residual_3(x, feed_forward)
