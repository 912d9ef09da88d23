"""The complexity explorer shows Table 1 with numbers for its letters, whatever moves it."""

import math

import pytest
from traitlets import TraitError

from transformer_book.widgets.complexity_explorer import (
    COLUMNS,
    UNITS,
    ComplexityExplorer,
    layer_costs,
    meeting,
)

OPERATIONS, SEQUENTIAL, PATH = COLUMNS


def numbers_shown(shown) -> dict[str, float]:
    """The numbers of the table that readers may open, and the place that it names."""
    rows = shown.widget.locator(".tfw-complexity-table tbody tr").evaluate_all(
        "rows => rows.map(row => [row.cells[0].textContent, row.cells[2].textContent])"
    )
    return {name: float(number.replace(",", "")) for name, number in rows}


def rows_drawn(shown) -> list[list[int]]:
    """How long the rows of each layer are, in words."""
    bars = shown.widget.locator(".tfw-complexity rect[data-length]").evaluate_all(
        "bars => bars.map(bar => [bar.dataset.length, bar.getAttribute('fill')])"
    )
    layers: dict[str, list[int]] = {}
    for length, colour in bars:
        layers.setdefault(colour, []).append(int(length))
    return [[length for length in rows if length] for rows in layers.values()]


def handle(shown):
    return shown.page.get_by_role("slider", name="length n")


def open_folds(shown) -> None:
    for summary in shown.widget.locator("summary").all():
        summary.click()


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
def test_starts_with_the_rows_of_four_layers_and_their_numbers(show, look, column):
    widget = ComplexityExplorer(column=column, r=4)
    shown = show(widget, **look)
    assert numbers_shown(shown) == expected(widget)
    drawn = {OPERATIONS: [[70], [512], [512] * 3, [4]], SEQUENTIAL: [[1], [70], [1], [1]],
             PATH: [[1], [70], [4], [18]]}  # fmt: skip
    assert rows_drawn(shown) == drawn[column]
    assert shown.height() < 1000
    open_folds(shown)
    shown.check()


def test_the_keyboard_moves_every_control(show):
    widget = ComplexityExplorer()
    shown = show(widget)
    open_folds(shown)
    shown.page.get_by_label("width d").press("End")
    shown.page.get_by_label("kernel k").press("ArrowRight")
    shown.page.get_by_label("neighbourhood r").press("Home")
    shown.page.get_by_label("operations per layer").press("ArrowLeft")
    shown.frame()
    widget.d, widget.k, widget.r, widget.column = 1024, 4, 4, PATH
    for name in ("d", "k", "r", "column"):
        assert shown.state(name) == getattr(widget, name)
    assert numbers_shown(shown) == expected(widget)
    shown.page.get_by_label("maximum path length").press("ArrowRight")
    widget.column = OPERATIONS
    for key, n in (("Home", 2), ("End", 4096), ("ArrowLeft", 4095), ("PageDown", 4070)):
        handle(shown).press(key)
        shown.frame()
        assert shown.state("n") == n
        assert handle(shown).get_attribute("aria-valuetext") == f"{n:,} words"
        assert numbers_shown(shown) == expected(widget, n)


def test_with_everything_counted_the_rows_are_the_matrices(show, look):
    """Where two rows of length n balance those of length d, both layers cost the same."""
    widget = ComplexityExplorer(n=50, r=32)
    shown = show(widget, **look)
    before = numbers_shown(shown)
    for unit, says in (
        ("GRU", "as much as self-attention. The projections do 95.3 % of"),
        ("LSTM", "as much as self-attention. The projections do 95.3 % of"),
        (
            "plain",
            "self-attention costs 2.1 times as much as recurrence. They never cost the same.",
        ),
    ):
        shown.page.get_by_label(f"all, {unit} unit").press("Space")
        shown.frame()
        widget.everything, widget.unit = True, unit
        assert (shown.state("everything"), shown.state("unit")) == (True, unit)
        assert numbers_shown(shown) == expected(widget)
        matrices = [512] * UNITS[unit]
        projected = [512] * 4
        assert rows_drawn(shown) == [
            [50, 50, *projected], matrices, [512] * 3, [32, 32, *projected]
        ]  # fmt: skip
        assert says in note(shown)
        if (met := meeting(512, everything=True, unit=unit)) > 0:
            shown.set("n", met)
            shown.set("n", 50)
            place = {512: "n = d = 512", 1024: "n = 2d = 1,024"}[met]
            assert f"They cost the same at {place}." in note(shown)
    shown.check()
    shown.set("column", PATH)
    assert not shown.page.get_by_label("all, LSTM unit").is_visible()
    shown.set("column", OPERATIONS)
    shown.page.get_by_role("radio", name="the letters of Table 1").click()
    shown.frame()
    assert shown.state("everything") is False
    assert numbers_shown(shown) == before


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_sentences_end_is_dragged_and_stays_where_both_cost_the_same(show, finger):
    widget = ComplexityExplorer(n=50)
    shown = show(widget, touch=True, width=390)
    height = shown.height()

    def end():
        box = shown.widget.locator(".tfw-grip-dot").bounding_box()
        return box["x"] + box["width"] / 2

    before = end()
    shown.drag(handle(shown), 60, 40, finger=finger)
    n = shown.state("n")
    assert 200 < n < 320
    assert end() - before == pytest.approx(60, abs=2)
    assert numbers_shown(shown) == expected(widget, n)
    assert rows_drawn(shown)[0] == [n]
    meets = shown.widget.locator(".tfw-complexity-meets")
    drawn = "line => line.checkVisibility()"
    assert not meets.evaluate(drawn)  # that is the question
    other = shown.widget.locator(".tfw-complexity rect[fill]").nth(9).bounding_box()  # recurrence
    shown.drag(handle(shown), other["x"] + other["width"] - end() + 4, finger=finger)
    assert shown.state("n") == 512  # not quite there, and yet
    assert meets.evaluate(drawn)
    assert note(shown).startswith("At n = 512 self-attention and recurrence cost the same.")
    shown.drag(handle(shown), 900, finger=finger)
    assert shown.state("n") == 1126  # the picture ends there
    shown.drag(handle(shown), -900, finger=finger)
    assert shown.state("n") == 2
    assert shown.height() == height
    shown.check()


def test_no_setting_changes_how_tall_it_is(show):
    for width in (390, 1000):
        shown = show(ComplexityExplorer(), width=width)
        heights = {shown.height()}
        settings = [("n", 20), ("n", 4096), ("everything", True), ("unit", "LSTM"), ("d", 64)]
        for name, value in (*settings, ("k", 9), ("column", PATH), ("column", SEQUENTIAL)):
            shown.set(name, value)
            heights.add(shown.height())
        assert len(heights) == 1


def test_mouse_and_finger_move_sliders_and_column(show):
    shown = show(ComplexityExplorer(), touch=True)
    open_folds(shown)
    for label, name, low, high in (
        ("width d", "d", 64, 1024),
        ("kernel k", "k", 2, 9),
        ("neighbourhood r", "r", 4, 512),
    ):
        shown.slide_to_ends(label, name, low, high)
    shown.page.get_by_label("sequential operations").tap()
    shown.frame()
    assert numbers_shown(shown)["recurrent"] == 70
    shown.page.get_by_label("maximum path length").click()
    shown.frame()
    assert shown.state("column") == PATH


def test_words_say_where_self_attention_and_recurrence_meet(show):
    shown = show(ComplexityExplorer(d=128, n=64, r=32))
    assert note(shown) == "At n = 64 recurrence costs 2 times as much as self-attention."
    shown.set("n", 512)
    assert "At n = 512 self-attention costs 4 times as much as recurrence." in note(shown)
    assert "They cost the same at n = d = 128." in note(shown)  # now that the reader has been there
    shown.set("n", 64)
    assert "They cost the same at n = d = 128." in note(shown)
    shown.set("d", 256)  # another question
    assert "cost the same" not in note(shown)
    shown.set("d", 128)
    shown.set("n", 128)
    assert "At n = 128 self-attention and recurrence cost the same." in note(shown)
    costs = numbers_shown(shown)
    assert costs["self-attention"] == costs["recurrent"]
    shown.set("r", 128)
    assert "saves nothing" in note(shown)


def test_what_python_sets_is_shown(show):
    widget = ComplexityExplorer()
    shown = show(widget)
    for name, value in (("d", 2), ("n", 4096), ("k", 9), ("r", 1), ("column", PATH)):
        setattr(widget, name, value)
        shown.set(name, value)
        assert numbers_shown(shown) == expected(widget)
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
