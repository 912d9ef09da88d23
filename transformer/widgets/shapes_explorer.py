"""Figure 1, part by part: the shapes, the parameters and the line of code of each."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.config import TransformerConfig
from transformer.decoding import greedy
from transformer.embedding import SinusoidalPositions, TokenEmbedding
from transformer.introspect import record_attention
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from transformer.model import Encoder, Transformer
from transformer.widgets.base import Widget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Shape = tuple[int, ...]
Passed = tuple[tuple[Tensor, ...], Tensor]  # what went into a module, and what came out
Place = Callable[..., Any] | ModuleType  # a function, or the module around private ones
Lines = tuple[Place, tuple[str, ...]]  # a place, and what its lines contain

_EMBEDDING: Lines = (TokenEmbedding.forward, ("F.embedding(tokens",))
_POSITIONS: Lines = (SinusoidalPositions.forward, ("return x + self.table",))
_NORM: Lines = (Residual.forward, ("return self.norm(x +",))
_FEED_FORWARD: Lines = (FeedForward.forward, ("self.outer(self.inner(x)",))
_ATTENTION: tuple[Lines, ...] = (
    (
        MultiHeadAttention.forward,
        ("self.split(self.w_query", "self.split(self.w_key", "self.w_output(self.join"),
    ),
    (
        scaled_dot_product_attention,
        ("scores = query @", "weights = scores.softmax", "return weights @ value"),
    ),
)

# For each part of Figure 1, in reading order, the lines that do it.
_CODE: dict[str, tuple[Lines, ...]] = {
    "src": ((Transformer.forward, ("src: Int[",)),),
    "src_embedding": (_EMBEDDING,),
    "src_positions": (_POSITIONS,),
    "encoder_self": ((EncoderLayer.forward, ("self.self_attention(",)), *_ATTENTION),
    "encoder_norm_1": (_NORM,),
    "encoder_feed_forward": (_FEED_FORWARD,),
    "encoder_norm_2": (_NORM,),
    "memory": (
        (Encoder.forward, ("for layer in", "x = layer(x")),
        (Transformer.forward, ("memory = self.encode(",)),
    ),
    "tgt": ((Transformer.forward, ("tgt: Int[",)),),
    "tgt_embedding": (_EMBEDDING,),
    "tgt_positions": (_POSITIONS,),
    "decoder_self": ((DecoderLayer.forward, ("self.self_attention(",)), *_ATTENTION),
    "decoder_norm_1": (_NORM,),
    "cross": ((DecoderLayer.forward, ("self.cross_attention(",)), *_ATTENTION),
    "decoder_norm_2": (_NORM,),
    "decoder_feed_forward": (_FEED_FORWARD,),
    "decoder_norm_3": (_NORM,),
    "output": ((Transformer.logits, ("return self.output(",)),),
    "softmax": ((greedy, ("log_softmax(",)),),
}

PARTS = tuple(_CODE)

_MODULES = {
    "src_embedding": "src_embedding",
    "src_positions": "src_positions",
    "encoder_self": "encoder.layers.0.self_attention",
    "encoder_norm_1": "encoder.layers.0.residuals.0.norm",
    "encoder_feed_forward": "encoder.layers.0.feed_forward",
    "encoder_norm_2": "encoder.layers.0.residuals.1.norm",
    "memory": "encoder",
    "tgt_embedding": "tgt_embedding",
    "tgt_positions": "tgt_positions",
    "decoder_self": "decoder.layers.0.self_attention",
    "decoder_norm_1": "decoder.layers.0.residuals.0.norm",
    "cross": "decoder.layers.0.cross_attention",
    "decoder_norm_2": "decoder.layers.0.residuals.1.norm",
    "decoder_feed_forward": "decoder.layers.0.feed_forward",
    "decoder_norm_3": "decoder.layers.0.residuals.2.norm",
    "output": "output",
}


def source_line(place: Place, contains: str) -> str:
    """The one line of a function's or a module's source that contains a text.

    Raises:
        ValueError: no line contains it, or several do.
    """
    source = inspect.getsource(place if isinstance(place, ModuleType) else inspect.unwrap(place))
    found = [line.strip() for line in source.splitlines() if contains in line]
    if len(found) != 1:
        raise ValueError(
            f"{len(found)} lines of {_named(place)} contain {contains!r}; give a text that exactly "
            "one line contains"
        )
    return found[0]


def _named(place: Place) -> str:
    return place.__name__ if isinstance(place, ModuleType) else place.__qualname__


def _code() -> dict[str, list[dict[str, Any]]]:
    def snippet(place: Place, texts: tuple[str, ...]) -> dict[str, Any]:
        whole = isinstance(place, ModuleType)
        module = place.__name__ if isinstance(place, ModuleType) else place.__module__
        return {
            "file": module.replace(".", "/") + ".py",
            "function": "" if whole else _named(place),
            "lines": [source_line(place, text) for text in texts],
        }

    return {part: [snippet(*lines) for lines in all_lines] for part, all_lines in _CODE.items()}


class ShapesExplorer(Widget):
    """Figure 1 of the paper, of which the reader picks a part and sees what passes through it.

    Args:
        batch, src_len, tgt_len: sentences in the batch, and their lengths in tokens.
        d_model, n_heads, d_ff, n_layers, vocab: the model's settings; d_k = d_model / n_heads,
            and one matrix for both embeddings and the output (section 3.4).
        part: the part that is looked at, one of `PARTS`.

    Attributes:
        code: for each part the lines of this package that do it, each
            {"file", "function", "lines"}; taken from the source. "function" is "" where the
            line stands in a private function.

    Raises:
        traitlets.TraitError: a setting is outside its range, or n_heads does not divide d_model.
    """

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

    def __init__(self, **settings: Any) -> None:
        settings.setdefault(
            "description",
            "Figure 1 of the paper as a list of its parts, from the source tokens to the memory "
            "and from the target tokens to the probabilities. The part that is picked shows the "
            "shapes of its tensors, its parameters and its line of code.",
        )
        super().__init__(**settings)

    @traitlets.default("code")
    def _own_code(self) -> dict[str, list[dict[str, Any]]]:
        return _code()

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
        path = _MODULES[part]
        inputs, output = passed[path]
        tensors = {"input": inputs[0], "output": output}
        module = model.get_submodule(path)
        if isinstance(module, MultiHeadAttention):
            layer = path.split(".")
            name = f"{layer[0]}.{layer[2]}.{layer[3].removesuffix('_attention')}"
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
        elif isinstance(module, nn.LayerNorm):  # its input is the sum; both summands are like it
            tensors["sublayer"] = passed[_sublayer(path)][1]
        own = () if part == "memory" else module.parameters()
        return _measurement(tensors, sum(parameter.numel() for parameter in own))

    def shapes(self) -> dict[str, Shape]:
        """The shapes that the static figure writes, by the modules' names."""
        b, s, t, d, h = self.batch, self.src_len, self.tgt_len, self.d_model, self.n_heads
        shapes: dict[str, Shape] = {"src": (b, s), "tgt": (b, t), "output": (b, t, self.vocab)}
        for side, stack, n in (("src", "encoder", s), ("tgt", "decoder", t)):
            last = 2 if stack == "decoder" else 1
            layer = ["self_attention", "feed_forward", *(f"residuals.{i}" for i in range(last + 1))]
            if stack == "decoder":
                layer.append("cross_attention")
            names = [f"{side}_embedding", f"{side}_positions", stack]
            names += [f"{stack}.layers.0.{name}" for name in layer]
            shapes |= dict.fromkeys(names, (b, n, d))
            shapes[f"{stack}.layers.0.feed_forward.inner"] = (b, n, self.d_ff)
            shapes[f"{stack}.0.self"] = (b, h, n, n)
        return shapes | {"decoder.0.cross": (b, h, t, s)}

    def twin(self) -> "Figure":
        """All parts with their shapes, on paper."""
        from transformer.figures.architecture import architecture

        figure = architecture(self.shapes(), n_layers=self.n_layers).figure
        return figure  # type: ignore[return-value]

    def _by_head(self, x: Tensor) -> Tensor:
        """(batch, len, d_model) as (batch, heads, len, d_k)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

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


def _sublayer(norm: str) -> str:
    """The path of the sub-layer below a norm such as encoder.layers.0.residuals.1.norm."""
    stack, _, layer, _, place, _ = norm.split(".")
    names = ["self_attention", "feed_forward"]
    if stack == "decoder":
        names.insert(1, "cross_attention")
    return f"{stack}.layers.{layer}.{names[int(place)]}"


def _measurement(tensors: dict[str, Tensor], parameters: int = 0) -> dict[str, Any]:
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    return {"shapes": shapes, "parameters": parameters}
