"""Figure 2, redrawn: every box, who gives what to whom, and the shapes that the module makes."""

import re
from itertools import combinations

import matplotlib
import pytest
import torch

matplotlib.use("Agg")

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention

from transformer_book.figures.figure2 import (
    ALL_HEADS,
    ONE_HEAD,
    multi_head_boxes,
    scaled_dot_product_boxes,
)

DRAWINGS = (scaled_dot_product_boxes, multi_head_boxes)


def words(ax) -> list[str]:
    return [" ".join(text.get_text().split()) for text in ax.texts if text.get_text()]


def shapes_in(ax) -> list[str]:
    return re.findall(r"\([^()]*,[^()]*\)", " ".join(words(ax)))


def order_of(ax, names: list[str]) -> list[str]:
    """The names from the bottom to the top of the figure."""
    found = [(text.get_position()[1], text.get_text()) for text in ax.texts]
    return [text for _, text in sorted(found) if text in names]


def recorded(batch: int, n_queries: int, n_keys: int) -> dict[str, tuple[int, ...]]:
    """The shapes of a walk through the module's own parts."""
    attention = MultiHeadAttention(d_model=24, n_heads=4, d_k=5, d_v=7)
    queries, source = torch.randn(batch, n_queries, 24), torch.randn(batch, n_keys, 24)
    q = attention.split(attention.w_query(queries))
    k = attention.split(attention.w_key(source))
    v = attention.split(attention.w_value(source))
    heads, weights = scaled_dot_product_attention(q, k, v)
    joined = attention.join(heads)
    tensors = {
        "query": queries, "key": source, "value": source, "q": q, "k": k, "v": v,
        "weights": weights, "heads": heads, "joined": joined, "output": attention.w_output(joined),
    }  # fmt: skip
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def test_the_left_half_has_the_steps_of_equation_1_from_the_bottom_to_the_top():
    steps = ["MatMul", "Scale", "Mask (optional)", "Softmax", "MatMul"]
    assert order_of(scaled_dot_product_boxes(), steps) == steps
    without = scaled_dot_product_boxes(mask=False)
    assert order_of(without, steps) == ["MatMul", "Scale", "Softmax", "MatMul"]


def test_the_right_half_has_a_projection_for_each_role_and_joins_before_it_mixes():
    steps = ["Linear", "Scaled dot-product attention", "Concat"]
    boxes = order_of(multi_head_boxes(n_heads=8), steps)
    assert boxes == ["Linear"] * 3 + ["Scaled dot-product attention", "Concat", "Linear"]
    assert "8 heads" in words(multi_head_boxes(n_heads=8))
    assert "h heads" in words(multi_head_boxes())


@pytest.mark.parametrize(("n_heads", "cards"), [(1, 1), (2, 2), (3, 3), (8, 3), (None, 3)])
def test_a_box_of_which_each_head_has_its_own_is_a_deck_of_at_most_three(n_heads, cards):
    boxes = [p for p in multi_head_boxes(n_heads=n_heads).patches if isinstance(p, FancyBboxPatch)]
    assert len(boxes) == 4 * cards + 2  # three projections and the attention; Concat and W^O


def test_queries_and_keys_enter_the_first_product_and_values_the_last():
    ax = scaled_dot_product_boxes()
    tops = {}
    for patch in ax.patches:
        if isinstance(patch, FancyArrowPatch):
            (_, low), (x, high) = patch._posA_posB
            if low == 0:
                tops[x] = high
    (letters,) = [{t.get_text(): t.get_position()[0] for t in ax.texts if "$" in t.get_text()}]
    height = {role: tops[letters[f"${role}$"]] for role in "QKV"}
    product = min(t.get_position()[1] for t in ax.texts if t.get_text() == "MatMul")
    softmax = next(t.get_position()[1] for t in ax.texts if t.get_text() == "Softmax")
    assert height["Q"] == height["K"] < product
    assert height["V"] > softmax


def test_without_numbers_the_arrows_carry_the_names_of_the_sizes():
    assert shapes_in(scaled_dot_product_boxes()) == [
        "(query, d_k)", "(key, d_k)", "(key, d_v)",
        "(query, key)", "(query, key)", "(query, key)", "(query, key)", "(query, d_v)",
    ]  # fmt: skip
    written = set(shapes_in(multi_head_boxes()))
    assert written == {f"({', '.join(map(str, shape))})" for shape in ALL_HEADS.values()}


def test_every_recorded_shape_of_the_module_stands_in_the_right_half():
    shapes = recorded(batch=2, n_queries=3, n_keys=6)
    assert shapes.keys() == ALL_HEADS.keys()
    assert shapes["joined"] == (2, 3, 28)
    written = shapes_in(multi_head_boxes(shapes, n_heads=4))
    assert sorted(written) == sorted(str(shape) for shape in shapes.values())


def test_only_given_shapes_are_written_and_a_strange_name_is_an_error():
    assert shapes_in(scaled_dot_product_boxes({"weights": (3, 4)})) == ["(3, 4)"]
    with pytest.raises(ValueError, match="'wieghts'; it has query, key"):
        scaled_dot_product_boxes({"wieghts": (3, 4)})
    with pytest.raises(ValueError, match="no 'scores'"):
        multi_head_boxes({"scores": (3, 4)})


LONG = {name: ("batch", "heads", *shape[-2:]) for name, shape in ALL_HEADS.items()}


@pytest.mark.parametrize(
    ("draw", "shapes"),
    [
        (scaled_dot_product_boxes, None),
        (scaled_dot_product_boxes, {n: ("batch", "heads", *s) for n, s in ONE_HEAD.items()}),
        (scaled_dot_product_boxes, dict.fromkeys(ONE_HEAD, (128, 16, 1024, 1024))),
        (multi_head_boxes, None),
        (multi_head_boxes, LONG),
        (multi_head_boxes, dict.fromkeys(ALL_HEADS, (128, 16, 1024, 64))),
    ],
)
def test_no_word_leaves_the_figure_or_covers_another(draw, shapes):
    ax = draw(shapes)
    ax.figure.canvas.draw()
    edge = ax.figure.bbox
    boxes = [(t.get_text(), t.get_window_extent()) for t in ax.texts if t.get_text()]
    for text, box in boxes:
        assert box.x0 >= edge.x0 and box.x1 <= edge.x1, text
        assert box.y0 >= edge.y0 and box.y1 <= edge.y1, text
    for (one, first), (other, second) in combinations(boxes, 2):
        assert not first.overlaps(second), (one, other)


@pytest.mark.parametrize("draw", DRAWINGS)
def test_letters_are_large_enough_for_a_hall(draw):
    ax = draw()
    width = ax.figure.get_size_inches()[0]
    assert min(text.get_fontsize() for text in ax.texts) >= 12 * width / 8


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_drawing_fits_into_axes_that_exist(draw):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(16, 9))
    assert draw(ax=axes[1]) is axes[1]
    assert len(figure.axes) == 2
