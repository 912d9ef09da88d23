"""RMS norm, rotary positions and a gate: what is asked, and what goes wrong."""

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.comparing import number
from transformer_book.exercises.exercise import Case, Exercise, Inputs, Mistake
from transformer_book.exercises.inputs import Draw
from transformer_book.exercises.solutions import since_2017 as solutions

# RMS norm ------------------------------------------------------------------------------------


def of_length_root_d(case: Case) -> str | None:
    """With gain 1 the squares of each vector have mean 1."""
    x, gain = case.inputs["x"], case.inputs["gain"]
    if x.square().mean(-1).min() < 0.1:
        return None  # rounding has a say
    squares = case.call(gain=torch.ones_like(gain), eps=1e-9).square().mean(dim=-1)
    if (squares - 1).abs().max() < 0.02:
        return None
    farthest = number(squares.flatten()[(squares - 1).abs().argmax()].item())
    return f"With gain 1 the squares of a vector have mean {farthest}, and should have 1."


def a_layer_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], gain, eps=eps)


def divided_by_the_deviation(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return gain * x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt()


def the_sum_of_the_squares(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return gain * x / (x.square().sum(-1, keepdim=True) + eps).sqrt()


def eps_outside_the_root(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return gain * x / (x.square().mean(-1, keepdim=True).sqrt() + eps)


def without_the_root(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return gain * x / (x.square().mean(-1, keepdim=True) + eps)


def no_gain(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return solutions.rms_norm(x, torch.ones_like(gain), eps)


def over_everything(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return gain * x / (x.square().mean() + eps).sqrt()


def the_gain_plus_1(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return solutions.rms_norm(x, 1 + gain, eps)


def _small(draw: Draw) -> Inputs:
    return {"x": 1e-3 * draw.normal("*batch d_model"), "eps": 1e-5}


RMS_NORM = Exercise(
    solution=solutions.rms_norm,
    chapter="findings/since_2017",
    title="A norm that subtracts no mean",
    difficulty=1,
    minutes=5,
    hints=(
        "Of a layer norm, leave out the centring and the bias.",
        "`x.square().mean(dim=-1, keepdim=True)`, plus eps, under the root; then the gain.",
    ),
    properties=(of_length_root_d,),
    values={
        "eps": lambda draw: (1e-5, 1e-2, 1e-6)[draw.level],
        "x": lambda draw: 2 * draw.normal("*batch d_model") + 1,
    },
    edges=(_small,),
    mistakes=(
        Mistake(a_layer_norm, "This is a layer norm: an RMS norm subtracts no mean."),
        Mistake(
            divided_by_the_deviation,
            "The vectors are divided by their deviation, for which a mean was subtracted; the root "
            "mean square subtracts none.",
        ),
        Mistake(
            the_sum_of_the_squares,
            "The squares are summed; with their mean a vector keeps entries of size about 1.",
        ),
        Mistake(
            eps_outside_the_root,
            "eps is added after the root, and should be added to the mean square under it.",
        ),
        Mistake(without_the_root, "The vectors are divided by the mean square, not by its root."),
        Mistake(no_gain, "The gain is not used."),
        Mistake(over_everything, "One mean square for the whole tensor: each vector has its own."),
        Mistake(
            the_gain_plus_1,
            "The vectors are multiplied by 1 + gain, as Gemma does; here the gain is the factor.",
        ),
    ),
)

# Rotary positions ----------------------------------------------------------------------------


def lengths_stay(case: Case) -> str | None:
    """No vector gets longer or shorter."""
    before, after = case.inputs["x"].norm(dim=-1), case.answer.norm(dim=-1)
    if torch.allclose(before, after, rtol=1e-3):
        return None
    i = (before - after).abs().argmax()
    one, other = number(before.flatten()[i].item()), number(after.flatten()[i].item())
    return f"A vector of length {one} has length {other} afterwards: a turn leaves it as it is."


def position_0_stays(case: Case) -> str | None:
    """Position 0 is not turned."""
    first = case.call(start=0)[..., 0, :]
    if torch.allclose(first, case.inputs["x"][..., 0, :], atol=1e-4):
        return None
    return "With start 0 the first row has changed: its angle is 0."


def the_distance_decides(case: Case) -> str | None:
    """Dot products depend on the distance alone."""
    start = case.inputs["start"]
    later = case.call(start=start + 5)
    before = case.answer @ case.answer.transpose(-2, -1)
    after = later @ later.transpose(-2, -1)
    if torch.allclose(before, after, atol=1e-2, rtol=1e-3):
        return None
    return "Five positions later the dot products of the rows are others: only distances may count."


def _rotated(
    x: Tensor, start: int, sign: float = 1.0, twice: float = 1.0, shift: int = 0
) -> Tensor:
    position = torch.arange(start + shift, start + shift + x.size(-2))[:, None]
    angle = sign * position / 10_000 ** (twice * torch.arange(0, x.size(-1), 2) / x.size(-1))
    points = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def halves_as_pairs(x: Tensor, start: int) -> Tensor:
    width = x.size(-1)
    order = torch.arange(width).view(2, -1).T.flatten()  # 0, width / 2, 1, width / 2 + 1, ...
    return _rotated(x[..., order], start)[..., order.argsort()]


def turned_backwards(x: Tensor, start: int) -> Tensor:
    return _rotated(x, start, sign=-1.0)


def the_start_ignored(x: Tensor, start: int) -> Tensor:
    return _rotated(x, 0)


def counted_from_1(x: Tensor, start: int) -> Tensor:
    return _rotated(x, start, shift=1)


def twice_the_exponent(x: Tensor, start: int) -> Tensor:
    return _rotated(x, start, twice=2.0)


def half_the_exponent(x: Tensor, start: int) -> Tensor:
    return _rotated(x, start, twice=0.5)


def not_put_back_in_pairs(x: Tensor, start: int) -> Tensor:
    return _rotated(x, start).unflatten(-1, (-1, 2)).transpose(-2, -1).flatten(-2)


def positions_added(x: Tensor, start: int) -> Tensor:
    position = torch.arange(start, start + x.size(-2))[:, None]
    angle = position / 10_000 ** (torch.arange(0, x.size(-1), 2) / x.size(-1))
    return x + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


ROTATE = Exercise(
    solution=solutions.rotate,
    chapter="findings/since_2017",
    title="Positions that turn",
    difficulty=2,
    minutes=20,
    hints=(
        "The angles are those of the sinusoids, (len, width / 2), from position `start` on.",
        "`x[..., 0::2]` and `x[..., 1::2]` are the first and the second of each pair. A turn makes "
        "a cos - b sin and a sin + b cos of them.",
        "`torch.stack([...], dim=-1).flatten(-2)` puts the pairs back beside each other.",
    ),
    properties=(lengths_stay, position_0_stays, the_distance_decides),
    sizes={"len": (3, 5, 6), "width": (6, 4, 10)},
    values={"start": lambda draw: (0, 3, 10)[draw.level]},
    edges=(lambda draw: {"start": 4}, lambda draw: {"start": 1000}),
    tolerance=1e-3,
    mistakes=(
        Mistake(
            halves_as_pairs,
            "Component i turns with component i + width / 2, as in many programs; here the pairs "
            "are neighbours. Weights that were trained with the one do not fit the other.",
        ),
        Mistake(
            turned_backwards,
            "The pairs turn backwards: a cos - b sin, and a sin + b cos. Queries and keys that "
            "both turn backwards would meet alike, but no others.",
        ),
        Mistake(
            the_start_ignored,
            "The first row always stands at position 0: with a cache it stands at `start`.",
        ),
        Mistake(
            counted_from_1,
            "Positions are counted from 1: the row at `start` is turned by one more.",
        ),
        Mistake(
            twice_the_exponent,
            "2 has got into the exponent twice: if i counts 0, 2, 4, ..., it is 2i already.",
        ),
        Mistake(
            half_the_exponent,
            "The exponent is i/width, and should be 2i/width: the slowest pairs turn too fast.",
        ),
        Mistake(
            not_put_back_in_pairs,
            "All first components come first and then all second ones: put each pair back where it "
            "was.",
        ),
        Mistake(positions_added, "The sinusoids are added to x; rotary positions turn it."),
    ),
)

# A gate --------------------------------------------------------------------------------------


def the_gate_on_the_other_side(x: Tensor, w_gate: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return solutions.gated_unit(x, w_1, w_gate, w_2)


def a_sigmoid(x: Tensor, w_gate: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return ((x @ w_gate).sigmoid() * (x @ w_1)) @ w_2


def a_relu(x: Tensor, w_gate: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return ((x @ w_gate).relu() * (x @ w_1)) @ w_2


def a_gelu(x: Tensor, w_gate: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return (F.gelu(x @ w_gate) * (x @ w_1)) @ w_2


def added(x: Tensor, w_gate: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return (F.silu(x @ w_gate) + x @ w_1) @ w_2


def both_through_silu(x: Tensor, w_gate: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return (F.silu(x @ w_gate) * F.silu(x @ w_1)) @ w_2


def without_a_gate(x: Tensor, w_gate: Tensor, w_1: Tensor, w_2: Tensor) -> Tensor:
    return F.silu(x @ w_1) @ w_2


GATED = Exercise(
    solution=solutions.gated_unit,
    chapter="findings/since_2017",
    title="A feed-forward network with a gate",
    difficulty=1,
    minutes=5,
    hints=(
        "Two projections of the same x, one of them through SiLU; their product, number by number.",
        "`silu` is imported; SiLU(z) is z times the sigmoid of z.",
    ),
    properties=(),
    mistakes=(
        Mistake(
            the_gate_on_the_other_side,
            "SiLU is applied to x W_1, and should be to x W_gate: the matrices are swapped.",
        ),
        Mistake(
            a_sigmoid,
            "The gate is a sigmoid, as in the first gated units; it should be SiLU, z times "
            "sigmoid(z).",
        ),
        Mistake(a_relu, "The gate is max(0, z); it should be SiLU, z times sigmoid(z)."),
        Mistake(a_gelu, "The gate is GELU; it should be SiLU, which looks nearly alike."),
        Mistake(added, "Gate and units are added, and should be multiplied."),
        Mistake(both_through_silu, "Both projections go through SiLU; only the gate should."),
        Mistake(without_a_gate, "There is no gate: x W_gate is not used."),
    ),
)
