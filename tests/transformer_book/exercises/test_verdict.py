"""A result says the same in a terminal and in a notebook, and draws what can be drawn."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from transformer_book.exercises import EXERCISES, Result, check


def attend(query, key, value, mask=None):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights


@pytest.fixture(scope="module")
def wrong() -> Result:
    return check(attend, "scaled_dot_product_attention")


def test_text_has_the_sentence_first_and_then_the_smallest_input(wrong: Result) -> None:
    lines = repr(wrong).splitlines()
    assert lines[0] == f"✗ {wrong.sentence}"
    assert any(line.startswith("  query = [[") for line in lines)
    assert any(line.startswith("  yours = ") for line in lines)
    assert any(line.startswith("  target = ") for line in lines)


def test_text_ends_with_the_sentence_where_numbers_would_scroll_it_away(wrong: Result) -> None:
    assert repr(wrong).count(wrong.sentence) == 1
    long = replace(wrong, text="\n".join(["  0.5"] * 40))
    assert repr(long).splitlines()[-1] == repr(long).splitlines()[0] == f"✗ {wrong.sentence}"


def test_html_has_the_same_and_a_picture_with_a_text(wrong: Result) -> None:
    html = wrong._repr_html_()
    assert wrong.sentence in html
    assert '<img src="data:image/png;base64,' in html
    assert 'alt="' in html
    assert "<script" not in html
    assert "yours and the target</summary>" in html


def test_the_picture_shows_the_part_and_the_matrix_that_differ(wrong: Result) -> None:
    matrices = wrong.matrices()
    assert matrices is not None
    yours, target = matrices
    assert yours.shape == target.shape
    row, column = wrong.index[-2:]
    assert yours[row, column] != target[row, column]
    figure = wrong.figure()
    assert [ax.get_title() for ax in figure.axes[:2]] == ["yours", "target"]


def test_text_is_escaped() -> None:
    def raises(x):
        raise ValueError("<b>bold</b>")

    assert "&lt;b&gt;" in check(raises, "softmax")._repr_html_()


def test_emphasis_and_code_are_set_in_a_notebook_and_text_stays_as_it_is() -> None:
    sentence = "A *single* head, `a * b < c`, not `x *= 2`."
    result = Result("heads", False, sentence, seen="The *mean*, f(*a, *b) and 2*d*n, a ** b ** c.")
    html = result._repr_html_()
    code = "<code>a * b &lt; c</code>, not <code>x *= 2</code>"
    assert f"A <em>single</em> head, {code}." in html
    assert "The <em>mean</em>, f(*a, *b) and 2*d*n, a ** b ** c.</p>" in html
    assert repr(result).startswith(f"✗ {sentence}")


def test_a_right_answer_says_what_was_shown_and_draws_nothing() -> None:
    result = check(EXERCISES["softmax"].solution)
    assert result
    assert repr(result).startswith("✓ softmax is right.\nShown: each row sums to 1; ")
    assert result.figure() is None
    assert "<img" not in result._repr_html_()


def test_what_is_not_written_is_neither_right_nor_wrong() -> None:
    def softmax(x): ...

    assert repr(check(softmax)).startswith("○ ")
    assert not check(softmax)


@pytest.mark.parametrize(
    "function", [lambda *a: 0.5, lambda *a: math.nan], ids=["number", "not a number"]
)
def test_numbers_are_shown_without_a_picture(function: Callable[..., Any]) -> None:
    result = check(function, "noam_rate")
    assert result.figure() is None
    assert "yours = " in repr(result)


def test_a_long_axis_is_drawn_by_its_last_two() -> None:
    result = check(lambda x, n: 0 * EXERCISES["split_heads"].solution(x, n), "split_heads")
    matrices = result.matrices()
    assert matrices is not None
    assert matrices[1].shape == (5, 4)
    assert np.isfinite(matrices[1]).all()


def test_a_masks_picture_has_two_colours_and_no_scale() -> None:
    figure = check(lambda n: torch.ones(n, n).bool(), "causal_mask").figure()
    assert len(figure.axes) == 2
    assert {text.get_text() for text in figure.axes[0].texts} == {"1"}
