"""The figures of section 3.2 show the numbers they are given, under the right names."""

import matplotlib
import numpy as np
import pytest
import torch

matplotlib.use("Agg")


from transformer.attention import scaled_dot_product_attention
from transformer.figures.attention import (
    attention_pipeline,
    curves_over_width,
    temperature_curves,
)
from transformer.figures.multi_head_attention import joined_heads, projected_heads

QUERIES, KEYS = ["we", "see"], ["wir", "sehen", "euch"]


def cells(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def labels(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def sample(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns))


# Equation 1 as matrices


def panels(figure) -> dict:
    """Name -> axes, without the shape in the second line of the title."""
    return {ax.get_title().split("\n")[0].strip("$"): ax for ax in figure.axes}


def pipeline(query, key, value, query_tokens=QUERIES, key_tokens=KEYS):
    """The figure, of what the module computes."""
    tensors = (torch.as_tensor(x, dtype=torch.float64) for x in (query, key, value))
    output, weights = scaled_dot_product_attention(*tensors)
    return attention_pipeline(query, key, value, weights, output, query_tokens, key_tokens)


def test_pipeline_shows_the_weights_the_output_and_the_scores_between_them():
    query, key, value = sample(2, 4), sample(3, 4, seed=1), sample(3, 5, seed=2)
    weights, output = sample(2, 3, seed=3), sample(2, 5, seed=4)
    drawn = panels(attention_pipeline(query, key, value, weights, output, QUERIES, KEYS))
    numbers = {name: [x.replace("−", "-") for x in cells(ax)] for name, ax in drawn.items()}
    assert np.allclose([float(x) for x in numbers["weights"]], weights.flatten(), atol=0.0051)
    assert np.allclose([float(x) for x in numbers["output"]], output.flatten(), atol=0.051)
    scores = drawn["scores"].collections[0].get_array()
    assert np.allclose(scores.reshape(2, 3), query @ key.T / 2)


def test_pipeline_gives_every_matrix_its_shape_and_its_tokens():
    figure = pipeline(sample(2, 4), sample(3, 4), sample(3, 5))
    shapes = [ax.get_title().split("\n")[1] for ax in figure.axes]
    assert shapes == ["2 × 4", "4 × 3", "2 × 3", "2 × 3", "3 × 5", "2 × 5"]
    weights = panels(figure)["weights"]
    assert labels(weights.yaxis) == QUERIES and labels(weights.xaxis) == KEYS


def test_pipeline_never_writes_minus_zero():
    figure = pipeline([[-0.01]], [[1.0]], [[-0.001]], ["a"], ["b"])
    assert all(text != "−0.0" for ax in figure.axes for text in cells(ax))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 4), (3, 5), (3, 2), (2, 3), (2, 2)), "give both the same d_k"),
        (((3, 4), (3, 4), (3, 2), (2, 3), (2, 2)), "query has 3 rows for 2 tokens"),
        (((2, 4), (2, 4), (2, 2), (2, 3), (2, 2)), "key has 2 rows for 3 tokens"),
        (((2, 4), (3, 4), (2, 2), (2, 3), (2, 2)), "value has 2 rows for 3 tokens"),
        (((2, 4), (3, 4), (3, 2), (3, 2), (2, 2)), "do not fit 2 query tokens and 3 key tokens"),
        (((2, 4), (3, 4), (3, 2), (2, 3), (3, 2)), "output has 3 rows for 2 tokens"),
    ],
)
def test_pipeline_refuses_matrices_that_do_not_fit(shapes, message):
    with pytest.raises(ValueError, match=message):
        attention_pipeline(*(sample(*shape) for shape in shapes), QUERIES, KEYS)


def test_pipeline_refuses_a_batch():
    matrices = np.zeros((1, 2, 4)), sample(3, 4), sample(3, 2), sample(2, 3), sample(2, 2)
    with pytest.raises(ValueError, match="give one matrix"):
        attention_pipeline(*matrices, QUERIES, KEYS)


def test_projected_heads_show_the_product_and_name_each_head():
    x, weight = sample(2, 4), sample(4, 6, seed=1)
    drawn = panels(projected_heads(x, weight, 3, QUERIES, name="K"))
    product = drawn[r"\mathbf{K}"]
    assert np.allclose(product.collections[0].get_array().reshape(2, 6), x @ weight)
    assert cells(product)[-3:] == ["head 1", "head 2", "head 3"]


def test_projected_heads_refuse_columns_that_do_not_divide_into_heads():
    with pytest.raises(ValueError, match="do not divide into 4 heads"):
        projected_heads(sample(2, 4), sample(4, 6), 4, QUERIES)
    with pytest.raises(ValueError, match="weight has 3 rows"):
        projected_heads(sample(2, 4), sample(3, 6), 3, QUERIES)


# Curves


def test_curves_draw_the_median_of_samples_with_the_middle_half_around_it():
    samples = np.array([[1.0, 2, 3, 4, 5], [10, 20, 30, 40, 50]])
    ax = curves_over_width([4, 16], {"scaled": samples, "plain": [1, 2]}, ylabel="norm")
    assert ax.lines[0].get_ydata().tolist() == [3, 30]
    assert ax.lines[1].get_ydata().tolist() == [1, 2]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (2, 40)
    assert cells(ax) == ["scaled", "plain"] and ax.get_ylabel() == "norm"
    assert labels(ax.xaxis) == ["4", "16"]


def test_curves_refuse_a_curve_of_another_length():
    with pytest.raises(ValueError, match="'a' has 3 rows for 2 widths"):
        curves_over_width([4, 16], {"a": [1, 2, 3]}, ylabel="norm")


def test_temperature_curves_name_the_keys_and_the_marks():
    weights = np.array([[1.0, 0.0], [0.6, 0.4], [0.5, 0.5]])
    ax = temperature_curves([0.1, 1.0, 10.0], weights, ["key 1", "key 2"], marks={"here": 1.0})
    assert ax.lines[0].get_ydata().tolist() == [1.0, 0.6, 0.5]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["key 1", "key 2"]
    assert cells(ax) == ["here"]


def test_temperature_curves_refuse_weights_that_do_not_fit():
    with pytest.raises(ValueError, match="3 temperatures and 2 labels"):
        temperature_curves([0.1, 1.0, 10.0], np.zeros((2, 3)), ["a", "b"])


# The heads, joined again


def test_joined_heads_stand_side_by_side_and_w_o_has_a_block_for_each():
    heads, weight = sample(6, 3).reshape(3, 2, 3), sample(9, 4, seed=1)
    figure = joined_heads(heads, weight, QUERIES)
    joined, mixed, output = figure.axes
    shown = np.asarray(joined.collections[0].get_array()).reshape(2, 9)
    assert np.allclose(shown[:, 3:6], heads[1])
    assert np.allclose(output.collections[0].get_array().reshape(2, 4), shown @ weight)
    assert labels(mixed.yaxis) == ["head 1"] * 3 + ["head 2"] * 3 + ["head 3"] * 3
    assert sorted({line.get_ydata()[0] for line in mixed.lines}) == [3, 6]
    blocks = [label.get_color() for label in mixed.get_yticklabels()]
    brackets = [text.get_color() for text in joined.texts if text.get_text().startswith("head")]
    assert blocks[::3] == brackets and len(set(brackets)) == 3


def test_joined_heads_refuse_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"give \(heads, len, d_v\)"):
        joined_heads(sample(2, 4), sample(4, 4), QUERIES)
    with pytest.raises(ValueError, match="9 wide, but weight has 4 rows"):
        joined_heads(sample(6, 3).reshape(3, 2, 3), sample(4, 4), QUERIES)
