"""The complexity explorer shows Table 1 with numbers for its letters, whatever moves it."""

import math
import re

import pytest
from traitlets import TraitError

from transformer.widgets.complexity_explorer import (
    COLUMNS,
    UNITS,
    ComplexityExplorer,
    layer_costs,
    meeting,
)

OPERATIONS, SEQUENTIAL, PATH = COLUMNS


def numbers_shown(text: str) -> dict[str, float]:
    """The numbers that a read-out names."""
    found = re.findall(r"([a-z][a-z() -]*): ([\d.,]+(?:e\d+)?)[;.]", text)
    return {name: float(number.rstrip(".").replace(",", "")) for name, number in found}


def expected(widget: ComplexityExplorer, n: int | None = None) -> object:
    return pytest.approx(
        {name: row[widget.column] for name, row in widget.table(n).items()}, rel=0.006
    )


def note(shown) -> str:
    return shown.widget.locator(".tfw-complexity-note").inner_text()


def test_the_table_is_the_papers():
    costs = layer_costs(1000, 512, 3, 10)
    assert {name: row[OPERATIONS] for name, row in costs.items()} == {
        "self-attention": 1000**2 * 512,
        "recurrent": 1000 * 512**2,
        "convolutional": 3 * 1000 * 512**2,
        "self-attention (restricted)": 10 * 1000 * 512,
    }
    assert [row[SEQUENTIAL] for row in costs.values()] == [1, 1000, 1, 1]
    assert [row[PATH] for row in costs.values()] == pytest.approx([1, 1000, math.log(1000, 3), 100])


def test_everything_counted_is_the_letters_with_their_factors_and_the_projections():
    n, d, k, r = 100, 64, 3, 10
    for unit, matrices in (("plain", 2), ("GRU", 6), ("LSTM", 8)):
        costs = layer_costs(n, d, k, r, everything=True, unit=unit)
        assert {name: row[OPERATIONS] for name, row in costs.items()} == {
            "self-attention": 4 * n * d**2 + 2 * n**2 * d,
            "recurrent": matrices * n * d**2,
            "convolutional": k * n * d**2,
            "self-attention (restricted)": 4 * n * d**2 + 2 * r * n * d,
        }
        letters = layer_costs(n, d, k, r)
        assert all(costs[name][PATH] == letters[name][PATH] for name in costs)


@pytest.mark.parametrize(("unit", "expected"), [("plain", 0), ("GRU", 64), ("LSTM", 128)])
def test_where_both_cost_the_same_depends_on_the_recurrent_unit(unit, expected):
    assert meeting(64) == 64
    assert meeting(64, everything=True, unit=unit) == expected
    for n in range(1, 300):
        row = layer_costs(n, 64, 3, 10, everything=True, unit=unit)
        own, other = row["self-attention"][OPERATIONS], row["recurrent"][OPERATIONS]
        assert (own < other) == (n < expected)
        assert (own == other) == (n == expected)


def test_a_neighbourhood_beyond_the_sentence_restricts_nothing():
    costs = layer_costs(20, 64, 3, 32)
    assert costs["self-attention (restricted)"] == costs["self-attention"]


@pytest.mark.parametrize("column", COLUMNS)
def test_starts_with_four_curves_and_their_numbers(show, look, column):
    widget = ComplexityExplorer(column=column)
    shown = show(widget, **look)
    assert shown.readout().startswith(f"n = 70, {column}.")
    assert numbers_shown(shown.readout()) == expected(widget)
    assert shown.widget.locator("polyline").count() == 4
    shown.check()


def test_the_keyboard_moves_every_control(show):
    widget = ComplexityExplorer()
    shown = show(widget)
    shown.page.get_by_label("width d").press("End")
    shown.page.get_by_label("kernel k").press("ArrowRight")
    shown.page.get_by_label("neighbourhood r").press("Home")
    shown.page.get_by_label("operations per layer").press("ArrowLeft")
    shown.frame()
    widget.d, widget.k, widget.r, widget.column = 1024, 4, 4, PATH
    for name in ("d", "k", "r", "column"):
        assert shown.state(name) == getattr(widget, name)
    assert numbers_shown(shown.readout()) == expected(widget)
    shown.page.get_by_label("maximum path length").press("ArrowRight")
    shown.frame()
    widget.column = OPERATIONS
    chart = shown.widget.locator(".tfw-chart")
    for key, n in (("Home", 2), ("End", 4096), ("ArrowLeft", None)):
        chart.press(key)
        shown.frame()
        n = n or shown.state("n")
        assert shown.readout().startswith(f"n = {n:,}, ")
        assert numbers_shown(shown.readout()) == expected(widget, n)
    shown.page.get_by_role("button", name="Go to n = d").press("Enter")
    shown.frame()
    assert shown.state("n") == 1024


def test_the_switch_counts_the_projections_too(show, look):
    widget = ComplexityExplorer(n=50, r=32)
    shown = show(widget, **look)
    assert not shown.page.get_by_label("LSTM").is_visible()
    before = shown.readout()
    shown.page.get_by_label("count every multiplication").press("Space")
    shown.frame()
    widget.everything = True
    assert shown.state("everything") is True
    assert shown.readout() != before
    assert numbers_shown(shown.readout()) == expected(widget)
    assert "(4n·d² + 2n²·d)" in note(shown)
    assert "(6n·d²) cost the same at n = d = 512" in note(shown)
    assert "The projections do 95.3 % of" in note(shown)
    shown.page.get_by_label("LSTM").press("Space")
    shown.frame()
    widget.unit = "LSTM"
    assert numbers_shown(shown.readout()) == expected(widget)
    assert "cost the same at n = 2d = 1,024" in note(shown)
    shown.page.get_by_label("plain").click()
    shown.frame()
    widget.unit = "plain"
    assert numbers_shown(shown.readout()) == expected(widget)
    assert "never cost the same; at n = 50 self-attention costs 2.1 times" in note(shown)
    shown.check()
    shown.set("column", PATH)
    assert not shown.page.get_by_label("LSTM").is_visible()
    shown.page.get_by_label("count every multiplication").click()
    shown.set("column", OPERATIONS)
    widget.everything = False
    assert shown.readout() == before


def test_mouse_and_finger_move_cursor_slider_and_column(show):
    widget = ComplexityExplorer()
    shown = show(widget, touch=True)
    chart = shown.widget.locator(".tfw-chart")
    box = chart.bounding_box()
    chart.hover(position={"x": 0.6 * box["width"], "y": 100})
    shown.frame()
    by_mouse = shown.state("n")
    assert 100 < by_mouse < 250
    assert numbers_shown(shown.readout()) == expected(widget, by_mouse)
    chart.tap(position={"x": box["width"] - 20, "y": 100})
    shown.frame()
    assert shown.state("n") == 4096

    for label, name, low, high in (
        ("width d", "d", 64, 1024),
        ("kernel k", "k", 2, 9),
        ("neighbourhood r", "r", 4, 512),
    ):
        shown.slide_to_ends(label, name, low, high)
    shown.page.get_by_label("sequential operations").tap()
    shown.frame()
    assert numbers_shown(shown.readout())["recurrent"] == 4096
    shown.page.get_by_label("maximum path length").click()
    shown.frame()
    assert shown.state("column") == PATH


def test_words_say_where_self_attention_and_recurrence_meet(show):
    shown = show(ComplexityExplorer(d=128, n=64, r=32))
    assert "cost the same at n = d = 128; at n = 64 recurrence costs 2 times" in note(shown)
    shown.set("n", 512)
    assert "at n = 512 self-attention costs 4 times" in note(shown)
    shown.page.get_by_role("button", name="Go to n = d").click()
    shown.frame()
    assert shown.state("n") == 128
    assert "where the cursor stands" in note(shown)
    costs = numbers_shown(shown.readout())
    assert costs["self-attention"] == costs["recurrent"]
    shown.set("r", 128)
    assert "saves nothing" in note(shown)


def test_what_python_sets_is_shown(show):
    widget = ComplexityExplorer()
    shown = show(widget)
    for name, value in (("d", 2), ("n", 4096), ("k", 9), ("r", 1), ("column", PATH)):
        setattr(widget, name, value)
        shown.set(name, value)
        assert numbers_shown(shown.readout()) == expected(widget)
    shown.check()


@pytest.mark.parametrize("name", ["n", "d", "k", "r"])
def test_settings_that_make_no_sense_are_a_sentence(name):
    with pytest.raises(TraitError, match=f"'{name}' trait"):
        ComplexityExplorer(**{name: 0})
    settings = {"n": 8, "d": 8, "k": 2, "r": 2, name: 0}
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least"):
        layer_costs(**settings)


def test_a_column_that_is_not_in_the_table_is_refused():
    with pytest.raises(TraitError, match="operations per layer"):
        ComplexityExplorer(column="cost")


@pytest.mark.parametrize("column", COLUMNS)
def test_the_twin_draws_the_same_curves(column):
    widget = ComplexityExplorer(column=column)
    axes = widget.twin().axes[0]
    assert axes.get_ylabel() == column
    last = {line.get_label(): line.get_ydata()[-1] for line in axes.lines[:4]}
    assert last == pytest.approx({name: row[column] for name, row in widget.table(4096).items()})
    assert len(axes.texts) == (column == OPERATIONS)


@pytest.mark.parametrize("unit", UNITS)
def test_the_twin_marks_where_both_cost_the_same_with_everything_counted(unit):
    widget = ComplexityExplorer(d=256, everything=True, unit=unit)
    axes = widget.twin().axes[0]
    assert axes.get_ylabel() == "multiplications per layer"
    marks = {"plain": [], "GRU": ["n = d = 256"], "LSTM": ["n = 2 d = 512"]}
    assert [text.get_text() for text in axes.texts] == marks[unit]
    last = {line.get_label(): line.get_ydata()[-1] for line in axes.lines[:4]}
    expected = {name: row[OPERATIONS] for name, row in widget.table(4096).items()}
    assert last == pytest.approx(expected)
