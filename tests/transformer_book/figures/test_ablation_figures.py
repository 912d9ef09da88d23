"""The figures of ablations show the numbers that they are given, and what is decided."""

import pytest
from matplotlib.colors import to_hex

from transformer_book.figures.ablations import DECIDED, OPEN, effects, quality_by_size
from transformer_book.figures.style import PALETTE

LABELS, MEANS, HALF_WIDTHS = ["small", "large", "open"], [-0.05, 2.0, 0.02], [0.01, 0.5, 0.3]


def test_effects_are_sorted_and_each_has_its_interval() -> None:
    ax = effects(LABELS, MEANS, HALF_WIDTHS, xlabel="nats")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["large", "open", "small"]
    found = {}
    for container in ax.containers:
        points, _, (spread,) = container.lines
        for x, y, segment in zip(*points.get_data(), spread.get_segments(), strict=True):
            found[ax.get_yticklabels()[int(y)].get_text()] = (x, *segment[:, 0])
    for label, mean, half in zip(LABELS, MEANS, HALF_WIDTHS, strict=True):
        assert found[label] == pytest.approx((mean, mean - half, mean + half))
    low, high = ax.get_xlim()
    assert low < -0.28 and high > 2.5
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_a_long_label_is_broken_after_a_comma_and_keeps_its_words() -> None:
    label = "big: d_model 1024, d_ff 4096, h 16, dropout 0.3"
    ax = effects([label, "one long label that has no comma"], [1.0, 2.0], xlabel="nats")
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert shown[0] == "one long label that has no comma"
    first, *others = shown[1].split("\n")
    assert others and first.endswith(",") and shown[1].replace("\n", " ") == label


def test_letters_are_legible_on_a_phone() -> None:
    """A page 360 px wide shows a figure about 310 px wide: letters of at least 9 px."""
    points, size = {"base": (65.0, 4.92), "C1": (36.0, 6.11)}, {"xlabel": "", "ylabel": ""}
    for ax in (effects(LABELS, MEANS, HALF_WIDTHS, xlabel="nats"),
               quality_by_size(points, base="base", **size)):  # fmt: skip
        texts = [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts]
        assert (
            min(text.get_fontsize() for text in texts) * 310 / (72 * ax.figure.get_figwidth()) > 9
        )


def test_what_is_open_is_hollow_and_what_is_decided_filled() -> None:
    ax = effects(LABELS, MEANS, HALF_WIDTHS, xlabel="nats")
    decided, undecided = (container.lines[0] for container in ax.containers)
    assert len(decided.get_xdata()) == 2 and len(undecided.get_xdata()) == 1
    assert to_hex(decided.get_markerfacecolor()) == to_hex(DECIDED)
    assert to_hex(undecided.get_markerfacecolor()) == "#ffffff"
    assert to_hex(undecided.get_color()) == to_hex(OPEN)


def test_models_stand_where_size_and_quality_put_them_with_their_names() -> None:
    points = {"base": (65.0, 4.92), "C1": (36.0, 6.11), "C5": (168.0, 4.66)}
    ax = quality_by_size(points, base="base", xlabel="parameters", ylabel="perplexity")
    drawn = [container.lines[0] for container in ax.containers]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in drawn] == [*points.values()]
    colours = [to_hex(line.get_color()) for line in drawn]
    assert colours == [to_hex(PALETTE[1]), to_hex(PALETTE[0]), to_hex(PALETTE[0])]
    assert {text.get_text(): text.xy for text in ax.texts} == points
    assert [label.get_text() for label in ax.get_xticklabels()] == ["30", "50", "100", "200"]
    with pytest.raises(ValueError, match="'big' is none of the points: base"):
        quality_by_size(points, base="big", xlabel="", ylabel="")


def test_an_interval_around_the_quality_is_drawn_where_there_is_one() -> None:
    points, spread = {"base": (1.0, 5.0), "C1": (2.0, 6.0)}, {"base": 0.5, "C1": 1.0}
    ax = quality_by_size(points, base="base", xlabel="", ylabel="", half_widths=spread)
    for container, name in zip(ax.containers, points, strict=True):
        (segment,) = container.lines[2][0].get_segments()
        middle = points[name][1]
        assert list(segment[:, 1]) == [middle - spread[name], middle + spread[name]]
        assert to_hex(container.lines[0].get_markerfacecolor()) != "#ffffff"
    del spread["C1"]
    ax = quality_by_size(points, base="base", xlabel="", ylabel="", half_widths=spread)
    assert to_hex(ax.containers[1].lines[0].get_markerfacecolor()) == "#ffffff"


def test_effects_that_nobody_knows_an_interval_of_are_marks_without_a_legend() -> None:
    ax = effects(LABELS, MEANS, xlabel="nats")
    (line,) = [line for line in ax.lines if line.get_marker() == "X"]
    assert list(line.get_xdata()) == sorted(MEANS, reverse=True)
    assert not ax.containers and not ax.figure.legends
