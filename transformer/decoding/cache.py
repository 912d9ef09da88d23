"""Keys and values that decoding has computed already.

At step t only one position is new. Its query needs the keys and values of all positions before
it, and those have not changed: causality means that the past never looks at the present. So each
layer keeps them, and a step costs one position instead of t.
"""

from collections.abc import Callable, Sequence

from torch import Tensor

Pair = tuple[Tensor, Tensor]  # keys and values
Project = Callable[[], Pair]


class Growing:
    """Self-attention: the new position's key and value are put behind the earlier ones.

    Room is made for twice as many as there are. So a step writes one position, and what is held
    is copied only now and then.
    """

    def __init__(self) -> None:
        self.room: Pair | None = None
        self.length = 0

    @property
    def held(self) -> Pair:
        """All keys and values so far, (batch, heads, len, width) each."""
        assert self.room is not None
        return self.room[0][:, :, : self.length], self.room[1][:, :, : self.length]

    def __call__(self, project: Project) -> Pair:
        """Add the new position's, and return all."""
        new, start = project(), self.length
        end = start + new[0].size(2)
        if self.room is None or end > self.room[0].size(2):
            keys, values = (x.new_empty(*x.shape[:2], 2 * end, x.size(3)) for x in new)
            if self.room is not None:
                keys[:, :, :start], values[:, :, :start] = self.held
            self.room = keys, values
        self.room[0][:, :, start:end], self.room[1][:, :, start:end] = new
        self.length = end
        return self.held

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch."""
        if self.room is not None:
            self.room = self.room[0][rows], self.room[1][rows]


class Fixed:
    """Cross-attention: the memory does not change, so it is projected once."""

    def __init__(self) -> None:
        self.held: Pair | None = None

    def __call__(self, project: Project) -> Pair:
        """The memory's keys and values, (batch, heads, src_len, width) each."""
        if self.held is None:
            self.held = project()
        return self.held

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch."""
        if self.held is not None:
            self.held = self.held[0][rows], self.held[1][rows]


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
        for own, cross in self.layers:
            own.select(rows)
            cross.select(rows)

    def reorder(self, rows: Tensor) -> None:
        """Put the target's rows into another order; the source of each place stays the same."""
        for own, _ in self.layers:
            own.select(rows)
