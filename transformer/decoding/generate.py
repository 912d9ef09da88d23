"""What every search returns and needs, and the loop that greedy search and sampling share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.decoding.ensemble import Searchable
from transformer.decoding.steps import Steps
from transformer.introspect import pause_recording
from transformer.model import Transformer

EXTRA_LENGTH = 50  # section 6.1: so many tokens more than the input may the output have

# The logits (rows, vocab) -> the next token of each row, and its log-probability.
Choose = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Hypothesis:
    """One output sentence.

    Attributes:
        tokens: its token ids, without the start and end marks.
        score: the sum of the log-probabilities of its tokens and of the end mark, if it ended.
    """

    tokens: list[int]
    score: float


def check_limits(model: Searchable, bos_id: int, eos_id: int, max_len: int) -> None:
    """Raises ValueError if a search with these settings makes no sense for the model."""
    limit, vocab_size = model.config.max_len, model.config.tgt_vocab_size
    if not 1 <= max_len <= limit:
        raise ValueError(f"max_len ({max_len}) must be between 1 and the model's max_len ({limit})")
    for name, token, lowest in (("bos_id", bos_id, 0), ("eos_id", eos_id, -1)):
        if not lowest <= token < vocab_size:
            last = vocab_size - 1
            raise ValueError(f"{name} ({token}) must be a token of the target, 0 to {last}")


@contextmanager
def evaluating(model: Searchable) -> Iterator[None]:
    """Inside the block the model is in evaluation mode; after it, each part in the mode it had."""
    before = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


@contextmanager
def searching(model: Searchable) -> Iterator[bool]:
    """Inside the block: evaluation mode, no gradients, and no attention weights recorded.

    Yields whether somebody is recording outside it.
    """
    # Only a Transformer's attentions can be recorded.
    paused = pause_recording(model) if isinstance(model, Transformer) else nullcontext(False)
    with evaluating(model), paused as recording, torch.inference_mode():
        yield recording


def generate(
    decoder: Steps, src: Tensor, choose: Choose, *, bos_id: int, eos_id: int, max_len: int
) -> list[Hypothesis]:
    """One output for each source, token by token; a row that has ended leaves the batch.

    Args:
        decoder: has encoded `src`, with one prefix for each row.
        choose: picks the next token of each row.
    """
    output = src.new_full((len(src), 1), bos_id)  # (active rows, tokens so far)
    score = torch.zeros(len(src), device=src.device)
    active = torch.arange(len(src), device=src.device)
    outputs: dict[int, Hypothesis] = {}

    def finish(rows: Tensor) -> None:
        ended = zip(active[rows].tolist(), output[rows].tolist(), score[rows].tolist(), strict=True)
        outputs.update((i, Hypothesis(tokens[1:], total)) for i, tokens, total in ended)

    for _ in range(max_len):
        token, log_prob = choose(decoder(output).float())
        score = score + log_prob
        ended = token == eos_id
        if ended.any():
            finish(ended)
            rest = (~ended).nonzero().flatten()
            active, output, score, token = active[rest], output[rest], score[rest], token[rest]
            decoder.select(rest)
        output = torch.cat([output, token[:, None]], dim=1)
        if not active.numel():
            break
    finish(torch.ones_like(active, dtype=torch.bool))
    return [outputs[i] for i in range(len(outputs))]
