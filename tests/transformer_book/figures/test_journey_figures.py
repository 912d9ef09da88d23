"""The way of a sentence shows what it was given, in its order, and nothing that does not fit."""

import numpy as np
from matplotlib.colors import to_rgba

from transformer_book.figures.boxes import BLUE, GREEN
from transformer_book.figures.sentence import Side, journey

NUMBERS = np.linspace(-1, 1, 18).reshape(3, 6)
SOURCE = Side("Zwei Hunde", ["▁Zwei", "▁Hunde", "</s>"], [7, 8, 2], NUMBERS)
WRITTEN = Side("Two", ["<s>", "▁Two"], [1, 9], NUMBERS[:2])
CANDIDATES = {"▁cats": 0.1, "▁dogs": 0.7, "$5": 0.05}


def drawn(**changes):
    given = {"source": SOURCE, "written": WRITTEN, "memory": NUMBERS, "candidates": CANDIDATES}
    return journey(**(given | changes))


def test_every_token_id_and_candidate_is_written_once() -> None:
    shown = [text.get_text() for text in drawn().texts]
    for word in ("Zwei Hunde", "▁Hunde", "8", "<s>", "9", "▁dogs", "70%", r"\$5", "Encoder"):
        assert shown.count(word) == 1, word


def test_every_vector_is_a_strip_of_its_own_numbers_on_one_scale() -> None:
    strips = drawn().collections
    assert len(strips) == 3 + 2 + 3
    for strip, vector in zip(strips, [*NUMBERS, *NUMBERS[:2], *NUMBERS], strict=True):
        np.testing.assert_allclose(np.ravel(strip.get_array()), vector)
        assert strip.get_clim() == (-1, 1)


def test_the_most_probable_candidate_stands_on_top_in_its_own_colour() -> None:
    bars = [patch for patch in drawn().patches if type(patch).__name__ == "Rectangle"]
    assert [to_rgba(c) for c in (GREEN, BLUE, BLUE)] == [bar.get_facecolor() for bar in bars]
    assert [bar.get_y() for bar in bars] == sorted((bar.get_y() for bar in bars), reverse=True)
    widths = [bar.get_width() for bar in bars]
    assert np.allclose(np.array(widths) / widths[0], [1, 0.1 / 0.7, 0.05 / 0.7])


def test_all_letters_stay_inside_the_figure() -> None:
    ax = drawn()
    ax.figure.canvas.draw()
    width, height = ax.figure.get_size_inches()
    for text in ax.texts:
        box = text.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        assert box.x0 >= 0 and box.x1 <= width, text.get_text()
        assert box.y0 >= 0 and box.y1 <= height, text.get_text()
