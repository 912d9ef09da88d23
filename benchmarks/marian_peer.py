"""The same Transformer in Hugging Face's library (Marian), with the same weights."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from transformer import Transformer, TransformerConfig
from transformer.text import BOS_ID, EOS_ID

# Imported where it is used: the other benchmarks do without it.
if TYPE_CHECKING:
    from transformers import MarianConfig, MarianMTModel


def marian_config(config: TransformerConfig) -> "MarianConfig":
    """The settings with which Marian is the paper's model of this shape.

    Raises:
        ValueError: Marian has no such model.
    """
    from transformers import MarianConfig

    c = config
    like_marian = c.norm == "post" and c.positions == "sinusoidal" and c.tie == "all"
    if not like_marian or c.key_width * c.n_heads != c.d_model or c.key_width != c.value_width:
        raise ValueError(
            "Marian needs norm='post', positions='sinusoidal', tie='all' and heads as wide as "
            "d_model / n_heads"
        )
    return MarianConfig(
        vocab_size=c.tgt_vocab_size,
        d_model=c.d_model,
        encoder_layers=c.n_layers,
        decoder_layers=c.n_layers,
        encoder_ffn_dim=c.d_ff,
        decoder_ffn_dim=c.d_ff,
        encoder_attention_heads=c.n_heads,
        decoder_attention_heads=c.n_heads,
        dropout=c.dropout,
        attention_dropout=c.dropout,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=c.max_len,
        pad_token_id=c.pad_id,
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        decoder_start_token_id=BOS_ID,
        forced_eos_token_id=None,
    )


def marian(model: Transformer) -> "MarianMTModel":
    """Hugging Face's Marian with our weights, in evaluation mode."""
    from transformers import MarianMTModel

    other = MarianMTModel(marian_config(model.config)).eval()
    with torch.no_grad():
        for weight, target in marian_pairs(model, other.model):
            target.copy_(weight)
        for stack in (other.model.encoder, other.model.decoder):
            # The same sinusoids; Marian writes all sines, then all cosines.
            stack.embed_positions.weight.copy_(model.src_positions.table)
        for name, parameter in other.named_parameters():
            if "_proj.bias" in name:  # our projections have none, as in the paper
                parameter.zero_()
    return other


def marian_pairs(model: Transformer, marian_model: Any) -> Iterator[tuple[nn.Parameter, Tensor]]:
    """Every weight of our model with the one of Marian's (or BART's) that it becomes."""
    yield model.tgt_embedding.weight, marian_model.shared.weight
    for side in ("encoder", "decoder"):
        layers = zip(getattr(model, side).layers, getattr(marian_model, side).layers, strict=True)
        for a, b in layers:
            attentions = [(a.self_attention, b.self_attn)]
            modules = [
                (a.feed_forward.inner, b.fc1),
                (a.feed_forward.outer, b.fc2),
                (a.self_attention_residual.norm, b.self_attn_layer_norm),
                (a.feed_forward_residual.norm, b.final_layer_norm),
            ]
            if side == "decoder":
                attentions.append((a.cross_attention, b.encoder_attn))
                modules.append((a.cross_attention_residual.norm, b.encoder_attn_layer_norm))
            for own, other in attentions:
                yield own.w_query.weight, other.q_proj.weight
                yield own.w_key.weight, other.k_proj.weight
                yield own.w_value.weight, other.v_proj.weight
                yield own.w_output.weight, other.out_proj.weight
            for own, other in modules:
                yield from zip(own.parameters(), other.parameters(), strict=True)
