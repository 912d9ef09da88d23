"""Floating-point operations of the model's matrix products, counted from its sizes."""

from transformer.config import TransformerConfig


def forward_flops(
    config: TransformerConfig,
    src_len: int,
    tgt_len: int,
) -> dict[str, int]:
    """Operations of one sentence pair's forward pass, by what they are for.

    A product of (m, k) and (k, n) has 2mkn of them: mkn multiplications and as many additions. All
    pairs of positions count, masked ones too; norms, softmaxes, dropout and embeddings do not.

    Returned are "projections" (queries, keys, values and W^O of all attentions), "pairs" (Q K^T and
    the weighted sums of values), "feed-forward" and "output" (the logits).
    """
    n, d = config.n_layers, config.d_model
    width = config.n_heads * (config.key_width + config.value_width)  # also of queries and heads
    attentions = [(src_len, src_len), (tgt_len, tgt_len), (tgt_len, src_len)]  # queries, keys
    return {
        "projections": n * d * width * sum(2 * (q + k) for q, k in attentions),
        "pairs": n * width * sum(2 * q * k for q, k in attentions),
        "feed-forward": n * d * config.d_ff * 2 * 2 * (src_len + tgt_len),
        "output": d * config.tgt_vocab_size * 2 * tgt_len,
    }


def training_flops(config: TransformerConfig, sentences: int, src_len: int, tgt_len: int) -> int:
    """Operations of a training step's matrix products, forward and backward.

    The step has so many `sentences`, all of these lengths; padding counts as tokens do. The
    backward pass has twice as many operations as the forward pass: one product for the gradient of
    each factor. Adam's, about a dozen for each parameter, are not counted.
    """
    return 3 * sentences * sum(forward_flops(config, src_len, tgt_len).values())
