"""The layers of Table 1: what each output may depend on, and what each layer costs."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tests.helpers import same
from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.compared.table1_layers import (
    Convolution,
    Recurrent,
    SelfAttention,
    connections,
    restricted_attention,
)

D = 6
LAYERS = {
    "all": lambda d: SelfAttention(d),
    "restricted": lambda d: SelfAttention(d, r=3),
    "convolution": lambda d: Convolution(d, k=3),
    "dilated": lambda d: Convolution(d, k=3, dilation=2),
    "separable": lambda d: Convolution(d, k=3, separable=True),
    "rnn": lambda d: Recurrent(d, nn.RNN),
    "gru": lambda d: Recurrent(d, nn.GRU),
    "lstm": lambda d: Recurrent(d, nn.LSTM),
}
SEES = {  # may output i depend on input j?
    "all": lambda i, j: True,
    "restricted": lambda i, j: abs(i - j) <= 1,
    "convolution": lambda i, j: abs(i - j) <= 1,
    "dilated": lambda i, j: abs(i - j) in (0, 2),
    "separable": lambda i, j: abs(i - j) <= 1,
    "rnn": lambda i, j: j <= i,
    "gru": lambda i, j: j <= i,
    "lstm": lambda i, j: j <= i,
}


@pytest.mark.parametrize("name", LAYERS)
def test_each_output_depends_on_the_inputs_that_the_layer_connects_it_with(name):
    torch.manual_seed(0)
    layer, n = LAYERS[name](D), 7
    x = torch.randn(2, n, D)
    assert layer(x).shape == x.shape
    expected = [[SEES[name](i, j) for j in range(n)] for i in range(n)]
    assert connections(layer, n, D).tolist() == expected


@given(st.integers(1, 17), st.sampled_from([1, 3, 5, 9]), st.integers(0, 9))
def test_restricted_attention_is_attention_with_a_mask(n, r, seed):
    generator = torch.Generator().manual_seed(seed)
    q, k, v = torch.randn(3, 2, n, 4, dtype=torch.float64, generator=generator)
    place = torch.arange(n)
    near = (place[:, None] - place).abs() <= r // 2
    expected, _ = scaled_dot_product_attention(q, k, v, near)
    same(restricted_attention(q, k, v, r), expected)


def test_one_head_is_multi_head_attention_with_one_head():
    torch.manual_seed(0)
    one, many = SelfAttention(D), MultiHeadAttention(D, n_heads=1)
    many.load_state_dict(one.state_dict())
    x = torch.randn(2, 5, D)
    torch.testing.assert_close(one(x), many(x, x, x))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("all", lambda n, d: 4 * n * d * d + 2 * n * n * d),
        ("convolution", lambda n, d: 3 * n * d * d),
        ("separable", lambda n, d: 3 * n * d + n * d * d),
        ("rnn", lambda n, d: 2 * n * d * d),
        ("gru", lambda n, d: 6 * n * d * d),
        ("lstm", lambda n, d: 8 * n * d * d),
    ],
)
def test_multiplications_are_counted_to_the_last_one(name, expected):
    for n, d in ((5, 6), (12, 4)):
        with torch.device("meta"):
            layer, x = LAYERS[name](d), torch.randn(1, n, d)
            with FlopCounterMode(display=False) as counter:
                layer(x)
        assert counter.get_total_flops() == 2 * expected(n, d)


def test_restricting_costs_twice_what_it_must_at_most():
    n, d, r = 90, 8, 9
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        x = torch.randn(1, n, d)
        restricted_attention(x, x, x, r)
    assert 2 * r * n * d < counter.get_total_flops() // 2 <= 2 * (2 * r) * n * d


@pytest.mark.parametrize("r", [0, 2])
def test_a_neighbourhood_without_a_middle_is_refused(r):
    x = torch.randn(1, 4, D)
    with pytest.raises(ValueError, match=rf"r \({r}\) must be odd"):
        restricted_attention(x, x, x, r)


def test_a_kernel_without_a_middle_is_refused():
    with pytest.raises(ValueError, match=r"k \(4\) must be odd"):
        Convolution(D, k=4)
