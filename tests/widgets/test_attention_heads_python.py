"""The heads explorer in Python: its numbers, its size on the page, its figure, bad input."""

import gzip
import math

import numpy as np
import pytest
import torch

from tests.widgets.heads_examples import LINKS, made, real, true
from tools.widget_pages import place_of
from transformer.introspect import mass_on
from transformer.widgets.attention_heads import KINDS, AttentionHeads


def test_statistics_are_what_torch_computes():
    widget = AttentionHeads(real())
    for one in widget.statistics():
        weights = true(one["kind"], one["layer"], one["head"])
        shown = widget.weights(one["kind"], one["layer"], one["head"])
        assert np.abs(shown - weights.numpy()).max() <= 0.000501
        entropy = torch.special.entr(weights).sum(-1).mean() / math.log(2)
        assert one["entropy"] == pytest.approx(entropy.item(), abs=0.01)
        assert one["diagonal"] == pytest.approx(weights.diagonal().mean().item(), abs=0.0005)
        if one["kind"] == "cross":
            assert one["previous"] is None
            found = mass_on(weights[None], LINKS).item()
            assert one["aligned"] == pytest.approx(found, abs=0.001)
        else:
            assert one["aligned"] is None
            before = weights.diagonal(-1).mean().item()
            assert one["previous"] == pytest.approx(before, abs=0.0005)


@pytest.mark.parametrize("sharp", [1.0, 2.0, 4.0])
def test_a_big_models_weights_are_light(sharp):
    widget = AttentionHeads(made(30, 30, n_layers=6, n_heads=8, sharp=sharp))
    assert len(gzip.compress(place_of(widget).encode())) < 150_000


@pytest.mark.parametrize("kind", KINDS)
def test_the_twin_draws_the_same_heads(kind):
    figure = AttentionHeads(real(), kind=kind).twin()
    axes = [ax for ax in figure.axes if ax.get_title().startswith("layer")]
    assert [ax.get_title() for ax in axes[:2]] == ["layer 1, head 1", "layer 1, head 2"]
    for n, ax in enumerate(axes):
        drawn = np.asarray(ax.collections[0].get_array()).reshape(7, 7)
        assert np.abs(drawn - true(kind, n // 4, n % 4).numpy()).max() < 0.00051


GOOD = made()["weights"]
NAN = {**GOOD, "encoder.0.self": GOOD["encoder.0.self"] * np.nan}


@pytest.mark.parametrize(
    ("examples", "settings", "named"),
    [
        ([], {}, "no examples"),
        (3, {}, "examples is 3; give one"),
        ({"source": ["a"]}, {}, "example 0 has no weights"),
        (made(weights={}), {}, "are empty; record the attention"),
        (made(source=["a"]), {}, r"has the shape \(2, 5, 5\).* need \(heads, 1, 1\)"),
        (made(weights={"encoder.0.self": [[1, 2], [3]]}), {}, "no array of numbers"),
        (made(source=[]), {}, "source of example 0 is empty"),
        (made(target=()), {}, "target of example 0 is empty"),
        (made(source="s0 s1 s2"), {}, "give a list of its tokens"),
        (made(source=None), {}, "give a list of its tokens"),
        (made(weights=NAN), {}, "NaN or infinite"),
        (made(weights={n: w - 0.5 for n, w in GOOD.items()}), {}, "not scores"),
        (made(weights={n: w / 2 for n, w in GOOD.items()}), {}, "sums to 0.500, not to 1"),
        (made(weights={"encoder.self": GOOD["encoder.0.self"]}), {}, "unknown kind"),
        (made(weights={"encoder.1.self": GOOD["encoder.0.self"]}), {}, "lacks a layer"),
        (made(alignment=[(4, 0)]), {}, r"\(4, 0\), outside its 4 target and 5 source"),
        (made(alignment=[(1, 2, 3)]), {}, r"has \(1, 2, 3\); give"),
        ([made(), made(n_heads=3)], {}, "example 1 has other layers or heads"),
        (made(), {"kind": "decoder"}, "no attention of kind 'decoder'"),
        (made(), {"layer": 1}, "layer 1 is not there; choose from 0 to 0"),
        (made(), {"head": -1}, "head -1 is not there"),
        (made(), {"example": 1}, "example 1 is not there"),
        (made(), {"view": "graph"}, "view"),
    ],
)  # fmt: skip
def test_input_that_makes_no_sense_is_a_sentence(examples, settings, named):
    with pytest.raises(Exception, match=named) as error:
        AttentionHeads(examples, **settings)
    assert type(error.value).__name__ in ("ValueError", "TraitError")
    assert "\n" not in str(error.value)
