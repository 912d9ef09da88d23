"""Keys and values that decoding has computed already.

At step t only one position is new. Its query needs the keys and values of all positions before
it, and those have not changed: causality means that the past never looks at the present. So each
layer keeps them, and a step costs one position instead of t.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Project = Callable[[], tuple[Tensor, Tensor]]


class Growing:
    """Self-attention: the new position's key and value are added to the earlier ones."""

    def __init__(self) -> None:
        self.held: tuple[Tensor, Tensor] | None = None

    def __call__(self, project: Project) -> tuple[Tensor, Tensor]:
        """All keys and values so far, (batch, heads, len, width) each."""
        new = project()
        if self.held is not None:
            keys, values = (torch.cat(pair, dim=2) for pair in zip(self.held, new, strict=True))
            new = keys, values
        self.held = new
        return new


class Fixed:
    """Cross-attention: the memory does not change, so it is projected once."""

    def __init__(self) -> None:
        self.held: tuple[Tensor, Tensor] | None = None

    def __call__(self, project: Project) -> tuple[Tensor, Tensor]:
        """The memory's keys and values, (batch, heads, src_len, width) each."""
        if self.held is None:
            self.held = project()
        return self.held


class KeyValueCache:
    """One `Growing` and one `Fixed` store for each decoder layer.

    Attributes:
        length: how many target positions are held, which is the position of the next one.
        layers: the stores, in the order in which a decoder layer uses them.
    """

    def __init__(self, n_layers: int) -> None:
        self.layers: Sequence[tuple[Growing, Fixed]] = [
            (Growing(), Fixed()) for _ in range(n_layers)
        ]
        self.length = 0

    def select(self, rows: Tensor) -> None:
        """Keep the given rows of the batch, in the given order (finished sentences drop out)."""
        for store in (store for layer in self.layers for store in layer):
            if store.held is not None:
                keys, values = store.held
                store.held = keys[rows], values[rows]
