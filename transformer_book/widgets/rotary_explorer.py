"""Rotary positions (Su et al. 2021): a query and a key as hands of clocks that turn on the way."""

import math
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from torch import Tensor

from transformer.embedding import sinusoidal_positions
from transformer.variants.rotary import rotate

from transformer_book.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 8  # so many components, a pair to each of four clocks
LAST, FARTHEST = 100, 20  # position of the query; how far behind it the key may stand
# Where the hands stand at position 0, clock by clock, in radians: a query and a key of no model.
QUERY, KEY = (0.4, 2.0, 3.6, 5.6), (1.2, 2.6, 3.0, 5.1)


class RotaryExplorer(Widget):
    """Two words on a line: a clock for each pair of components, and the score of the two.

    Attributes:
        position: that of the query, m.
        distance: how many positions behind it the key stands, n - m.

    Raises:
        traitlets.TraitError: a position is outside the line.
    """

    description = traitlets.Unicode(
        "Four clocks, one for each pair of components of a query and a key, whose hands are "
        "turned by the positions of the two words, the first clock fastest. Their score depends on "
        "the distance of the words alone."
    ).tag(sync=True)
    constants = handed_over(
        query=QUERY, key=KEY, last=LAST, farthest=FARTHEST,
        frequencies=[10_000 ** (-2 * i / WIDTH) for i in range(WIDTH // 2)],
    )  # fmt: skip
    position = traitlets.Int(3, min=0, max=LAST).tag(sync=True)
    distance = traitlets.Int(5, min=0, max=FARTHEST).tag(sync=True)

    def turned(self) -> Tensor:
        """The query at its position and the key at its own: (2, WIDTH)."""
        angles = torch.tensor([QUERY, KEY])
        vectors = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2)
        positions = [self.position, self.position + self.distance]
        return rotate(vectors, sinusoidal_positions(LAST + FARTHEST + 1, WIDTH)[positions])

    def score(self) -> float:
        """Their dot product over the root of the width."""
        query, key = self.turned()
        return float(query @ key) / math.sqrt(WIDTH)

    def twin(self) -> "Figure":
        """The clocks on paper."""
        from transformer_book.figures.since_2017 import rotary_clocks

        a, b = self.turned().unflatten(-1, (-1, 2)).unbind(-1)
        hands: dict[str, Any] = dict(zip(("query", "key"), torch.atan2(b, a).tolist(), strict=True))
        title = (
            f"query at {self.position}, key at {self.position + self.distance}: {self.score():.2f}"
        )
        return rotary_clocks(hands, self.constants["frequencies"], title=title)
