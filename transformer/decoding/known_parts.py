"""Whether a model is made of known parts, so that a cache gives what `model(src, tgt)` gives.

Any part may have been replaced, hooked or given another method, and then it may look at all
positions at once. So what is listed is what is known, not what could go wrong.
"""

from collections.abc import Set
from inspect import unwrap
from types import CodeType, MethodType, NoneType
from typing import Any

from torch import nn
from torch.nn.modules.module import _has_any_global_hook

from transformer.attention import MultiHeadAttention
from transformer.compared.seq2seq import AdditiveAttention, Seq2Seq
from transformer.embedding import LearnedPositions, SinusoidalPositions, TokenEmbedding
from transformer.layers import DecoderLayer, FeedForward, Residual
from transformer.model import Decoder, EncoderDecoder, Transformer
from transformer.variants.decoder_only import CausalLayer, OneStack
from transformer.variants.gated import GATES, GatedFeedForward
from transformer.variants.grouped import GroupedAttention
from transformer.variants.rms_norm import RMSNorm
from transformer.variants.rotary import RotaryAttention
from transformer.variants.variant import NoPositions
from transformer.variants.without import NoResidual, UnscaledAttention

# What treats each position by itself, and what else may stand behind these names.
POINTWISE = {nn.Linear, nn.LayerNorm, nn.Dropout, nn.Dropout1d, nn.Identity, RMSNorm}
POINTWISE |= {FeedForward, GatedFeedForward, TokenEmbedding, NoPositions}
ATTENTION = {MultiHeadAttention, GroupedAttention, UnscaledAttention}
KINDS: dict[str, set[type[nn.Module]]] = {
    "model": {Transformer, Seq2Seq},
    "decoder": {Decoder, OneStack, nn.GRU},
    "layers": {nn.ModuleList},
    "layer": {DecoderLayer, CausalLayer},
    "self_attention": ATTENTION | {RotaryAttention},
    "cross_attention": ATTENTION,
    "attention": {AdditiveAttention},
    "self_attention_residual": {Residual, NoResidual},
    "cross_attention_residual": {Residual, NoResidual},
    "feed_forward_residual": {Residual, NoResidual},
    "tgt_positions": {SinusoidalPositions, LearnedPositions, NoPositions},
    "positions": {SinusoidalPositions, LearnedPositions, NoPositions},
}
ENCODING = {"encoder", "src_embedding", "src_positions"}  # every search calls these as they are

# What a module has besides its settings. Every search calls `encode` as the model does, and
# `logits` takes any leading axes, whoever computes it.
BOOKKEEPING = {name for name in vars(nn.GRU(1, 1, device="meta")) if name.startswith("_")}
BOOKKEEPING |= {"_compiled_call_impl", "_is_torch_compile", "training"}
BOOKKEEPING |= {"config", "encode", "logits", "on_weights"}
SETTINGS = (int, float, str, tuple, NoneType)
FORWARDS = {Transformer.forward, Seq2Seq.forward}


def _methods(kind: type) -> dict[str, Any]:
    return {name: v for name, v in vars(kind).items() if callable(v) and name != "encode"}


def _names_in(code: CodeType) -> set[str]:
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


METHODS = {kind: _methods(kind) for kind in {EncoderDecoder}.union(POINTWISE, *KINDS.values())}
FUNCTIONS = [unwrap(method) for known in METHODS.values() for method in known.values()]
# Other names are notes that somebody has put on a part.
READ = set().union(*(_names_in(f.__code__) for f in FUNCTIONS if hasattr(f, "__code__")))


def is_known(model: nn.Module) -> bool:
    """Whether all that decodes is of a kind known behind its name, and nobody interferes."""
    inner = _uncompiled(model)
    table = getattr(getattr(inner, "tgt_positions", None), "table", None)
    if not _is_undisturbed(model) or not _is_known_part(inner, "model"):
        return False
    return table is None or len(table) >= inner.config.max_len


def is_called_in_halves(model: nn.Module) -> bool:
    """Whether `model(src, tgt)` is `encode`, `decode` and, position by position, `logits`."""
    inner = _uncompiled(model)
    output = getattr(inner, "output", None)
    return (
        isinstance(output, nn.Module)
        and not {"forward", "decode"} & vars(inner).keys()
        and type(inner).forward in FORWARDS
        and _is_undisturbed(model)
        and _is_undisturbed(inner)
        and _is_known_part(output, "output")
    )


def settings_of(part: nn.Module) -> dict[str, Any]:
    """What a method may read that is neither a weight nor a part nor in every module."""
    return {
        name: value
        for name, value in vars(part).items()
        if name not in BOOKKEEPING and (name in READ or hasattr(type(part), name))
    }


def _uncompiled(model: nn.Module) -> Any:
    inner: Any = model
    while hasattr(inner, "_orig_mod"):  # what `torch.compile` has wrapped
        inner = inner._orig_mod
    return inner


def _is_undisturbed(model: nn.Module) -> bool:
    """No hook on it or on all modules, and the known kinds have the methods that they had."""
    hooked = _has_any_global_hook() or model._forward_hooks or model._forward_pre_hooks
    return not hooked and all(_methods(kind) == known for kind, known in METHODS.items())


def _is_known_part(part: nn.Module, name: str) -> bool:
    known = KINDS.get("layer" if name.isdecimal() else name, POINTWISE)
    return (
        not (isinstance(part, nn.ModuleList) and not len(part))  # no step would be counted
        and _is_kind(type(part), known)
        and _is_untouched(part)
        and all(
            _is_known_part(child, path)
            for path, child in part._modules.items()
            if child is not None and path not in ENCODING
        )
    )


def _is_kind(kind: type, known: Set[type]) -> bool:
    """One of those known, or made of them without anything new, as `become` does."""
    new = vars(kind).keys() - {"__module__", "__doc__", "__firstlineno__", "__static_attributes__"}
    return kind in known or (not new and all(_is_kind(base, known) for base in kind.__bases__))


def _is_untouched(part: nn.Module) -> bool:
    """No hook that does not say that it is `pointwise`, and no method or tensor put in."""
    hooks = [*part._forward_hooks.values(), *part._forward_pre_hooks.values()]
    others = [(k, v) for k, v in settings_of(part).items() if not isinstance(v, SETTINGS)]
    gates = list(GATES.values()) if isinstance(part, GatedFeedForward) else []
    return all(getattr(hook, "pointwise", False) for hook in hooks) and all(
        callable(value)
        and (
            (name == "gate" and value in gates)
            or value == MethodType(getattr(type(part), name, len), part)
        )
        for name, value in others
    )
