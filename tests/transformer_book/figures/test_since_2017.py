"""The figures of what has changed since 2017."""

from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch

from transformer_book.figures.boxes import INK, ORANGE
from transformer_book.figures.since_2017 import Part, layers_compared


def test_each_part_is_a_box_and_what_has_changed_is_framed():
    layers = {
        "then": [Part("norm", "norm"), Part("attention", "attention")],
        "now": [Part("RMS norm", "norm", True), Part("attention", "attention")],
    }
    then, now = layers_compared(layers)
    for ax, (title, parts) in zip((then, now), layers.items(), strict=True):
        assert ax.get_title() == title
        assert [text.get_text() for text in ax.texts] == [part.text for part in parts]
        boxes = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
        edges = [to_hex(box.get_edgecolor()) for box in boxes]
        assert edges == [to_hex(ORANGE if part.changed else INK) for part in parts]
