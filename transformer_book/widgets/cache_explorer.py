"""What a decoder's cache keeps of one text, by its length and the number of sets of keys."""

from typing import TYPE_CHECKING

import numpy as np
import traitlets

from transformer_book.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Llama 3's smallest model (Grattafiori et al. 2024, Table 3), each number in two bytes.
N_LAYERS, N_HEADS, GROUPS, KEY_WIDTH, BYTES = 32, 32, 8, 128, 2
D_MODEL, D_FF, VOCABULARY = N_HEADS * KEY_WIDTH, 14_336, 128_256
KINDS = {f"{N_HEADS} sets": N_HEADS, f"{GROUPS} sets": GROUPS, "1 set": 1}  # of keys and values
SHORTEST, LONGEST = 256, 131_072  # tokens: 2^8 and 2^17
PER_DOUBLING = 8  # lengths at which the line stops
GIB = 2**30


def weights_in_gib() -> float:
    """Of embedding, output and last norm, and in each layer attention, gated network and norms."""
    attention = 2 * D_MODEL * (N_HEADS + GROUPS) * KEY_WIDTH  # queries and output, keys and values
    layer = attention + 3 * D_MODEL * D_FF + 2 * D_MODEL
    return BYTES * (2 * VOCABULARY * D_MODEL + N_LAYERS * layer + D_MODEL) / GIB


class CacheExplorer(Widget):
    """Three lines over the length: keys and values of every head, of every group, and of all.

    Attributes:
        length: of the text in tokens.

    Raises:
        traitlets.TraitError: the length is beside the axis.
    """

    description = traitlets.Unicode(
        "The memory that the keys and values of one text take, over its length, as three parallel "
        "lines: a set for each of 32 heads, eight sets, one for all. A dashed line is the "
        "memory of the model's weights."
    ).tag(sync=True)
    constants = handed_over(
        kinds=KINDS, n_layers=N_LAYERS, width=KEY_WIDTH, bytes=BYTES, weights=weights_in_gib(),
        shortest=SHORTEST, longest=LONGEST, per_doubling=PER_DOUBLING,
    )  # fmt: skip
    length = traitlets.Int(1024, min=SHORTEST, max=LONGEST).tag(sync=True)

    def kept(self) -> dict[str, float]:
        """GiB of each kind at this length."""
        each = 2 * self.length * N_LAYERS * KEY_WIDTH * BYTES / GIB  # one key, one value a token
        return {kind: groups * each for kind, groups in KINDS.items()}

    def twin(self) -> "Figure":
        """The lines on paper."""
        from transformer_book.figures.complexity import complexity_curves
        from transformer_book.figures.style import figure_of

        lengths, kept = np.array([SHORTEST, LONGEST]), self.kept()
        curves = {
            f"{kind}, {kept[kind]:.3g} GiB": lengths * kept[kind] / self.length for kind in kept
        }
        marked = {f"{self.length:,} tokens": float(self.length)}
        ax = complexity_curves(lengths, curves, ylabel="GiB of keys and values", marked=marked)
        ax.axhline(weights_in_gib(), color="0.4", linestyle="--", label="the model's weights")
        ax.set_xlabel("tokens of the text")
        ax.legend()
        return figure_of(ax)
