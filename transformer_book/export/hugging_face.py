"""For Hugging Face's transformers: Marian is the paper's model, Pegasus the same with pre-norm."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.model import Transformer
from transformer.text import BOS, BOS_ID, EOS, EOS_ID, PAD, UNK, Tokenizer

from transformer_book.export import ExportError, require_even_heads
from transformer_book.export.library_tokenizer import library_tokenizer


def write(model: Transformer, tokenizer: Tokenizer, folder: Path) -> None:
    """Write what `AutoModelForSeq2SeqLM` and `AutoTokenizer` load; see `export_model`."""
    from transformers import GenerationConfig, PreTrainedTokenizerFast

    other = hugging_face_model(model)
    names = ("decoder_start_token_id", "bos_token_id", "eos_token_id", "pad_token_id")
    marks = {name: getattr(other.config, name) for name in names}
    other.generation_config = GenerationConfig(max_length=model.config.max_len, **marks)
    other.save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=library_tokenizer(tokenizer),
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        unk_token=UNK,
        split_special_tokens=True,  # a </s> in a text is text
        clean_up_tokenization_spaces=False,
        model_max_length=model.config.max_len,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)


def hugging_face_model(model: Transformer) -> Any:
    """Their model with our weights, in evaluation mode: `MarianMTModel`, or Pegasus with pre-norm.

    Raises:
        ExportError: the library has no such model.
    """
    import transformers

    c = model.config
    if c.positions != "sinusoidal" or c.tie != "all":
        raise ExportError(
            "Hugging Face has this model with positions='sinusoidal' and tie='all' only, and it "
            f"has positions={c.positions!r} and tie={c.tie!r}; export it to ctranslate2 or onnx"
        )
    require_even_heads(model, "Hugging Face")
    config, kind = {
        "post": (transformers.MarianConfig, transformers.MarianMTModel),
        "pre": (transformers.PegasusConfig, transformers.PegasusForConditionalGeneration),
    }[c.norm]
    sides = ("encoder", "decoder")
    other: Any = kind(
        config(
            **{f"{side}_layers": c.n_layers for side in sides},
            **{f"{side}_ffn_dim": c.d_ff for side in sides},
            **{f"{side}_attention_heads": c.n_heads for side in sides},
            vocab_size=c.tgt_vocab_size,
            d_model=c.d_model,
            dropout=c.dropout,
            attention_dropout=c.attention_share,
            activation_dropout=0.0,
            activation_function="relu",
            scale_embedding=True,
            max_position_embeddings=c.max_len,
            pad_token_id=c.pad_id,
            bos_token_id=BOS_ID,
            eos_token_id=EOS_ID,
            decoder_start_token_id=BOS_ID,
            forced_eos_token_id=None,
        )
    ).eval()
    with torch.no_grad():
        for weight, target in weight_pairs(_sines_first(model), other.model):
            target.copy_(weight)
        for name, parameter in other.named_parameters():
            if "_proj.bias" in name:  # our projections have none, as in the paper
                parameter.zero_()
    return other


def _sines_first(model: Transformer) -> Transformer:
    """The same function with its d_model channels in another order.

    Sines and cosines take turns in ours and in the paper; theirs come one after the other, and are
    not in their files, so it is the weights that have to change places.
    """
    model = copy.deepcopy(model)
    order = torch.arange(model.config.d_model).view(-1, 2).T.flatten()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            from_channels = parameter.dim() == 2 and not name.endswith(
                ("w_output.weight", "outer.weight")
            )
            if not name.endswith("inner.bias"):
                parameter.copy_(parameter.index_select(int(from_channels), order))
    return model


def weight_pairs(model: Transformer, other: Any) -> Iterator[tuple[nn.Parameter, Tensor]]:
    """Every weight of our model with the one of Marian's, BART's or Pegasus's that it becomes."""
    yield model.tgt_embedding.weight, other.shared.weight
    for side in ("encoder", "decoder"):
        stack, copied = getattr(model, side), getattr(other, side)
        modules = [(stack.norm, copied.layer_norm)] if isinstance(stack.norm, nn.LayerNorm) else []
        for a, b in zip(stack.layers, copied.layers, strict=True):
            attentions = [(a.self_attention, b.self_attn)]
            modules += [
                (a.feed_forward.inner, b.fc1),
                (a.feed_forward.outer, b.fc2),
                (a.self_attention_residual.norm, b.self_attn_layer_norm),
                (a.feed_forward_residual.norm, b.final_layer_norm),
            ]
            if side == "decoder":
                attentions.append((a.cross_attention, b.encoder_attn))
                modules.append((a.cross_attention_residual.norm, b.encoder_attn_layer_norm))
            for own, attention in attentions:
                modules += [
                    (own.w_query, attention.q_proj),
                    (own.w_key, attention.k_proj),
                    (own.w_value, attention.v_proj),
                    (own.w_output, attention.out_proj),
                ]
        for module, same in modules:
            yield module.weight, same.weight
            if module.bias is not None:
                yield module.bias, same.bias
