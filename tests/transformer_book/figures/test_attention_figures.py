"""The figures of section 3.2 show the numbers they are given, under the right names."""

import matplotlib
import numpy as np
import torch

matplotlib.use("Agg")


from transformer.attention import scaled_dot_product_attention

from transformer_book.figures.attention import (
    attention_pipeline,
    curves_over_width,
    query_and_keys,
)
from transformer_book.figures.multi_head_attention import joined_heads, projected_heads

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


def test_pipeline_names_the_components_of_queries_and_keys():
    query, key, value = sample(2, 2), sample(3, 2), sample(3, 5)
    weights, output = np.full((2, 3), 1 / 3), sample(2, 5)
    named = attention_pipeline(
        query, key, value, weights, output, QUERIES, KEYS, components=["verb", "object"]
    )
    assert labels(panels(named)["\\mathbf{Q}"].xaxis) == ["verb", "object"]
    assert labels(panels(named)["\\mathbf{K^T}"].yaxis) == ["verb", "object"]


def test_pipeline_never_writes_minus_zero():
    figure = pipeline([[-0.01]], [[1.0]], [[-0.001]], ["a"], ["b"])
    assert all(text != "−0.0" for ax in figure.axes for text in cells(ax))


def test_projected_heads_show_the_product_and_name_each_head():
    x, weight = sample(2, 4), sample(4, 6, seed=1)
    drawn = panels(projected_heads(x, weight, 3, QUERIES, name="K"))
    product = drawn[r"\mathbf{K}"]
    assert np.allclose(product.collections[0].get_array().reshape(2, 6), x @ weight)
    assert cells(product)[-3:] == ["head 1", "head 2", "head 3"]


# A query and its keys in a plane


def test_keys_are_dropped_onto_the_query_where_their_scores_stand():
    ax = query_and_keys([3, 1], [[0, 0], [2, 0], [0, 2]], "we", KEYS, ["verb", "object"])
    tips = [patch._posA_posB[1] for patch in ax.patches]
    assert tips == [(2.0, 0.0), (0.0, 2.0), (3.0, 1.0)], "a key of length 0 is no arrow"
    drops = [line.get_xydata() for line in ax.lines if line.get_linestyle() == ":"]
    assert np.allclose(drops, [[[2, 0], [1.8, 0.6]], [[0, 2], [0.6, 0.2]]])
    written = ["verb", "object", "score 6", "2", "we"]
    assert [text for text in cells(ax) if text not in KEYS] == written
    assert set(KEYS) < set(cells(ax))
    ax.figure.draw_without_rendering()


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
