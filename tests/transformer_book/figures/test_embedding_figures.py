"""The figures of section 3.4 show the numbers they are given."""

import matplotlib
import numpy as np

matplotlib.use("Agg")

from matplotlib.patches import ConnectionPatch

from transformer_book.figures.embedding import (
    embedding_lookup,
)

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
