"""Recording attention: what is left inside the block, and that nothing is left outside."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import PAD, norms, same, seeds, sentence_lengths, sentences, small_model
from transformer.decoding import greedy_search
from transformer.introspect import (
    attention_modules,
    mass_on,
    pause_recording,
    record_attention,
)
from transformer.masks import padding_mask, target_mask

few = settings(max_examples=20)


def is_recording(model: Any) -> bool:
    return any(module.on_weights is not None for module in attention_modules(model).values())


def test_every_attention_has_its_name_and_shape() -> None:
    model = small_model(n_layers=3, n_heads=4)
    src, tgt = sentences([5, 2]), sentences([3, 4])
    with record_attention(model) as attention:
        model(src, tgt)
    expected = {}
    for i in range(3):
        expected[f"encoder.{i}.self"] = (2, 4, 5, 5)
        expected[f"decoder.{i}.self"] = (2, 4, 4, 4)
        expected[f"decoder.{i}.cross"] = (2, 4, 4, 5)
    assert {name: tuple(weights.shape) for name, weights in attention.items()} == expected


@few
@given(
    seed=seeds,
    norm=norms,
    src_lengths=st.lists(st.integers(1, 6), min_size=2, max_size=2),
    tgt_lengths=st.lists(st.integers(1, 6), min_size=2, max_size=2),
    training=st.booleans(),
)
def test_rows_sum_to_1_and_masked_weights_are_0_also_in_training_with_dropout(
    seed: int, norm: str, src_lengths: list[int], tgt_lengths: list[int], training: bool
) -> None:
    model = small_model(seed, norm=norm, dropout=0.5).train(training)
    src, tgt = sentences(src_lengths, seed, extra=1), sentences(tgt_lengths, seed, extra=1)
    with record_attention(model) as attention:
        model(src, tgt)
    assert len(attention) == 6
    for name, weights in attention.items():
        same(weights.sum(-1), torch.ones_like(weights[..., 0]))
        assert (weights >= 0).all()
        mask = target_mask(tgt, PAD) if "decoder" in name else padding_mask(src, PAD)
        mask = padding_mask(src, PAD) if "cross" in name else mask
        assert (weights.masked_select(~mask) == 0).all()
        assert (weights.masked_select(mask) > 0).all()


def test_the_recorded_weights_are_those_of_the_named_layer() -> None:
    model = small_model(norm="post")
    src, tgt = sentences([5]), sentences([4])
    seen: dict[str, Any] = {}
    for i, layer in enumerate(model.decoder.layers):
        layer.cross_attention.register_forward_pre_hook(
            lambda module, args, i=i: seen.update({f"decoder.{i}.cross": (module, args)})
        )
    with record_attention(model) as attention:
        model(src, tgt)
    assert len(seen) == 2
    for name, (module, (query, key, *_)) in seen.items():
        q, k = (
            linear(x).unflatten(-1, (2, 8)).transpose(1, 2)
            for linear, x in ((module.w_query, query), (module.w_key, key))
        )
        same(attention[name], (q @ k.mT / 8**0.5).softmax(-1))


def test_the_weights_are_detached_and_gradients_still_flow() -> None:
    model = small_model()
    with record_attention(model) as attention:
        logits = model(sentences([3]), sentences([4]))
    assert not any(weights.requires_grad for weights in attention.values())
    logits.sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_outside_the_block_nothing_is_stored() -> None:
    model = small_model()
    src, tgt = sentences([3]), sentences([4])
    before = set(model.state_dict())
    model(src, tgt)
    with record_attention(model) as attention:
        assert is_recording(model)
        assert attention == {}
        model(src, tgt)
    kept = {name: weights.clone() for name, weights in attention.items()}
    assert not is_recording(model)
    model(sentences([6], seed=1), sentences([2], seed=2))
    assert set(attention) == set(kept)
    for name, weights in kept.items():
        assert torch.equal(attention[name], weights)
    assert set(model.state_dict()) == before


def test_an_exception_inside_the_block_ends_the_recording() -> None:
    model = small_model()
    with pytest.raises(ValueError, match="out of range"), record_attention(model):
        model(torch.tensor([[99]]), torch.tensor([[1]]))
    assert not is_recording(model)


def test_a_later_pass_replaces_an_earlier_one() -> None:
    model = small_model()
    with record_attention(model) as attention:
        model(sentences([3]), sentences([4]))
        model(sentences([6, 1]), sentences([2, 2]))
    assert attention["decoder.1.cross"].shape == (2, 2, 2, 6)


def test_encode_and_decode_leave_what_they_use() -> None:
    model, src = small_model(), sentences([3])
    with record_attention(model) as attention:
        memory = model.encode(src)
        assert set(attention) == {"encoder.0.self", "encoder.1.self"}
        model.decode(sentences([4]), memory, src)
    assert len(attention) == 6


def test_an_inner_block_records_for_itself_and_gives_back_to_the_outer_one() -> None:
    model = small_model()
    with record_attention(model) as outer:
        model(sentences([3]), sentences([2]))
        with record_attention(model) as inner:
            model(sentences([5]), sentences([2]))
        assert outer["encoder.0.self"].size(-1) == 3
        assert inner["encoder.0.self"].size(-1) == 5
        model(sentences([6]), sentences([2]))
    assert outer["encoder.0.self"].size(-1) == 6
    assert inner["encoder.0.self"].size(-1) == 5
    assert not is_recording(model)


def test_two_models_are_recorded_apart() -> None:
    first, second = small_model(0), small_model(1)
    with record_attention(first) as attention:
        second(sentences([3]), sentences([2]))
    assert attention == {}


def test_a_pause_stops_the_recording_and_says_whether_there_was_one() -> None:
    model = small_model()
    with pause_recording(model) as recording:
        assert recording is False
    with record_attention(model) as attention:
        with pause_recording(model) as recording:
            assert recording is True
            model(sentences([3]), sentences([2]))
        assert attention == {}
        with pytest.raises(ZeroDivisionError), pause_recording(model):
            _ = 1 / 0
        assert is_recording(model)
    assert not is_recording(model)


@few
@given(seed=seeds, lengths=sentence_lengths, use_cache=st.booleans(), max_len=st.integers(1, 6))
def test_greedy_search_leaves_the_weights_of_bos_and_all_tokens_it_has_read(
    seed: int, lengths: list[int], use_cache: bool, max_len: int
) -> None:
    bos, eos = 1, 2
    model = small_model(seed, dropout=0.2).train()
    src = sentences(lengths, seed)
    with record_attention(model) as attention:
        found = greedy_search(
            model, src, bos_id=bos, eos_id=eos, max_len=max_len, use_cache=use_cache
        )
        assert is_recording(model)
    assert model.training
    # A sentence that was cut off has a last token that the decoder never read.
    read = [[bos, *hypotheses[0].tokens][:max_len] for hypotheses in found]
    tgt = torch.full((len(read), max(map(len, read))), PAD)
    for row, tokens in zip(tgt, read, strict=True):
        row[: len(tokens)] = torch.tensor(tokens)
    with record_attention(model.eval()) as expected, torch.no_grad():
        model(src, tgt)
    assert set(attention) == set(expected)
    for name, weights in expected.items():
        same(attention[name], weights)
    if max_len > 1:  # the rows of the words that were found sum to 1, for every sentence
        for row, tokens in enumerate(read):
            rows = attention["decoder.1.cross"][row, :, : len(tokens)]
            same(rows.sum(-1), torch.ones_like(rows[..., 0]))


def test_the_mass_on_links_is_the_mean_over_the_queries_that_have_one() -> None:
    weights = torch.tensor(
        [
            [[0.5, 0.2, 0.3], [0.1, 0.8, 0.1], [1.0, 0.0, 0.0]],
            [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ]
    )
    # Query 0 has two links, query 1 one (named twice), query 2 none.
    links = [(0, 0), (0, 2), (1, 1), (1, 1)]
    same(mass_on(weights, links), torch.tensor([0.8, 1.0]), 1e-6)


def test_links_that_cannot_be_are_refused() -> None:
    weights = torch.ones(2, 3, 4) / 4
    with pytest.raises(ValueError, match=r"^there are no links to look for$"):
        mass_on(weights, [])
    for link in [(3, 0), (0, 4), (-1, 0)]:
        with pytest.raises(ValueError) as error:
            mass_on(weights, [link])
        assert str(error.value) == f"link {link} is outside weights of (3, 4)"
