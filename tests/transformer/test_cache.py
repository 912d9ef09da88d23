"""The cache: the same vectors from one position a step, and nothing projected twice."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import PAD, norms, same, seeds, sentences, small_model
from transformer.cache import CrossAttentionCache, SelfAttentionCache
from transformer.decoding import KeyValueCache
from transformer.masks import padding_mask


def keys_and_values(seed, length=1, batch=3):
    generator = torch.Generator().manual_seed(seed)
    return (
        torch.randn(batch, 2, length, 4, generator=generator),
        torch.randn(batch, 2, length, 5, generator=generator),
    )


def step_by_step(model, src, tgt, cache):
    """The decoder's vectors from one new position a step."""
    memory = model.encode(src)
    return torch.cat(
        [
            model.decode(
                tgt[:, t : t + 1],
                memory,
                src,
                tgt_mask=padding_mask(tgt[:, : t + 1], PAD),
                cache=cache,
            )
            for t in range(tgt.size(1))
        ],
        dim=1,
    )


@pytest.mark.slow
@given(
    seeds,
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.integers(1, 6),
    norms,
    st.sampled_from(["sinusoidal", "learned"]),
    st.none() | st.integers(1, 9),
)
@settings(max_examples=40)
def test_one_position_a_step_gives_the_vectors_of_the_whole_prefix(
    seed, lengths, tgt_len, norm, positions, width
):
    model = small_model(seed, norm=norm, positions=positions, d_k=width, d_v=width)
    src, tgt = sentences(lengths, seed), sentences([tgt_len] * len(lengths), seed + 1)
    with torch.no_grad():
        cache = KeyValueCache(model.config.n_layers)
        stepwise = step_by_step(model, src, tgt, cache)
        same(stepwise, model.decode(tgt, model.encode(src), src))
    assert cache.length == tgt_len


def test_without_a_mask_the_new_position_attends_to_all_that_is_cached():
    model, src, tgt = small_model(), sentences([4]), sentences([5])
    with torch.no_grad():
        memory, cache = model.encode(src), KeyValueCache(2)
        for t in range(5):
            hidden = model.decode(tgt[:, t : t + 1], memory, src, cache=cache)
        same(hidden, model.decode(tgt, memory, src)[:, -1:])


def test_a_step_projects_one_position_and_the_memory_only_once():
    model, src, tgt = small_model(), sentences([6, 4]), sentences([5, 5])
    projected = {"self": [], "cross": []}
    for layer in model.decoder.layers:
        for name, module in (("self", layer.self_attention), ("cross", layer.cross_attention)):
            for linear in (module.w_key, module.w_value):
                linear.register_forward_hook(
                    lambda _, inputs, __, name=name: projected[name].append(inputs[0].size(1))
                )
    with torch.no_grad():
        step_by_step(model, src, tgt, KeyValueCache(2))
    assert projected == {"self": [1] * (5 * 2 * 2), "cross": [6] * (2 * 2)}


def test_self_attention_gives_all_keys_and_values_so_far_in_order():
    cache = SelfAttentionCache()
    parts = [keys_and_values(seed) for seed in range(20)]
    for n, part in enumerate(parts, start=1):
        filled = cache.update(*part)
        assert cache.length == n and not cache.complete
        for which in (0, 1):
            expected = torch.cat([earlier[which] for earlier in parts[:n]], dim=2)
            assert torch.equal(filled[which], expected)
            assert torch.equal(cache.read()[which], expected)


def test_cross_attention_is_complete_with_the_memory_in_it():
    cache, memory = CrossAttentionCache(), keys_and_values(0, length=6)
    assert not cache.complete
    for returned in (cache.update(*memory), cache.read()):
        assert all(torch.equal(a, b) for a, b in zip(returned, memory, strict=True))
    assert cache.complete


def test_select_keeps_the_given_rows_in_the_given_order():
    cache = KeyValueCache(1)
    (own, cross), rows = cache.layers[0], torch.tensor([2, 0])
    old, memory, new = keys_and_values(0), keys_and_values(1, length=6), keys_and_values(2, batch=2)
    own.update(*old)
    cross.update(*memory)
    cache.select(rows)
    for which in (0, 1):
        assert torch.equal(cross.read()[which], memory[which][rows])
    filled = own.update(*new)
    for which in (0, 1):
        assert torch.equal(filled[which], torch.cat([old[which][rows], new[which]], dim=2))


def test_select_before_the_first_step_does_nothing():
    cache = KeyValueCache(2)
    cache.select(torch.tensor([0]))
    assert cache.length == 0


def test_more_than_one_new_token_is_an_error():
    model, src = small_model(), sentences([3])
    with pytest.raises(ValueError, match="with a cache, give one new token a sentence, not 2"):
        model.decode(sentences([2]), model.encode(src), src, cache=KeyValueCache(2))


def test_a_prefix_longer_than_the_model_takes_is_an_error():
    model, src, cache = small_model(max_len=3), sentences([3]), KeyValueCache(2)
    memory, token = model.encode(src), torch.tensor([[5]])
    for _ in range(3):
        model.decode(token, memory, src, cache=cache)
    with pytest.raises(ValueError, match=r"the target has 4 tokens, more than max_len \(3\)"):
        model.decode(token, memory, src, cache=cache)
