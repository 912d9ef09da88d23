"""Figures of evaluation show what they are given."""

import pytest

from transformer.figures.evaluation import (
    feature_shares,
    resampled_scores,
    score_histogram,
    score_intervals,
)


def test_each_system_has_its_score_and_its_interval() -> None:
    ax = score_intervals({"greedy": 30.0, "beam": 31.5}, {"greedy": 2.0, "beam": 1.0})
    bars = [bar.lines[2][0].get_segments()[0] for bar in ax.containers]
    assert [(a[0], b[0]) for a, b in bars] == [(28.0, 32.0), (30.5, 32.5)]
    assert [text.get_text() for text in ax.texts] == ["30.0", "31.5"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["greedy", "beam"]
    with pytest.raises(ValueError, match="intervals of"):
        score_intervals({"greedy": 30.0}, {"beam": 1.0})


def test_a_histogram_counts_everything_and_names_its_marks() -> None:
    ax = score_histogram([1.0, 2.0, 2.0, 5.0], {"mean": 2.5, "high": 5.0}, label="chrF")
    assert sum(bar.get_height() for bar in ax.patches) == 4
    assert [line.get_xdata()[0] for line in ax.lines] == [2.5, 5.0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mean: 2.5", "high: 5.0"]
    assert ax.get_xlabel() == "chrF"


def test_each_sign_has_a_bar_in_each_group() -> None:
    shares = {"all": {"short": 0.1, "long": 0.0}, "worst": {"short": 0.5, "long": 0.25}}
    ax = feature_shares(shares)
    assert [bar.get_width() for bar in ax.patches] == [0.1, 0.0, 0.5, 0.25]
    assert [text.get_text() for text in ax.texts] == ["10.0%", "0.0%", "50.0%", "25.0%"]
    with pytest.raises(ValueError, match="same signs"):
        feature_shares({"all": {"short": 0.1}, "worst": {"long": 0.1}})


def test_signs_that_never_occur_can_be_drawn() -> None:
    assert feature_shares({"all": {"short": 0.0}}).get_xlim()[1] > 0


def test_two_systems_are_drawn_with_their_difference() -> None:
    left, right = resampled_scores({"greedy": [30.0, 31.0, 32.0], "beam": [31.0, 31.5, 33.0]})
    assert sum(bar.get_height() for bar in left.patches) == 6
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["greedy", "beam"]
    assert sum(bar.get_height() for bar in right.patches) == 3
    assert all(bar.get_x() > 0.3 for bar in right.patches if bar.get_height())
    assert right.get_xlabel() == "beam minus greedy, in BLEU"
    assert right.get_xlim()[0] <= -1
    with pytest.raises(ValueError, match="two systems"):
        resampled_scores({"greedy": [30.0]})
