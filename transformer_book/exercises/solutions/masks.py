"""Who may attend to whom (section 3.2.3). Masks are boolean: True = may attend."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def causal_mask(size: int) -> Bool[Tensor, "size size"]:
    """Position i (a row) may attend to positions 0 to i (columns), itself included."""
    return torch.ones(size, size, dtype=torch.bool).tril()


def padding_mask(tokens: Int[Tensor, "batch len"], pad_id: int) -> Bool[Tensor, "batch 1 1 len"]:
    """Every query may attend to every key that is a word, none to padding.

    The axes of size 1 stand for heads and queries: one row serves them all.
    """
    return (tokens != pad_id)[:, None, None, :]
