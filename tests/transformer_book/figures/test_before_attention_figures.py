"""The figures of recurrent translation show the runs, and what passes between the networks."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from transformer_book.figures.before_attention import (
    exact_over_length,
    recurrent_states,
    source_to_decoder,
)
from transformer_book.figures.boxes import BLUE, INK, ORANGE

SOURCE, TARGET = ["er", "hat", "sie", "gesehen"], ["he", "saw", "her"]
WEIGHTS = [0.1, 0.2, 0.1, 0.6]


def arrows(ax, color):
    found = [patch for patch in ax.patches if hasattr(patch, "get_arrowstyle")]
    return [patch for patch in found if patch.get_edgecolor() == to_rgba(color)]


def test_the_line_goes_through_the_means_and_every_run_is_there():
    runs = [[1.0, 0.5], [0.8, 0.1]]
    ax = exact_over_length([5, 10], {"one": runs, "other": [[1.0, 1.0]]})
    drawn = [list(line.get_ydata()) for line in ax.lines]
    assert drawn == [*runs, pytest.approx([0.9, 0.3]), [1.0, 1.0], [1.0, 1.0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "other"]
    band = ax.collections[0].get_paths()[0].vertices
    assert {0.1, 1.0} <= set(np.round(band[:, 1], 6))


def test_a_states_box_has_its_share_and_fades_with_it():
    ax = recurrent_states(["$er$", "hat", "sie"], [1.0, 0.5, 0.0])
    written = [text.get_text() for text in ax.texts]
    assert {r"\$er\$", "hat", "sie", "1.00", "0.50", "0.00", "$h_{1}$", "$h_{3}$"} <= set(written)
    boxes = [patch for patch in ax.patches if not hasattr(patch, "get_arrowstyle")]
    first, middle, last = (patch.get_facecolor() for patch in boxes)
    assert (first, last) == (to_rgba(ORANGE), to_rgba("white"))
    assert first[2] < middle[2] < last[2]
    # One arrow from each word, and one from each state but the last.
    assert (len(arrows(ax, ORANGE)), len(arrows(ax, INK))) == (1, 2 + 2)
    with pytest.raises(ValueError, match="2 shares for 3 words"):
        recurrent_states(SOURCE[:3], [1.0, 0.5])


@pytest.mark.parametrize("step", [0, 2])
def test_one_vector_comes_from_both_ends_and_goes_to_every_step(step):
    ax = source_to_decoder(SOURCE, TARGET, step)
    assert len(arrows(ax, ORANGE)) == 2
    assert len(arrows(ax, BLUE)) == step + 1


def test_a_mixture_takes_from_every_state_by_its_weight_and_goes_to_one_step():
    ax = source_to_decoder(SOURCE, TARGET, 1, WEIGHTS)
    widths = [patch.get_linewidth() for patch in arrows(ax, ORANGE)]
    assert np.argsort(widths).tolist()[-2:] == [1, 3]
    assert len(arrows(ax, BLUE)) == 1
    written = [text.get_text() for text in ax.texts]
    assert {"0.10", "0.20", "0.60"} <= set(written)


def test_words_to_come_are_not_written():
    written = [text.get_text() for text in source_to_decoder(SOURCE, TARGET, 1).texts]
    assert set(SOURCE) <= set(written) and {"he", "saw"} <= set(written)
    assert "her" not in written
