"""Heads that share their keys and values (Shazeer 2019; Ainslie et al. 2023)."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from transformer.attention import Heads, Mask, MultiHeadAttention
from transformer.model import Transformer
from transformer.variants.variant import Variant, glorot, replace_each


class GroupedAttention(MultiHeadAttention):
    """Each head has queries of its own; the heads of a group have keys and values in common.

    With as many groups as heads it is the paper's attention, with one group multi-query attention.
    What a cache holds shrinks with the number of groups.

    Args:
        d_model, n_heads, d_k, d_v, dropout: as in `MultiHeadAttention`; d_v must equal d_k.
        n_groups: how many different keys and values there are for the heads.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_groups: int,
        d_k: int | None = None,
        d_v: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(d_model, n_heads, d_k, d_v, dropout)
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"n_heads ({n_heads}) must be a multiple of n_groups ({n_groups})")
        if self.d_k != self.d_v:
            raise ValueError(
                f"groups are told apart by their width, so d_v ({self.d_v}) must equal d_k "
                f"({self.d_k})"
            )
        self.n_groups = n_groups
        self.w_key = nn.Linear(d_model, n_groups * self.d_k, bias=False)
        self.w_value = nn.Linear(d_model, n_groups * self.d_v, bias=False)

    def split(self, x: Float[Tensor, "batch len channels"]) -> Heads:
        """As many heads as there are channels for: n_heads of queries, n_groups of the others."""
        return x.unflatten(-1, (-1, self.d_k)).transpose(1, 2)

    def _attend(
        self,
        q: Float[Tensor, "batch heads query d_k"],
        k: Float[Tensor, "batch groups keys d_k"],
        v: Float[Tensor, "batch groups keys d_v"],
        mask: Mask | None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        # The cache has held each group's keys once; here every head of the group gets to see them.
        k, v = (x.repeat_interleave(self.n_heads // self.n_groups, dim=1) for x in (k, v))
        return super()._attend(q, k, v, mask)


def in_groups(n_groups: int) -> Callable[[Transformer], None]:
    """A function that puts the heads of all attentions of a model into so many groups."""

    def grouped(old: MultiHeadAttention) -> GroupedAttention:
        d_model, widths = old.w_query.in_features, (old.d_k, old.d_v)
        return glorot(GroupedAttention(d_model, old.n_heads, n_groups, *widths, old.dropout))

    return lambda model: replace_each(model, MultiHeadAttention, grouped)


MULTI_QUERY = Variant(
    "multi_query",
    "All heads of an attention share one set of keys and values.",
    "shazeer2019fast",
    in_groups(1),
)
TWO_GROUPS = Variant(
    "grouped",
    "The heads of an attention form two groups, each with its own keys and values.",
    "ainslie2023gqa",
    in_groups(2),
)
