"""The model leaves Python: torch.compile without a graph break, torch.export, ONNX Runtime."""

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.export import Dim

from tests.helpers import PAD, same, sentences, small_config

KINDS = {
    "post": {"norm": "post", "positions": "sinusoidal", "tie": "all"},
    "pre": {"norm": "pre", "positions": "learned", "tie": "none", "d_k": 3, "d_v": 5},
}
# (source lengths, target lengths) of batches unlike the one that was traced.
OTHERS = [([4], [1]), ([9, 2, 5, 1], [3, 12, 1, 7]), ([20] * 3, [17] * 3)]


@pytest.fixture(scope="module")
def plain() -> Iterator[type[torch.nn.Module]]:
    """The Transformer as a user imports it: the checks of these tests are Python no graph holds."""
    hooks = [finder for finder in sys.meta_path if "jaxtyping" in type(finder).__module__]
    checked = {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in hooks]
    try:
        yield importlib.import_module("transformer").Transformer
    finally:
        sys.meta_path[:0] = hooks
        for name in list(sys.modules):
            if is_ours(name):
                del sys.modules[name]
        sys.modules.update(checked)


def is_ours(module: str) -> bool:
    return module.split(".")[0] in ("transformer", "transformer_book", "measurements")


@pytest.fixture
def small(
    plain: type[torch.nn.Module], request: pytest.FixtureRequest
) -> Iterator[torch.nn.Module]:
    """A small unchecked model of the given kind."""
    torch.manual_seed(0)
    yield plain(small_config(**KINDS[request.param])).eval()
    torch.compiler.reset()


def of_kind(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("small", names, indirect=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("small", "dynamic"), [("post", False), ("pre", True)], indirect=["small"], ids=KINDS
)
def test_forward_compiles_without_a_graph_break(small: torch.nn.Module, dynamic: bool) -> None:
    model = small.double().train()
    compiled = torch.compile(model, fullgraph=True, backend="eager", dynamic=dynamic)
    for lengths in [([5, 2], [3, 4]), *OTHERS[1:]]:
        src, tgt = (sentences(side) for side in lengths)
        same(compiled(src, tgt), model(src, tgt))
    compiled(src, tgt).square().mean().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.slow
@of_kind("post")
def test_one_compiled_graph_serves_all_shapes(small: torch.nn.Module) -> None:
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
        graphs.append(graph)
        return graph

    model = small.double()
    compiled = torch.compile(model, fullgraph=True, backend=backend, dynamic=True)
    for lengths in ([5, 2], [6, 3, 4], [2, 7, 8, 3]):
        compiled(sentences(lengths), sentences(lengths[::-1]))
    assert len(graphs) == 1


@pytest.mark.slow
@of_kind("post")
def test_exported_graph_takes_other_batches_and_lengths(small: torch.nn.Module) -> None:
    model = small.double()
    free = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch's own
        program = torch.export.export(
            model, (sentences([5, 2]), sentences([3, 4])), dynamic_shapes=(free, free)
        )
    for lengths in OTHERS[1:]:
        src, tgt = (sentences(side) for side in lengths)
        same(program.module()(src, tgt), model(src, tgt))


@pytest.mark.slow
@of_kind("pre")
def test_onnx_runtime_gives_the_same_logits_for_other_batches_and_lengths(
    small: torch.nn.Module, tmp_path: Path
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    model, file = small, tmp_path / "model.onnx"
    free = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's and onnxscript's own
        torch.onnx.export(
            model,
            (sentences([5, 2]), sentences([3, 4])),
            file,
            dynamo=True,
            dynamic_shapes=(free, free),
            input_names=["src", "tgt"],
            output_names=["logits"],
            verbose=False,
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    for lengths in OTHERS:
        src, tgt = (sentences(side) for side in lengths)
        (logits,) = session.run(["logits"], {"src": src.numpy(), "tgt": tgt.numpy()})
        same(torch.from_numpy(logits), model(src, tgt).detach(), 1e-4)


def assert_steps_give(
    folder: Path, src: torch.Tensor, prefix: torch.Tensor, expected: torch.Tensor, tolerance: float
) -> None:
    """The graphs in a folder, asked for a token at a time, give these logarithms and weights."""
    onnxruntime = pytest.importorskip("onnxruntime")
    encoder, step = (
        onnxruntime.InferenceSession(folder / f"{part}.onnx") for part in ("encoder", "step")
    )
    keys, values, looked = encoder.run(None, {"src": src.numpy()})
    same(torch.tensor(looked).sum(-1), torch.ones(looked.shape[:-1]), 1e-5)
    past, rows = [keys[..., :0, :], values[..., :0, :]], []
    for i, token in enumerate(prefix.T):
        fed = {"token": token[:, None].numpy(), "src": src.numpy(), "past_keys": past[0]}
        fed |= {"past_values": past[1], "source_keys": keys, "source_values": values}
        row, *past, own, cross = step.run(None, fed)
        assert (own.shape[-1], cross.shape[-1]) == (i + 1, src.size(1))
        assert not cross.transpose(1, 4, 0, 2, 3)[src.numpy() == PAD].any()
        rows.append(torch.tensor(row[:, 0]))
    same(torch.stack(rows, dim=1), expected, tolerance)


@pytest.mark.slow
@of_kind(*KINDS)
def test_the_two_graphs_of_a_search_give_the_log_probabilities_of_the_whole_prefix(
    small: torch.nn.Module, tmp_path: Path
) -> None:
    pytest.importorskip("onnxscript")
    importlib.import_module("transformer_book.export.onnx").write_graphs(small, tmp_path)
    src, prefix = sentences([4, 7, 2]), sentences([5, 5, 5], seed=1)
    with torch.no_grad():
        expected = small(src, prefix).log_softmax(dim=-1)
    assert_steps_give(tmp_path, src, prefix, expected, 1e-4)


@pytest.mark.slow
def test_graphs_for_a_page_lose_little_by_their_smaller_numbers(
    plain: type[torch.nn.Module], tmp_path: Path
) -> None:
    pytest.importorskip("onnxscript")
    onnx_peer = importlib.import_module("measurements.onnx_peer")
    torch.manual_seed(0)
    model = plain(small_config(norm="pre")).eval()
    src, prefix = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1, 6, 5, 4, 7]])
    with torch.no_grad():
        expected = model(src, prefix).log_softmax(dim=-1)
    onnx_peer.export(model, tmp_path)
    for variant, tolerance in (("float32", 1e-4), ("float16", 0.01), ("int8", 0.2)):
        assert_steps_give(tmp_path / variant, src, prefix, expected, tolerance)
    assert (tmp_path / "float32/step.onnx").stat().st_size < 2**20  # no table of positions
    with torch.no_grad():
        same(model(src, prefix).log_softmax(dim=-1), expected, 1e-10)  # it has its own again
    with pytest.raises(ValueError, match="only a model with sinusoidal positions"):
        onnx_peer.export(plain(small_config(positions="learned")), tmp_path / "learned")
