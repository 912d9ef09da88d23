"""Table 1 (section 4): what a layer costs as the sentence grows."""

import math
from typing import TYPE_CHECKING

import traitlets

from transformer.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OPERATIONS = "operations per layer"
SEQUENTIAL = "sequential operations"
PATH = "maximum path length"
COLUMNS = (OPERATIONS, SEQUENTIAL, PATH)
LONGEST = 4096


def layer_costs(n: int, d: int, k: int, r: int) -> dict[str, dict[str, float]]:
    """Table 1 with numbers put in for the letters: layer -> column -> value.

    The table says how costs grow and leaves constant factors out, and so do these numbers: they
    compare layers, they do not count operations. Two bounds are added that the letters do not
    show: a neighbourhood holds no more than the n positions, and no path is shorter than 1.

    Args:
        n: positions in the sentence.
        d: the width of a position's vector.
        k: the width of a convolution's kernel (dilated, so that a path takes log_k n layers).
        r: the neighbourhood of restricted self-attention.

    Raises:
        ValueError: n, d or r is below 1, or k below 2.
    """
    for name, value, least in (("n", n, 1), ("d", d, 1), ("k", k, 2), ("r", r, 1)):
        if value < least:
            raise ValueError(f"{name} ({value}) must be at least {least}")
    table: dict[str, dict[str, float]] = {
        "self-attention": {OPERATIONS: n * n * d, SEQUENTIAL: 1, PATH: 1},
        "recurrent": {OPERATIONS: n * d * d, SEQUENTIAL: n, PATH: n},
        "convolutional": {
            OPERATIONS: k * n * d * d,
            SEQUENTIAL: 1,
            PATH: max(1.0, math.log(n) / math.log(k)),
        },
        "self-attention (restricted)": {
            OPERATIONS: min(r, n) * n * d,
            SEQUENTIAL: 1,
            PATH: max(1.0, n / r),
        },
    }
    return {
        layer: {column: float(value) for column, value in row.items()}
        for layer, row in table.items()
    }


class ComplexityExplorer(Widget):
    """One column of Table 1 as curves over the sentence's length, on logarithmic axes.

    Args:
        n: where the cursor stands, in positions.
        d, k, r: the width, the kernel and the neighbourhood of Table 1.
        column: which column is drawn, one of `COLUMNS`.

    Raises:
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "Operations, sequential steps and path lengths of four kinds of layers over the length of "
        "the sentence: self-attention costs less than recurrence while the sentence is shorter "
        "than the vectors are wide."
    ).tag(sync=True)
    constants = handed_over(longest=LONGEST)
    n = traitlets.Int(70, min=2, max=LONGEST).tag(sync=True)
    d = traitlets.Int(512, min=2, max=LONGEST).tag(sync=True)
    k = traitlets.Int(3, min=2, max=9).tag(sync=True)
    r = traitlets.Int(32, min=1, max=LONGEST).tag(sync=True)
    column = traitlets.Enum(COLUMNS, OPERATIONS).tag(sync=True)

    def table(self, n: int | None = None) -> dict[str, dict[str, float]]:
        """Table 1 at a length, at the cursor if absent: layer -> column -> value."""
        return layer_costs(self.n if n is None else n, self.d, self.k, self.r)

    def twin(self) -> "Figure":
        """The curves on paper."""
        from transformer.figures.complexity import complexity_curves
        from transformer.figures.style import figure_of

        lengths = sorted({round(2 ** (i / 8)) for i in range(8, 8 * 12 + 1)})
        tables = [self.table(n) for n in lengths]
        curves = {name: [table[name][self.column] for table in tables] for name in tables[0]}
        same = {f"n = d = {self.d}": float(self.d)} if self.column == OPERATIONS else {}
        return figure_of(complexity_curves(lengths, curves, ylabel=self.column, marked=same))
