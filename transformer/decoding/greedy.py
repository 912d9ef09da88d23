"""Greedy search: at each step the most probable token."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.decoding.hypothesis import Hypothesis
from transformer.decoding.step import start_decoding
from transformer.introspect import pause_recording
from transformer.model import Transformer


def greedy_search(
    model: Transformer,
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
    training = model.training
    model.eval()
    try:
        with pause_recording(model) as recording, torch.inference_mode():
            found = _search(model, src, bos_id, eos_id, max_len, use_cache)
        if recording:
            # Sentences leave the batch as they end; one pass over the results gives the weights
            # of all steps, for all sentences, in one piece.
            prefixes = _prefixes(found, bos_id, model.config.pad_id, max_len)
            with torch.no_grad():
                model(src, prefixes.to(src.device))
    finally:
        model.train(training)
    return [[hypothesis] for hypothesis in found]


def check_limits(model: Transformer, bos_id: int, eos_id: int, max_len: int) -> None:
    """Raises ValueError if a search with these settings makes no sense for the model."""
    limit, vocab_size = model.config.max_len, model.config.tgt_vocab_size
    if not 1 <= max_len <= limit:
        raise ValueError(f"max_len ({max_len}) must be between 1 and the model's max_len ({limit})")
    for name, token, lowest in (("bos_id", bos_id, 0), ("eos_id", eos_id, -1)):
        if not lowest <= token < vocab_size:
            last = vocab_size - 1
            raise ValueError(f"{name} ({token}) must be a token of the target, 0 to {last}")


def _search(
    model: Transformer, src: Tensor, bos_id: int, eos_id: int, max_len: int, use_cache: bool
) -> list[Hypothesis]:
    decoder = start_decoding(model, src, use_cache=use_cache)
    output = src.new_full((src.size(0), 1), bos_id)  # (active sentences, tokens so far)
    score = torch.zeros(src.size(0), device=src.device)
    active = torch.arange(src.size(0), device=src.device)
    found: dict[int, Hypothesis] = {}

    for _ in range(max_len):
        log_probs = decoder(output).float().log_softmax(dim=-1)
        best, token = log_probs.max(dim=-1)
        score = score + best
        ended = token == eos_id
        if ended.any():
            _finish(found, active[ended], output[ended], score[ended])
            going = (~ended).nonzero().flatten()
            active, output, score, token = active[going], output[going], score[going], token[going]
            decoder.select(going)
        output = torch.cat([output, token[:, None]], dim=1)
        if not active.numel():
            break
    _finish(found, active, output, score)
    return [found[i] for i in range(len(found))]


def _finish(found: dict[int, Hypothesis], rows: Tensor, output: Tensor, score: Tensor) -> None:
    for i, tokens, total in zip(rows.tolist(), output.tolist(), score.tolist(), strict=True):
        found[i] = Hypothesis(tokens[1:], total)


def _prefixes(found: list[Hypothesis], bos_id: int, pad_id: int, max_len: int) -> Tensor:
    """What the decoder has read in the search: bos and the tokens, padded."""
    rows = [torch.tensor([bos_id, *hypothesis.tokens][:max_len]) for hypothesis in found]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
