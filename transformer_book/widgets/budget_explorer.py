"""Where the operations of a forward pass go, by the sentences' length and the model's width."""

from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from transformer.compared.flops import forward_flops
from transformer.config import TransformerConfig

from transformer_book.widgets.base import Widget, handed_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORTEST, LONGEST = 10, 20_000  # tokens: at each width the pairs overtake all else in between
BASE = TransformerConfig.table3("base")
HEAD, INNER = BASE.key_width, BASE.d_ff // BASE.d_model  # of base and of big
PARTS = ("pairs", "projections", "feed-forward", "output")  # from the bottom up
WIDTHS = [HEAD * 2**i for i in range(7)]


class BudgetExplorer(Widget):
    """Four bands over the length: shares of projections, pairs, feed-forward networks and output.

    Attributes:
        length: of the source in tokens, and of the target.
        d_model: the width. Heads are 64 wide and d_ff is four times d_model; layers and vocabulary
            are the paper's.

    Raises:
        traitlets.TraitError: a length or a width is out of range, or the heads do not fit.
    """

    description = traitlets.Unicode(
        "Shares of a forward pass's operations over the length of the sentences, as four bands. In "
        "sentences the pairs of positions have next to nothing; from some length on, which grows "
        "with the width, they have the largest part."
    ).tag(sync=True)
    constants = handed_over(
        n_layers=BASE.n_layers, vocabulary=BASE.tgt_vocab_size, inner=INNER,
        shortest=SHORTEST, longest=LONGEST, widths=WIDTHS,
        models={name: TransformerConfig.table3(name).d_model for name in ("base", "big")},
    )  # fmt: skip
    length = traitlets.Int(25, min=SHORTEST, max=LONGEST).tag(sync=True)
    d_model = traitlets.Int(BASE.d_model, min=WIDTHS[0], max=WIDTHS[-1]).tag(sync=True)

    @traitlets.validate("d_model")
    def _heads_fit(self, proposal: dict[str, Any]) -> int:
        width: int = proposal["value"]
        if width % HEAD:
            raise traitlets.TraitError(
                f"d_model ({width}) must be a multiple of {HEAD}, the width of a head"
            )
        return width

    def flops(self, length: int | None = None) -> dict[str, int]:
        """Operations by what they are for, at this length or another."""
        wide = {"d_model": self.d_model, "d_ff": INNER * self.d_model}
        config = TransformerConfig.base(n_heads=self.d_model // HEAD, **wide)
        length = self.length if length is None else length
        return forward_flops(config, length, length)

    def twin(self) -> "Figure":
        """The bands on paper."""
        from transformer_book.figures.results import operations_by_length

        lengths = sorted({self.length, *np.geomspace(SHORTEST, LONGEST, 200).astype(int).tolist()})
        counts = [self.flops(length) for length in lengths]
        bands = {part: [count[part] for count in counts] for part in PARTS}
        return operations_by_length(lengths, bands, at=self.length, title=f"width {self.d_model:,}")
