"""One stack for both sentences."""

import pytest
import torch

from tests.helpers import BOS, same, sentences, small_config, small_model
from transformer import Transformer
from transformer.variants import build
from transformer.variants.decoder_only import CausalLayer


def test_the_layers_of_both_halves_stand_on_each_other_without_cross_attention():
    torch.manual_seed(0)
    paper = Transformer(small_config())
    torch.manual_seed(0)
    model = build(small_config(), "decoder_only")
    layers = [*paper.encoder.layers, *paper.decoder.layers]
    assert model.config.n_layers == len(layers) == len(model.decoder.layers)
    assert model.config.max_len == 2 * paper.config.max_len
    for layer, original in zip(model.decoder.layers, layers, strict=True):
        same(layer.self_attention.w_key.weight, original.self_attention.w_key.weight, 0)
    d = paper.config.d_model  # four matrices and a norm in each layer of the decoder
    assert paper.n_parameters() - model.n_parameters() == paper.config.n_layers * (
        4 * d * d + 2 * d
    )


@torch.no_grad()
def test_it_is_one_causal_pass_over_source_and_target():
    """Written out: embeddings, positions, the layers with one triangle for a mask."""
    model = build(small_config(), "decoder_only").double().eval()
    src, tgt = sentences([4]), torch.tensor([[BOS, 5, 6]])
    text = torch.cat([src, tgt], dim=1)
    x = model.tgt_embedding(text) + small_model().tgt_positions.table[:7]
    triangle = torch.ones(7, 7, dtype=torch.bool).tril()[None, None]
    for layer in model.decoder.layers:
        x = layer(x, triangle)
    same(model(src, tgt), model.logits(x)[:, 4:])


@torch.no_grad()
def test_no_word_of_the_source_sees_a_later_one():
    model = build(small_config(), "decoder_only").double().eval()
    seen = []
    model.decoder.layers[-1].register_forward_hook(lambda *_: seen.append(_[-1]))
    for last in (5, 6):
        model(torch.tensor([[3, 4, last]]), torch.tensor([[BOS]]))
    same(seen[0][:, :2], seen[1][:, :2])
    assert (seen[0][:, 2:] - seen[1][:, 2:]).abs().amax(-1).min() > 1e-4


def test_a_learned_table_is_too_short_for_two_sentences():
    with pytest.raises(ValueError, match="has a table for one sentence"):
        build(small_config(positions="learned"), "decoder_only")
    model = build(small_config(positions="learned"), "rotary", "decoder_only")
    assert isinstance(model.decoder.layers[0], CausalLayer)
