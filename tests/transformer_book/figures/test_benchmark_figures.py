"""A figure of times shows the ratios that it is given."""

from transformer_book.figures.benchmarks import time_ratios

RATIOS = {
    "one": [
        {"median": 2.0, "lowest": 1.5, "highest": 3.0},
        {"median": 0.5, "lowest": 0.4, "highest": 9.0},
    ],
    "other": [
        {"median": 1.0, "lowest": 1.0, "highest": 1.0},
        {"median": 0.25, "lowest": 0.2, "highest": 0.3},
    ],
}


def test_the_first_label_is_on_top_and_everything_lies_inside() -> None:
    ax = time_ratios(["greedy", "beam"], RATIOS)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["greedy", "beam"]
    bottom, top = ax.get_ylim()
    assert bottom > top
    low, high = ax.get_xlim()
    assert low < 0.2 < 1 < 9 < high


def test_competitors_are_told_apart_by_mark_and_colour() -> None:
    points = [container.lines[0] for container in time_ratios(["a", "b"], RATIOS).containers]
    assert len({point.get_marker() for point in points}) == len(RATIOS)
    assert len({point.get_color() for point in points}) == len(RATIOS)
