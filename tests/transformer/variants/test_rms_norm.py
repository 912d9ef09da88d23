"""The RMS norm: torch's own, and a layer norm where the mean is 0 already."""

import torch
from hypothesis import given
from torch import nn

from tests.helpers import same, seeds, small_config
from transformer import Transformer
from transformer.variants import build
from transformer.variants.rms_norm import RMSNorm


@given(seeds)
def test_it_equals_torchs_own(seed):
    torch.manual_seed(seed)
    ours, theirs = RMSNorm(16).double(), nn.RMSNorm(16, eps=1e-5).double()
    with torch.no_grad():
        ours.weight.copy_(torch.randn(16))
        theirs.weight.copy_(ours.weight)
    inputs = [torch.randn(2, 3, 16, dtype=torch.float64).requires_grad_() for _ in range(1)]
    outputs = [norm(inputs[0]) for norm in (ours, theirs)]
    same(*outputs)
    gradients = [torch.autograd.grad(y.square().sum(), inputs, retain_graph=True) for y in outputs]
    same(gradients[0][0], gradients[1][0])


def test_large_numbers_in_half_precision_are_no_zeros():
    """The square of 300 is infinite in float16."""
    x = torch.tensor([300.0, -300.0, 300.0, 300.0]).half()
    ours = RMSNorm(4).half()(x)
    assert ours.dtype == torch.float16
    same(ours.double(), torch.tensor([1.0, -1.0, 1.0, 1.0]).double(), 1e-3)
    same(ours, nn.RMSNorm(4, eps=1e-5).half()(x), 1e-3)


def test_of_centred_vectors_it_is_the_layer_norm():
    x = torch.randn(5, 16)
    centred = x - x.mean(dim=-1, keepdim=True)
    same(RMSNorm(16)(centred), nn.LayerNorm(16)(centred), 1e-5)
    assert (RMSNorm(16)(x + 3) - nn.LayerNorm(16)(x + 3)).abs().max() > 0.5


def test_every_norm_is_replaced_and_loses_its_bias():
    for norm in ("post", "pre"):
        config = small_config(norm=norm)
        paper, model = Transformer(config), build(config, "rms_norm")
        n_norms = sum(isinstance(part, nn.LayerNorm) for part in paper.modules())
        assert not any(isinstance(part, nn.LayerNorm) for part in model.modules())
        assert sum(isinstance(part, RMSNorm) for part in model.modules()) == n_norms
        assert paper.n_parameters() - model.n_parameters() == n_norms * config.d_model
