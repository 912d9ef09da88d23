"""Weights in 8 bits: each row of a matrix as whole numbers from -127 to 127, and one scale.

A matrix of so few distinct values needs a quarter of the bytes of float32, and a model rounded like
this translates as well as before: what comes with the book is stored so, and the page, Colab and
the command line compute with the same numbers.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int8
from torch import Tensor

LEVELS = 127
SCALE_BITS = 16  # of a scale: times a whole number of 8 bits, they still fit float32's 24
SCALE = ".scale"  # behind a matrix's name: the name of its rows' scales

Shape = tuple[int, ...]


def round_rows(
    matrix: Float[Tensor, "rows columns"],
) -> tuple[Int8[Tensor, "rows columns"], Float[Tensor, " rows"]]:
    """A matrix as whole numbers and the scale of each row: row i is about scale[i] times them.

    The largest weight of a row becomes 127 or -127, so that none is off by more than half a scale.
    A scale has so few digits that its products with the whole numbers are exact in float32: a
    matrix that has been rounded is rounded to itself, and every machine computes with the same one.
    """
    fraction, exponent = torch.frexp(matrix.float().abs().amax(dim=1) / LEVELS)  # (rows,)
    scale = torch.ldexp((fraction * 2**SCALE_BITS).round() / 2**SCALE_BITS, exponent)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    levels = (matrix.float() / scale[:, None]).round().clamp(-LEVELS, LEVELS)
    return levels.to(torch.int8), scale


@torch.no_grad()
def rounded(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A model's tensors with each matrix in two: the whole numbers, and the scales of its rows."""
    stored: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dim() == 2:
            stored[name], stored[name + SCALE] = round_rows(tensor)
        else:
            stored[name] = tensor.float()
    return stored


def unrounded(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors to compute with: the matrices in float32 again; others stay as they are.

    Raises:
        ValueError: a matrix and its scales do not belong together.
    """
    restored = dict(tensors)
    for name in [name for name in tensors if name.endswith(SCALE)]:
        scale, matrix = restored.pop(name), restored.get(name.removesuffix(SCALE))
        if (
            matrix is None
            or matrix.dtype != torch.int8
            or scale.dtype != torch.float32
            or scale.shape != matrix.shape[:1]
        ):
            raise ValueError(f"{name} does not belong to a matrix of whole numbers")
        restored[name.removesuffix(SCALE)] = matrix.float() * scale[:, None]
    return restored


def unrounded_shapes(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """The same for the shapes that a file's header names."""
    return {
        name: shape
        for name, shape in shapes.items()
        if not (name.endswith(SCALE) and len(shapes.get(name.removesuffix(SCALE), ())) == 2)
    }
