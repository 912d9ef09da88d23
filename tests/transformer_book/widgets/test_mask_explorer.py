"""The mask explorer draws and says what the module's masks hold, cell by cell."""

import pytest
import torch
from traitlets import TraitError

from transformer.masks import causal_mask, padding_mask, target_mask

from transformer_book.widgets.mask_explorer import PAD, SHOWS, MaskExplorer

VIEWS = [("encoder self", "combined"), ("cross", "causal"), *[("decoder self", s) for s in SHOWS]]


def by_keys(shown, rows, columns):
    """What the read-out says of each cell, as the arrow keys move over them."""
    field = shown.widget.locator(".tfw-field")
    said = []
    for row in range(rows):
        field.press("ArrowDown" if row else "Home")
        field.press("Home")
        said.append([shown.readout()])
        for _ in range(columns - 1):
            field.press("ArrowRight")
            said[-1].append(shown.readout())
    return said


def drawn(shown, rows, columns):
    """Whether each cell is dark, from the canvas."""
    return shown.widget.evaluate(
        """(place, [rows, columns]) => {
          const canvas = place.querySelector("canvas");
          // Read from a copy: reading the drawn one often makes Chromium warn.
          const copy = new OffscreenCanvas(canvas.width, canvas.height);
          const context = copy.getContext("2d", { willReadFrequently: true });
          context.drawImage(canvas, 0, 0);
          const size = canvas.width / columns;
          return Array.from({ length: rows }, (_, r) => Array.from({ length: columns }, (_, c) =>
            context.getImageData((c + 0.4) * size, (r + 0.4) * size, 1, 1).data[0] < 100));
        }""",
        [rows, columns],
    )


def reason(kind, show, query, key, keys):
    """In other words than the front end's, why a cell is hidden."""
    combined = kind != "decoder self" or show == "combined"
    why = []
    if keys[key] == PAD and (combined or show == "padding"):
        why.append("padding")
    if kind == "decoder self" and show != "padding" and key > query:
        why.append("it comes later")
    return ", and ".join(why)


@pytest.mark.parametrize(("kind", "show_"), VIEWS)
@pytest.mark.parametrize("settings", [{}, {"sentence": 1, "source_length": 2, "target_length": 3}])
def test_every_cell_is_the_modules(show, kind, show_, settings):
    widget = MaskExplorer(kind=kind, show=show_, **settings)
    shown = show(widget)
    mask = widget.mask()
    queries, keys = widget.tokens()
    said = by_keys(shown, *mask.shape)
    assert drawn(shown, *mask.shape) == mask.tolist()
    for q, query in enumerate(queries):
        for k, key in enumerate(keys):
            who, whom = f'"{query}" (query, position {q})', f'"{key}" (key, position {k})'
            if mask[q, k]:
                assert said[q][k].startswith(f"{who} may look at {whom}: ")
            else:
                why = reason(kind, show_, q, k, keys)
                assert said[q][k] == f"{who} may not look at {whom}: {why}."


def test_python_masks_are_those_of_padded_ids():
    widget = MaskExplorer([["a", "b"], ["c"]], [["<s>", "x", "y"], ["<s>", "z"]], sentence=1)
    source, target = torch.tensor([[5, 6], [7, 0]]), torch.tensor([[1, 8, 9], [1, 8, 0]])
    pads, both = padding_mask(source, 0)[1, 0], target_mask(target, 0)[1, 0]
    assert torch.equal(widget.mask("encoder self"), pads.expand(2, 2))
    assert torch.equal(widget.mask("cross"), pads.expand(3, 2))
    assert torch.equal(widget.mask("decoder self"), both)
    assert torch.equal(widget.mask("decoder self", "causal"), causal_mask(3)[0, 0])
    alone = padding_mask(target, 0)[1, 0].expand(3, 3)
    assert torch.equal(widget.mask("decoder self", "padding"), alone)
    assert torch.equal(widget.mask(), both)


def test_the_keyboard_moves_every_control(show):
    shown = show(MaskExplorer())
    shown.page.get_by_label("sentence of the batch").press("End")
    shown.frame()
    assert shown.state("sentence") == 2
    # The longest sentence is cut: now the others decide how wide the batch is.
    shown.page.get_by_text("The padded batch").click()
    source, target = (shown.page.get_by_label(f"{side} tokens") for side in ("source", "target"))
    assert (source.input_value(), target.input_value()) == ("7", "7")
    source.press("Home")
    target.press("ArrowLeft")
    shown.frame()
    assert shown.state("source_lengths") == [3, 4, 1]
    assert shown.state("target_lengths") == [4, 6, 6]
    same = MaskExplorer(sentence=2, source_length=1, target_length=6)
    assert drawn(shown, 6, 6) == same.mask().tolist()
    shown.page.get_by_role("radio", name="combined").press("ArrowLeft")
    shown.frame()
    assert shown.state("show") == "causal"
    shown.page.get_by_role("radio", name="decoder self-attention").press("ArrowRight")
    shown.frame()
    assert shown.state("kind") == "cross"
    assert drawn(shown, 6, 4) == same.mask("cross").tolist()
    assert shown.page.get_by_role("radio", name="causal").is_disabled()
    # Each sentence keeps its length.
    shown.page.get_by_label("sentence of the batch").press("Home")
    shown.frame()
    assert (source.input_value(), target.input_value()) == ("3", "4")
    shown.page.get_by_label("sentence of the batch").press("End")
    shown.frame()
    assert (source.input_value(), target.input_value()) == ("1", "6")


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
def test_the_end_of_the_sentence_is_dragged_over_the_mask(show, finger):
    shown = show(MaskExplorer(kind="cross", sentence=2), width=390, touch=finger)
    end = shown.page.get_by_role("slider", name="end of the sentence that is looked at")

    def drag(cells, columns):
        width = shown.widget.locator(".tfw-field").bounding_box()["width"]
        shown.drag(end, cells * width / columns, at=(0.5, 0.9), finger=finger)

    drag(-2, 7)  # the mask shrinks meanwhile, and the hand keeps its measure
    assert (shown.state("source_lengths"), shown.state("target_lengths")) == ([3, 4, 5], [4, 6, 7])
    assert end.get_attribute("aria-valuetext") == "5 tokens"
    assert drawn(shown, 7, 5) == MaskExplorer(sentence=2, source_length=5).mask("cross").tolist()
    drag(9, 5)
    assert shown.state("source_lengths") == [3, 4, 7]
    shown.set("kind", "decoder self")
    drag(-3, 7)
    assert (shown.state("source_lengths"), shown.state("target_lengths")) == ([3, 4, 7], [4, 6, 4])
    shown.check()


def test_what_python_sets_is_shown(show):
    shown = show(MaskExplorer())
    shown.page.get_by_text("The padded batch").click()
    shown.set("source", [["<b>a</b>"], ["c"]])
    shown.set("target", [["<s>", "x"], ["<s>"]])
    shown.set("source_lengths", [1, 1])
    shown.set("target_lengths", [2, 1])
    shown.set("sentence", 1)
    assert shown.page.get_by_label("sentence of the batch").get_attribute("max") == "1"
    assert shown.widget.locator("td").all_inner_texts() == [
        "<b>a</b>", "c", "<s>", "x", "<s>", PAD
    ]  # fmt: skip
    same = MaskExplorer([["a"], ["c"]], [["<s>", "x"], ["<s>"]], sentence=1)
    assert drawn(shown, 2, 2) == same.mask().tolist()
    shown.check()


@pytest.mark.parametrize(("width", "most"), [(800, 660), (390, 960)])
def test_choices_stand_with_the_mask_and_nothing_below_jumps(show, width, most):
    shown, heights = show(MaskExplorer(sentence=2), width=width), set()
    for name, value in (
        ("kind", "cross"),
        ("kind", "decoder self"),
        ("show", "causal"),
        ("show", "combined"),
        ("target_lengths", [4, 2, 3]),  # the batch is narrower
        ("sentence", 0),
    ):
        shown.set(name, value)
        shown.widget.locator(".tfw-field").press("End")  # a read-out of each
        heights.add(shown.height())
    assert len(heights) == 1
    assert heights.pop() < most
    mask, choice = (
        shown.widget.locator(one).bounding_box() for one in (".tfw-field", "fieldset >> nth=0")
    )
    beside = choice["x"] > mask["x"] + mask["width"]
    assert beside == (width == 800)


@pytest.mark.parametrize("sentence", [0, 2])
def test_the_batches_are_shown_whole(show, look, sentence):
    shown = show(MaskExplorer(sentence=sentence), **look)
    shown.page.get_by_text("The padded batch").click()
    hidden = shown.widget.locator(".tfw-maskexplorer-batch").evaluate_all(
        "tables => tables.map(({ offsetWidth, parentElement: box }) =>"
        " offsetWidth - box.clientWidth)"
    )
    assert len(hidden) == 2
    assert max(hidden) <= 0


def test_the_count_adds_up(show):
    widget = MaskExplorer()
    shown = show(widget)
    text = shown.widget.locator(".tfw-maskexplorer-count").inner_text()
    assert text.startswith(f"Hidden are {int((~widget.mask()).sum())} of 49 cells: ")
    both = ~widget.mask(show="padding") & ~widget.mask(show="causal")
    assert text.endswith(f"{int(both.sum())} for both reasons.")


def test_the_longest_sentences_are_drawn_whole(show):
    long = [[f"w{i}" for i in range(64)]] * 2
    widget = MaskExplorer(long, long, target_length=60)
    shown = show(widget)
    assert drawn(shown, 64, 64) == widget.mask().tolist()
    shown.set("target_lengths", [40, 64])
    widget.target_length = 40
    assert drawn(shown, 64, 64) == widget.mask().tolist()
    shown.check()


def test_a_new_batch_starts_whole():
    widget = MaskExplorer(sentence=2, source_length=3)
    assert (widget.source_length, widget.source_lengths) == (3, [3, 4, 3])
    with widget.hold_trait_notifications():
        widget.source, widget.target = [["a"]], [["<s>", "b"]]
    assert (widget.sentence, widget.source_lengths, widget.target_lengths) == (0, [1], [2])
    widget.target_length = 1
    assert widget.mask("cross").shape == (1, 1)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"source": [], "target": []}, "0 sentences"),
        ({"source": [["a"]]}, "source has 1 sentences and target 3"),
        ({"source": [["a"], [], ["b"]]}, "a sentence of 0 tokens"),
        ({"source": [["a"] * 65] * 3}, "a sentence of 65 tokens"),
        ({"source": ["die Katze"] * 3}, "as a token list"),
        ({"target": [["<s>"], ["<s>", PAD], ["<s>"]]}, "without padding"),
        ({"target": [["<s>"], [""], ["<s>"]]}, "non-empty"),
        ({"sentence": 3}, "must be 0 to 2"),
        ({"source_length": 4}, "leaves 4 tokens of sentence 0, which has 3"),
        ({"target_length": 0}, "leaves 0 tokens"),
        ({"target_lengths": [1, 2]}, "2 lengths for 3 sentences"),
        ({"kind": "decoder"}, "kind"),
        ({"show": "both"}, "show"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    with pytest.raises(TraitError, match=named):
        MaskExplorer(**settings)


def test_mask_names_an_unknown_kind():
    with pytest.raises(ValueError, match="must be one of 'encoder self'"):
        MaskExplorer().mask("decoder")
    with pytest.raises(ValueError, match="must be one of 'padding'"):
        MaskExplorer().mask(show="both")


@pytest.mark.parametrize(("kind", "show_"), VIEWS)
def test_the_twin_draws_the_same_mask(kind, show_):
    widget = MaskExplorer(kind=kind, show=show_)
    axes = widget.twin().axes[0]
    kinds = torch.tensor(axes.collections[0].get_array().reshape(tuple(widget.mask().shape)))
    assert torch.equal(kinds == 0, widget.mask())
    if (kind, show_) == ("decoder self", "causal"):
        assert kinds.max() == 1  # later, and nothing by padding
