"""Greedy search: at each step the most probable token."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.decoding.ensemble import Searchable
from transformer.decoding.generate import (
    Hypothesis,
    check_limits,
    evaluating,
    generate,
    searching,
)
from transformer.decoding.steps import start_decoding


def greedy_search(
    model: Searchable,
    src: Int[Tensor, "batch src_len"],
    *,
    bos_id: int,
    eos_id: int,
    max_len: int,
    use_cache: bool = True,
) -> list[list[Hypothesis]]:
    """Translate a batch of sentences, each with its most probable next token at every step.

    A sentence that has produced `eos_id` leaves the batch; the search ends when none is left, or
    after `max_len` tokens. The model is switched to evaluation for the search and put back.

    Args:
        src: source tokens, padded with the model's pad_id.
        eos_id: the end mark; -1 for none, then every hypothesis has max_len tokens.
        max_len: the most tokens that a hypothesis may have.
        use_cache: False recomputes the whole prefix at each step; the same tokens, slower.

    Returns:
        For each sentence a list of one `Hypothesis`. Inside `record_attention`, the weights of
        the whole search are left too: the queries are bos and the tokens that were read.

    Raises:
        ValueError: max_len does not fit the model, or a token id is out of range.
    """
    check_limits(model, bos_id, eos_id, max_len)
    with searching(model) as recording:
        decoder = start_decoding(model, src, use_cache=use_cache)
        limits = {"bos_id": bos_id, "eos_id": eos_id, "max_len": max_len}
        hypotheses = generate(decoder, src, _most_probable, **limits)
    if recording:
        # Sentences leave the batch as they end; one pass over the results gives the weights
        # of all steps, for all sentences, in one piece.
        prefixes = _prefixes(hypotheses, bos_id, model.config.pad_id, max_len)
        with evaluating(model), torch.no_grad():
            model(src, prefixes.to(src.device))
    return [[hypothesis] for hypothesis in hypotheses]


def _most_probable(logits: Tensor) -> tuple[Tensor, Tensor]:
    log_prob, token = logits.log_softmax(dim=-1).max(dim=-1)
    return token, log_prob


def _prefixes(found: list[Hypothesis], bos_id: int, pad_id: int, max_len: int) -> Tensor:
    """What the decoder has read in the search: bos and the tokens, padded."""
    rows = [torch.tensor([bos_id, *hypothesis.tokens][:max_len]) for hypothesis in found]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
