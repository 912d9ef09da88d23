"""The figures of parsing show every constituent over its words, and every score."""

from matplotlib.colors import to_rgba

from transformer_book.figures.boxes import BLUE, ORANGE
from transformer_book.figures.parsing import constituency_tree, parsers

TREE = ("S", [("NP", ["he"]), ("VP", ["sees", ("NP", ["the", "cat"])]), "."])


def test_words_stand_in_a_row_and_each_constituent_over_the_middle_of_its_words():
    ax = constituency_tree(TREE)
    at = [(text.get_text(), text.get_position()) for text in ax.texts]
    words = [(name, x) for name, (x, y) in at if y == 0]
    assert words == [("he", 0), ("sees", 1), ("the", 2), ("cat", 3), (".", 4)]
    labels = {(name, x): y for name, (x, y) in at if y > 0}
    assert labels.keys() == {("NP", 0), ("NP", 2.5), ("VP", 2), ("S", 2)}
    assert labels["NP", 0] == labels["NP", 2.5] < labels["VP", 2] < labels["S", 2]
    lines = [sorted(zip(*line.get_data(), strict=True)) for line in ax.lines]
    assert len(lines) == 8 + 2 * 4  # one to each part; from each constituent one down, one across
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in lines)  # so none can cross another


def test_a_wrong_constituent_is_marked_by_colour_and_by_a_sign():
    ax = constituency_tree(TREE, wrong={("NP", 2, 4)})
    colours = {text.get_text(): text.get_color() for text in ax.texts}
    assert colours["NP ✗"] == ORANGE and colours["VP"] == BLUE
    assert sum(to_rgba(line.get_color()) == to_rgba(ORANGE) for line in ax.lines) == 2 + 2


def test_every_parser_has_its_point_its_number_and_its_group():
    rows = [("A (2006)", "few", 90.4), ("Transformer", "few", 91.3), ("B (2010)", "many", 93.0)]
    ax = parsers(rows, "Transformer")
    assert [text.get_text() for text in ax.texts] == ["90.4", "91.3", "93.0"]
    assert [text.get_fontweight() for text in ax.texts] == ["normal", "bold", "normal"]
    assert [label.get_text() for label in ax.get_yticklabels()] == [name for name, _, _ in rows]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["few", "many"]
    assert ax.lines[0].get_color() == ax.lines[1].get_color() != ax.lines[2].get_color()
