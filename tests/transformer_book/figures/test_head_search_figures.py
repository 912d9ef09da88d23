"""Lines are as thick as weights, and found heads stand where their numbers say."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from transformer_book.figures.head_search import found_heads, self_attention_lines

WORDS = ["ein", "Hund", "bellt"]
WEIGHTS = [[0.97, 0.02, 0.01], [0.5, 0.5, 0.0], [0.1, 0.8, 0.1]]


def xs(line: Line2D) -> list[float]:
    values: list[float] = np.asarray(line.get_xdata(), dtype=float).tolist()
    return values


def drawn_lines(ax: Axes) -> list[Line2D]:
    """The lines but for those of the legend, which are empty."""
    return [line for line in ax.lines if xs(line)]


def test_each_weight_that_can_be_seen_has_its_line() -> None:
    ax = self_attention_lines(WORDS, {"layer 1, head 1": WEIGHTS})
    drawn = drawn_lines(ax)
    assert len(drawn) == 1 + 2 + 3
    assert [text.get_text() for text in ax.texts] == WORDS * 2
    ends = {text.get_text(): text.get_position()[0] for text in ax.texts}
    thickest = max(drawn, key=lambda line: line.get_linewidth())
    assert xs(thickest) == pytest.approx([ends["ein"]] * 2)


def test_only_the_chosen_words_ask_and_each_head_has_its_colour() -> None:
    ax = self_attention_lines(WORDS, {"a": WEIGHTS, "b": WEIGHTS}, queries=[1])
    drawn = drawn_lines(ax)
    assert len(drawn) == 4 and len({line.get_color() for line in drawn}) == 2
    bold = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert bold == ["Hund"]
    assert ax.get_legend_handles_labels()[1] == ["a", "b"]


def test_words_and_weights_have_to_fit() -> None:
    with pytest.raises(ValueError, match="query 3 is outside"):
        self_attention_lines(WORDS, {"a": WEIGHTS}, queries=[3])
    with pytest.raises(ValueError):
        self_attention_lines(WORDS[:2], {"a": WEIGHTS})


def test_found_heads_stand_at_their_means_with_their_intervals() -> None:
    ax = found_heads({"verb": (0.4, 0.3, 0.5), "pronoun": (0.6, 0.5, 0.9)}, {"even": [0.1, 0.2]})
    lines = [line for line in ax.lines if line.get_label() == "even"]
    assert xs(lines[0]) == pytest.approx([0.1, 0.2])
    (bars,) = ax.containers
    assert xs(bars[0]) == pytest.approx([0.4, 0.6])
    segments = bars[2][0].get_segments()
    np.testing.assert_allclose([s[:, 0] for s in segments], [[0.3, 0.5], [0.5, 0.9]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["verb", "pronoun"]
    beside = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert beside == {"0.40": pytest.approx(0.4), "0.60": pytest.approx(0.6)}
    with pytest.raises(ValueError, match="even has 1 numbers for 2"):
        found_heads({"verb": (0.4, 0.3, 0.5), "pronoun": (0.6, 0.5, 0.9)}, {"even": [0.1]})
