"""Inputs of an exercise, made from the jaxtyped signature of its function.

An axis has one size wherever its name stands, and two names have different sizes: so axes that were
mixed up are found out. There are three levels, the smallest first, since the first input that shows
a mistake is shown to the reader.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

Sizes = tuple[int, ...]

# For each level: the sizes of `*batch`, and those of the named axes in their order.
LEVELS: tuple[tuple[Sizes, Sizes], ...] = (
    ((), (2, 3, 4, 5, 6, 7, 8)),
    ((3,), (4, 2, 5, 6, 7, 9, 8)),
    ((2, 3), (5, 4, 1, 6, 8, 7, 9)),
)
SEEDS = (0, 1)


class Draw:
    """Draws what one call is given, from a random generator of its own.

    Args:
        level: 0, 1 or 2, an index of `LEVELS`.
        seed: of the generator.
        fixed: sizes of certain axes, for the three levels.
    """

    def __init__(self, level: int, seed: int, fixed: Mapping[str, tuple[int, int, int]]) -> None:
        self.level, self.seed = level, seed
        self.generator = torch.Generator().manual_seed(10 * seed + level)
        self.batch, sizes = LEVELS[level]
        self.sizes = {name: choice[level] for name, choice in fixed.items()}
        self._free = [size for size in sizes if size not in self.sizes.values()]

    def size(self, axis: str) -> int:
        """The size of an axis: that which it has had before, or a new one."""
        if axis.isdigit():
            return int(axis)
        if axis not in self.sizes:
            self.sizes[axis] = self._free.pop(0)
        return self.sizes[axis]

    def shape(self, axes: str) -> tuple[int, ...]:
        """The sizes of axes written as jaxtyping writes them: `*batch query d_k`."""
        sizes: list[int] = []
        for axis in axes.split():
            name = axis.lstrip("*#")
            sizes += self.batch if "*" in axis else [self.size(name)]
        return tuple(sizes)

    def normal(self, axes: str, scale: float = 1.0) -> Tensor:
        """Numbers from the normal distribution."""
        return scale * torch.randn(self.shape(axes), generator=self.generator)

    def integers(self, axes: str, low: int, high: int) -> Tensor:
        """Whole numbers from low to high - 1."""
        return torch.randint(low, high, self.shape(axes), generator=self.generator)

    def open_mask(self, axes: str, share: float = 0.6) -> Tensor:
        """True in about this share of the cells, and in each row at least once."""
        shape = self.shape(axes)
        mask = torch.rand(shape, generator=self.generator) < share
        one = torch.randint(shape[-1], (*shape[:-1], 1), generator=self.generator)
        return mask.scatter(-1, one, True)


def inputs_of(
    function: Callable[..., Any], draw: Draw, values: Mapping[str, Callable[[Draw], Any]]
) -> dict[str, Any]:
    """The arguments of one call: by `values` where it has the name, else by the annotation.

    Raises:
        TypeError: an annotation is no jaxtyped tensor, and there is no value for it.
    """
    # Axes get their sizes in the order of the signature, so first those of all parameters.
    for parameter in inspect.signature(function).parameters.values():
        draw.shape(axes_of(parameter.annotation) or "")
    return {
        name: values[name](draw) if name in values else _tensor(name, parameter.annotation, draw)
        for name, parameter in inspect.signature(function).parameters.items()
    }


def axes_of(annotation: Any) -> str | None:
    """The axes of a jaxtyped tensor, or of `... | None`; None for another type."""
    choices = getattr(annotation, "__args__", None) or (annotation,)
    return next((each.dim_str for each in choices if hasattr(each, "dim_str")), None)


def _tensor(name: str, annotation: Any, draw: Draw) -> Tensor:
    axes = axes_of(annotation)
    if axes is None or annotation.dtype.__name__ != "Float":
        raise TypeError(f"{name}: nothing is known of its values; name them in `values`")
    return draw.normal(axes)
