"""The loop that greedy search and sampling share, and the limits that every search has."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.decoding.hypothesis import Hypothesis
from transformer.decoding.step import Steps
from transformer.model import Transformer

# The logits (rows, vocab) -> the token that each row goes on with, and its log-probability.
Choose = Callable[[Tensor], tuple[Tensor, Tensor]]


def check_limits(model: Transformer, bos_id: int, eos_id: int, max_len: int) -> None:
    """Raises ValueError if a search with these settings makes no sense for the model."""
    limit, vocab_size = model.config.max_len, model.config.tgt_vocab_size
    if not 1 <= max_len <= limit:
        raise ValueError(f"max_len ({max_len}) must be between 1 and the model's max_len ({limit})")
    for name, token, lowest in (("bos_id", bos_id, 0), ("eos_id", eos_id, -1)):
        if not lowest <= token < vocab_size:
            last = vocab_size - 1
            raise ValueError(f"{name} ({token}) must be a token of the target, 0 to {last}")


def write(
    decoder: Steps, src: Tensor, choose: Choose, *, bos_id: int, eos_id: int, max_len: int
) -> list[Hypothesis]:
    """One output for each source, token by token; a row that has ended leaves the batch.

    Args:
        decoder: has encoded `src`, with one beginning for each row.
        choose: says how each row goes on.
    """
    output = src.new_full((len(src), 1), bos_id)  # (active rows, tokens so far)
    score = torch.zeros(len(src), device=src.device)
    active = torch.arange(len(src), device=src.device)
    found: dict[int, Hypothesis] = {}

    def finish(rows: Tensor) -> None:
        ended = zip(active[rows].tolist(), output[rows].tolist(), score[rows].tolist(), strict=True)
        found.update((i, Hypothesis(tokens[1:], total)) for i, tokens, total in ended)

    for _ in range(max_len):
        token, log_prob = choose(decoder(output).float())
        score = score + log_prob
        ended = token == eos_id
        if ended.any():
            finish(ended)
            going = (~ended).nonzero().flatten()
            active, output, score, token = active[going], output[going], score[going], token[going]
            decoder.select(going)
        output = torch.cat([output, token[:, None]], dim=1)
        if not active.numel():
            break
    finish(torch.ones_like(active, dtype=torch.bool))
    return [found[i] for i in range(len(found))]
