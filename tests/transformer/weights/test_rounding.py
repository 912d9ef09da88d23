"""Weights in 8 bits: how far off they are, and that files of them give the same model back."""

import pytest
import torch

from transformer import Transformer, TransformerConfig
from transformer.weights import (
    CheckpointError,
    load_model,
    model_tensors,
    save_model,
    save_tensors,
)
from transformer.weights.rounding import LEVELS, SCALE, round_rows, rounded, unrounded


def tiny(**settings):
    torch.manual_seed(0)
    return Transformer(TransformerConfig.tiny(src_vocab_size=30, **settings))


def test_no_weight_is_off_by_more_than_half_a_scale():
    matrix = torch.randn(50, 20)
    levels, scale = round_rows(matrix)
    assert levels.dtype == torch.int8 and levels.abs().amax(dim=1).eq(LEVELS).all()
    off = (levels * scale[:, None] - matrix).abs()
    assert (off <= scale[:, None] / 2 * (1 + 1e-5)).all() and off.max() > 0


def test_a_row_of_zeros_stays_zero():
    levels, scale = round_rows(torch.zeros(2, 3))
    assert not levels.any() and scale.isfinite().all()


def test_rounding_twice_changes_nothing_more():
    once = unrounded(rounded(model_tensors(tiny())))
    twice = unrounded(rounded(once))
    for name, tensor in once.items():
        assert torch.equal(twice[name], tensor), name


@pytest.mark.parametrize("settings", [{}, {"norm": "post", "positions": "learned", "max_len": 9}])
def test_a_file_in_8_bits_gives_the_rounded_model(settings, tmp_path):
    model, file = tiny(**settings), tmp_path / "model.safetensors"
    save_model(tmp_path / "whole.safetensors", model)
    save_model(file, model, in_8_bits=True)
    found = load_model(file)
    expected = unrounded(rounded(model_tensors(model)))
    assert model_tensors(found).keys() == expected.keys()
    for name, tensor in model_tensors(found).items():
        assert torch.equal(tensor, expected[name]), name
    assert file.stat().st_size < 0.4 * (tmp_path / "whole.safetensors").stat().st_size
    src = torch.randint(4, 30, (3, 8))
    assert (found(src, src) - model.eval()(src, src)).abs().max() < 0.1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.pop("src_embedding.weight" + SCALE), "torch.int8"),
        (lambda t: t.update({"encoder.norm.weight" + SCALE: torch.ones(64)}), "another model"),
        (lambda t: t.update({"src_embedding.weight" + SCALE: torch.ones(7)}), "does not belong"),
        (lambda t: t["src_embedding.weight" + SCALE].fill_(float("inf")), "not finite"),
    ],
    ids=["no scales", "scales of a vector", "too few scales", "infinite scales"],
)
def test_scales_that_do_not_fit_are_named(change, said, tmp_path):
    model = tiny()
    tensors = rounded(model_tensors(model))
    change(tensors)
    save_tensors(tmp_path / "odd.safetensors", tensors, {"config": model.config.to_dict()})
    with pytest.raises(CheckpointError, match=said):
        load_model(tmp_path / "odd.safetensors")
