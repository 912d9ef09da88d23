"""Heads in groups."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import same, seeds, sentences, small_config
from transformer.attention import MultiHeadAttention
from transformer.decoding.steps import CachedSteps
from transformer.introspect import attention_modules, record_attention
from transformer.variants import build
from transformer.variants.grouped import GroupedAttention


@given(seeds, st.sampled_from([1, 2, 4]))
def test_with_a_group_for_each_head_it_is_the_papers_attention(seed, n_heads):
    torch.manual_seed(seed)
    paper = MultiHeadAttention(16, n_heads)
    grouped = GroupedAttention(16, n_heads, n_groups=n_heads)
    grouped.load_state_dict(paper.state_dict())
    x, y = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    same(grouped(x, y, y), paper(x, y, y), 1e-6)


@given(seeds, st.sampled_from([1, 2]))
def test_it_is_the_papers_attention_with_equal_keys_and_values_in_a_group(seed, n_groups):
    torch.manual_seed(seed)
    paper, grouped = MultiHeadAttention(16, 4), GroupedAttention(16, 4, n_groups)
    weights = grouped.state_dict()
    for name in ("w_key.weight", "w_value.weight"):
        by_group = weights[name].unflatten(0, (n_groups, -1))  # (groups, d_k, d_model)
        weights[name] = by_group.repeat_interleave(4 // n_groups, dim=0).flatten(0, 1)
    paper.load_state_dict(weights)
    x, y = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    same(grouped(x, y, y), paper(x, y, y), 1e-6)


@pytest.mark.parametrize(("name", "n_groups"), [("multi_query", 1), ("grouped", 2)])
def test_the_cache_and_the_projections_shrink_with_the_groups(name, n_groups):
    config = small_config(n_heads=4)
    model, src = build(config, name).eval(), sentences([5, 3])
    steps = CachedSteps(model, src)
    with torch.inference_mode():
        steps(torch.ones(2, 1, dtype=torch.long))
    for own, cross in steps.cache.layers:
        for cache, length in ((own, 1), (cross, 5)):
            shape = (2, n_groups, length, config.key_width)
            assert [x.shape for x in cache.read()] == [shape, shape]
    for attention in attention_modules(model).values():
        assert attention.w_key.weight.shape == (n_groups * config.key_width, config.d_model)
        assert attention.w_query.weight.shape == (config.d_model, config.d_model)


def test_each_head_has_weights_of_its_own():
    model = build(small_config(n_heads=4), "multi_query")
    with record_attention(model) as weights, torch.no_grad():
        model(sentences([5]), sentences([4], seed=1))
    assert weights["encoder.0.self"].shape == (1, 4, 5, 5)
    assert len({tuple(head.flatten().tolist()) for head in weights["encoder.0.self"][0]}) == 4


def test_what_cannot_be_grouped_gets_a_sentence():
    with pytest.raises(ValueError, match=r"n_heads \(4\) must be a multiple of n_groups \(3\)"):
        GroupedAttention(16, 4, 3)
    with pytest.raises(ValueError, match=r"d_v \(8\) must equal d_k \(4\)"):
        GroupedAttention(16, 4, 2, d_v=8)
