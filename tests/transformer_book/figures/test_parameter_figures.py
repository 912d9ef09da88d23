"""The figures on parameters draw the numbers they are given."""

import matplotlib
import pytest

matplotlib.use("Agg")

from matplotlib.colors import to_hex

from transformer_book.figures.parameters import parameter_bars, vocabulary_intervals
from transformer_book.figures.style import PALETTE

COUNTS = {
    "small": {"embeddings": 2_000_000, "layers": 6_000_000, "norms": 10},
    "large": {"embeddings": 10_000_000, "layers": 30_000_000, "norms": 40},
}
INTERVALS = {"base": (39_841, 41_793), "C5": (40_599, 41_574), "big": (35_368, 36_344)}


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_bars_are_shares_that_fill_each_model_and_numbers_are_millions():
    ax = parameter_bars(COUNTS)
    widths = [[patch.get_width() for patch in bars] for bars in ax.containers]
    assert [sum(model) for model in zip(*widths, strict=True)] == pytest.approx([100, 100])
    assert widths[0] == pytest.approx([25, 25], rel=1e-4)
    assert words(ax) == ["2.0", "10.0", "6.0", "30.0"]  # none for the sliver
    assert ax.texts[0].get_position() == pytest.approx((12.5, 0), rel=1e-4)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["small\n8.0 M", "large\n40.0 M"]


def test_numbers_on_bars_have_a_contrast_of_at_least_4():
    def luminance(colour: str) -> float:
        channels = [int(to_hex(colour)[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    parts = {f"part {i}": 1_000_000 for i in range(len(PALETTE))}
    ax = parameter_bars({"model": parts})
    for text, colour in zip(ax.texts, PALETTE, strict=True):
        low, high = sorted([luminance(text.get_color()), luminance(colour)])
        assert (high + 0.05) / (low + 0.05) >= 4


def test_intervals_reach_from_smallest_to_largest_and_outsiders_stand_out():
    ax = vocabulary_intervals(INTERVALS, stated=37_000, common=(40_599, 41_574))
    lines = [line for line in ax.lines if line.get_linewidth() == 9]
    assert [tuple(line.get_xdata()) for line in lines] == list(INTERVALS.values())
    assert [line.get_color() for line in lines] == [PALETTE[0], PALETTE[0], PALETTE[1]]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(INTERVALS)
    assert words(ax) == ["40,599 to 41,574", "about 37,000\n(section 5.1)"]


def test_intervals_without_a_common_one_have_one_colour_and_no_band():
    ax = vocabulary_intervals(INTERVALS, stated=37_000)
    lines = [line for line in ax.lines if line.get_linewidth() == 9]
    assert {line.get_color() for line in lines} == {PALETTE[0]}
    assert not ax.patches
