"""Masks say who may attend to whom; True = may."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import PAD, sentence_lengths, sentences
from transformer.masks import causal_mask, padding_mask, target_mask


def test_padding_mask_hides_the_padding_from_every_query() -> None:
    tokens = torch.tensor([[5, 7, 0, 0], [3, 0, 4, 6]])
    expected = torch.tensor([[True, True, False, False], [True, False, True, True]])
    assert padding_mask(tokens, 0).shape == (2, 1, 1, 4)
    assert torch.equal(padding_mask(tokens, 0)[:, 0, 0], expected)


def test_padding_mask_goes_by_the_given_id() -> None:
    assert padding_mask(torch.tensor([[0, 9, 1]]), 9).flatten().tolist() == [True, False, True]


def test_causal_mask_by_hand() -> None:
    assert causal_mask(3)[0, 0].tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@given(size=st.integers(1, 40))
def test_causal_mask_lets_each_position_see_itself_and_the_past_only(size: int) -> None:
    mask = causal_mask(size)
    position = torch.arange(size)
    assert mask.shape == (1, 1, size, size)
    assert mask.dtype == torch.bool
    assert torch.equal(mask[0, 0], position[None, :] <= position[:, None])


@given(lengths=sentence_lengths)
def test_target_mask_is_causal_and_hides_padding(lengths: list[int]) -> None:
    tokens = sentences(lengths, extra=1)
    mask = target_mask(tokens, PAD)
    size = tokens.size(1)
    assert mask.shape == (len(lengths), 1, size, size)
    for row, length in enumerate(lengths):
        for query in range(size):
            seen = mask[row, 0, query].nonzero().flatten().tolist()
            assert seen == list(range(min(query + 1, length)))
