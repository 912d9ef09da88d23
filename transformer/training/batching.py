"""Batches of about equally many tokens, with little padding (section 5.1)."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

TokenPair = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True)
class Batch:
    """Sentence pairs of one training step, padded to a rectangle.

    The target comes twice, shifted by one: at each position the decoder reads `tgt_in` and is
    asked for `tgt_out`.
    """

    src: Int[Tensor, "batch src_len"]
    tgt_in: Int[Tensor, "batch tgt_len"]
    tgt_out: Int[Tensor, "batch tgt_len"]
    n_tokens: int

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        src, tgt_in, tgt_out = (
            tensor.to(device, non_blocking=True) for tensor in (self.src, self.tgt_in, self.tgt_out)
        )
        return Batch(src, tgt_in, tgt_out, self.n_tokens)


def make_batch(pairs: Iterable[TokenPair], *, bos_id: int, eos_id: int, pad_id: int) -> Batch:
    """Pad sentence pairs to a batch; bos and eos are added here, the ids come without them.

    The source ends in eos, so that the encoder knows a whole sentence from a cut one.
    `n_tokens` counts what the loss counts: target words and their eos.
    """
    src, tgt_in, tgt_out = [], [], []
    for source, target in pairs:
        src.append([*source, eos_id])
        tgt_in.append([bos_id, *target])
        tgt_out.append([*target, eos_id])
    if not src:
        raise ValueError("a batch needs at least one sentence pair")
    return Batch(
        pad(src, pad_id), pad(tgt_in, pad_id), pad(tgt_out, pad_id), sum(map(len, tgt_out))
    )


def pad(rows: Sequence[Sequence[int]], pad_id: int) -> Int[Tensor, "batch len"]:
    """Token lists as one rectangle, filled up on the right."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows])


def token_batches(
    pairs: Sequence[TokenPair],
    max_tokens: int,
    *,
    seed: int | None = None,
    pool: int = 100,
) -> Iterator[list[int]]:
    """Group sentence pairs of similar length; yield the indices of one batch after the other.

    No batch's rectangle, padding included, exceeds `max_tokens` on either side. Each pair comes
    exactly once.

    Args:
        pairs: token ids without marks (one place per sentence is reserved for bos or eos).
        max_tokens: the budget for source and target each, in tokens.
        seed: shuffle with this seed; None keeps a fixed order, short to long.
        pool: sort within so many batches' worth of shuffled pairs at a time. A larger pool has
            less padding, a smaller one mixes lengths better from batch to batch.

    Raises:
        ValueError: a sentence does not fit into `max_tokens` at all.
    """
    lengths = [max(len(source), len(target)) + 1 for source, target in pairs]
    if lengths and max(lengths) > max_tokens:
        worst = max(range(len(pairs)), key=lengths.__getitem__)
        raise ValueError(
            f"sentence pair {worst} has {lengths[worst]} tokens, more than a batch may hold "
            f"({max_tokens}); raise max_tokens or drop long sentences"
        )
    order = list(range(len(pairs)))
    if seed is None:
        return iter(_fill(sorted(order, key=lambda i: _key(pairs[i])), lengths, max_tokens))
    return _shuffled(pairs, order, lengths, max_tokens, random.Random(seed), pool)


def _shuffled(
    pairs: Sequence[TokenPair],
    order: list[int],
    lengths: list[int],
    max_tokens: int,
    rng: random.Random,
    pool: int,
) -> Iterator[list[int]]:
    rng.shuffle(order)
    average = max(1, sum(lengths) // max(1, len(lengths)))
    step = max(1, pool * max_tokens // average)
    for start in range(0, len(order), step):
        chunk = sorted(order[start : start + step], key=lambda i: _key(pairs[i]))
        batches = _fill(chunk, lengths, max_tokens)
        rng.shuffle(batches)
        yield from batches


def _key(pair: TokenPair) -> tuple[int, int]:
    # By the longer side first: that is what fills the budget.
    return max(len(pair[0]), len(pair[1])), len(pair[0])


def _fill(order: list[int], lengths: list[int], max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = []
    current: list[int] = []
    for i in order:  # lengths rise, so the newest pair is the longest
        if current and (len(current) + 1) * lengths[i] > max_tokens:
            batches.append(current)
            current = []
        current.append(i)
    return [*batches, current] if current else batches


def padding_share(batches: Iterable[Batch], pad_id: int) -> float:
    """The share of padding in all places of all batches, source and target counted alike."""
    places = padding = 0
    for batch in batches:
        for tensor in (batch.src, batch.tgt_in):
            places += tensor.numel()
            padding += int((tensor == pad_id).sum())
    return padding / places if places else 0.0
