"""Figure 1, redrawn, shows the shapes that a model made."""

import re

import matplotlib
import torch

matplotlib.use("Agg")

from transformer import Transformer, TransformerConfig
from transformer.figures.architecture import architecture
from transformer.introspect import record_attention


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
