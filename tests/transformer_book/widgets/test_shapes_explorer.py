"""The shapes explorer shows what a real model of its settings does, whatever moves it."""

import ast
import re
import textwrap
from pathlib import Path

import pytest
from traitlets import TraitError

import transformer
from tests.transformer_book.widgets.drawing import CROSSED, ON_A_SHAPE
from transformer.model import Transformer

from transformer_book.widgets.shapes_explorer import PARTS, ShapesExplorer, body_of

PACKAGE = Path(transformer.__file__).parent
TINY = {"d_model": 8, "n_heads": 2, "d_ff": 12, "n_layers": 2, "vocab": 11}
SETTINGS = [
    {"batch": 3, "src_len": 5, "tgt_len": 4, **TINY},
    {
        **{"batch": 1, "src_len": 2, "tgt_len": 7, "d_model": 12, "n_heads": 3, "d_ff": 5},
        **{"n_layers": 3, "vocab": 9},
    },
    {**TINY, "batch": 2, "src_len": 1, "tgt_len": 1, "n_heads": 8, "n_layers": 1, "vocab": 2},
]
SLIDERS = {  # label: (trait, lowest, highest)
    "batch": ("batch", 1, 64),
    "target length": ("tgt_len", 1, 100),
    "width d_model": ("d_model", 64, 1024),
    "heads h": ("n_heads", 1, 32),
    "inner width d_ff": ("d_ff", 64, 4096),
    "layers N": ("n_layers", 1, 12),
    "vocabulary": ("vocab", 100, 50_000),
}


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", text))


def shapes(shown) -> dict[str, tuple[int, ...]]:
    """The shape in each row of the table, by the tensor's name."""
    rows = shown.widget.locator("[data-tensor]").evaluate_all(
        "rows => rows.map(r => [r.dataset.tensor, r.lastElementChild.textContent])"
    )
    return {name: tuple(int(n) for n in re.findall(r"\d+", text)) for name, text in rows}


def arrows(shown) -> list[tuple[int, ...]]:
    texts = shown.widget.locator(".tfw-shapes-label").all_text_contents()
    return [tuple(int(n) for n in re.findall(r"\d+", text)) for text in texts]


def pressed(shown) -> list[str]:
    return shown.widget.locator('[aria-pressed="true"]').evaluate_all(
        "buttons => buttons.map(b => b.dataset.part)"
    )


def parameters(shown) -> str:
    return shown.widget.locator(".tfw-shapes-parameters").text_content()


def details(shown) -> bool:
    return shown.widget.locator(".tfw-shapes-table").count() == 1


@pytest.mark.parametrize("settings", SETTINGS)
def test_every_part_is_as_in_a_real_model(show, settings):
    widget = ShapesExplorer(**settings)
    shown = show(widget)
    model = Transformer(widget.config())
    counted = 0
    drawn = []
    for part in PARTS:
        shown.set("part", part)
        real = widget.measured(part)
        drawn.append(real["shapes"]["output"])
        # Tokens and memory are tensors: their table has the one row.
        expected = real["shapes"]
        if part in ("src", "tgt", "memory"):
            expected = {"output": expected["output"]}
        assert shapes(shown) == expected, part
        text = parameters(shown)
        if real["parameters"] == 0:
            assert text.startswith("No parameters"), part
            continue
        n = real["parameters"]
        of_many = re.search(r"= ([\d,]+) in one layer, ([\d,]+) in all (\d+)\.", text)
        if of_many:
            assert numbers(" ".join(of_many.groups())) == (n, n * widget.n_layers, widget.n_layers)
            counted += n * widget.n_layers
        else:
            assert numbers(text.split("=")[1]) == (n,), part
            counted += 0 if "counted there" in text else n
        assert f", {n:,} parameters." in shown.readout()
    assert arrows(shown) == drawn
    assert counted == model.n_parameters()
    assert shown.readout().endswith(f"The whole model has {model.n_parameters():,}.")
    assert shown.complaints == []


def test_the_base_model_has_the_parameters_it_shows(show):
    widget = ShapesExplorer()
    count = Transformer(widget.config()).n_parameters()
    assert show(widget).readout().endswith(f"The whole model has {count:,}.")


def test_the_code_of_every_part_is_what_its_functions_do(show):
    widget = ShapesExplorer()
    shown = show(widget)
    assert tuple(widget.code) == PARTS
    for part, names in widget.code.items():
        assert names
        shown.set("part", part)
        heads = shown.widget.locator(".tfw-shapes-snippet p").all_text_contents()
        seen = shown.widget.locator(".tfw-shapes-snippet pre").all_text_contents()
        for head, text, name in zip(heads, seen, names, strict=True):
            file, function = head.rstrip(":").split(", ")
            assert function == name
            source = (PACKAGE.parent / file).read_text()
            code = ast.parse(source)
            for step in name.split("."):
                code = next(n for n in code.body if getattr(n, "name", "") == step)
            if ast.get_docstring(code) is not None:
                del code.body[0]
            shown_code = ast.parse("def f():\n" + textwrap.indent(text, "    ")).body[0]
            assert list(map(ast.dump, shown_code.body)) == list(map(ast.dump, code.body))
            # Comments too, as they stand in the file.
            assert {line.strip() for line in text.split("\n")} <= {
                line.strip() for line in source.split("\n")
            }


def test_of_a_function_the_body_is_shown():
    def plain(x: int) -> int:
        # Why.
        if x:
            return x  # what

        return 1

    assert body_of(plain) == ["# Why.", "if x:", "    return x  # what", "", "return 1"]


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_end_of_the_source_is_dragged_and_its_length_reaches_the_cross_attention(show, finger):
    shown = show(ShapesExplorer(src_len=7, tgt_len=6, part="cross"), touch=True, width=390)
    height, end = shown.height(), shown.page.get_by_role("slider", name="source length")
    before = shapes(shown), arrows(shown)
    token = shown.widget.locator(".tfw-shapes-token").first.bounding_box()["width"] / 0.8
    shown.drag(end, 5 * token, finger=finger)
    assert shown.state("src_len") == 12
    after = shapes(shown), arrows(shown)
    changed = {name for name, shape in after[0].items() if shape != before[0][name]}
    assert changed == {"memory", "key", "value", "scores"}
    moved = [
        part
        for part, a, b in zip(PARTS, *(one[1] for one in (before, after)), strict=True)
        if a != b
    ]
    assert moved == list(PARTS[: PARTS.index("tgt")])  # all of the encoder, nothing of the decoder
    widths = shown.widget.locator(".tfw-shapes-band").evaluate_all(
        "bands => bands.map(b => [b.classList[1], getComputedStyle(b).strokeWidth])"
    )
    assert set(map(tuple, widths)) == {
        ("tfw-shapes-of-encoder", f"{2 + 1.2 * 12:g}px"),
        ("tfw-shapes-of-decoder", f"{2 + 1.2 * 6:g}px"),
    }
    shown.drag(end, -400, finger=finger)
    assert shown.state("src_len") == 1
    shown.drag(end, 400, finger=finger)
    assert shown.state("src_len") == 24  # as many as are drawn
    for key, value in (
        ("ArrowLeft", 23),
        ("PageDown", 18),
        ("Home", 1),
        ("ArrowRight", 2),
        ("End", 24),
    ):
        end.press(key)
        assert shown.state("src_len") == value
    shown.frame()
    assert end.get_attribute("aria-valuetext") == "24 tokens"
    shown.set("src_len", 100)  # as Python may
    assert end.get_attribute("aria-valuetext") == "100 tokens"
    assert shown.height() == height
    shown.check()


@pytest.mark.parametrize("width", [390, 1000])
def test_no_part_and_no_size_changes_how_tall_it_is(show, width):
    shown = show(ShapesExplorer(), width=width)
    heights = set()
    for part in PARTS:
        shown.set("part", part)
        heights.add(shown.height())
    for name, value in (("vocab", 50_000), ("batch", 64), ("d_model", 1024), ("n_layers", 12)):
        shown.set(name, value)
        heights.add(shown.height())
    assert len(heights) == 1
    assert heights.pop() < 1000


def test_every_part_is_picked_by_key_mouse_and_finger(show):
    shown = show(ShapesExplorer(part="src"), touch=True)
    boxes = shown.widget.locator(".tfw-shapes-box")
    assert boxes.evaluate_all("boxes => boxes.map(b => b.dataset.part)") == list(PARTS)

    def picked(part):
        shown.frame()
        return shown.state("part") == part and pressed(shown) == [part] and details(shown)

    boxes.first.focus()
    for part in PARTS[1:]:
        shown.page.keyboard.press("ArrowUp")
        assert picked(part)
    for part in PARTS[-2::-1]:
        shown.page.keyboard.press("ArrowDown")
        assert picked(part)
    shown.page.keyboard.press("End")
    assert picked("softmax")
    shown.page.keyboard.press("Home")
    for part in PARTS[1:]:
        shown.page.keyboard.press("Tab")
        shown.page.keyboard.press("Enter")
        assert picked(part)
    for place, part in enumerate(PARTS):
        boxes.nth(place).click()
        assert picked(part)
        boxes.nth((place + 5) % len(PARTS)).tap()
        assert picked(PARTS[(place + 5) % len(PARTS)])

    back, next_ = (shown.page.get_by_role("button", name=n) for n in ("Previous part", "Next part"))
    shown.set("part", "softmax")
    assert next_.get_attribute("aria-disabled") == "true"
    back.click()
    assert picked("output")
    back.tap()
    assert picked("decoder_norm_3")
    next_.press("Enter")
    assert picked("output")
    shown.set("part", "src")
    assert back.get_attribute("aria-disabled") == "true"
    assert shown.complaints == []


def test_sliders_move_by_key_mouse_and_finger_and_always_make_a_model(show):
    shown = show(ShapesExplorer(), touch=True)
    shown.page.get_by_text("Other sizes").click()
    for label, (name, low, high) in SLIDERS.items():
        slider = shown.page.get_by_label(label, exact=True)
        box = slider.bounding_box()
        slider.press("Home")
        assert shown.state(name) == low
        slider.press("End")
        assert shown.state(name) == high
        slider.tap(position={"x": 2, "y": box["height"] / 2})
        assert shown.state(name) == low
        slider.click(position={"x": box["width"] - 2, "y": box["height"] / 2})
        assert shown.state(name) == high
    width, heads = (shown.page.get_by_label(name, exact=True) for name in list(SLIDERS)[2:4])
    width.press("Home")
    for _ in range(6):
        heads.press("Home")
        for _ in range(6):
            shown.frame()
            d_model, n_heads = shown.state("d_model"), shown.state("n_heads")
            ShapesExplorer(d_model=d_model, n_heads=n_heads)  # raises what makes no model
            assert f"d_k = {d_model // n_heads}." in shown.readout()
            heads.press("ArrowRight")
        width.press("ArrowRight")
    assert (shown.state("d_model"), shown.state("n_heads")) == (1024, 32)


def test_settings_that_make_no_model_are_a_sentence_in_the_page(show):
    shown = show(ShapesExplorer())
    for width, heads, says in ((100, 8, "8 heads do not divide a width of 100"), (9, 3, "is odd")):
        shown.set("n_heads", heads)
        shown.set("d_model", width)
        assert says in shown.readout()
        assert not details(shown)
        assert set(arrows(shown)) == {()}
        shown.check()
    shown.set("d_model", 12)
    assert details(shown)
    assert shapes(shown)["query"] == (2, 3, 7, 4)


def test_reads_well_everywhere(show, look):
    largest = {name: high for name, _, high in SLIDERS.values()}
    shown = show(ShapesExplorer(**largest, src_len=100), **look)
    shown.widget.evaluate("p => p.querySelectorAll('details').forEach(d => { d.open = true; })")
    for part in ("cross", "softmax", "encoder_norm_1"):
        shown.set("part", part)
        shown.check()


def test_the_arrows_stop_where_a_shape_is_written(show, look):
    shown = show(ShapesExplorer(vocab=37_000), **look)
    for tgt_len in (1, 100):
        shown.set("tgt_len", tgt_len)
        assert shown.widget.evaluate(CROSSED) == shown.widget.evaluate(ON_A_SHAPE) == []


def test_code_never_becomes_markup(show):
    shown = show(ShapesExplorer())
    lines = ["<b>x</b>", "<script>window.bad = 1</script>", "שלום"]
    shown.set("functions", {"<b>": {"file": "<i>f</i>", "lines": lines}})
    shown.set("code", {part: ["<b>"] for part in PARTS})
    shown.set("part", "cross")
    seen = shown.widget.locator(".tfw-shapes-snippet pre").text_content()
    assert seen == "\n".join(lines)
    assert shown.widget.locator(".tfw-shapes-snippet :is(b, i, script)").count() == 0
    shown.set("part", "<b>no part</b>")
    assert "no part" not in shown.widget.inner_text()
    assert shown.complaints == []


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"d_model": 512, "n_heads": 7}, r"n_heads \(7\) must divide d_model \(512\)"),
        ({"d_model": 9, "n_heads": 3}, r"d_model \(9\) must be even.*choose 10"),
        ({"n_heads": 0}, "n_heads"),
        ({"batch": 0}, "batch"),
        ({"src_len": 1025}, "src_len"),
        ({"tgt_len": 0}, "tgt_len"),
        ({"d_ff": 0}, "d_ff"),
        ({"n_layers": 0}, "n_layers"),
        ({"vocab": 1}, "vocab"),
        ({"part": "decoder"}, "part"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        ShapesExplorer(**settings)


def test_a_part_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="there is no part 'decoder'; choose one of src, "):
        ShapesExplorer().measured("decoder")


@pytest.mark.slow
def test_the_twin_writes_the_same_shapes():
    widget = ShapesExplorer(**SETTINGS[0])
    texts = " ".join(text.get_text() for text in widget.twin().axes[0].texts)
    written = {
        tuple(map(int, shape.split(", "))) for shape in re.findall(r"\((\d+(?:, \d+)+)\)", texts)
    }
    for part in ("src", "tgt", "memory", "encoder_self", "decoder_self", "cross", "output"):
        measured = widget.measured(part)["shapes"]
        for name in {"output", "scores"} & measured.keys():
            assert measured[name] in written, (part, name)
