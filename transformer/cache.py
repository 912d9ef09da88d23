"""Keys and values that decoding has computed already.

At step t only one position is new. Its query needs the keys and values of all positions before
it, and those have not changed: causality means that the past never looks at the present. So each
attention keeps them, and a step costs one position instead of t.
"""

import torch.nn.functional as F
from torch import Tensor

KeysAndValues = tuple[Tensor, Tensor]  # (batch, heads, len, d_k) and (batch, heads, len, d_v)


class SelfAttentionCache:
    """The keys and values of all target positions so far: each step adds one.

    The buffers have space for more positions than there are. So a step writes one, and the others
    are copied only now and then.
    """

    complete = False  # every step brings a position to project

    def __init__(self) -> None:
        self.buffers: KeysAndValues | None = None
        self.length = 0

    def read(self) -> KeysAndValues:
        """All keys and values so far."""
        assert self.buffers is not None
        keys, values = self.buffers
        return keys[:, :, : self.length], values[:, :, : self.length]

    def update(self, k: Tensor, v: Tensor) -> KeysAndValues:
        """Put the new position's key and value behind the others, and return all."""
        start, end = self.length, self.length + k.size(2)
        keys, values = self.buffers or (k[:, :, :0], v[:, :, :0])
        if end > keys.size(2):
            keys, values = (F.pad(x, (0, 0, 0, 2 * end - x.size(2))) for x in (keys, values))
        keys[:, :, start:end], values[:, :, start:end] = k, v
        self.buffers, self.length = (keys, values), end
        return self.read()

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch."""
        if self.buffers is not None:
            self.buffers = self.buffers[0][rows], self.buffers[1][rows]


class CrossAttentionCache:
    """The keys and values of the memory, which does not change: they are projected once."""

    def __init__(self) -> None:
        self.buffers: KeysAndValues | None = None
        self.complete = False  # the memory has not been projected yet

    def read(self) -> KeysAndValues:
        """The memory's keys and values."""
        assert self.buffers is not None
        return self.buffers

    def update(self, k: Tensor, v: Tensor) -> KeysAndValues:
        """Keep the memory's keys and values, and return them."""
        self.buffers, self.complete = (k, v), True
        return k, v

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch."""
        if self.buffers is not None:
            self.buffers = self.buffers[0][rows], self.buffers[1][rows]


class KeyValueCache:
    """For each decoder layer the cache of its self-attention and that of its cross-attention."""

    def __init__(self, n_layers: int) -> None:
        self.layers = [(SelfAttentionCache(), CrossAttentionCache()) for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """How many target positions are in it, which is the position of the next one."""
        return self.layers[0][0].length

    def select(self, rows: Tensor) -> None:
        """Keep the given rows of the batch, in the given order (finished sentences drop out)."""
        for own, cross in self.layers:
            own.select(rows)
            cross.select(rows)

    def reorder(self, rows: Tensor) -> None:
        """Put the target's rows into another order; the source of each row stays the same."""
        for own, _ in self.layers:
            own.select(rows)
