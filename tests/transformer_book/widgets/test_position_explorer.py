"""The position explorer shows the module's codes in each of its five views."""

import math
import re

import pytest
import torch
from traitlets import TraitError

from transformer.embedding import sinusoidal_positions

from transformer_book.widgets.position_explorer import VIEWS, PositionExplorer

ROUNDED = 5.1e-5  # the read-outs have four decimals
NUMBER = r"−?\d+(?:\.\d+)?"
READOUT = {"curves": 0, "table": 1, "binary": 2, "similarity": 4, "rotation": 5}


def number(text):
    return float(text.replace("−", "-"))


def said(shown, pattern, n):
    """The numbers that a pattern finds in the n-th read-out."""
    return [number(text) for text in re.findall(pattern, shown.readout(n))]


def box(shown, name):
    return shown.widget.get_by_label(re.compile(f"^{name}"))


def test_each_view_has_its_readouts(show):
    shown = show(PositionExplorer())
    for view in VIEWS:
        shown.set("view", view)
        for i, readout in enumerate(shown.widget.locator(".tfw-readout").all()):
            expected = i == READOUT[view] or (view, i) == ("binary", 3)
            assert readout.is_visible() == expected
            assert not expected or readout.inner_text()


@pytest.mark.parametrize("width", [800, 390])
def test_each_view_asks_its_own_question_in_one_height(show, width):
    shown, heights, questions = show(PositionExplorer(), width=width), set(), set()
    for view in VIEWS:
        shown.set("view", view)
        questions.add(shown.widget.locator(".tfw-question").inner_text())
        for position, offset, length in ((5, 3, 100), (90, -64, 100), (5, -64, 128)):
            for name, value in (("length", length), ("position", position), ("offset", offset)):
                shown.set(name, value)
            heights.add(shown.height())
    assert len(questions) == len(VIEWS)
    assert len(heights) == 1
    assert heights.pop() < 850


@pytest.mark.parametrize(("d_model", "length"), [(20, 100), (6, 13), (128, 128)])
def test_curves_and_tables_say_the_modules_codes(show, d_model, length):
    table = sinusoidal_positions(length, d_model)
    dimensions = sorted({0, 1, 3, d_model - 2, d_model - 1})
    shown = show(PositionExplorer(d_model=d_model, length=length, dimensions=dimensions))
    for pos in (0, 1, length // 2, length - 1):
        shown.set("view", "curves")
        shown.set("position", pos)
        assert said(shown, rf": ({NUMBER})", 0) == pytest.approx(
            table[pos, dimensions].tolist(), abs=ROUNDED
        )
        shown.set("view", "table")
        field = box(shown, "Table of codes")
        field.press("Home")
        for i in range(min(d_model, 9)):
            assert shown.readout(1).startswith(f"Position {pos}, dimension {i}: ")
            assert said(shown, rf"= ({NUMBER})\.", 1) == pytest.approx(
                [float(table[pos, i])], abs=ROUNDED
            )
            field.press("ArrowRight")
        field.press("End")
        last = float(table[pos, -1])
        assert said(shown, rf"= ({NUMBER})\.", 1) == pytest.approx([last], abs=ROUNDED)
    assert shown.complaints == []


def test_the_curves_and_cells_drawn_are_the_modules(show):
    widget = PositionExplorer(length=40)
    shown = show(widget)
    heights = shown.widget.locator("polyline").evaluate_all(
        "lines => lines.slice(0, 4).map(l => [...l.points].map(p => p.y))"
    )
    # Zero and one of the axis, from the first sine and the first cosine, both at position 0.
    zero, one = heights[0][0], heights[1][0]
    drawn = (torch.tensor(heights) - zero) / (one - zero)
    assert torch.allclose(drawn.T, widget.table()[:, [4, 5, 6, 7]], atol=2e-3)

    shown.set("view", "table")
    pixels = shown.widget.locator(".tfw-posexp-table canvas").evaluate(
        """(canvas) => {
          const size = canvas.width / 20;
          const context = canvas.getContext("2d");
          return Array.from({ length: 40 }, (_, r) => Array.from({ length: 20 }, (_, c) =>
            [...context.getImageData((c + 0.4) * size, (r + 0.4) * size, 1, 1).data]));
        }"""
    )
    red, _, blue, _ = torch.tensor(pixels).unbind(-1)
    clear = (widget.table().abs() > 0.1) & (widget.table().abs() < 0.9)
    assert torch.equal((red > blue)[clear], (widget.table() > 0)[clear])


def test_bits_are_pythons_binary_numbers(show):
    widget = PositionExplorer(view="binary")
    shown = show(widget)
    bits, table = widget.bits(), widget.table()
    assert [format(pos, "05b") for pos in range(32)] == [
        "".join(str(int(b)) for b in row.flip(0)) for row in bits
    ]
    field, waves = box(shown, "Binary numbers"), box(shown, "Sinusoids")
    for pos in (0, 5, 16, 31):
        shown.set("position", pos)
        field.press("Home")
        for bit in range(5):
            readout = shown.readout(2)
            assert f"Position {pos} is {pos:05b} in binary; bit {bit}, " in readout
            assert f"is {int(bits[pos, bit])}." in readout
            field.press("ArrowRight")
        if pos:
            flips = int((bits[pos] != bits[pos - 1]).sum())
            assert f"From {pos - 1} to {pos}, {flips} of 5 bits flip." in shown.readout(2)
        waves.press("Home")
        assert said(shown, rf"= ({NUMBER})\.", 3) == pytest.approx(
            [float(table[pos, 0])], abs=ROUNDED
        )
    # A position that has no row here stays the reader's.
    shown.set("position", 90)
    assert shown.state("position") == 90
    assert shown.widget.get_by_text("Position 90 is not among them").is_visible()


@pytest.mark.parametrize("d_model", [20, 128])
def test_similarity_depends_on_the_offset_alone(show, d_model):
    table = sinusoidal_positions(128, d_model).double()
    shown = show(PositionExplorer(view="similarity", d_model=d_model, length=128))
    line = shown.widget.locator(".tfw-strong")
    first = None
    for pos, k in ((5, 3), (60, 3), (127, -64), (0, 64), (0, -20)):
        shown.set("position", pos)
        shown.set("offset", k)
        product, total = said(shown, rf"(?:\) = |position: )({NUMBER})", 4)
        # Before position 0 stands no row of the table; its product is that of any other place.
        one = max(pos, -k)
        assert product == total == pytest.approx(float(table[one] @ table[one + k]), abs=2e-4)
        same = PositionExplorer(d_model=d_model, length=128, position=pos, offset=k)
        assert product == pytest.approx(same.similarity(), abs=2e-4)
        first = first or line.get_attribute("points")
        assert line.get_attribute("points") == first


@pytest.mark.parametrize(("d_model", "pair"), [(20, 0), (20, 1), (4, 1), (128, 63)])
def test_a_rotation_by_k_leads_to_the_code_k_later(show, d_model, pair):
    table = sinusoidal_positions(128, d_model)
    shown = show(PositionExplorer(view="rotation", d_model=d_model, length=128, pair=pair))
    shown.widget.locator("summary").click()
    for pos, k in ((5, 3), (0, 44), (100, -64)):
        shown.set("position", pos)
        shown.set("offset", k)
        rows = shown.widget.locator(".tfw-posexp-proof tbody tr").all()
        cells = [[number(td.inner_text()) for td in row.locator("td").all()] for row in rows]
        here, block, moved, there = cells[0], torch.tensor(cells[1:3]), cells[3], cells[4]
        two = slice(2 * pair, 2 * pair + 2)
        assert here == pytest.approx(table[pos, two].tolist(), abs=ROUNDED)
        assert moved == there == pytest.approx(table[pos + k, two].tolist(), abs=ROUNDED)
        assert (block @ table[pos, two]).tolist() == pytest.approx(moved, abs=3e-4)
        turns = PositionExplorer(d_model=d_model, offset=k).turns()
        listed = shown.widget.locator(".tfw-posexp-turns tbody td:nth-child(3)").all_inner_texts()
        assert [number(t) for t in listed] == pytest.approx(turns, abs=ROUNDED)
        degrees = said(shown, rf"rad = ({NUMBER})°", 5)
        assert degrees == pytest.approx([math.degrees(turns[pair])], abs=0.0051)
        assert "below 10⁻¹²" in shown.readout(5)
        # The hands' ends: cosine to the right, sine upwards.
        dots = shown.widget.locator(".tfw-posexp-clock circle[r='5.5']").all()
        for dot, code in zip(dots, table[[pos, pos + k], two], strict=True):
            x, y = (float(dot.get_attribute(name) or "") / 90 for name in ("cx", "cy"))
            assert (-y, x) == pytest.approx(tuple(code.tolist()), abs=2e-4)


def test_the_keyboard_moves_every_control(show):
    shown = show(PositionExplorer())
    shown.page.get_by_role("radio", name="curves").press("ArrowLeft")
    shown.frame()
    assert shown.state("view") == "rotation"
    for label, key, name, value in (
        ("position pos", "End", "position", 99),
        ("offset k", "ArrowRight", "offset", 4),
        ("pair i", "End", "pair", 9),
        ("length", "Home", "length", 10),
        ("width d_model", "Home", "d_model", 4),
    ):
        shown.page.get_by_label(label).press(key)
        shown.frame()
        assert shown.state(name) == value
    # What was beyond the smaller table came along.
    assert [shown.state(n) for n in ("position", "pair", "dimensions")] == [9, 1, [0, 1]]
    shown.set("view", "curves")
    field = shown.page.get_by_label("up to 6 dimensions")
    field.fill("3; 0")
    field.press("Enter")
    shown.frame()
    assert (shown.state("dimensions"), field.input_value()) == ([3, 0], "3, 0")
    box(shown, "Dimensions over").press("Home")
    assert shown.state("position") == 0
    assert shown.readout().startswith("Position 0. Dimension 3 (cos): 1.0000;")
    shown.set("view", "similarity")
    box(shown, "Similarity over").press("Home")
    assert shown.state("offset") == -64


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("20", "no dimension 20; give numbers from 0 to 19"),
        ("<b>x</b>", "no dimension <b>x</b>"),
        ("\u05d0", "no dimension \u05d0"),
        ("", "0 dimensions; give 1 to 6"),
        ("1 2 3 4 5 6 7", "7 dimensions"),
    ],
)
def test_dimensions_that_do_not_exist_are_a_sentence(show, typed, named):
    shown = show(PositionExplorer())
    field = shown.page.get_by_label("up to 6 dimensions")
    field.fill(typed)
    field.press("Enter")
    assert named in shown.widget.get_by_role("alert").inner_text()
    assert shown.widget.locator("b").count() == 0
    assert shown.state("dimensions") == [4, 5, 6, 7]
    shown.check()
    field.fill("2, 2")
    field.press("Enter")
    assert shown.state("dimensions") == [2]
    assert shown.widget.get_by_role("alert").count() == 0


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"view": "clock"}, "view"),
        ({"d_model": 21}, r"d_model \(21\) must be even"),
        ({"d_model": 130}, "d_model"),
        ({"length": 9}, "length"),
        ({"dimensions": []}, "0 entries; give 1 to 6"),
        ({"dimensions": [1, 1]}, "names one twice"),
        ({"dimensions": [20]}, "dimension 20 does not exist at d_model 20"),
        ({"position": 100}, "position 100 is beyond the last one, 99"),
        ({"offset": 65}, "offset"),
        ({"pair": 10}, "pair 10 does not exist at d_model 20; give 0 to 9"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        PositionExplorer(**settings)


def test_a_smaller_table_takes_the_rest_with_it():
    widget = PositionExplorer(position=99, pair=9)
    widget.length, widget.d_model = 12, 4
    assert (widget.position, widget.pair, widget.dimensions) == (11, 1, [0, 1])
    before = widget.codes([-3])[0]
    assert torch.equal(before, widget.table()[3] * torch.tensor([-1.0, 1.0, -1.0, 1.0]))


def test_the_twins_draw_the_same_state():
    widget = PositionExplorer(position=9, offset=-20, pair=1)
    table = widget.table()
    lines = widget.twin().axes[0].lines
    for i, line in zip((4, 5, 6, 7), lines, strict=False):
        assert line.get_ydata() == pytest.approx(table[:, i].numpy())
    widget.view = "similarity"
    axes = widget.twin().axes[0]
    at = dict(zip(*axes.lines[0].get_data(), strict=True))
    assert at[-20] == pytest.approx(widget.similarity(), abs=1e-4)
    for view in ("table", "binary", "rotation"):
        widget.view = view
        assert widget.twin().axes


def test_the_chapters_questions_have_these_answers():
    table = sinusoidal_positions(100, 20)
    gap = (table[:, :, None] - table[:, None]).abs().amax(0) + 9 * torch.eye(20)
    assert divmod(int(gap.argmin()), 20) == (17, 19)
    missing = {k: abs(math.remainder(k, 2 * math.pi)) for k in range(1, 65)}
    assert min(missing, key=lambda k: missing[k]) == 44
    assert round(44 / (2 * math.pi), 2) == 7.0
    turns = [PositionExplorer(pair=2, offset=k).turns()[2] for k in range(1, 65)]
    assert 1 + min(range(64), key=lambda i: abs(turns[i] - 2 * math.pi)) == 40
