"""Gated feed-forward networks."""

import pytest
import torch
import torch.nn.functional as F

from tests.helpers import same, small_config
from transformer import Transformer, TransformerConfig
from transformer.layers import FeedForward
from transformer.variants import build
from transformer.variants.gated import GATES, GatedFeedForward


@pytest.mark.parametrize("gate", GATES)
def test_one_projection_passes_through_the_gate_and_multiplies_the_other(gate):
    ffn, x = GatedFeedForward(4, 6, gate), torch.randn(2, 3, 4)
    opened = {
        "glu": torch.sigmoid,
        "reglu": F.relu,
        "geglu": F.gelu,
        "swiglu": lambda z: z * torch.sigmoid(z),
        "bilinear": lambda z: z,
    }[gate](x @ ffn.inner_gate.weight.T)
    same(ffn(x), (opened * (x @ ffn.inner.weight.T)) @ ffn.outer.weight.T, 1e-6)


def test_torchs_glu_is_the_gate_with_a_sigmoid():
    ffn, x = GatedFeedForward(4, 6, "glu"), torch.randn(2, 3, 4)
    both = torch.cat([ffn.inner(x), ffn.inner_gate(x)], dim=-1)
    same(ffn(x), ffn.outer(F.glu(both)), 1e-6)


def test_two_thirds_of_the_width_make_as_many_weights():
    config = TransformerConfig.base(n_layers=1)
    paper, model = Transformer(config), build(config, "swiglu")
    ffns = [part for part in model.modules() if isinstance(part, GatedFeedForward)]
    assert [ffn.inner.out_features for ffn in ffns] == [round(config.d_ff * 2 / 3)] * 2
    of_paper, of_variant = (
        sum(p.numel() for p in ffn.parameters() if p.dim() == 2)
        for ffn in (paper.encoder.layers[0].feed_forward, ffns[0])
    )
    assert abs(of_variant / of_paper - 1) < 0.001
    assert not any(isinstance(part, FeedForward) for part in model.modules())


def test_a_new_matrix_is_drawn_as_all_others_are():
    for part in build(small_config(d_model=64, d_ff=96), "swiglu").decoder.modules():
        if isinstance(part, GatedFeedForward):
            glorot = (6 / (64 + 64)) ** 0.5  # two thirds of 96
            assert 0.9 * glorot < part.inner.weight.abs().max() <= glorot


def test_an_unknown_gate_gets_a_sentence():
    with pytest.raises(ValueError, match=r"gate \('tanh'\) must be one of glu, reglu"):
        GatedFeedForward(4, 6, "tanh")
