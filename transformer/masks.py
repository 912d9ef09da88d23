"""Who may attend to whom (section 3.2.3). Masks are boolean: True = may attend."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def padding_mask(tokens: Int[Tensor, "batch len"], pad_id: int) -> Bool[Tensor, "batch 1 1 len"]:
    """Every query may attend to every key that is a word, none to padding.

    The two axes of size 1 stand for heads and queries: the same row serves them all.
    """
    return (tokens != pad_id)[:, None, None, :]


def causal_mask(size: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 size size"]:
    """Position i may attend to positions 0 to i: itself and the past, not the future.

    The diagonal is allowed: the target is shifted right by one, so the token that position i
    reads is the one before the token that it predicts.
    """
    return torch.ones(size, size, dtype=torch.bool, device=device).tril()[None, None]


def target_mask(tokens: Int[Tensor, "batch len"], pad_id: int) -> Bool[Tensor, "batch 1 len len"]:
    """The decoder's self-attention: causal, and nobody attends to padding."""
    return padding_mask(tokens, pad_id) & causal_mask(tokens.size(1), tokens.device)
