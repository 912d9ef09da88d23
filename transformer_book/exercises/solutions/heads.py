"""Multi-head attention (section 3.2.2), and how the heads are cut out and joined."""

from jaxtyping import Bool, Float
from torch import Tensor

from transformer.attention import scaled_dot_product_attention


def split_heads(
    x: Float[Tensor, "batch len channels"], n_heads: int
) -> Float[Tensor, "batch heads len width"]:
    """Cut the channels into heads: the first `width` of them are the first head's, and so on."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def join_heads(
    x: Float[Tensor, "batch heads len width"],
) -> Float[Tensor, "batch len channels"]:
    """Put the heads side by side again: the way back of `split_heads`."""
    return x.transpose(1, 2).flatten(2)


def multi_head_attention(
    query: Float[Tensor, "batch query d_model"],
    key: Float[Tensor, "batch key d_model"],
    value: Float[Tensor, "batch key d_model"],
    w_query: Float[Tensor, "d_model h_d_k"],
    w_key: Float[Tensor, "d_model h_d_k"],
    w_value: Float[Tensor, "d_model h_d_v"],
    w_output: Float[Tensor, "h_d_v d_model"],
    n_heads: int,
    mask: Bool[Tensor, "#batch #heads #query key"] | None = None,
) -> Float[Tensor, "batch query d_model"]:
    """Concat(head_1, ..., head_h) W^O; the h matrices W_i^Q lie side by side in `w_query`.

    The mask is True where a query may attend to a key. Heads of a query that may attend nowhere
    are 0.
    """
    q = (query @ w_query).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = (key @ w_key).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = (value @ w_value).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return heads.transpose(1, 2).flatten(2) @ w_output
