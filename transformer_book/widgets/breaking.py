"""A trained model with a part broken, and what it then writes: what `BrokenTranslator` shows."""

import copy
from collections.abc import Collection
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.cache import KeyValueCache
from transformer.introspect import attention_modules, record_attention
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.text import BOS_ID, EOS_ID
from transformer.variants.variant import NoPositions, become
from transformer.variants.without import without_residuals, without_scaling

EXTRA = 12  # so many tokens more than the source may the output have: who stammers need not go on

LABELS = {
    "src_positions": "no source positions",
    "tgt_positions": "no output positions",
    "scaling": "no division by √dₖ",
    "roles": "keys and queries exchanged",
    "softmax": "softmax (all weights alike)",
    "causal_mask": "no causal mask",
    "shortcuts": "no shortcuts",
}


class Skipped(nn.Module):
    """In place of an encoder layer: what comes in goes out. The others keep their numbers."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The vectors as they are."""
        return x


class Unmasked(Transformer):
    """A decoder in which each position looks at the later ones too, as far as they are written."""

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor,
        src: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """As the whole model does, but each target position may attend to every other.

        Raises:
            ValueError: a cache is given, which would keep vectors that have changed meanwhile.
        """
        if cache is not None:
            raise ValueError(
                "without the causal mask a new token changes the vectors of those before it, so "
                "nothing can be kept; search with use_cache=False"
            )
        everywhere = padding_mask(tgt, self.config.pad_id)  # (batch, 1, 1, tgt_len)
        return super().decode(tgt, memory, src, src_mask, everywhere)


def parts_of(model: Transformer) -> dict[str, str]:
    """What can be broken in a model, but for its heads: the name of each part and a label."""
    layers = range(model.config.n_layers)
    return LABELS | {f"encoder.{i}": f"no encoder layer {i + 1}" for i in layers}


def label_of(part: str) -> str:
    """A broken part in words, a silent head too."""
    if part in LABELS:
        return LABELS[part]
    side, layer, *rest = part.split(".")
    if not rest:
        return f"no encoder layer {int(layer) + 1}"
    kind, head = rest
    name = "cross-attention" if kind == "cross" else f"{side} self-attention"
    return f"{name}, layer {int(layer) + 1}, head {int(head) + 1} silent"


def broken(model: Transformer, parts: Collection[str]) -> Transformer:
    """A copy of a trained model in which these parts are broken; the model itself stays as it is.

    Args:
        parts: names as in `parts_of`, and heads that say nothing, such as "decoder.2.cross.1".

    Raises:
        ValueError: the model has no such part.
    """
    known, made = parts_of(model), copy.deepcopy(model).eval()
    attentions = attention_modules(made)
    for part in parts:
        name, _, head = part.rpartition(".")
        if part not in known and not (
            name in attentions and head.isdecimal() and int(head) < attentions[name].n_heads
        ):
            heads = f'and a head is named as "{next(iter(attentions))}.0"'
            raise ValueError(f"{part!r} is no part to break; there are {', '.join(known)}, {heads}")
    with torch.no_grad():
        if "scaling" in parts:
            without_scaling(made)
        if "shortcuts" in parts:
            without_residuals(made)
        for side in {"src_positions", "tgt_positions"}.intersection(parts):
            made.register_module(side, NoPositions())
        for name, attention in attentions.items():
            if "roles" in parts:  # whoever asked is asked
                attention.w_query, attention.w_key = attention.w_key, attention.w_query
            if "softmax" in parts:  # all scores 0, so that all weights are alike
                attention.w_query.weight.zero_()
            heads = attention.w_output.weight.unflatten(1, (attention.n_heads, -1))
            for number in range(attention.n_heads):
                if f"{name}.{number}" in parts:
                    heads[:, number] = 0
    for i in range(model.config.n_layers):
        if f"encoder.{i}" in parts:
            made.encoder.layers[i] = Skipped()
    if "causal_mask" in parts:
        become(made, Unmasked)
    return made


@dataclass(frozen=True)
class Written:
    """What a model has written.

    Attributes:
        tokens: the output's ids, with the end mark if it ended.
        cross: where each head of the cross-attention looked for each token, layer by layer.
        encoder: where each head of the encoder looked; a layer that is gone looks nowhere.
    """

    tokens: list[int]
    cross: Float[Tensor, "heads steps source"]
    encoder: Float[Tensor, "heads source source"]


def write(model: Transformer, source: list[int]) -> Written:
    """The most probable token, one after the other, each from a pass over all those before it.

    Args:
        source: token ids with the end mark; the output has at most `EXTRA` more.
    """
    device = next(model.parameters()).device
    limit = min(len(source) + EXTRA, model.config.max_len)
    layers = range(model.config.n_layers)
    src, tokens, cross = torch.tensor([source], device=device), [BOS_ID], []
    with torch.inference_mode(), record_attention(model.eval()) as weights:
        memory = model.encode(src)  # (1, source, d_model)
        nowhere = src.new_zeros(model.config.n_heads, len(source), len(source)).float()
        looked = {name: rows[0].float() for name, rows in weights.items()}
        encoder = torch.cat([looked.get(f"encoder.{i}.self", nowhere) for i in layers])
        while tokens[-1] != EOS_ID and len(tokens) <= limit:
            hidden = model.decode(torch.tensor([tokens], device=device), memory, src)
            tokens.append(int(model.logits(hidden[0, -1]).argmax()))
            last = [weights[f"decoder.{i}.cross"][0, :, -1] for i in layers]
            cross.append(torch.cat(last))  # (heads, source)
    return Written(tokens[1:], torch.stack(cross, dim=1).cpu(), encoder.cpu())
