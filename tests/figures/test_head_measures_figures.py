"""Figures of heads show the numbers that they are given, each at its layer and head."""

import numpy as np
import pytest

from transformer.figures.head_measures import destinations, head_tables, looks_and_matters


def test_each_head_has_its_number_in_the_row_of_its_layer() -> None:
    numbers = {"encoder self": [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], "cross": [[0.7, 0.8]] * 3}
    figure = head_tables(numbers, label="share", baselines={"cross": "uniform: 0.10"})
    encoder, cross, bar = figure.axes
    assert [text.get_text() for text in encoder.texts] == [f"0.{i}0" for i in range(1, 7)]
    assert [text.get_text() for text in cross.texts] == ["0.70", "0.80"] * 3
    assert [ax.get_title() for ax in (encoder, cross)] == list(numbers)
    assert cross.get_xlabel() == "head\nuniform: 0.10" and encoder.get_xlabel() == "head"
    assert [label.get_text() for label in encoder.get_yticklabels()] == ["1", "2", "3"]
    assert bar.get_ylabel() == "share"


def test_all_panels_have_one_colour_scale() -> None:
    figure = head_tables({"a": [[0.0, 0.1]], "b": [[0.9, 0.9]]}, label="", limits=(-1.0, 2.0))
    assert [ax.collections[0].get_clim() for ax in figure.axes[:2]] == [(-1, 2)] * 2


def test_panels_of_different_shapes_stand_side_by_side() -> None:
    figure = head_tables({"a": np.zeros((6, 8)), "b": np.zeros((1, 1))}, label="")
    assert [len(ax.texts) for ax in figure.axes[:2]] == [48, 1]


@pytest.mark.parametrize(
    ("tables", "complaint"), [({}, "no numbers"), ({"a": [0.1, 0.2]}, r"shape \(2,\)")]
)
def test_what_is_no_table_is_refused(tables: dict[str, list[float]], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        head_tables(tables, label="")


def test_the_parts_of_a_bar_follow_one_another_and_are_as_long_as_their_shares() -> None:
    shares = {"gold": [0.5, 0.25], "end mark": [0.3, 0.7], "elsewhere": [0.2, 0.05]}
    ax = destinations(shares, ["1.1", "1.2"])
    for head in range(2):
        bars = [container.patches[head] for container in ax.containers]
        widths = [part[head] for part in shares.values()]
        np.testing.assert_allclose([bar.get_width() for bar in bars], widths)
        ends = np.cumsum([bar.get_width() for bar in bars])
        np.testing.assert_allclose([bar.get_x() for bar in bars], [0, *ends[:-1]])
        assert ends[-1] == pytest.approx(1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(shares)
    # Numbers stand in all parts but the narrow one.
    assert sorted(text.get_text() for text in ax.texts) == ["0.20", "0.25", "0.30", "0.50", "0.70"]


def test_a_share_is_asked_for_each_head() -> None:
    with pytest.raises(ValueError, match="gold has 1 shares for 2 heads"):
        destinations({"gold": [0.5]}, ["a", "b"])


def test_each_head_is_a_point_where_its_two_numbers_say() -> None:
    groups = {"layer 1": ([0.1, 0.2], [0.01, -0.02], [0.1, 0.1]), "layer 2": ([0.5], [0.3], [0])}
    axis = looks_and_matters(groups, x_label="looks", y_label="matters", baseline=(0.15, "uniform"))
    first, second = (container.lines[0] for container in axis.containers)
    np.testing.assert_array_equal(first.get_xydata(), [[0.1, 0.01], [0.2, -0.02]])
    np.testing.assert_array_equal(second.get_xydata(), [[0.5, 0.3]])
    assert first.get_marker() != second.get_marker()
    assert [text.get_text() for text in axis.texts] == ["1", "2", "1"]
    labels = {text.get_text() for text in axis.get_legend().get_texts()}
    assert labels == {"layer 1", "layer 2", "uniform"}


def test_the_bars_of_a_point_are_one_standard_error_each_way() -> None:
    axis = looks_and_matters({"a": ([0.5], [0.3], [0.1])}, x_label="", y_label="")
    segment = axis.containers[0].lines[2][0].get_segments()[0]
    np.testing.assert_allclose(segment, [[0.5, 0.2], [0.5, 0.4]])
