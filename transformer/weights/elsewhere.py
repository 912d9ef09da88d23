"""What of a model others compute too: the fused steps of a search, a page, another engine."""

from dataclasses import fields

from torch import nn

from transformer.attention import MultiHeadAttention
from transformer.config import TransformerConfig
from transformer.embedding import LearnedPositions, SinusoidalPositions, TokenEmbedding
from transformer.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from transformer.model import Decoder, Encoder, EncoderDecoder, Transformer

# What the paper's model is made of, and nothing of it replaced.
PARTS = {Encoder, EncoderLayer, Decoder, DecoderLayer, MultiHeadAttention, FeedForward, Residual}
PARTS |= {TokenEmbedding, SinusoidalPositions, LearnedPositions}
PARTS |= {nn.Linear, nn.LayerNorm, nn.Dropout, nn.Dropout1d, nn.Identity, nn.ModuleList}
# The settings for which those have been written who compute a model without its modules.
KNOWN = {"src_vocab_size", "tgt_vocab_size", "d_model", "d_ff", "n_heads", "n_layers", "d_k", "d_v"}
KNOWN |= {"dropout", "attention_dropout", "word_dropout", "norm", "positions", "tie"}
KNOWN |= {"max_len", "pad_id"}


def replaced_parts(model: EncoderDecoder) -> list[str]:
    """The kinds of parts that a Transformer has and the paper's has not; of a variant, some."""
    if not isinstance(model, Transformer):
        return []
    kinds = {type(part) for part in model.modules()} - {Transformer, *PARTS}
    return sorted({kind.__name__ for kind in kinds})


def new_settings(config: TransformerConfig) -> list[str]:
    """The settings that are not the paper's, and that nobody computes but the modules themselves.

    So a change inside a layer can begin in the layer: with its setting, a search takes the modules,
    and a page or an export refuses the model, until they compute it and it stands in `KNOWN`.
    """
    new = [field for field in fields(config) if field.name not in KNOWN]
    changed = [f.name for f in new if getattr(config, f.name) != f.default]
    return [f"{name}={getattr(config, name)!r}" for name in changed]


def only_in_modules(model: EncoderDecoder) -> str:
    """What of a model its modules alone compute, in words; empty if it is all the paper's."""
    return ", ".join([*replaced_parts(model), *new_settings(model.config)])
