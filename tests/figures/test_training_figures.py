"""Figures of training show what they are given."""

import numpy as np
import pytest

from transformer.figures.training import (
    batch_rectangles,
    confidence_curves,
    learning_rates,
    shared_steps,
    symbol_rows,
    target_distributions,
    training_curves,
    word_chances,
)
from transformer.training import noam_rate


def test_rates_are_drawn_with_their_peaks() -> None:
    steps = np.arange(1, 101)
    rates = [noam_rate(int(step), 64, 10) for step in steps]
    ax = learning_rates(steps, {"64:10": rates})
    curve, peak = ax.lines
    np.testing.assert_allclose(curve.get_ydata(), rates)
    assert list(peak.get_xdata()) == [10]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "learning rate")


def test_a_curve_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="curve 'a' has 2 rates for 3 steps"):
        learning_rates([1, 2, 3], {"a": [0.1, 0.2]})


def test_batches_show_their_share_of_padding() -> None:
    batch = np.array([[5, 5, 5, 0], [5, 0, 0, 0]])
    figure = batch_rectangles({"mine": [batch]}, pad_id=0, columns=1)
    assert figure.axes[0].get_title() == "50% padding"
    np.testing.assert_array_equal(figure.axes[0].collections[0].get_array(), batch == 0)


def test_target_distributions_write_their_numbers() -> None:
    ax = target_distributions([[0.9, 0.1]], ["a"], ["a", "b"])
    assert [text.get_text() for text in ax.texts] == ["0.90", "0.10"]
    with pytest.raises(ValueError, match="does not fit 2 rows"):
        target_distributions([[0.9, 0.1]], ["a", "b"], ["a", "b"])


def test_the_lowest_loss_is_marked() -> None:
    ax = confidence_curves([0.1, 0.5, 0.9], {"x": [3.0, 1.0, 2.0]})
    assert list(ax.lines[1].get_xdata()) == [0.5]


def test_training_curves_show_scores_only_where_there_are_some() -> None:
    metrics = [{"step": 1, "loss": 2.0, "rate": 0.1}, {"step": 2, "loss": 1.0, "rate": 0.2}]
    assert len(training_curves(metrics).axes) == 2
    metrics[1]["bleu"] = 20.0
    axes = training_curves(metrics, score="bleu").axes
    assert list(axes[2].lines[0].get_ydata()) == [20.0]
    assert axes[2].get_ylabel() == "BLEU"
    metrics[1]["on the diagonal"] = 0.5
    assert training_curves(metrics, score="on the diagonal").axes[2].get_ylabel() == (
        "on the diagonal"
    )


def test_there_must_be_something_to_draw() -> None:
    with pytest.raises(ValueError, match="no metrics"):
        training_curves([])


def test_every_word_has_a_bar_at_every_stage() -> None:
    ax = word_chances(["the", "the"], {"before": [0.1, 0.2], "after": [0.6, 0.7]})
    assert [bar.get_height() for bar in ax.patches] == [0.1, 0.2, 0.6, 0.7]
    assert [text.get_text() for text in ax.get_legend().texts] == ["before", "after"]
    with pytest.raises(ValueError, match="stage 'x' has 1 chances for 2 words"):
        word_chances(["a", "b"], {"x": [0.1]})


def test_what_differs_from_the_first_sequence_is_framed() -> None:
    ax = symbol_rows({"asked for": ["1", "2"], "written": ["1", "<unk>", "2"]}, n_symbols=3)
    assert [text.get_text() for text in ax.texts] == ["1", "2", "1", "<unk>", "2"]
    assert {patch.get_xy() for patch in ax.patches} == {(1, 1), (2, 1)}
    ax = symbol_rows({"asked for": ["1", "2"], "written": []}, n_symbols=3)
    assert {patch.get_xy() for patch in ax.patches} == {(0, 1), (1, 1)}


def test_a_step_has_as_many_parts_on_few_devices_as_on_many() -> None:
    figure = shared_steps({"eight": (8, 1), "one": (1, 8), "two": (2, 4)})
    assert [len(ax.patches) for ax in figure.axes] == [8, 8, 8]
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["eight", "one", "two"]
