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
    projected_heads,
    temperature_curves,
)
from transformer.figures.heatmaps import attention_heads, attention_heatmap
from transformer.figures.masks import attention_masks
from transformer.figures.style import literal

QUERIES, KEYS = ["we", "see"], ["wir", "sehen", "euch"]


def cells(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def labels(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def sample(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns))


# Heatmaps


def test_heatmap_puts_queries_in_rows_and_keys_in_columns():
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    ax = attention_heatmap(weights, QUERIES, KEYS, title="head 1")
    assert labels(ax.yaxis) == QUERIES and labels(ax.xaxis) == KEYS
    assert cells(ax) == ["0.10", "0.20", "0.70", "0.50", "0.25", "0.25"]
    assert ax.get_title() == "head 1"


def test_heatmap_colours_weights_from_0_to_1_unless_told_otherwise():
    weights = np.full((2, 3), 1 / 3)
    assert attention_heatmap(weights, QUERIES, KEYS).collections[0].get_clim() == (0, 1)
    scores = attention_heatmap(weights, QUERIES, KEYS, vmin=-2, vmax=2)
    assert scores.collections[0].get_clim() == (-2, 2)


def test_heatmap_frames_the_aligned_cells():
    ax = attention_heatmap(np.zeros((2, 3)), QUERIES, KEYS, alignment=[(0, 2), (1, 1)])
    assert [patch.get_xy() for patch in ax.patches] == [(2, 0), (1, 1)]


def test_heatmap_refuses_weights_that_do_not_fit_the_tokens():
    with pytest.raises(ValueError, match=r"do not fit 2 query tokens and 3 key tokens"):
        attention_heatmap(np.zeros((3, 2)), QUERIES, KEYS)


def test_heatmap_names_the_query_whose_weights_are_nan():
    weights = np.zeros((2, 3))
    weights[1, 0] = np.nan
    with pytest.raises(ValueError, match="row of query 1"):
        attention_heatmap(weights, QUERIES, KEYS)


def test_heads_get_one_panel_each_and_one_row_a_layer():
    layers = {"encoder": np.zeros((3, 2, 3)), "decoder": np.ones((3, 2, 3))}
    figure = attention_heads(layers, QUERIES, KEYS)
    *panels, legend = figure.axes
    titles = [f"{name}, head {h}" for name in layers for h in (1, 2, 3)]
    assert [ax.get_title() for ax in panels] == titles
    assert legend.get_ylabel() == "attention weight"
    assert labels(figure.axes[0].yaxis) == QUERIES
    assert labels(figure.axes[3].xaxis) == KEYS
    assert figure.axes[5].collections[0].get_array().min() == 1


def test_layers_may_have_different_numbers_of_heads():
    layers = {"one": np.zeros((1, 2, 3)), "two": np.ones((2, 2, 3))}
    axes = attention_heads(layers, QUERIES, KEYS).axes
    shown = [ax.get_title() for ax in axes if ax.get_visible()]
    assert shown == ["one, head 1", "two, head 1", "two, head 2", ""]


def test_heads_of_no_layer_are_refused():
    with pytest.raises(ValueError, match="no layers to draw"):
        attention_heads({}, QUERIES, KEYS)


# Equation 1 as matrices


def panels(figure) -> dict:
    """Name -> axes, without the shape in the second line of the title."""
    return {ax.get_title().split("\n")[0].strip("$"): ax for ax in figure.axes}


def test_pipeline_shows_what_the_module_computes():
    query, key, value = sample(2, 4), sample(3, 4, seed=1), sample(3, 5, seed=2)
    drawn = panels(attention_pipeline(query, key, value, QUERIES, KEYS))
    output, weights = scaled_dot_product_attention(
        *(torch.from_numpy(x) for x in (query, key, value))
    )
    assert cells(drawn["weights"]) == [f"{x:.2f}" for x in weights.flatten().tolist()]
    minus = [text.replace("−", "-") for text in cells(drawn["output"])]
    assert np.allclose([float(text) for text in minus], output.flatten(), atol=0.051)
    scores = drawn["scores"].collections[0].get_array()
    assert np.allclose(scores.reshape(2, 3), query @ key.T / 2)


def test_pipeline_gives_every_matrix_its_shape_and_its_tokens():
    figure = attention_pipeline(sample(2, 4), sample(3, 4), sample(3, 5), QUERIES, KEYS)
    shapes = [ax.get_title().split("\n")[1] for ax in figure.axes]
    assert shapes == ["2 × 4", "4 × 3", "2 × 3", "2 × 3", "3 × 5", "2 × 5"]
    weights = panels(figure)["weights"]
    assert labels(weights.yaxis) == QUERIES and labels(weights.xaxis) == KEYS


def test_pipeline_never_writes_minus_zero():
    figure = attention_pipeline([[-0.01]], [[1.0]], [[-0.001]], ["a"], ["b"])
    assert all(text != "−0.0" for ax in figure.axes for text in cells(ax))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 4), (3, 5), (3, 2)), "give both the same d_k"),
        (((3, 4), (3, 4), (3, 2)), "query has 3 rows for 2 tokens"),
        (((2, 4), (2, 4), (2, 2)), "key has 2 rows for 3 tokens"),
        (((2, 4), (3, 4), (2, 2)), "value has 2 rows for 3 tokens"),
    ],
)
def test_pipeline_refuses_matrices_that_do_not_fit(shapes, message):
    with pytest.raises(ValueError, match=message):
        attention_pipeline(*(sample(*shape) for shape in shapes), QUERIES, KEYS)


def test_pipeline_refuses_a_batch():
    with pytest.raises(ValueError, match="give one matrix"):
        attention_pipeline(np.zeros((1, 2, 4)), sample(3, 4), sample(3, 2), QUERIES, KEYS)


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


def test_dollar_signs_in_tokens_are_letters() -> None:
    """Between two of them matplotlib reads a formula, and fails at what is none."""
    tokens = ["$x_$", "$", r"\frac$"]
    ax = attention_heatmap(np.eye(3), tokens, tokens)
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels()] == literal(tokens)
    mask = np.ones((3, 3), dtype=bool)
    attention_masks({"mask": (mask, tokens, tokens)}).draw_without_rendering()
    broken = attention_heatmap(np.eye(3), list("abc"), list("abc"), title="$x_$")
    with pytest.raises(ValueError, match="x_"):
        broken.figure.draw_without_rendering()
