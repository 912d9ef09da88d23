"""The same Transformer built of `torch.nn.Transformer`, with the same weights."""

import torch
from torch import Tensor, nn

from transformer import Transformer, TransformerConfig
from transformer.embedding import sinusoidal_positions


class TorchModel(nn.Module):
    """What most would write with `torch.nn.Transformer`: embedding, sinusoids, tied output."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        c = self.config = config
        self.embedding = nn.Embedding(c.tgt_vocab_size, c.d_model)
        self.stacks = nn.Transformer(
            *(c.d_model, c.n_heads, c.n_layers, c.n_layers, c.d_ff, c.dropout), batch_first=True
        )
        # The paper has no second norm behind the stacks, and no dropout between the two linear
        # layers of the feed-forward network: without them the computation is the same as ours.
        self.stacks.encoder.norm = self.stacks.decoder.norm = None
        self.stacks.encoder.use_nested_tensor = False  # the same shapes with padding, too
        for layer in (*self.stacks.encoder.layers, *self.stacks.decoder.layers):
            layer.dropout = nn.Identity()
        self.dropout = nn.Dropout(c.dropout)
        self.positions: Tensor
        table = sinusoidal_positions(c.max_len, c.d_model)
        self.register_buffer("positions", table, persistent=False)

    def embed(self, tokens: Tensor) -> Tensor:
        """Vectors with positions."""
        vectors = self.embedding(tokens) * self.config.d_model**0.5
        return self.dropout(vectors + self.positions[: tokens.size(1)])

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Logits for the token after each target position."""
        hidden = tgt == self.config.pad_id
        length = tgt.size(1)
        future = torch.ones(length, length, dtype=torch.bool, device=tgt.device).triu(1)
        src_hidden = src == self.config.pad_id
        output = self.stacks(
            self.embed(src),
            self.embed(tgt),
            tgt_mask=future,  # torch: True = hidden
            src_key_padding_mask=src_hidden,
            tgt_key_padding_mask=hidden,
            memory_key_padding_mask=src_hidden,
            tgt_is_causal=True,
        )
        return output @ self.embedding.weight.T


def torch_model(model: Transformer) -> TorchModel:
    """`torch.nn.Transformer` with our weights, in evaluation mode."""
    other = TorchModel(model.config).to(model.output.weight.device).eval()
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            if "_proj" in name and name.endswith("bias"):
                parameter.zero_()  # our projections have none, as in the paper
        other.embedding.weight.copy_(model.tgt_embedding.weight)
        for side in ("encoder", "decoder"):
            layers = zip(
                getattr(model, side).layers, getattr(other.stacks, side).layers, strict=True
            )
            for a, b in layers:
                attentions = [(a.self_attention, b.self_attn)]
                residuals = [a.self_attention_residual, a.feed_forward_residual]
                if side == "decoder":
                    attentions.append((a.cross_attention, b.multihead_attn))
                    residuals.insert(1, a.cross_attention_residual)
                for own, their in attentions:
                    packed = [own.w_query.weight, own.w_key.weight, own.w_value.weight]
                    their.in_proj_weight.copy_(torch.cat(packed))
                    their.out_proj.weight.copy_(own.w_output.weight)
                b.linear1.load_state_dict(a.feed_forward.inner.state_dict())
                b.linear2.load_state_dict(a.feed_forward.outer.state_dict())
                for i, residual in enumerate(residuals, start=1):
                    getattr(b, f"norm{i}").load_state_dict(residual.norm.state_dict())
    return other
