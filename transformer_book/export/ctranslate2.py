"""For CTranslate2: an engine in C++, for processors and GPUs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.model import Transformer
from transformer.text import BOS, Tokenizer

from transformer_book.export import require_even_heads
from transformer_book.export.library_tokenizer import library_tokenizer


def write(model: Transformer, tokenizer: Tokenizer, folder: Path) -> None:
    """Write model.bin, its vocabularies and tokenizer.json; see `export_model`."""
    write_model(model, tokenizer.pieces(range(tokenizer.vocab_size)), str(folder))
    library_tokenizer(tokenizer).save(str(folder / "tokenizer.json"))


def write_model(model: Transformer, tokens: Sequence[str], folder: str) -> None:
    """Write what `ctranslate2.Translator` loads: either norm, either kind of positions, any tying.

    Args:
        model: of the paper's kind.
        tokens: a name for each id, since CTranslate2 reads and writes names.
        folder: is there.

    Raises:
        ExportError: its heads have widths of their own.
    """
    from ctranslate2.specs import TransformerSpec, common_spec

    require_even_heads(model, "CTranslate2")
    c = model.config
    spec = TransformerSpec.from_config(
        (c.n_layers, c.n_layers),
        c.n_heads,
        pre_norm=c.norm == "pre",
        activation=common_spec.Activation.RELU,
    )
    _set_stack(spec.encoder, model.encoder, spec.encoder.embeddings[0], model.src_embedding)
    _set_stack(spec.decoder, model.decoder, spec.decoder.embeddings, model.tgt_embedding)
    spec.encoder.position_encodings.encodings = _numbers(model.src_positions.table)
    spec.decoder.position_encodings.encodings = _numbers(model.tgt_positions.table)
    spec.decoder.projection.weight = _numbers(model.output.weight)
    spec.register_source_vocabulary([*tokens])
    spec.register_target_vocabulary([*tokens])
    spec.config.decoder_start_token = BOS
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(folder)


def _numbers(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().numpy()


def _set_stack(spec: Any, stack: Any, table: Any, embedding: Any) -> None:
    spec.scale_embeddings = embedding.scale
    table.weight = _numbers(embedding.weight)
    if isinstance(stack.norm, nn.LayerNorm):
        _set_norm(spec.layer_norm, stack.norm)
    for part, layer in zip(spec.layer, stack.layers, strict=True):
        attentions = [(part.self_attention, layer.self_attention)]
        _set_norm(part.self_attention.layer_norm, layer.self_attention_residual.norm)
        if hasattr(layer, "cross_attention"):
            attentions.append((part.attention, layer.cross_attention))
            _set_norm(part.attention.layer_norm, layer.cross_attention_residual.norm)
        for own, attention in attentions:
            weights = [getattr(attention, f"w_{n}").weight for n in ("query", "key", "value")]
            # Self-attention projects to all three at once, cross-attention to the query apart.
            blocks = [weights] if len(own.linear) == 2 else [weights[:1], weights[1:]]
            for linear, block in zip(own.linear, blocks, strict=False):
                linear.weight = _numbers(torch.cat(block))
            own.linear[-1].weight = _numbers(attention.w_output.weight)
        for linear, ours in (("linear_0", "inner"), ("linear_1", "outer")):
            module = getattr(layer.feed_forward, ours)
            getattr(part.ffn, linear).weight = _numbers(module.weight)
            getattr(part.ffn, linear).bias = _numbers(module.bias)
        _set_norm(part.ffn.layer_norm, layer.feed_forward_residual.norm)


def _set_norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _numbers(norm.weight), _numbers(norm.bias)
