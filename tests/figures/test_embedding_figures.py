"""The figures of section 3.4 show the numbers they are given."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib.patches import ConnectionPatch

from transformer.figures.embedding import (
    embedding_lookup,
    first_loss_bars,
    lengths_over_width,
    nearest_bars,
    temperature_bars,
)


def test_the_most_similar_word_stands_on_top_of_its_panel():
    figure = nearest_bars({"dog": {"dogs": 0.6, "Hund": 0.5}, "red": {"rot": 0.4, "blue": 0.3}})
    dog, red = figure.axes
    assert [bar.get_width() for bar in dog.patches] == [0.6, 0.5]
    assert [label.get_text() for label in red.get_yticklabels()] == ["rot", "blue"]
    assert dog.yaxis_inverted() and dog.get_title() == "dog"


def test_lengths_are_drawn_over_their_widths():
    ax = lengths_over_width([16, 64], {"position": [2.8, 5.7], "embedding": [2.0, 4.0]})
    assert [line.get_ydata().tolist() for line in ax.lines] == [[2.8, 5.7], [2.0, 4.0]]
    assert ax.lines[0].get_xdata().tolist() == [16, 64]


def test_one_length_too_few_is_refused():
    with pytest.raises(ValueError, match="one number for each of the 2 widths"):
        lengths_over_width([16, 64], {"position": [2.8]})


def test_temperature_bars_are_the_softmax_of_logits_over_t():
    logits = np.array([2.0, 0.5, -1000.0])
    figure = temperature_bars(["a", "b", "c"], logits, [0.5, 2.0])
    for ax, temperature in zip(figure.axes, (0.5, 2.0), strict=True):
        weights = np.exp(logits / temperature)
        shares = [bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(shares, weights / weights.sum(), atol=1e-12)


def test_temperature_survives_large_logits_and_keeps_the_first_token_on_top():
    figure = temperature_bars(["a", "b"], [1000.0, 999.0], [1.0])
    ax = figure.axes[0]
    assert ax.patches[0].get_width() == pytest.approx(1 / (1 + np.exp(-1)))
    assert ax.yaxis_inverted()


def test_temperature_zero_is_refused():
    with pytest.raises(ValueError, match="above 0"):
        temperature_bars(["a"], [1.0], [0.0])


def test_first_losses_stand_against_log_of_the_vocabulary():
    losses = {14: {"module": {"all": 2.7, "none": 2.6}, "Glorot": {"all": 7.0, "none": 3.4}}}
    ax = first_loss_bars(losses).axes[0]
    assert [bar.get_height() for bar in ax.patches] == [2.7, 7.0, 2.6, 3.4]
    assert ax.lines[0].get_ydata()[0] == pytest.approx(np.log(14))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["tie = all", "tie = none"]


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


def test_a_lookup_refuses_an_id_that_is_no_tokens_and_a_table_of_another_vocabulary():
    with pytest.raises(ValueError, match="no token 6 in a vocabulary of 6"):
        embedding_lookup(np.ones((6, 2)), VOCABULARY, [3, 6])
    with pytest.raises(ValueError, match="table has 5 rows for 6 tokens"):
        embedding_lookup(np.ones((5, 2)), VOCABULARY, [3])
