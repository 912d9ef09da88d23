"""The same Transformer in CTranslate2, with the same weights."""

from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn

from transformer import Transformer, TransformerConfig
from transformer.text import BOS_ID, EOS_ID, SPECIALS, UNK_ID


def vocabulary(config: TransformerConfig) -> list[str]:
    """A name for each token id: CTranslate2 reads and writes names."""
    names = [f"w{i}" for i in range(config.tgt_vocab_size)]
    for i, name in zip((config.pad_id, BOS_ID, EOS_ID, UNK_ID), SPECIALS, strict=True):
        names[i] = name
    return names


def ctranslate2_spec(model: Transformer) -> Any:
    """Our model in CTranslate2's terms."""
    from ctranslate2.specs import TransformerSpec, common_spec

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
    spec.register_source_vocabulary(vocabulary(c))
    spec.register_target_vocabulary(vocabulary(c))
    spec.config.decoder_start_token = "<s>"
    return spec


def ctranslate2_translator(model: Transformer, threads: int, device: str = "cpu") -> Any:
    """CTranslate2's translator with our weights, in float32."""
    import ctranslate2

    spec = ctranslate2_spec(model)
    spec.validate()
    spec.optimize(quantization="float32")
    with TemporaryDirectory() as folder:
        spec.save(folder)
        return ctranslate2.Translator(
            folder, device=device, compute_type="float32", intra_threads=threads, inter_threads=1
        )


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
