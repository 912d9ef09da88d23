"""Examples of attention for the tests of the heads explorer."""

from functools import cache

import numpy as np
import torch

from transformer import Transformer, TransformerConfig
from transformer.introspect import record_attention

from transformer_book.widgets.attention_heads import KINDS

LINKS = [(0, 2), (1, 0), (1, 1), (4, 5), (6, 6)]
NAMES = {"encoder self": "encoder.{}.self", "decoder self": "decoder.{}.self"}


@cache
def real():
    """What an untrained model looks at in 7 and 7 tokens: only the order tells the kinds apart."""
    torch.manual_seed(3)
    model = Transformer(
        TransformerConfig(
            src_vocab_size=20, tgt_vocab_size=20, d_model=32, d_ff=32, n_heads=4, n_layers=3,
            tie="decoder",
        )
    ).eval()  # fmt: skip
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.data *= 2.5  # so that heads choose, as trained ones do
    with torch.no_grad(), record_attention(model) as recorded:
        model(torch.arange(3, 10)[None], torch.arange(4, 11)[None])
    return {
        "source": [f"s{i}" for i in range(7)],
        "target": [f"t{i}" for i in range(7)],
        "weights": {name: weights[0] for name, weights in recorded.items()},
        "alignment": [*LINKS, LINKS[0]],
    }


def made(n_source=5, n_target=4, n_layers=1, n_heads=2, seed=0, sharp=3.0, **changes):
    """An example with random weights; the decoder looks only back."""
    noise = np.random.default_rng(seed)
    size = {"source": n_source, "target": n_target}
    weights = {}
    for i in range(n_layers):
        for kind, (rows, columns) in KINDS.items():
            scores = sharp * noise.normal(size=(n_heads, size[rows], size[columns]))
            if kind == "decoder self":
                scores[:, ~np.tri(n_target, dtype=bool)] = -np.inf
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            name = NAMES.get(kind, "decoder.{}.cross").format(i)
            weights[name] = scores / scores.sum(-1, keepdims=True)
    source, target = ([f"{side[0]}{i}" for i in range(n)] for side, n in size.items())
    return {"source": source, "target": target, "weights": weights, **changes}


def true(kind, layer, head=slice(None)):
    """The weights of `real`, of one kind in one layer."""
    return real()["weights"][NAMES.get(kind, "decoder.{}.cross").format(layer)][head]
