"""The figures of section 3.4 show the numbers they are given."""

import matplotlib
import numpy as np

matplotlib.use("Agg")

from matplotlib.patches import ConnectionPatch
from matplotlib.text import Text

from transformer_book.figures.embedding import embedding_lookup, word_map

VOCABULARY = ["<pad>", "<s>", "</s>", "the", "cat", "sees"]


def test_a_lookup_shows_the_table_and_the_rows_that_the_sentence_takes():
    table = np.arange(18.0).reshape(6, 3) - 9
    figure = embedding_lookup(table, VOCABULARY, [1, 3, 4, 3, 2])
    matrix, sentence = figure.axes
    taken = [float(text.get_text().replace("−", "-")) for text in sentence.texts]
    np.testing.assert_allclose(taken, table[[1, 3, 4, 3, 2]].flatten())
    rows = [label.get_text().split() for label in sentence.get_yticklabels()]
    assert rows == [["1", "<s>"], ["3", "the"], ["4", "cat"], ["3", "the"], ["2", "</s>"]]
    assert [label.get_text().split()[1] for label in matrix.get_yticklabels()] == list("012345")


def test_a_line_leads_from_each_row_to_each_of_its_copies_in_one_colour():
    figure = embedding_lookup(np.zeros((6, 2)) + 1, VOCABULARY, [3, 4, 3])
    lines = [part for part in figure.artists if isinstance(part, ConnectionPatch)]
    assert [(line.xy1[1], line.xy2[1]) for line in lines] == [(3.5, 0.5), (4.5, 1.5), (3.5, 2.5)]
    colours = [line.get_edgecolor() for line in lines]
    assert colours[0] == colours[2] != colours[1]


def test_a_words_label_hides_no_point_of_another():
    positions = {"Schnee": (0, 0.5), "Zug": (-0.01, 0.53), "oben": (0, 1),
                 "street": (0.03, 0.493), "snow": (0.05, 0.487), "below": (1, 0)}  # fmt: skip
    words = {"German": ["Schnee", "Zug", "oben"], "English": ["street", "snow", "below"]}
    figure = word_map(words, positions)
    figure.canvas.draw()
    [ax] = figure.axes
    points = {word: ax.transData.transform(point) for word, point in positions.items()}
    least = (4 + 3) * figure.dpi / 72  # half of a small letter, and half of a marker
    for label in ax.texts:
        letters = Text.get_window_extent(label)  # without the line to its point
        _, middle = ax.transData.transform(label.xyann)
        for word, (x, y) in points.items():
            over = word != label.get_text() and letters.x0 < x < letters.x1
            assert not over or abs(middle - y) > least
