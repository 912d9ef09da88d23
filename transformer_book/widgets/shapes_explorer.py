"""Figure 1, part by part: the shapes, the parameters and the code of each."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.config import TransformerConfig
from transformer.decoding import greedy
from transformer.embedding import SinusoidalPositions, TokenEmbedding
from transformer.introspect import attention_modules, record_attention
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from transformer.model import Encoder, Transformer

from transformer_book.widgets.base import Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Shape = tuple[int, ...]
Passed = tuple[tuple[Tensor, ...], Tensor]  # what went into a module, and what came out
Function = Callable[..., Any]

_ATTENTION = (MultiHeadAttention.forward, scaled_dot_product_attention)

# For each part of Figure 1, in reading order, the functions that do it.
_CODE: dict[str, tuple[Function, ...]] = {
    "src": (Transformer.forward,),
    "src_embedding": (TokenEmbedding.forward,),
    "src_positions": (SinusoidalPositions.forward,),
    "encoder_self": (EncoderLayer.forward, *_ATTENTION),
    "encoder_norm_1": (Residual.forward,),
    "encoder_feed_forward": (FeedForward.forward,),
    "encoder_norm_2": (Residual.forward,),
    "memory": (Encoder.forward,),
    "tgt": (Transformer.forward,),
    "tgt_embedding": (TokenEmbedding.forward,),
    "tgt_positions": (SinusoidalPositions.forward,),
    "decoder_self": (DecoderLayer.forward, *_ATTENTION),
    "decoder_norm_1": (Residual.forward,),
    "cross": (DecoderLayer.forward, *_ATTENTION),
    "decoder_norm_2": (Residual.forward,),
    "decoder_feed_forward": (FeedForward.forward,),
    "decoder_norm_3": (Residual.forward,),
    "output": (Transformer.logits,),
    "softmax": (greedy._most_probable,),
}

PARTS = tuple(_CODE)

# The sub-layers of the first layer of each stack, bottom up, by their parts of Figure 1.
_SUBLAYERS = {
    "encoder": {"encoder_self": "self_attention", "encoder_feed_forward": "feed_forward"},
    "decoder": {
        "decoder_self": "self_attention",
        "cross": "cross_attention",
        "decoder_feed_forward": "feed_forward",
    },
}
_MODULES = {
    **{part: part for part in ("src_embedding", "src_positions", "output")},
    **{part: part for part in ("tgt_embedding", "tgt_positions")},
    "memory": "encoder",
    **{
        part: f"{stack}.layers.0.{name}"
        for stack, parts in _SUBLAYERS.items()
        for part, name in parts.items()
    },
}


def body_of(function: Function) -> list[str]:
    """The lines of a function's source, without its signature and its docstring."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[0]
    start = definition.returns.end_lineno if definition.returns else first.lineno - 1
    if ast.get_docstring(definition) is not None:
        start = first.end_lineno
    return textwrap.dedent("\n".join(source.splitlines()[start:])).splitlines()


class ShapesExplorer(Widget):
    """Figure 1 of the paper, of which the reader picks a part and sees what passes through it.

    Args:
        batch, src_len, tgt_len: sentences in the batch, and their lengths in tokens.
        d_model, n_heads, d_ff, n_layers, vocab: the model's settings; d_k = d_model / n_heads,
            and one matrix for both embeddings and the output (section 3.4).
        part: the part that is looked at, one of `PARTS`.

    Attributes:
        code: for each part the names of the functions of this package that do it.
        functions: by these names the file and the lines of each: {"file", "lines"}.

    Raises:
        traitlets.TraitError: a setting is outside its range, or n_heads does not divide d_model.
    """

    description = traitlets.Unicode(
        "Figure 1 of the paper as a list of its parts, from the source tokens to the memory and "
        "from the target tokens to the probabilities. The part that is picked shows the shapes "
        "of its tensors, its parameters and its line of code."
    ).tag(sync=True)
    batch = traitlets.Int(2, min=1).tag(sync=True)
    src_len = traitlets.Int(7, min=1, max=1024).tag(sync=True)
    tgt_len = traitlets.Int(6, min=1, max=1024).tag(sync=True)
    d_model = traitlets.Int(512, min=2).tag(sync=True)
    n_heads = traitlets.Int(8, min=1).tag(sync=True)
    d_ff = traitlets.Int(2048, min=1).tag(sync=True)
    n_layers = traitlets.Int(6, min=1).tag(sync=True)
    vocab = traitlets.Int(37_000, min=2).tag(sync=True)
    part = traitlets.Enum(PARTS, "encoder_self").tag(sync=True)
    code = traitlets.Dict(read_only=True).tag(sync=True)
    functions = traitlets.Dict(read_only=True).tag(sync=True)

    @traitlets.default("code")
    def _own_code(self) -> dict[str, list[str]]:
        return {part: [f.__qualname__ for f in functions] for part, functions in _CODE.items()}

    @traitlets.default("functions")
    def _own_functions(self) -> dict[str, dict[str, Any]]:
        return {
            f.__qualname__: {"file": f.__module__.replace(".", "/") + ".py", "lines": body_of(f)}
            for functions in _CODE.values()
            for f in functions
        }

    @traitlets.validate("d_model", "n_heads")
    def _heads_divide_the_width(self, proposal: dict[str, Any]) -> int:
        settings = {"d_model": self.d_model, "n_heads": self.n_heads}
        settings[proposal["trait"].name] = proposal["value"]
        d_model, n_heads = settings["d_model"], settings["n_heads"]
        if d_model % 2:
            raise traitlets.TraitError(
                f"d_model ({d_model}) must be even, since positions come in pairs of a sine and a "
                f"cosine; choose {d_model + 1}"
            )
        if d_model % n_heads:
            raise traitlets.TraitError(
                f"n_heads ({n_heads}) must divide d_model ({d_model}); choose another of the two"
            )
        return int(proposal["value"])

    def config(self) -> TransformerConfig:
        """The settings as those of a model: the paper's post-norm, one matrix for the tokens."""
        return TransformerConfig(
            src_vocab_size=self.vocab,
            tgt_vocab_size=self.vocab,
            d_model=self.d_model,
            d_ff=self.d_ff,
            n_heads=self.n_heads,
            n_layers=self.n_layers,
            dropout=0.0,
        )

    def measured(self, part: str) -> dict[str, Any]:
        """What a real model of these settings does at a part: run it, and look.

        Returns:
            "shapes": the shape of each tensor by its name in the front end ("input", "output",
            and what lies between); "parameters": the part's trainable numbers, in one layer.

        Raises:
            ValueError: there is no such part.
        """
        if part not in PARTS:
            raise ValueError(f"there is no part {part!r}; choose one of {', '.join(PARTS)}")
        model, passed, weights = self._run()
        if part in ("src", "tgt"):
            tokens = passed[f"{part}_embedding"][0][0]
            return _measurement({"input": tokens, "output": tokens})
        if part == "softmax":
            logits = passed["output"][1]
            return _measurement({"input": logits, "output": logits.softmax(dim=-1)})
        if "_norm_" in part:
            path, below = self._norm(model, part)
            # The norm's input is the sum of two tensors like the sub-layer's output.
            tensors = {"sublayer": passed[below][1]}
        else:
            path, tensors = _MODULES[part], {}
        inputs, output = passed[path]
        tensors |= {"input": inputs[0], "output": output}
        module = model.get_submodule(path)
        if isinstance(module, MultiHeadAttention):
            [name] = [name for name, one in attention_modules(model).items() if one is module]
            for role in ("query", "key", "value"):
                tensors[role] = self._by_head(passed[f"{path}.w_{role}"][1])
            joined = passed[f"{path}.w_output"][0][0]
            tensors |= {"scores": weights[name], "concat": joined, "heads": self._by_head(joined)}
            if part == "cross":
                tensors["memory"] = inputs[1]
        elif isinstance(module, FeedForward):
            tensors["inner"] = passed[f"{path}.inner"][1]
        elif isinstance(module, TokenEmbedding | nn.Linear):
            tensors["table"] = module.weight
        elif isinstance(module, SinusoidalPositions):
            tensors["table"] = module.table[: inputs[0].size(1)]
        own = () if part == "memory" else module.parameters()
        return _measurement(tensors, sum(parameter.numel() for parameter in own))

    def shapes(self) -> dict[str, Shape]:
        """The shapes that the static figure writes, by the modules' names."""
        b, s, t, d, h = self.batch, self.src_len, self.tgt_len, self.d_model, self.n_heads
        shapes: dict[str, Shape] = {"src": (b, s), "tgt": (b, t), "output": (b, t, self.vocab)}
        for side, stack, n in (("src", "encoder", s), ("tgt", "decoder", t)):
            layer = ["self_attention", "feed_forward"]
            if stack == "decoder":
                layer.append("cross_attention")
            layer += [f"{name}_residual" for name in layer]
            names = [f"{side}_embedding", f"{side}_positions", stack]
            names += [f"{stack}.layers.0.{name}" for name in layer]
            shapes |= dict.fromkeys(names, (b, n, d))
            shapes[f"{stack}.layers.0.feed_forward.inner"] = (b, n, self.d_ff)
            shapes[f"{stack}.0.self"] = (b, h, n, n)
        return shapes | {"decoder.0.cross": (b, h, t, s)}

    def twin(self) -> "Figure":
        """All parts with their shapes, on paper."""
        from transformer_book.figures.figure1 import architecture
        from transformer_book.figures.style import figure_of

        return figure_of(architecture(self.shapes(), n_layers=self.n_layers))

    def _by_head(self, x: Tensor) -> Tensor:
        """(batch, len, d_model) as (batch, heads, len, d_k)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def _norm(self, model: Transformer, part: str) -> tuple[str, str]:
        """The paths of a norm such as part "encoder_norm_1", and of the sub-layer below it."""
        stack, _, number = part.split("_")
        layer = f"{stack}.layers.0."
        norms = [
            f"{path}.norm"
            for path, module in model.named_modules()
            if path.startswith(layer) and isinstance(module, Residual)
        ]
        index = int(number) - 1
        return norms[index], layer + list(_SUBLAYERS[stack].values())[index]

    @torch.no_grad()
    def _run(self) -> tuple[Transformer, dict[str, Passed], dict[str, Tensor]]:
        """A model, what went in and out of each of its modules, and its attention weights."""
        model = Transformer(self.config()).eval()
        passed: dict[str, Passed] = {}

        def note(name: str) -> Callable[..., None]:
            def hook(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
                passed[name] = (tuple(i for i in inputs if isinstance(i, Tensor)), output)

            return hook

        for name, module in model.named_modules():
            module.register_forward_hook(note(name))
        src = torch.ones(self.batch, self.src_len, dtype=torch.long)
        tgt = torch.ones(self.batch, self.tgt_len, dtype=torch.long)
        with record_attention(model) as weights:
            model(src, tgt)
        return model, passed, weights


def _measurement(tensors: dict[str, Tensor], parameters: int = 0) -> dict[str, Any]:
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    return {"shapes": shapes, "parameters": parameters}
