"""One step of a search: three ways, the same logits, whichever prefixes are continued."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import (
    BOS,
    PAD,
    VOCAB,
    assert_same_steps,
    same,
    seeds,
    sentence_lengths,
    sentences,
    shapes,
    small_model,
)
from transformer.decoding.fused import FusedSteps
from transformer.decoding.steps import CachedSteps, RecomputedSteps, start_decoding
from transformer.layers import DecoderLayer

WAYS = [RecomputedSteps, CachedSteps, FusedSteps]


@pytest.mark.slow
@given(seeds, shapes, sentence_lengths, st.integers(0, 2), st.integers(1, 3), st.data())
@settings(max_examples=40)
@torch.no_grad()
def test_all_ways_give_the_same_logits(seed, shape, lengths, extra, rows, data):
    """Any tokens are read, padding too; sentences leave, and prefixes change places."""
    model, src = small_model(seed, **shape), sentences(lengths, seed, extra)
    ways = [way(model, src, rows) for way in WAYS]
    assert_same_steps(ways, len(lengths), rows, seed, data, most_steps=20)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("spread", ["one wins", "all continue"])
def test_many_tokens_find_slots(rows, spread):
    """Twice the slots where every prefix is continued; where one wins, the others' are freed."""
    model, src = small_model(max_len=80), sentences([3, 2])
    packed, recomputed = FusedSteps(model, src, rows), RecomputedSteps(model, src, rows)
    output = torch.full((2 * rows, 1), BOS)
    winners = (rows * torch.arange(2)).repeat_interleave(rows)
    with torch.no_grad():
        for step in range(70):
            same(packed(output), recomputed(output))
            if spread == "one wins":
                packed.reorder(winners)
                output = output[winners]
            token = (torch.arange(2 * rows)[:, None] + step) % (VOCAB - 1) + 1
            output = torch.cat([output, token], dim=1)
    freed = rows > 1 and spread == "one wins"
    assert packed.buffer.size(2) == rows * (64 if freed else 128)


def test_padding_that_was_read_is_hidden_from_then_on():
    model, src = small_model(), sentences([3])
    steps = FusedSteps(model, src)
    output = torch.tensor([[BOS, 5, PAD, 6]])
    with torch.no_grad():
        for length in range(1, 5):
            logits = steps(output[:, :length])
        same(logits, model(src, output)[:, -1])


@pytest.mark.parametrize("part", ["output", "decoder.layers.0.cross_attention.w_output"])
def test_a_hook_is_heard(part):
    model, src = small_model(), sentences([3])
    assert isinstance(start_decoding(model, src), FusedSteps)
    calls = []
    module = model.get_submodule(part)
    handle = module.register_forward_hook(lambda *_: calls.append(1))
    steps = start_decoding(model, src)
    assert type(steps) is RecomputedSteps  # it may look at all positions at once
    with torch.no_grad():
        steps(torch.full((1, 1), BOS))
    assert calls
    handle.remove()
    assert isinstance(start_decoding(model, src), FusedSteps)


@pytest.mark.parametrize("kind", ["forward_hook", "forward_pre_hook"])
def test_a_hook_on_all_modules_is_heard(kind):
    model, src = small_model(), sentences([3])
    heard = []
    register = getattr(torch.nn.modules.module, f"register_module_{kind}")
    handle = register(lambda module, *_: heard.append(module))
    try:
        steps = start_decoding(model, src)
        heard.clear()  # the encoder's
        with torch.no_grad():
            steps(torch.full((1, 1), BOS))
    finally:
        handle.remove()
    assert set(model.decoder.layers) <= set(heard)
    assert isinstance(start_decoding(model, src), FusedSteps)


def test_a_layer_of_another_type_is_called_and_never_dropped():
    class Turned(DecoderLayer):
        def forward(self, *args):
            return super().forward(*args).flip(-1)

    model, src = small_model(norm="pre"), sentences([3])
    turned = Turned(model.config).double().eval()
    turned.load_state_dict(model.decoder.layers[1].state_dict())
    output = torch.full((1, 1), BOS)
    with torch.no_grad():
        whole = start_decoding(model, src)(output)
        model.decoder.layers[1] = turned
        same(start_decoding(model, src)(output), RecomputedSteps(model, src)(output))
        assert not torch.allclose(start_decoding(model, src)(output), whole)
        with pytest.raises(TypeError, match="a layer of the decoder is a Turned, not a Decoder"):
            FusedSteps(model, src)


def test_a_module_put_in_is_used():
    class Louder(torch.nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    model, src = small_model(), sentences([3])
    with torch.no_grad():
        plain = start_decoding(model, src)(torch.full((1, 1), BOS))
        louder = Louder(model.output.in_features, model.output.out_features, bias=False).double()
        louder.weight = model.output.weight
        model.output = louder
        same(start_decoding(model, src)(torch.full((1, 1), BOS)), 2 * plain)


@pytest.mark.parametrize("name", ["decode", "logits"])
def test_a_method_put_in_is_used(monkeypatch, name):
    model, src = small_model(), sentences([3])
    monkeypatch.setattr(model, name, getattr(model, name))
    assert isinstance(start_decoding(model, src), CachedSteps)


def test_weights_changed_after_one_search_count_in_the_next():
    model, src = small_model(), sentences([3])
    with torch.no_grad():
        start_decoding(model, src)
        model.decoder.layers[0].feed_forward.inner.weight.mul_(3)
        output = torch.full((1, 1), BOS)
        same(start_decoding(model, src)(output), RecomputedSteps(model, src)(output))
