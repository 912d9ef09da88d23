"""Scaled dot-product and multi-head attention: the formula, its properties, its two paths."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers import same, seeds
from transformer.attention import MultiHeadAttention, scaled_dot_product_attention

few = settings(max_examples=25)
sizes = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "heads": st.integers(1, 3),
        "query": st.integers(1, 5),
        "key": st.integers(1, 5),
        "d_k": st.integers(1, 6),
        "d_v": st.integers(1, 6),
    }
)


def random_qkv(seed: int, **n: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, keys, values, and a mask in which whole rows may be closed; all float64."""
    g = torch.Generator().manual_seed(seed)
    shapes = [("query", "d_k"), ("key", "d_k"), ("key", "d_v")]
    tensors = [
        torch.randn(n["batch"], n["heads"], n[a], n[b], generator=g, dtype=torch.float64)
        for a, b in shapes
    ]
    mask = torch.rand(n["batch"], 1, n["query"], n["key"], generator=g) < 0.5
    return *tensors, mask


def gradients(output: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Gradients of a loss that weighs every output differently."""
    probe = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * probe).sum(), inputs)


def both_paths(attention: MultiHeadAttention, *args: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The fast path's output, the written-out path's, and the latter's weights."""
    recorded: list[Tensor] = []
    fast = attention(*args)
    attention.on_weights = recorded.append
    written_out = attention(*args)
    attention.on_weights = None
    return fast, written_out, recorded[0]


# Equation 1 ----------------------------------------------------------------------------------


def test_equation_1_worked_by_hand() -> None:
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # scores 2 log 2 / sqrt(4) and 0
    key = torch.tensor([[math.log(2), 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    value = torch.tensor([[3.0, 0.0], [0.0, 6.0]])
    output, weights = scaled_dot_product_attention(query, key, value)
    same(weights, torch.tensor([[2 / 3, 1 / 3]]), 1e-6)
    same(output, torch.tensor([[2.0, 2.0]]), 1e-6)


def test_masked_softmax_by_hand() -> None:
    # The scores 0.4 and 0.3 and a hidden one: 0.525, 0.475, 0.
    query, key = torch.tensor([[1.0]]), torch.tensor([[0.4], [0.3], [9.9]])
    mask = torch.tensor([[True, True, False]])
    _, weights = scaled_dot_product_attention(query, key, torch.ones(3, 1), mask)
    e = math.exp(0.1)
    same(weights, torch.tensor([[e / (1 + e), 1 / (1 + e), 0.0]]), 1e-6)


@few
@given(n=sizes, seed=seeds)
def test_written_out_attention_is_equation_1_in_numpy(n: dict[str, int], seed: int) -> None:
    q, k, v, mask = random_qkv(seed, **n)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    open_ = np.broadcast_to(mask.numpy(), weights.shape)
    exp = np.exp(np.einsum("bhqd,bhkd->bhqk", q.numpy(), k.numpy()) / math.sqrt(n["d_k"])) * open_
    total = exp.sum(-1, keepdims=True)
    expected = exp / np.where(total == 0, 1, total)
    same(weights, torch.from_numpy(expected))
    same(output, torch.from_numpy(expected @ v.numpy()))


@few
@given(n=sizes, seed=seeds, masked=st.booleans())
def test_written_out_attention_equals_torch_forward_and_backward(
    n: dict[str, int], seed: int, masked: bool
) -> None:
    q, k, v, mask = random_qkv(seed, **n)
    inputs = [x.requires_grad_() for x in (q, k, v)]
    ours, _ = scaled_dot_product_attention(*inputs, mask if masked else None)
    theirs = F.scaled_dot_product_attention(*inputs, attn_mask=mask if masked else None)
    same(ours, theirs)
    for a, b in zip(gradients(ours, *inputs), gradients(theirs, *inputs), strict=True):
        same(a, b)


@few
@given(n=sizes, seed=seeds)
def test_weights_sum_to_1_and_masked_weights_are_exactly_0(n: dict[str, int], seed: int) -> None:
    q, k, v, mask = random_qkv(seed, **n)
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    assert (weights >= 0).all()
    assert (weights.masked_select(~mask) == 0).all()
    seeing = mask.any(-1).expand(weights.shape[:-1])
    same(weights.sum(-1), seeing.double())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("path", ["written out", "fast"])
def test_a_query_that_may_attend_nowhere_gives_zeros_and_finite_gradients(
    dtype: torch.dtype, path: str
) -> None:
    q, k, v, mask = random_qkv(0, batch=2, heads=2, query=4, key=4, d_k=3, d_v=5)
    mask[:] = True
    mask[0, 0, 1] = False
    mask[1] = False
    inputs = [x.to(dtype).requires_grad_() for x in (q, k, v)]
    if path == "fast":
        output = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    else:
        output, weights = scaled_dot_product_attention(*inputs, mask)
        assert not weights[0, :, 1].any()
        assert not weights[1].any()
    assert not output[0, :, 1].any()
    assert not output[1].any()
    assert output[0, :, 0].all()  # its neighbours are not touched
    for gradient in gradients(output, *inputs):
        assert gradient.isfinite().all()
        assert not gradient[1].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_scores_of_thousands_do_not_overflow(dtype: torch.dtype) -> None:
    query = torch.tensor([[200.0]], dtype=dtype)
    key = torch.tensor([[200.0], [-200.0], [200.0]], dtype=dtype)  # scores of 40,000
    mask = torch.tensor([[True, True, False]])
    output, weights = scaled_dot_product_attention(query, key, key, mask)
    assert weights.tolist() == [[1.0, 0.0, 0.0]]
    assert output.tolist() == [[200.0]]


@few
@given(n=sizes, seed=seeds)
def test_the_order_of_keys_does_not_matter_and_queries_keep_theirs(
    n: dict[str, int], seed: int
) -> None:
    q, k, v, mask = random_qkv(seed, **n)
    g = torch.Generator().manual_seed(seed)
    rows, columns = torch.randperm(n["query"], generator=g), torch.randperm(n["key"], generator=g)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    shuffled, shuffled_weights = scaled_dot_product_attention(
        q[:, :, rows], k[:, :, columns], v[:, :, columns], mask[:, :, rows][..., columns]
    )
    same(shuffled, output[:, :, rows])
    same(shuffled_weights, weights[:, :, rows][..., columns])


def test_scores_of_random_vectors_have_unit_variance_at_any_width() -> None:
    # Section 3.2.1, footnote 4: without the factor the variance would be d_k. The weights of two
    # keys give the difference of their scores back: log(w1 / w2), of variance 2.
    g = torch.Generator().manual_seed(0)
    for width in (4, 64, 512):
        q = torch.randn(4000, 1, width, generator=g, dtype=torch.float64)
        k = torch.randn(4000, 2, width, generator=g, dtype=torch.float64)
        _, weights = scaled_dot_product_attention(q, k, k)
        difference = weights[..., 0].log() - weights[..., 1].log()
        assert difference.var().item() == pytest.approx(2.0, rel=0.15)


# Multi-head attention ------------------------------------------------------------------------

multi_head_shapes = st.fixed_dictionaries(
    {
        "n_heads": st.integers(1, 4),
        "d_model": st.integers(1, 9),
        "d_k": st.integers(1, 6),
        "d_v": st.integers(1, 6),
    }
)


def multi_head(seed: int, **shape: Any) -> MultiHeadAttention:
    torch.manual_seed(seed)
    return MultiHeadAttention(**shape).double()


@few
@given(shape=multi_head_shapes, seed=seeds)
def test_multi_head_attention_is_the_concatenation_of_its_heads_times_w_o(
    shape: dict[str, int], seed: int
) -> None:
    attention = multi_head(seed, **shape)
    h, d_model = shape["n_heads"], shape["d_model"]
    query, key, value = (torch.randn(2, n, d_model, dtype=torch.float64) for n in (3, 4, 4))
    mask = torch.rand(2, h, 3, 4) < 0.6
    heads, weights = [], []
    for i in range(h):
        w_q, w_k, w_v = (
            getattr(attention, name).weight.chunk(h)[i].T
            for name in ("w_query", "w_key", "w_value")
        )
        head, w = scaled_dot_product_attention(query @ w_q, key @ w_k, value @ w_v, mask[:, i])
        heads.append(head)
        weights.append(w)
    expected = torch.cat(heads, dim=-1) @ attention.w_output.weight.T
    fast, written_out, recorded = both_paths(attention, query, key, value, mask)
    same(fast, expected)
    same(written_out, expected)
    same(recorded, torch.stack(weights, dim=1))


@few
@given(shape=multi_head_shapes, seed=seeds, training=st.booleans(), masked=st.booleans())
def test_written_out_path_equals_fast_path_forward_and_backward(
    shape: dict[str, int], seed: int, training: bool, masked: bool
) -> None:
    attention = multi_head(seed, **shape, dropout=0.0).train(training)
    inputs = [
        torch.randn(2, n, shape["d_model"], dtype=torch.float64, requires_grad=True)
        for n in (3, 4, 4)
    ]
    mask = torch.rand(2, 1, 3, 4) < 0.5  # may close whole rows
    fast, written_out, _ = both_paths(attention, *inputs, mask if masked else None)
    same(written_out, fast)
    targets = [*inputs, *attention.parameters()]
    for a, b in zip(gradients(fast, *targets), gradients(written_out, *targets), strict=True):
        assert a.isfinite().all()
        same(a, b)


@few
@given(shape=multi_head_shapes, seed=seeds)
def test_permuting_the_heads_changes_nothing_but_their_order(
    shape: dict[str, int], seed: int
) -> None:
    attention = multi_head(seed, **shape)
    x = torch.randn(2, 4, shape["d_model"], dtype=torch.float64)
    before, _, weights = both_paths(attention, x, x, x)
    order = torch.randperm(shape["n_heads"])
    with torch.no_grad():
        for linear in (attention.w_query, attention.w_key, attention.w_value):
            rows = linear.weight.unflatten(0, (shape["n_heads"], -1))
            linear.weight.copy_(rows[order].flatten(0, 1))
        columns = attention.w_output.weight.unflatten(1, (shape["n_heads"], -1))
        attention.w_output.weight.copy_(columns[:, order].flatten(1))
    after, _, permuted = both_paths(attention, x, x, x)
    same(after, before)
    same(permuted, weights[:, order])


@pytest.mark.parametrize("d_k", [None, 5])
@pytest.mark.parametrize("d_v", [None, 7])
def test_weights_are_counted_as_section_3_2_2_counts_them(d_k: int | None, d_v: int | None) -> None:
    attention = MultiHeadAttention(12, 3, d_k, d_v)
    k, v = d_k or 4, d_v or 4
    by_hand = 3 * (2 * 12 * k + 12 * v) + 3 * v * 12
    assert sum(p.numel() for p in attention.parameters()) == by_hand


def test_a_fully_masked_row_gives_zeros_and_finite_gradients_on_both_paths() -> None:
    attention = multi_head(0, d_model=8, n_heads=2)
    x = torch.randn(3, 4, 8, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(3, 1, 4, 4, dtype=torch.bool)
    mask[0, 0, 2] = False
    mask[2] = False
    for output in both_paths(attention, x, x, x, mask)[:2]:
        assert not output[0, 2].any()
        assert not output[2].any()
        for gradient in gradients(output, x, *attention.parameters()):
            assert gradient.isfinite().all()


@pytest.mark.parametrize("recording", [False, True], ids=["fast", "written out"])
def test_dropout_falls_on_the_weights_in_training_only(recording: bool) -> None:
    # One head, values that are the unit vectors, and W^O = 1: the output is the weights.
    n, p = 64, 0.3
    attention = multi_head(0, d_model=n, n_heads=1, dropout=p)
    with torch.no_grad():
        for linear in (attention.w_value, attention.w_output):
            linear.weight.copy_(torch.eye(n))
    x = torch.randn(4, n, n, dtype=torch.float64)
    units = torch.eye(n, dtype=torch.float64).expand(4, n, n)
    recorded: list[Tensor] = []
    attention.on_weights = recorded.append if recording else None
    whole = attention.eval()(x, x, units)
    same(whole.sum(-1), torch.ones(4, n, dtype=torch.float64))
    dropped = attention.train()(x, x, units)
    kept = dropped != 0
    assert (~kept).double().mean().item() == pytest.approx(p, abs=0.02)
    same(dropped[kept], whole[kept] / (1 - p))
    if recording:  # what is shown is taken before dropout
        same(recorded[1][:, 0], whole)


@pytest.mark.parametrize("widths", [{}, {"d_k": 4}, {"d_v": 4}])
def test_a_width_that_the_heads_do_not_divide_is_refused(widths: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"d_model \(10\) must be divisible by n_heads \(4\), or"):
        MultiHeadAttention(10, 4, **widths)
    assert MultiHeadAttention(10, 4, d_k=4, d_v=4)(*[torch.zeros(1, 2, 10)] * 3).shape == (1, 2, 10)
