"""Small things that many tests need: models of a few thousand weights, and random sentences."""

from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from transformer import Transformer, TransformerConfig

VOCAB = 13
PAD = 0

seeds = st.integers(0, 2**31 - 1)
norms = st.sampled_from(["post", "pre"])
shapes = st.fixed_dictionaries(
    {
        "norm": norms,
        "positions": st.sampled_from(["sinusoidal", "learned"]),
        "tie": st.sampled_from(["all", "decoder", "none"]),
        "d_k": st.none() | st.integers(1, 9),
        "d_v": st.none() | st.integers(1, 9),
        "n_layers": st.integers(1, 3),
    }
)
sentence_lengths = st.lists(st.integers(1, 6), min_size=1, max_size=3)


def small_config(**settings: Any) -> TransformerConfig:
    """Two layers, two heads, no dropout, vocabulary 13: enough for everything that can go wrong."""
    sizes = {"d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 2, "max_len": 32}
    vocabularies = {"src_vocab_size": VOCAB, "tgt_vocab_size": VOCAB}
    return TransformerConfig(**{**vocabularies, **sizes, "dropout": 0.0, **settings})


def small_model(seed: int = 0, dtype: torch.dtype = torch.float64, **settings: Any) -> Transformer:
    """A model in evaluation mode; float64, so that equal can mean equal to 1e-10."""
    torch.manual_seed(seed)
    return Transformer(small_config(**settings)).to(dtype).eval()


def sentences(lengths: list[int], seed: int = 0, extra: int = 0, vocab: int = VOCAB) -> Tensor:
    """Random words, a row for each length, filled up with padding and `extra` columns of it."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, vocab, (len(lengths), max(lengths) + extra), generator=generator)
    for row, length in zip(tokens, lengths, strict=True):
        row[length:] = PAD
    return tokens


def same(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    """Equal to an absolute and a relative tolerance; NaN equals nothing."""
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)
