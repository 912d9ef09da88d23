"""Figure 1, redrawn, shows the shapes that a model made."""

import re
from xml.etree import ElementTree

import matplotlib
import pytest
import torch

matplotlib.use("Agg")

from transformer import Transformer, TransformerConfig
from transformer.introspect import record_attention

from transformer_book.figures.figure1 import LIT, architecture, figure1_map


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def recorded_shapes(src_len: int, tgt_len: int) -> dict[str, tuple[int, ...]]:
    config = TransformerConfig.tiny(src_vocab_size=11, d_model=32, d_ff=48, norm="post")
    model = Transformer(config).eval()
    shapes = {"src": (2, src_len), "tgt": (2, tgt_len)}

    def keep(name):
        def hook(part, inputs, output):
            shapes[name] = tuple(output.shape)

        return hook

    for name, part in model.named_modules():
        part.register_forward_hook(keep(name))
    with record_attention(model) as attention:
        model(torch.ones(2, src_len, dtype=torch.long), torch.ones(2, tgt_len, dtype=torch.long))
    return shapes | {name: tuple(weights.shape) for name, weights in attention.items()}


def test_architecture_writes_every_recorded_shape_of_figure_1_and_no_other():
    shapes = recorded_shapes(src_len=7, tgt_len=5)
    written = re.findall(r"\([\d, ]+\)", " ".join(words(architecture(shapes, n_layers=2))))
    stream = {"src": "(2, 7, 32)", "tgt": "(2, 5, 32)"}
    assert written.count(stream["src"]) == 6 and written.count(stream["tgt"]) == 8
    tokens, inner, logits = {"(2, 7)", "(2, 5)"}, {"(2, 7, 48)", "(2, 5, 48)"}, "(2, 5, 11)"
    weights = {"(2, 4, 7, 7)", "(2, 4, 5, 5)", "(2, 4, 5, 7)"}
    assert set(written) - set(stream.values()) == tokens | inner | weights | {logits}


def test_architecture_without_shapes_names_the_parts_and_shows_no_numbers():
    shown = words(architecture(n_layers=3))
    assert shown.count("Add & Norm") == 5 and shown.count("Feed-forward") == 2
    assert [shown.count(role) for role in "QKV"] == [3, 3, 3]
    assert {"Self-attention", "Masked self-attention", "Cross-attention"} <= set(shown)
    assert not any("(" in text for text in shown)
    assert {"3 ×", "× 3"} <= set(shown)


def test_architecture_stays_inside_its_axes():
    ax = architecture(recorded_shapes(3, 4))
    ax.figure.canvas.draw()
    for text in ax.texts:
        if text.get_text():
            box = text.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
            width, height = ax.figure.get_size_inches()
            assert box.x0 >= 0 and box.x1 <= width, text.get_text()
            assert box.y0 >= 0 and box.y1 <= height, text.get_text()


BOXES = ("embedding", "positions", "self-attention", "masked self-attention", "cross-attention")
BOXES += ("add & norm", "feed-forward", "linear", "softmax")


def filled(svg: str, color: str) -> int:
    return len(re.findall(rf"fill: {color}", svg))


@pytest.mark.parametrize(
    ("lit", "times"),
    [(("positions",), 2), (("masked self-attention",), 1), (("add & norm",), 5), (BOXES, 16)],
)
def test_the_map_of_figure_1_lights_these_boxes_and_no_others(lit, times):
    html = figure1_map(*lit, here="this & that").data
    assert filled(html, LIT) == times
    assert filled(figure1_map(here="nothing").data, LIT) == 0
    # Of 16 boxes and circles those that are not lit are empty.
    assert filled(html, "none") - filled(figure1_map(*BOXES, here="all").data, "none") == 16 - times


def test_the_map_is_a_picture_with_words_and_disturbs_no_page():
    html = figure1_map("positions", here="this & that").data
    (label,) = re.findall(r'role="img" aria-label="([^"]+)"', html)
    assert label.endswith("this &amp; that") and "<figcaption>this &amp; that</figcaption>" in html
    svg = ElementTree.fromstring(re.search(r"<svg.*</svg>", html)[0])
    assert {element.tag for element in svg.iter()} == {"svg", "g", "path"}
    assert not any("id" in element.attrib for element in svg.iter())
    assert set(re.findall(r"#\w+", html)) == {LIT}, "all else has the colour of the text"
    assert html == figure1_map("positions", here="this & that").data
    assert len(html) < 25_000


def test_the_map_refuses_a_box_that_figure_1_has_not():
    with pytest.raises(ValueError, match="no box called decoder self-attention"):
        figure1_map("positions", "decoder self-attention", here="masks")
