"""All changes together: with the same weights it is the Llama of Hugging Face."""

import pytest
import torch
from torch import Tensor

from tests.helpers import BOS, VOCAB, same, sentences, small_config
from transformer import Transformer
from transformer.variants import MODERN, build


def rows_in_halves(weight: Tensor, d_k: int) -> Tensor:
    """Our heads turn neighbouring rows as a pair, theirs a row of each half."""
    halves = torch.arange(d_k).view(-1, 2).T.flatten()
    return weight.unflatten(0, (-1, d_k))[:, halves].flatten(0, 1)


def copy_into(llama: torch.nn.Module, model: Transformer) -> None:
    scale, d_k = model.tgt_embedding.scale, model.config.key_width
    llama.model.embed_tokens.weight.copy_(model.tgt_embedding.weight * scale)
    llama.lm_head.weight.copy_(model.output.weight)
    llama.model.norm.weight.copy_(model.decoder.norm.weight)
    for ours, theirs in zip(model.decoder.layers, llama.model.layers, strict=True):
        attention, ffn = ours.self_attention, ours.feed_forward
        theirs.self_attn.q_proj.weight.copy_(rows_in_halves(attention.w_query.weight, d_k))
        theirs.self_attn.k_proj.weight.copy_(rows_in_halves(attention.w_key.weight, d_k))
        theirs.self_attn.v_proj.weight.copy_(attention.w_value.weight)
        theirs.self_attn.o_proj.weight.copy_(attention.w_output.weight)
        theirs.mlp.gate_proj.weight.copy_(ffn.inner_gate.weight)
        theirs.mlp.up_proj.weight.copy_(ffn.inner.weight)
        theirs.mlp.down_proj.weight.copy_(ffn.outer.weight)
        theirs.input_layernorm.weight.copy_(ours.self_attention_residual.norm.weight)
        theirs.post_attention_layernorm.weight.copy_(ours.feed_forward_residual.norm.weight)


@torch.no_grad()
def test_the_papers_model_with_all_changes_is_llama():
    library = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = build(small_config(n_heads=4, norm="pre"), *MODERN).eval()
    for parameter in model.parameters():  # also of the norms, which begin as ones
        parameter.add_(0.3 * torch.randn_like(parameter))
    config = library.LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        rms_norm_eps=1e-5,
    )
    llama = library.LlamaForCausalLM(config).eval()
    copy_into(llama, model)
    ours = sum(p.numel() for p in model.parameters())
    theirs = sum(p.numel() for p in llama.parameters())
    assert theirs - ours == model.output.weight.numel()  # which we share with the embedding
    src, tgt = sentences([6, 6]), torch.tensor([[BOS, 5, 6, 7], [BOS, 3, 9, 2]])
    whole = llama(torch.cat([src, tgt], dim=1)).logits
    same(model(src, tgt), whole[:, 6:], 1e-4)
