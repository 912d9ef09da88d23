"""Table 1 (section 4): what a layer costs as the sentence grows."""

import math
from typing import TYPE_CHECKING

import traitlets

from transformer_book.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OPERATIONS = "operations per layer"
SEQUENTIAL = "sequential operations"
PATH = "maximum path length"
COLUMNS = (OPERATIONS, SEQUENTIAL, PATH)
# Matrices of d by d numbers that a recurrent unit multiplies a position with.
UNITS = {"plain": 2, "GRU": 6, "LSTM": 8}
PROJECTIONS = 4  # those of self-attention: W_Q, W_K, W_V, W_O
LONGEST = 4096


def layer_costs(
    n: int, d: int, k: int, r: int, *, everything: bool = False, unit: str = "GRU"
) -> dict[str, dict[str, float]]:
    """Table 1 with numbers put in for the letters: layer -> column -> value.

    The table says how costs grow and leaves factors out, and so do these numbers, unless
    `everything` is counted: then operations are the multiplications that a layer does, those of
    self-attention's four projections too. Two bounds are added that the letters do not show: a
    neighbourhood holds no more than the n positions, and no path is shorter than 1.

    Args:
        n: positions in the sentence.
        d: the width of a position's vector.
        k: the width of a convolution's kernel (dilated, so that a path takes log_k n layers).
        r: the neighbourhood of restricted self-attention.
        everything: whether operations are all multiplications; else the letters of the table.
        unit: the recurrent layer whose multiplications are counted then, one of `UNITS`.

    Raises:
        ValueError: n, d or r is below 1, or k below 2.
    """
    for name, value, least in (("n", n, 1), ("d", d, 1), ("k", k, 2), ("r", r, 1)):
        if value < least:
            raise ValueError(f"{name} ({value}) must be at least {least}")
    # With everything counted: scores, and then sums of values.
    projections, pairs = (PROJECTIONS * n * d * d, 2) if everything else (0, 1)
    table: dict[str, dict[str, float]] = {
        "self-attention": {OPERATIONS: projections + pairs * n * n * d, SEQUENTIAL: 1, PATH: 1},
        "recurrent": {
            OPERATIONS: (UNITS[unit] if everything else 1) * n * d * d,
            SEQUENTIAL: n,
            PATH: n,
        },
        "convolutional": {
            OPERATIONS: k * n * d * d,
            SEQUENTIAL: 1,
            PATH: max(1.0, math.log(n) / math.log(k)),
        },
        "self-attention (restricted)": {
            OPERATIONS: projections + pairs * min(r, n) * n * d,
            SEQUENTIAL: 1,
            PATH: max(1.0, n / r),
        },
    }
    return {
        layer: {column: float(value) for column, value in row.items()}
        for layer, row in table.items()
    }


def meeting(d: int, *, everything: bool = False, unit: str = "GRU") -> int:
    """The length at which self-attention and recurrence cost the same; 0 if at none."""
    if not everything:
        return d
    return max(0, (UNITS[unit] - PROJECTIONS) * d // 2)


class ComplexityExplorer(Widget):
    """One column of Table 1 as curves over the sentence's length, on logarithmic axes.

    Args:
        n: where the cursor stands, in positions.
        d, k, r: the width, the kernel and the neighbourhood of Table 1.
        column: which column is drawn, one of `COLUMNS`.
        everything: whether operations are all multiplications, those of the projections too;
            else the letters of the table.
        unit: the recurrent layer that is counted then, one of `UNITS`.

    Raises:
        traitlets.TraitError: a setting is outside its range.
    """

    description = traitlets.Unicode(
        "Operations, sequential steps and path lengths of four kinds of layers over the length of "
        "the sentence. By the letters of Table 1 self-attention costs less than recurrence while "
        "the sentence is shorter than the vectors are wide; with its projections counted, that "
        "depends on the recurrent unit."
    ).tag(sync=True)
    constants = handed_over(longest=LONGEST, units=UNITS, projections=PROJECTIONS)
    n = traitlets.Int(70, min=2, max=LONGEST).tag(sync=True)
    d = traitlets.Int(512, min=2, max=LONGEST).tag(sync=True)
    k = traitlets.Int(3, min=2, max=9).tag(sync=True)
    r = traitlets.Int(32, min=1, max=LONGEST).tag(sync=True)
    column = traitlets.Enum(COLUMNS, OPERATIONS).tag(sync=True)
    everything = traitlets.Bool(False).tag(sync=True)
    unit = traitlets.Enum(tuple(UNITS), "GRU").tag(sync=True)

    def table(self, n: int | None = None) -> dict[str, dict[str, float]]:
        """Table 1 at a length, at the cursor if absent: layer -> column -> value."""
        length = self.n if n is None else n
        return layer_costs(
            length, self.d, self.k, self.r, everything=self.everything, unit=self.unit
        )

    def twin(self) -> "Figure":
        """The curves on paper."""
        from transformer_book.figures.complexity import complexity_curves
        from transformer_book.figures.style import figure_of

        lengths = sorted({round(2 ** (i / 8)) for i in range(8, 8 * 12 + 1)})
        tables = [self.table(n) for n in lengths]
        curves = {name: [table[name][self.column] for table in tables] for name in tables[0]}
        same = meeting(self.d, everything=self.everything, unit=self.unit)
        operations = self.column == OPERATIONS
        letters = "n = d" if same == self.d else "n = 2 d"
        meets = operations and 0 < same <= LONGEST
        marked = {f"{letters} = {same}": float(same)} if meets else {}
        ylabel = "multiplications per layer" if operations and self.everything else self.column
        return figure_of(complexity_curves(lengths, curves, ylabel=ylabel, marked=marked))
