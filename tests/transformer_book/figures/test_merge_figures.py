"""Figures of subwords show what they are given."""

from itertools import pairwise

import pytest

from transformer_book.figures.merges import merge_panels, ways_to_cut

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
