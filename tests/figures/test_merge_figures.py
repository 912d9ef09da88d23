"""Figures of subwords show what they are given."""

from itertools import pairwise

import pytest

from transformer.figures.merges import merge_panels, vocabulary_trade, ways_to_cut

WORDS = [(1200, ["lo", "w"]), (3, ["$", "w", "$"])]


def test_words_stand_in_pieces_beside_the_pairs() -> None:
    pairs = {("lo", "w"): 1200, ("$", "w"): 3}
    figure = merge_panels(WORDS, pairs, made="w", title="two words")
    left, right = figure.axes
    assert [t.get_text() for t in left.texts] == ["1,200", "lo", "w", "3", r"\$", "w", r"\$"]
    assert [t.get_text() for t in left.texts if t.get_weight() == "bold"] == ["w", "w"]
    assert [bar.get_width() for bar in right.patches] == [1200, 3]
    assert [label.get_text() for label in right.get_yticklabels()] == ["lo + w", r"\$ + w"]
    figure.draw_without_rendering()


def test_pieces_stand_side_by_side_and_not_on_each_other() -> None:
    figure = merge_panels([(1, ["mm", "Wortlaut", "m", "▁"])], {})
    figure.draw_without_rendering()
    boxes = [t.get_bbox_patch().get_window_extent() for t in figure.axes[0].texts[1:]]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    assert figure.axes[1].get_title() == "no two pieces are left"


def test_only_the_most_frequent_pairs_are_drawn() -> None:
    pairs = {("a", str(i)): 20 - i for i in range(12)}
    assert len(merge_panels(WORDS, pairs).axes[1].patches) == 8


def test_the_trade_shows_both_sides() -> None:
    left, right = vocabulary_trade([100, 1000], [40.0, 20.0], [0.0, 0.5], words=15.0).axes
    assert list(left.lines[0].get_ydata()) == [40, 20]
    assert left.lines[1].get_ydata() == [15, 15]
    assert list(right.lines[0].get_ydata()) == [0, 0.5]
    assert [t.get_text() for t in right.get_xticklabels()] == ["100", "1,000"]
    assert left.get_ylabel() == "tokens a sentence"


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 sizes, 2 lengths and 3 shares"):
        vocabulary_trade([1, 2, 3], [1, 2], [0, 0, 0], words=1.0)


def test_ways_to_cut_stand_below_each_other_with_their_numbers() -> None:
    ax = ways_to_cut({"words": ["ab", "c$"], "letters": ["a", "b", "c", "$"]}, marked=["ab"])
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["words", "2 tokens", "ab", r"c\$", "letters", "4 tokens", "a", "b", "c", r"\$"]
    ax.figure.draw_without_rendering()
    boxes = {t.get_text(): t.get_bbox_patch() for t in ax.texts if t.get_bbox_patch() is not None}
    assert boxes["ab"].get_linestyle() == "--" and boxes["a"].get_linestyle() == "-"
    assert boxes["ab"].get_window_extent().x1 < boxes[r"c\$"].get_window_extent().x0
    with pytest.raises(ValueError, match="nothing to draw"):
        ways_to_cut({})
