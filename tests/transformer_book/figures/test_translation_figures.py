"""Figures of alignments and heads show what they are given."""

from itertools import pairwise

from transformer_book.figures.style import PALETTE, figure_of
from transformer_book.figures.translation import alignment_lines, head_scores

SOURCE, TARGET = ["er", "hat", "ihn", "gesehen"], ["he", "saw", "him"]
LINKS = {(0, 0), (1, 1), (3, 1), (2, 2)}


def test_every_link_is_a_line_and_every_word_is_written() -> None:
    ax = alignment_lines(SOURCE, TARGET, LINKS)
    assert len(ax.lines) == len(LINKS)
    assert [text.get_text() for text in ax.texts] == [*SOURCE, *TARGET]


def test_only_links_that_cross_have_the_second_colour() -> None:
    ax = alignment_lines(SOURCE, TARGET, LINKS)
    colours = dict(zip(sorted(LINKS), (line.get_color() for line in ax.lines), strict=True))
    crossing = {link for link, colour in colours.items() if colour == PALETTE[1]}
    assert crossing == {(3, 1), (2, 2)}


def test_a_line_ends_at_its_words() -> None:
    ax = alignment_lines(SOURCE, TARGET, {(3, 1)})
    places = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert list(ax.lines[0].get_xdata()) == [places["gesehen"], places["saw"]]


def test_the_names_of_many_heads_do_not_overprint_each_other() -> None:
    ax = head_scores({f"layer {i}": [0.5] * 8 for i in (1, 2)})
    figure = figure_of(ax)
    figure.canvas.draw()
    for y in {text.get_position()[1] for text in ax.texts}:
        line = sorted(
            (text.get_window_extent() for text in ax.texts if text.get_position()[1] == y),
            key=lambda box: box.x0,
        )
        assert all(left.x1 <= right.x0 for left, right in pairwise(line))
