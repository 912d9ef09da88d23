"""The sinusoidal positions (section 3.5), seen from five sides."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from jaxtyping import Float, Int
from torch import Tensor

from transformer.embedding import sinusoidal_positions

from transformer_book.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIEWS = ("curves", "table", "binary", "similarity", "rotation")
MOST_DIMENSIONS = 6
MOST_BINARY = 32
REACH = 64


class PositionExplorer(Widget):
    """The codes of positions as curves, table, smooth bits, similarities, and turning hands.

    A smaller `length` or `d_model` takes position, pair and dimensions with it.

    Args:
        view: "curves", "table", "binary", "similarity" or "rotation".
        d_model: how many columns a code has; even.
        length: how many positions are shown.
        dimensions: the columns whose curves are drawn, counted from 0.
        position: where the cursor stands, counted from 0.
        offset: the k of PE(pos + k).
        pair: which sine and cosine the clock shows, counted from 0.

    Raises:
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "The sinusoidal position codes, as curves over the position, as a table, beside binary "
        "numbers, by the similarity of two positions, and as clock hands that an offset turns."
    ).tag(sync=True)
    constants = handed_over(most_dimensions=MOST_DIMENSIONS, most_binary=MOST_BINARY, reach=REACH)
    view = traitlets.Enum(VIEWS, default_value="curves").tag(sync=True)
    d_model = traitlets.Int(20, min=4, max=128).tag(sync=True)
    length = traitlets.Int(100, min=10, max=128).tag(sync=True)
    dimensions = traitlets.List(traitlets.Int()).tag(sync=True)
    position = traitlets.Int(5, min=0).tag(sync=True)
    offset = traitlets.Int(3, min=-REACH, max=REACH).tag(sync=True)
    pair = traitlets.Int(0, min=0).tag(sync=True)

    @traitlets.default("dimensions")
    def _as_in_the_annotated_transformer(self) -> list[int]:
        return [i for i in (4, 5, 6, 7) if i < self.d_model] or [0, 1]

    @traitlets.validate("d_model")
    def _even(self, proposal: dict[str, Any]) -> int:
        if proposal["value"] % 2:
            raise traitlets.TraitError(
                f"d_model ({proposal['value']}) must be even: a sine and a cosine for each "
                "frequency"
            )
        return int(proposal["value"])

    @traitlets.validate("dimensions")
    def _few_and_there(self, proposal: dict[str, Any]) -> list[int]:
        chosen = list(proposal["value"])
        if not 1 <= len(chosen) <= MOST_DIMENSIONS:
            raise traitlets.TraitError(
                f"dimensions has {len(chosen)} entries; give 1 to {MOST_DIMENSIONS}"
            )
        if len(set(chosen)) < len(chosen):
            raise traitlets.TraitError(f"dimensions {chosen} names one twice; give each once")
        for dimension in chosen:
            if not 0 <= dimension < self.d_model:
                raise traitlets.TraitError(
                    f"dimension {dimension} does not exist at d_model {self.d_model}; give 0 to "
                    f"{self.d_model - 1}"
                )
        return chosen

    @traitlets.validate("position")
    def _in_the_table(self, proposal: dict[str, Any]) -> int:
        if proposal["value"] >= self.length:
            raise traitlets.TraitError(
                f"position {proposal['value']} is beyond the last one, {self.length - 1}; give a "
                "smaller one, or a larger length first"
            )
        return int(proposal["value"])

    @traitlets.validate("pair")
    def _a_pair(self, proposal: dict[str, Any]) -> int:
        if proposal["value"] >= self.d_model // 2:
            raise traitlets.TraitError(
                f"pair {proposal['value']} does not exist at d_model {self.d_model}; give 0 to "
                f"{self.d_model // 2 - 1}"
            )
        return int(proposal["value"])

    @traitlets.observe("length")
    def _stay_in_the_table(self, change: Any) -> None:
        self.position = min(self.position, self.length - 1)

    @traitlets.observe("d_model")
    def _stay_in_the_code(self, change: Any) -> None:
        self.pair = min(self.pair, self.d_model // 2 - 1)
        self.dimensions = [i for i in self.dimensions if i < self.d_model] or [0, 1]

    def table(self) -> Float[Tensor, "length d_model"]:
        """PE of all positions."""
        return sinusoidal_positions(self.length, self.d_model)

    def codes(self, positions: Iterable[int]) -> Float[Tensor, "positions d_model"]:
        """PE of any positions; the formula holds for those before 0 as well."""
        wanted = torch.tensor(list(positions))
        table = sinusoidal_positions(int(wanted.abs().max()) + 1, self.d_model)
        rows = table[wanted.abs()]
        rows[:, 0::2] *= torch.where(wanted < 0, -1, 1)[:, None]  # sines are odd, cosines even
        return rows

    def bits(self) -> Int[Tensor, "positions bits"]:
        """The binary numbers of the positions, the bit that flips fastest first."""
        position = torch.arange(min(self.length, MOST_BINARY))
        return (position[:, None] >> torch.arange(int(position[-1]).bit_length())) & 1

    def similarity(self) -> float:
        """The dot product of PE(position) and PE(position + offset)."""
        here, there = self.codes([self.position, self.position + self.offset]).double()
        return float(here @ there)

    def turns(self) -> list[float]:
        """By how much, in radians, the offset turns the hand of each pair."""
        return [
            self.offset * 10_000.0 ** (-column / self.d_model)
            for column in range(0, self.d_model, 2)
        ]

    def twin(self) -> "Figure":
        """The view on paper."""
        figure: Figure = getattr(self, f"_{self.view}_twin")()
        return figure

    def _curves_twin(self) -> Any:
        from transformer_book.figures.positions import column_curves
        from transformer_book.figures.style import figure_of

        return figure_of(column_curves(self.table(), self.dimensions))

    def _table_twin(self) -> Any:
        from transformer_book.figures.positions import code_table
        from transformer_book.figures.style import figure_of

        return figure_of(code_table(self.table()))

    def _binary_twin(self) -> Any:
        import matplotlib.pyplot as plt

        from transformer_book.figures.positions import binary_and_sinusoidal, code_table

        bits = self.bits()
        sinusoids = self.table()[: len(bits)]
        if len(bits) <= 16 and self.d_model <= 8:
            return binary_and_sinusoidal(bits, sinusoids)
        # Too many cells to write numbers into.
        figure, axes = plt.subplots(1, 2, figsize=(9.6, 6.2), width_ratios=(1, 1.9))
        names = [f"bit {i}" for i in range(bits.shape[1])]
        code_table(bits, column_labels=names, ax=axes[0], title="binary", low=0.0)
        code_table(sinusoids, ax=axes[1], title="sinusoidal")
        return figure

    def _similarity_twin(self) -> Any:
        from transformer_book.figures.positions import similarity_by_offset
        from transformer_book.figures.style import figure_of

        around = self.codes(range(self.position - REACH, self.position + REACH + 1))
        ax = similarity_by_offset(around, anchors=[REACH], reach=REACH)
        ax.lines[0].set_label(f"p = {self.position}")  # the row's own number, not its place
        ax.axvline(self.offset, color="#999999", linestyle="--", linewidth=1.2)
        ax.legend()
        return figure_of(ax)

    def _rotation_twin(self) -> Any:
        from transformer_book.figures.positions import clock_hands

        other = self.position + self.offset
        # Those before 0 stand at the end, where negative indices find them.
        rows = [*range(max(self.position, other) + 1), *range(min(0, other), 0)]
        return clock_hands(self.codes(rows), (self.position, other), pairs=[self.pair])
