"""The attention stepper in Python: its steps are the module's, its settings, its figure."""

import math

import numpy as np
import pytest
import torch
from traitlets import TraitError

from transformer.attention import scaled_dot_product_attention
from transformer.masks import causal_mask
from transformer.widgets.attention_stepper import AttentionStepper


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d_k", [2, 4, 20, 128])
def test_the_steps_are_the_modules(d_k, causal):
    widget = AttentionStepper(d_k=d_k, causal=causal)
    query, key = (torch.tensor(m, dtype=torch.float64)[:, :d_k] for m in (widget.query, widget.key))
    value = torch.tensor(widget.value, dtype=torch.float64)
    mask = causal_mask(4)[0, 0] if causal else None
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    steps = widget.steps()
    np.testing.assert_allclose(steps["weights"], weights, atol=1e-12)
    np.testing.assert_allclose(steps["output"], output, atol=1e-12)
    np.testing.assert_allclose(steps["scaled"], steps["scores"] / math.sqrt(d_k))
    assert (np.isneginf(steps["masked"]).any(), steps["masked"][3, 3]) == (
        causal, steps["scaled"][3, 3]
    )  # fmt: skip
    np.testing.assert_allclose(
        torch.tensor(steps["masked"]).softmax(-1), steps["weights"], atol=1e-12
    )


@pytest.mark.parametrize("causal", [False, True])
def test_without_scaling_the_root_is_left_out(causal):
    steps = AttentionStepper(d_k=64, scaling=False, causal=causal).steps()
    assert np.array_equal(steps["scaled"], steps["scores"])
    np.testing.assert_allclose(
        torch.tensor(steps["masked"]).softmax(-1), steps["weights"], atol=1e-12
    )


@pytest.mark.parametrize("scaling", [True, False])
def test_the_gradient_is_that_of_the_softmax(scaling):
    steps = AttentionStepper(d_k=32, scaling=scaling, causal=True).steps()
    for row, gradient in zip(torch.tensor(steps["masked"]), steps["gradient"], strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda x: x.softmax(-1), row)
        assert gradient == pytest.approx(float(jacobian.abs().max()), abs=1e-12)


def test_the_chapters_question_has_its_answer():
    def cat(d_k, scaling):
        steps = AttentionStepper(d_k=d_k, scaling=scaling).steps()
        return steps["weights"][1].max(), steps["gradient"][1]

    widths = (2, 4, 8, 16, 32, 64, 128)  # where the slider stops
    assert [d_k for d_k in widths if cat(d_k, scaling=False)[0] > 0.99] == [128]
    assert cat(128, scaling=False)[1] == pytest.approx(0.00168, abs=1e-5)
    assert all(cat(d_k, scaling=True)[0] < 0.5 for d_k in widths)
    assert all(0.2 < cat(d_k, scaling=True)[1] <= 0.25 for d_k in widths)


@pytest.mark.parametrize(
    ("error", "settings", "named"),
    [
        (ValueError, {"query": [[1.0]]}, "1 of query, key and value are given"),
        (TraitError, {"tokens": []}, "there are 0 tokens"),
        (TraitError, {"tokens": ["a"] * 13}, "there are 13 tokens; the tables take 1 to 12"),
        (TraitError, {"d_k": 129}, r"d_k \(129\) must be at most 128"),
        (TraitError, {"d_k": 0}, "d_k"),
        (TraitError, {"row": 4}, r"row \(4\) must be below 4"),
        (TraitError, {"step": 7}, "step"),
        *(
            (ValueError, {"query": query, "key": [[1.0]], "value": [[1.0]], "tokens": ["a"]}, named)
            for query, named in [
                ([1.0], r"query has shape \(1,\)"),
                ([["x"]], "query is no matrix of numbers"),
                ([[math.nan]], "query holds NaN or infinity"),
                ([[]], r"query has shape \(1, 0\)"),
            ]
        ),
        *(
            (TraitError, {"query": query, "key": [[1.0]], "value": [[1.0]], "tokens": ["a"]}, named)
            for query, named in [
                ([[1.0], [2.0]], "query has 2 rows for 1 tokens; give a row for each"),
                ([[1.0, 2.0]], "queries of width 2 cannot be compared with keys of width 1"),
            ]
        ),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(error, settings, named):
    with pytest.raises(error, match=named):
        AttentionStepper(**settings)


def test_what_no_longer_fits_is_refused_and_what_changes_together_is_not():
    widget = AttentionStepper(row=3)
    for name, value, named in [
        ("tokens", ["a", "b"], "query has 4 rows for 2 tokens"),
        ("query", [[1.0, 2.0]] * 4, "queries of width 2 cannot be compared"),
        ("value", [[math.inf]] * 4, "value holds NaN"),
    ]:
        with pytest.raises(TraitError, match=named):
            setattr(widget, name, value)
    assert widget.tokens == ["the", "cat", "sat", "down"]
    with widget.hold_trait_notifications():
        widget.tokens, widget.row, widget.d_k = ["a", "b"], 0, 1
        widget.query = widget.key = widget.value = [[1.0], [2.0004]]
    assert widget.value == [[1.0], [2.0]]
    assert widget.steps()["scores"].tolist() == [[1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize(("scaling", "causal"), [(True, False), (False, True)])
def test_the_twin_draws_the_same_steps(scaling, causal):
    widget = AttentionStepper(d_k=64, scaling=scaling, causal=causal)
    axes = widget.twin().axes
    assert [ax.get_title() for ax in axes] == [
        "scores",
        "scaled" if scaling else "not scaled",
        "masked" if causal else "no mask",
        "weights",
        "output",
    ]
    steps = widget.steps()
    for ax, name in zip(axes, ("scores", "scaled", "masked", "weights", "output"), strict=True):
        drawn = np.ma.filled(ax.collections[0].get_array(), -np.inf).reshape(4, 4)
        np.testing.assert_allclose(drawn, steps[name])
