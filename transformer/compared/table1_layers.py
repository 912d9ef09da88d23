"""The layers that Table 1 compares (section 4): each makes n new vectors out of n."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.attention import scaled_dot_product_attention

Vectors = Float[Tensor, "batch n d"]


class SelfAttention(nn.Module):
    """One head: every position looks at the positions of its own sentence.

    Args:
        d: width of the vectors, and of queries, keys and values.
        r: how many positions around its own a position may look at, an odd number; all if None.
    """

    def __init__(self, d: int, r: int | None = None) -> None:
        super().__init__()
        self.r = r
        self.w_query = nn.Linear(d, d, bias=False)
        self.w_key = nn.Linear(d, d, bias=False)
        self.w_value = nn.Linear(d, d, bias=False)
        self.w_output = nn.Linear(d, d, bias=False)

    def forward(self, x: Vectors) -> Vectors:
        """Queries, keys and values all come from x."""
        q, k, v = self.w_query(x), self.w_key(x), self.w_value(x)
        if self.r is None:
            mixed, _ = scaled_dot_product_attention(q, k, v)
        else:
            mixed = restricted_attention(q, k, v, self.r)
        return self.w_output(mixed)


def restricted_attention(query: Vectors, key: Vectors, value: Vectors, r: int) -> Vectors:
    """Attention of each position to the r positions around its own.

    The sentence is cut into blocks of r queries, and each block meets all the keys that one of its
    queries may see: about twice the r n d multiplications that are needed, but in matrix products.

    Raises:
        ValueError: r is even, so that no position stands in the middle, or below 1.
    """
    if r < 1 or r % 2 == 0:
        raise ValueError(f"r ({r}) must be odd and at least 1: a position and its neighbours")
    n, side = query.size(1), r // 2
    blocks = -(-n // r)
    after = blocks * r - n

    def windows(x: Tensor) -> Tensor:  # (batch, n, d) -> (batch, blocks, r + 2 side, d)
        return F.pad(x, (0, 0, side, after + side)).unfold(1, r + 2 * side, r).mT

    q = F.pad(query, (0, 0, 0, after)).unflatten(1, (blocks, r))  # (batch, blocks, r, d)
    position = torch.arange(r + 2 * side, device=query.device)
    ahead = position - torch.arange(r, device=query.device)[:, None]  # (r, r + 2 side)
    near = (ahead >= 0) & (ahead <= 2 * side)
    first = r * torch.arange(blocks, device=query.device)[:, None, None] - side
    inside = (first + position >= 0) & (first + position < n)  # (blocks, 1, r + 2 side)
    mixed, _ = scaled_dot_product_attention(q, windows(key), windows(value), near & inside)
    return mixed.flatten(1, 2)[:, :n]


class Convolution(nn.Module):
    """Every position reads k places: its own, and as many before it as after it.

    Args:
        d: width of the vectors.
        k: the kernel's width, an odd number.
        dilation: the distance between two places that are read; 1 for neighbours.
        separable: one kernel for each of the d components, then one matrix that mixes them.
    """

    def __init__(self, d: int, k: int = 3, dilation: int = 1, separable: bool = False) -> None:
        super().__init__()
        if k % 2 == 0:
            raise ValueError(f"k ({k}) must be odd: a position and its neighbours")
        groups = d if separable else 1
        read = nn.Conv1d(d, d, k, padding="same", dilation=dilation, groups=groups, bias=False)
        self.mix = nn.Sequential(read, nn.Conv1d(d, d, 1, bias=False)) if separable else read

    def forward(self, x: Vectors) -> Vectors:
        """Torch's convolutions have the positions in the last axis."""
        return self.mix(x.mT).mT


class Recurrent(nn.Module):
    """From left to right: every position reads its own vector and the state of the one before.

    Args:
        d: width of the vectors and of the state.
        unit: `nn.RNN`, `nn.GRU` or `nn.LSTM`.
    """

    def __init__(self, d: int, unit: type[nn.RNNBase] = nn.GRU) -> None:
        super().__init__()
        self.unit = unit(d, d, batch_first=True)  # type: ignore[call-arg, arg-type]

    def forward(self, x: Vectors) -> Vectors:
        """The states; a position's own has read all positions before it."""
        return self.unit(x)[0]


def connections(layer: nn.Module, n: int, d: int = 8) -> Bool[Tensor, "output input"]:
    """Which of n inputs can change which outputs: the gradient says so.

    Args:
        layer: makes n vectors out of n; with random weights, so that nothing cancels out.
        n: positions.
        d: the width of the layer's vectors.
    """
    x = torch.randn(1, n, d, requires_grad=True)
    output = layer(x)[0]  # (n, d)
    gradients = [torch.autograd.grad(row.sum(), x, retain_graph=True)[0][0] for row in output]
    return (torch.stack(gradients) != 0).any(dim=-1)
