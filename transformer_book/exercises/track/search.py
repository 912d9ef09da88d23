"""The reader's two searches, with the reader's model."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer.decoding import Hypothesis
from transformer.decoding.beam import penalty
from transformer.decoding.generate import searching

from transformer_book.exercises.catalogue.decoding import token_ids
from transformer_book.exercises.track.model import OwnTransformer


def next_logits_of(model: OwnTransformer, source: list[int]) -> Callable[[list[int]], Tensor]:
    """What `greedy_search` asks: the logits, (vocab,), of the token after a prefix.

    It takes what the check of the exercise takes.
    """
    src = torch.tensor([source])
    memory = model.encode(src)

    def next_logits(prefix: Any) -> Tensor:
        hidden = model.decode(torch.tensor([token_ids(prefix)]), memory, src)
        return model.logits(hidden[0, -1])

    return next_logits


def greedy(
    model: OwnTransformer, source: list[int], *, bos_id: int, eos_id: int, max_len: int
) -> list[int]:
    """One sentence, written by the reader's `greedy_search`."""
    with searching(model):
        search = model.parts["greedy_search"]
        return [*map(int, search(next_logits_of(model, source), bos_id, eos_id, max_len))]


def beam(
    model: OwnTransformer,
    source: list[int],
    *,
    bos_id: int,
    eos_id: int,
    max_len: int,
    beam_size: int = 4,
    length_penalty: float = 0.6,
) -> Hypothesis:
    """The best hypothesis for one sentence: a search as ours, around the reader's `beam_step`.

    A step looks at twice as many candidates as prefixes are kept, since only half can end there.
    """
    with searching(model):
        src = torch.tensor([source]).expand(beam_size, -1)
        memory = model.encode(src)
        prefixes = torch.full((beam_size, 1), bos_id)
        totals = torch.full((beam_size,), -math.inf)
        totals[0] = 0.0  # at first all prefixes are the same
        finished: list[Hypothesis] = []
        for length in range(1, max_len + 1):
            logits = model.logits(model.decode(prefixes, memory, src)[:, -1])
            log_probs = model.probabilities(logits).log()
            best, rows, tokens = model.parts["beam_step"](totals, log_probs, 2 * beam_size)
            ended = tokens == eos_id
            for i in ended[:beam_size].nonzero().flatten().tolist():
                score = float(best[i]) / penalty(length, length_penalty)
                finished.append(Hypothesis(prefixes[rows[i], 1:].tolist(), score))
            going = (~ended).nonzero().flatten()[:beam_size]
            totals = best[going]
            prefixes = torch.cat([prefixes[rows[going]], tokens[going, None]], dim=1)
            if len(finished) >= beam_size:
                break
        else:
            ends = (totals / penalty(max_len, length_penalty)).tolist()
            both = zip(prefixes[:, 1:].tolist(), ends, strict=True)
            finished += [Hypothesis(tokens, score) for tokens, score in both]
        return max(finished, key=lambda hypothesis: hypothesis.score)
