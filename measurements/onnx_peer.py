"""The exported graphs as a page would load them: without a table of positions, in three sizes."""

import math
from pathlib import Path

import torch
from torch import Tensor, nn

from transformer.model import Transformer

from transformer_book.export.onnx import OUTPUTS, quietly, write_graphs

PARTS = (*OUTPUTS,)
VARIANTS = ("float32", "float16", "int8")
SMALLEST = 1024  # numbers; what has fewer of them stays in float32


class ComputedPositions(nn.Module):
    """The sinusoids, computed: a table of them would make both files larger."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add positions `start`, `start` + 1, ... to the vectors of x."""
        even = torch.arange(0, x.size(-1), 2)
        position = torch.arange(start, start + x.size(1))[:, None]
        angle = position * torch.exp(even * (-math.log(10_000) / x.size(-1)))
        return x + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def export(model: Transformer, folder: Path) -> None:
    """Write FOLDER/float32/encoder.onnx and step.onnx, and the same as float16 and int8.

    float16: weights are stored so, and widened when a session begins. int8: the dynamic
    quantisation of ONNX Runtime, a scale for each channel.

    Raises:
        ValueError: its positions are no sinusoids.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    if model.config.positions != "sinusoidal":
        raise ValueError("only a model with sinusoidal positions is exported for a page")
    for variant in VARIANTS:
        (folder / variant).mkdir(parents=True)
    tables = model.src_positions, model.tgt_positions
    model.src_positions = model.tgt_positions = ComputedPositions()  # type: ignore[assignment]
    try:
        write_graphs(model, folder / "float32")
    finally:
        model.src_positions, model.tgt_positions = tables
    for part in PARTS:
        source, half, whole = (folder / variant / f"{part}.onnx" for variant in VARIANTS)
        _in_float16(source, half)
        with quietly():
            quantize_dynamic(source, whole, weight_type=QuantType.QInt8, per_channel=True)


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
