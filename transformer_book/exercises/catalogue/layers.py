"""The parts of a layer and the two layers: what is asked, and what goes wrong."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Inputs, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import layers as solutions

Map = Callable[[Tensor], Tensor]

# Layer norm ----------------------------------------------------------------------------------


def centred_at_the_bias(case: Case) -> str | None:
    """With gain 1 and bias 0 each vector has mean 0."""
    means = _plain(case).mean(dim=-1)
    if means.abs().max() < 1e-3:
        return None
    farthest = number(means.flatten()[means.abs().argmax()].item())
    return f"With gain 1 and bias 0 a vector of the answer has mean {farthest}, and should have 0."


def of_length_root_d(case: Case) -> str | None:
    """With gain 1 and bias 0 the squares of each vector have mean 1."""
    if case.inputs["x"].var(dim=-1, correction=0).min() < 0.01:
        return None  # rounding has a say
    squares = _plain(case).square().mean(dim=-1)
    if (squares - 1).abs().max() < 0.01:
        return None
    farthest = number(squares.flatten()[(squares - 1).abs().argmax()].item())
    return (
        f"With gain 1 and bias 0 the squares of a vector have mean {farthest}, and should have 1: "
        "which variance do you divide by?"
    )


def _plain(case: Case) -> Tensor:
    gain, bias = case.inputs["gain"], case.inputs["bias"]
    plain: Tensor = case.call(gain=torch.ones_like(gain), bias=torch.zeros_like(bias), eps=1e-9)
    return plain


def the_unbiased_variance(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / (x.var(-1, keepdim=True) + eps).sqrt() + bias


def eps_outside_the_root(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / (x.std(-1, keepdim=True, correction=0) + eps) + bias


def the_well_known_imitation(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / (x.std(-1, keepdim=True) + eps) + bias


def without_the_root(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return gain * centred / (centred.square().mean(-1, keepdim=True) + eps) + bias


def without_centring(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return gain * x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() + bias


def over_the_first_axis(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(0, keepdim=True)
    return gain * centred / (centred.square().mean(0, keepdim=True) + eps).sqrt() + bias


def over_everything(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    centred = x - x.mean()
    return gain * centred / (centred.square().mean() + eps).sqrt() + bias


def no_gain_and_bias(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], eps=eps)


def _nearly_constant(draw: Draw) -> Inputs:
    near = 3 + 1e-3 * draw.normal("*batch d_model")
    return {"x": near}


LAYER_NORM = Exercise(
    solution=solutions.layer_norm,
    chapter="architecture/layers",
    title="Layer norm, as its paper has it",
    difficulty=1,
    minutes=10,
    hints=(
        "All means run over the last axis, `mean(dim=-1, keepdim=True)`: each position by itself.",
        "Centre first. The variance is the mean of the squares of what you have then; "
        "`x.var()` divides by d - 1 unless you say correction=0.",
        "eps is added to the variance, under the root. Gain and bias come last.",
    ),
    properties=(centred_at_the_bias, of_length_root_d),
    values={
        "eps": lambda draw: (1e-5, 1e-2, 1e-6)[draw.level],
        "x": lambda draw: 2 * draw.normal("*batch d_model") + 1,
    },
    edges=(_nearly_constant,),
    mistakes=(
        Mistake(
            the_unbiased_variance,
            "The variance is the unbiased one, which divides by d - 1; layer norm divides by d "
            "(x.var(dim=-1, correction=0), or the mean of the squares).",
        ),
        Mistake(
            eps_outside_the_root,
            "eps is added to the deviation, after the root, and should be added to the variance "
            "under it: where a vector is nearly constant its noise is blown up.",
        ),
        Mistake(
            the_well_known_imitation,
            "The unbiased deviation with eps added to it: layer norm has the biased variance, and "
            "eps under the root.",
            erratum=2,
        ),
        Mistake(
            without_the_root,
            "The vectors are divided by their variance, and should be by its root.",
        ),
        Mistake(
            without_centring,
            "The mean is not taken off the vectors before they are divided.",
        ),
        Mistake(
            over_the_first_axis,
            "Means and variances run over the first axis, as in batch norm: each position has to "
            "be normed by itself, over the last axis.",
        ),
        Mistake(
            over_everything,
            "One mean and one variance for the whole tensor: each position has to be normed by "
            "itself (dim=-1, keepdim=True).",
        ),
        Mistake(no_gain_and_bias, "Gain and bias are not used."),
    ),
)

# The feed-forward network --------------------------------------------------------------------


def without_relu(x: Tensor, *weights: Any) -> Tensor:
    w_1, b_1, w_2, b_2 = weights
    return (x @ w_1 + b_1) @ w_2 + b_2


def relu_at_the_end(x: Tensor, *weights: Any) -> Tensor:
    return without_relu(x, *weights).relu()


def relu_twice(x: Tensor, *weights: Any) -> Tensor:
    return solutions.feed_forward(x, *weights).relu()


def no_biases(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor:
    return (x @ w_1).relu() @ w_2


def bias_after_the_relu(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor:
    return ((x @ w_1).relu() + b_1) @ w_2 + b_2


def with_gelu(x: Tensor, w_1: Tensor, b_1: Tensor, w_2: Tensor, b_2: Tensor) -> Tensor:
    return F.gelu(x @ w_1 + b_1) @ w_2 + b_2


FEED_FORWARD = Exercise(
    solution=solutions.feed_forward,
    chapter="architecture/layers",
    title="Equation 2",
    difficulty=1,
    minutes=5,
    hints=(
        "From the inside out: product, bias, max(0, ...), product, bias.",
        "`.relu()` is max(0, ...) for each number; `@` carries leading axes along.",
    ),
    properties=(),
    mistakes=(
        Mistake(
            without_relu,
            "The max(0, ...) between the products is missing: two linear maps in a row are one.",
        ),
        Mistake(
            relu_at_the_end,
            "The max(0, ...) stands at the end; it belongs between the two products.",
        ),
        Mistake(
            relu_twice, "There is a second max(0, ...) at the end: the output may be negative."
        ),
        Mistake(no_biases, "The biases are not used."),
        Mistake(
            bias_after_the_relu, "b_1 is added after the max(0, ...), and should be before it."
        ),
        Mistake(with_gelu, "This is GELU, which came later; the paper has max(0, ...)."),
    ),
)

# Add & Norm ----------------------------------------------------------------------------------


def _sublayer(draw: Draw) -> Map:
    matrix = draw.normal("d_model d_model", 0.5)

    def sublayer(x: Tensor) -> Tensor:
        """A small sub-layer: tanh of a linear map."""
        return (x @ matrix).tanh()

    return sublayer


def _norm(draw: Draw) -> Map:
    gain = draw.normal("d_model") + 2

    def norm(x: Tensor) -> Tensor:
        """A layer norm with a gain."""
        return F.layer_norm(x, x.shape[-1:], gain)

    return norm


def _dropout(draw: Draw) -> Map:
    keep = torch.arange(draw.size("d_model")) % 3 > 0

    def dropout(x: Tensor) -> Tensor:
        """Drops every third channel and makes the others 1.5 times as large."""
        return 1.5 * x * keep

    return dropout


def pre_norm(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return x + dropout(sublayer(norm(x)))


def no_shortcut(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return norm(dropout(sublayer(x)))


def no_norm(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return x + dropout(sublayer(x))


def no_dropout(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return norm(x + sublayer(x))


def norm_before_the_sum(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return x + norm(dropout(sublayer(x)))


def dropout_of_the_sum(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return norm(dropout(x + sublayer(x)))


def dropout_at_the_end(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return dropout(norm(x + sublayer(x)))


def dropout_first(x: Tensor, sublayer: Map, norm: Map, dropout: Map) -> Tensor:
    return norm(x + sublayer(dropout(x)))


RESIDUAL = Exercise(
    solution=solutions.residual,
    chapter="architecture/layers",
    title="Add & Norm",
    difficulty=1,
    minutes=5,
    hints=(
        "The docstring is the formula: sub-layer, dropout, sum, norm, from the inside out.",
        "`sublayer`, `norm` and `dropout` are functions of one tensor; call them.",
    ),
    properties=(),
    values={"sublayer": _sublayer, "norm": _norm, "dropout": _dropout},
    mistakes=(
        Mistake(
            pre_norm,
            "This is pre-norm, x + Dropout(Sublayer(LayerNorm(x))): a good model, but not the "
            "paper's, which normalises the sum.",
            erratum=1,
        ),
        Mistake(no_shortcut, "x is not added: there is no way around the sub-layer."),
        Mistake(no_norm, "The sum is not normalised."),
        Mistake(
            no_dropout, "dropout is not used; section 5.4 applies it to the sub-layer's output."
        ),
        Mistake(
            norm_before_the_sum,
            "The norm is applied to the sub-layer's output alone, and should be to the sum.",
        ),
        Mistake(
            dropout_of_the_sum,
            "Dropout is applied to the sum: it would drop x as well. Section 5.4 drops from the "
            "sub-layer's output, before it is added.",
        ),
        Mistake(
            dropout_at_the_end,
            "Dropout comes after the norm; section 5.4 drops from the sub-layer's output, before "
            "it is added.",
        ),
        Mistake(
            dropout_first,
            "Dropout is applied to what goes into the sub-layer, and should be to what comes out.",
        ),
    ),
)
