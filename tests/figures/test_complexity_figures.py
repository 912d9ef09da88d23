"""Figures of section 4 show the costs they are given."""

import numpy as np
import pytest

from transformer.figures.complexity import complexity_curves


def test_each_layer_is_a_curve_on_logarithmic_axes() -> None:
    n = [1, 10, 100]
    ax = complexity_curves(n, {"square": [1, 100, 10_000], "line": n}, ylabel="steps")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1, 100, 10_000])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), n)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sentence length n", "steps")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["square", "line"]
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()


def test_a_length_is_marked_with_words() -> None:
    ax = complexity_curves([1, 100], {"a": [1, 2]}, marked={"n = d": 64.0})
    assert list(ax.lines[-1].get_xdata()) == [64, 64]
    assert [text.get_text() for text in ax.texts] == ["n = d"]


@pytest.mark.parametrize(
    ("n", "values", "named"),
    [
        ([1, 2, 3], [1, 2], "curve 'a' has 2 values for 3 lengths"),
        ([1, 2], [0, 2], "curve 'a' has values that are not above 0"),
        ([0, 2], [1, 2], "no logarithm"),
    ],
)
def test_what_has_no_place_is_refused(n, values, named) -> None:
    with pytest.raises(ValueError, match=named):
        complexity_curves(n, {"a": values})
