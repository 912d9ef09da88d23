"""The figures of section 3.1 show what a model did, and refuse what cannot be."""

import pytest
import torch
from matplotlib.colors import to_rgba

from transformer_book.figures.boxes import BLUE, ORANGE
from transformer_book.figures.encoder_decoder import decoder_step, positions_processed, reach

GERMAN = ["Mozart", "hat", "die", "Oper", "komponiert", ".", "</s>"]
ENGLISH = ["Mozart", "composed", "the", "opera", ".", "</s>"]


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_decoder_step_shows_all_of_the_source_and_nothing_of_the_future():
    shown = words(decoder_step(GERMAN, ENGLISH, step=2))
    assert shown[: len(GERMAN)] == GERMAN
    assert shown.count("<s>") == 1
    assert shown.count("composed") == 2  # made before, and read now
    assert shown.count("the") == 1  # being made
    assert "opera" not in shown


@pytest.mark.parametrize("step", [0, 3, 5])
def test_decoder_step_draws_an_arrow_from_all_that_the_position_reads(step):
    ax = decoder_step(GERMAN, ENGLISH, step)
    arrows = [patch for patch in ax.patches if hasattr(patch, "get_arrowstyle")]
    colours = [patch.get_edgecolor() for patch in arrows]
    assert colours.count(to_rgba(ORANGE)) == len(GERMAN)
    assert colours.count(to_rgba(BLUE)) == step + 1
    assert len(arrows) == len(GERMAN) + step + 1 + step


def test_reach_leaves_no_empty_axes_visible():
    figure = reach({"one": torch.eye(2), "two": torch.eye(2), "three": torch.eye(2)}, "ab", 2)
    assert [ax.axison for ax in figure.axes] == [True, True, True, False]


def test_positions_processed_colours_repeated_work_and_sums_it_in_the_title():
    figure = positions_processed({"all": [1, 2, 3], "new": [1, 1, 1]})
    assert [ax.get_title() for ax in figure.axes] == ["all: 6", "new: 3"]
    repeated = [
        sum(patch.get_facecolor() == to_rgba(ORANGE) for patch in ax.patches) for ax in figure.axes
    ]
    newest = [
        sum(patch.get_facecolor() == to_rgba(BLUE) for patch in ax.patches) for ax in figure.axes
    ]
    assert repeated == [3, 0] and newest == [3, 3]
