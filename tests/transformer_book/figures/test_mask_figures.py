"""Mask figures draw what the module's masks say, with the tokens as labels."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")


import numpy as np
import torch
from matplotlib.axes import Axes

from tools.site.formats.decks import gaps
from transformer.masks import padding_mask, target_mask

from transformer_book.figures import masks as figures

QUERIES = ["<s>", "the", "dog", "<pad>"]


def drawn(ax: Axes) -> np.ndarray:
    """The numbers behind the first coloured grid of the axes."""
    return np.ma.asarray(ax.collections[0].get_array()).reshape(len(ax.get_yticks()), -1)


def labels(ticks: list) -> list[str]:
    return [label.get_text() for label in ticks]


def test_a_drawn_mask_is_the_modules_mask_and_padding_is_told_from_the_future() -> None:
    mask = target_mask(torch.tensor([[1, 5, 6, 0]]), 0)[0, 0]
    ax = figures.mask_heatmap(mask, QUERIES, QUERIES, title="decoder")
    kinds = drawn(ax)
    assert np.array_equal(kinds == 0, mask.numpy())
    assert (kinds[:, 3] == 2).all()
    assert kinds[0].tolist() == [0, 1, 1, 2]
    assert labels(ax.get_xticklabels()) == labels(ax.get_yticklabels()) == QUERIES
    assert ax.get_title() == "decoder"
    assert ax.get_ylim() == (4, 0), "the first query must be the top row"


def test_several_masks_share_one_legend_and_slides_can_cut_between_them(tmp_path: Path) -> None:
    row = padding_mask(torch.tensor([[4, 5, 6, 0]]), 0)[0, 0]
    keys = ["der", "Hund", "schläft", "<pad>"]
    panels = {name: (row.expand(4, -1), QUERIES, keys) for name in ("self", "cross", "other")}
    figure = figures.attention_masks(panels)
    assert [ax.get_title() for ax in figure.axes[:3]] == [*panels]
    legends = [ax.get_legend() for ax in figure.axes if ax.get_legend()]
    assert len(legends) == 1
    assert labels(legends[0].get_texts()) == list(figures.COLOURS)
    figure.savefig(tmp_path / "masks.png", bbox_inches="tight")
    for axis in (0, 1):  # the first gap near the middle, not that above "key"
        cut = next(at for at in gaps(tmp_path / "masks.png", axis) if abs(at - 0.5) < 0.125)
        assert abs(cut - 0.5) < 0.02


def test_the_batch_is_drawn_token_by_token() -> None:
    ax = figures.batch_grid([["es", "regnet", "</s>"], ["ja", "</s>", "<pad>"]])
    assert labels(ax.texts) == ["es", "regnet", "</s>", "ja", "</s>", "<pad>"]
    assert drawn(ax).tolist() == [[0, 0, 0], [0, 0, 2]]
    assert [(patch.get_xy(), bool(patch.get_hatch())) for patch in ax.patches] == [((2, 1), True)]


def test_influence_leaves_exact_zeros_blank_and_small_values_coloured() -> None:
    influence = np.array([[2.0, 0.0], [1e-9, 4.0]])
    ax = figures.influence_heatmap(influence, ["x", "y"], ["a", "b"])
    grid = drawn(ax)
    assert np.ma.getmaskarray(grid).tolist() == [[False, True], [False, False]]
    assert grid[0, 0] == 0.5 and grid[1, 1] == 1.0
    assert labels(ax.texts) == ["0"]
