"""The same Transformer in ONNX, with the same weights: two graphs, for a search with a cache.

As a page would run it: the encoder gives the keys and values of its memory, once a sentence; a step
takes one token and the keys and values so far. They give what our model in the page gives, also the
log-probabilities of all tokens and the weights of all heads.
"""

import contextlib
import io
import logging
import math
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.model import Transformer

PARTS = ("encoder", "step")
VARIANTS = ("float32", "float16", "int8")
SMALLEST = 1024  # numbers; what has fewer of them stays in float32


class Encoder(nn.Module):
    """Source tokens (1, n) to the keys and values that each decoder layer asks."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, src: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Keys and values (layers, heads, n, width), and the heads' weights."""
        model, looked = self.model, []
        x = _embedded(model.src_embedding, src, torch.arange(src.size(1))[:, None])
        layer: Any  # a ModuleList does not say what it holds
        for layer in model.encoder.layers:

            def attend(h: Tensor, part: MultiHeadAttention = layer.self_attention) -> Tensor:
                y, weights = _attention(part, h, part.split(part.w_key(h)), _values(part, h))
                looked.append(weights)
                return y

            x = layer.self_attention_residual(x, attend)
            x = layer.feed_forward_residual(x, layer.feed_forward)
        memory = model.encoder.norm(x)
        parts: list[Any] = [layer.cross_attention for layer in model.decoder.layers]
        keys = torch.cat([part.split(part.w_key(memory)) for part in parts])
        return keys, torch.cat([_values(part, memory) for part in parts]), torch.cat(looked)


class Step(nn.Module):
    """One token more, and what is known after it."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        token: Tensor,
        position: Tensor,
        past_keys: Tensor,
        past_values: Tensor,
        source_keys: Tensor,
        source_values: Tensor,
    ) -> tuple[Tensor, ...]:
        """Log-probabilities of the next token, all keys and values, and the heads' weights.

        The token and its position are (1, 1), keys and values (layers, heads, n, width).
        """
        model, keys, values, own, cross = self.model, [], [], [], []
        x = _embedded(model.tgt_embedding, token, position)
        layer: Any
        for i, layer in enumerate(model.decoder.layers):

            def look_back(
                h: Tensor, i: int = i, part: MultiHeadAttention = layer.self_attention
            ) -> Tensor:
                keys.append(torch.cat([past_keys[i : i + 1], part.split(part.w_key(h))], dim=2))
                values.append(torch.cat([past_values[i : i + 1], _values(part, h)], dim=2))
                y, weights = _attention(part, h, keys[-1], values[-1])
                own.append(weights)
                return y

            def look_across(
                h: Tensor, i: int = i, part: MultiHeadAttention = layer.cross_attention
            ) -> Tensor:
                memory = source_keys[i : i + 1], source_values[i : i + 1]
                y, weights = _attention(part, h, *memory)
                cross.append(weights)
                return y

            x = layer.self_attention_residual(x, look_back)
            x = layer.cross_attention_residual(x, look_across)
            x = layer.feed_forward_residual(x, layer.feed_forward)
        log_probs = model.logits(model.decoder.norm(x)).log_softmax(dim=-1)
        return (log_probs, *map(torch.cat, (keys, values, own, cross)))


def _embedded(embedding: Any, tokens: Tensor, position: Tensor) -> Tensor:
    """As in the model, the sinusoids computed: a table of them would make both files larger."""
    even = torch.arange(0, embedding.weight.size(1), 2)
    angle = position * torch.exp(even * (-math.log(10_000) / embedding.weight.size(1)))
    return embedding(tokens) + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def _values(part: MultiHeadAttention, x: Tensor) -> Tensor:
    return part.split(part.w_value(x))


def _attention(
    part: MultiHeadAttention, h: Tensor, keys: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    scores = part.split(part.w_query(h)) @ keys.transpose(-2, -1) / math.sqrt(part.d_k)
    weights = scores.softmax(dim=-1)
    return part.w_output(part.join(weights @ values)), weights


def export(model: Transformer, folder: Path) -> None:
    """Write FOLDER/float32/encoder.onnx and step.onnx, and the same as float16 and int8.

    float16: weights are stored so, and widened when a session begins. int8: the dynamic
    quantisation of ONNX Runtime, a scale for each channel.

    Raises:
        ValueError: the graphs are written for models with pre-norm and sinusoids.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    c = model.config
    if c.norm != "pre" or c.positions != "sinusoidal":
        raise ValueError("only a model with norm='pre' and sinusoidal positions is exported")
    first = folder / "float32"
    for variant in VARIANTS:
        (folder / variant).mkdir(parents=True)
    src, token, position = torch.ones(1, 5, dtype=torch.int64), torch.ones(1, 1).long(), 3

    def cache(n: int) -> Tensor:  # tensors of their own: the exporter would take one for two
        return torch.randn(c.n_layers, c.n_heads, n, c.key_width)

    n, past = torch.export.Dim("n"), torch.export.Dim("past")
    memory, before = {2: n}, {2: past}
    _write(Encoder(model), (src,), first / "encoder.onnx", ("src",), ({1: n},))
    _write(
        Step(model),
        (token, torch.full((1, 1), position), cache(3), cache(3), cache(5), cache(5)),
        first / "step.onnx",
        ("token", "position", "past_keys", "past_values", "source_keys", "source_values"),
        (None, None, before, before, memory, memory),
    )
    for part in PARTS:
        file = f"{part}.onnx"
        _in_float16(first / file, folder / "float16" / file)
        with _quietly():
            quantize_dynamic(
                first / file, folder / "int8" / file, weight_type=QuantType.QInt8, per_channel=True
            )


OUTPUTS = {
    "encoder": ("keys", "values", "looked"),
    "step": ("log_probs", "new_keys", "new_values", "own", "cross"),
}


def _write(
    module: nn.Module,
    example: tuple[Tensor, ...],
    path: Path,
    names: tuple[str, ...],
    shapes: tuple[Any, ...],
) -> None:
    with _quietly(), torch.no_grad():
        torch.onnx.export(
            module.eval(), example, path, dynamo=True, external_data=False, verbose=False,
            input_names=names, output_names=OUTPUTS[path.stem], dynamic_shapes=shapes,
        )  # fmt: skip


@contextlib.contextmanager
def _quietly() -> Any:
    """Without what torch, onnxscript and ONNX Runtime say while they work."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def _in_float16(source: Path, target: Path) -> None:
    """The same graph, its larger weights stored in float16 and cast when they are read."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = onnx.load(source)
    casts = []
    for weight in graph.graph.initializer:
        if weight.data_type == TensorProto.FLOAT and np.prod(weight.dims) >= SMALLEST:
            name = weight.name
            half = numpy_helper.to_array(weight).astype(np.float16)
            weight.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
            casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.graph.node]
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)
    onnx.save(graph, target)
