"""Batches of about equally many tokens, with little padding (section 5.1)."""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

TokenPair = tuple[Sequence[int], Sequence[int]]
Sides = Sequence[tuple[int, int]]  # the lengths of source and target, marks included


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
    pool: int = 1000,
) -> Iterator[list[int]]:
    """Group sentence pairs of similar lengths; yield the indices of one batch after the other.

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
    sides = [(len(source) + 1, len(target) + 1) for source, target in pairs]
    if sides and max(map(max, sides)) > max_tokens:
        worst = max(range(len(pairs)), key=lambda i: max(sides[i]))
        raise ValueError(
            f"sentence pair {worst} has {max(sides[worst])} tokens, more than a batch may hold "
            f"({max_tokens}); raise max_tokens or drop long sentences"
        )
    order = list(range(len(pairs)))
    if seed is None:
        return iter(_fill(_by_the_longer_side(order, sides), sides, max_tokens))
    return _shuffled(order, sides, max_tokens, random.Random(seed), pool)


def _shuffled(
    order: list[int], sides: Sides, max_tokens: int, rng: random.Random, pool: int
) -> Iterator[list[int]]:
    rng.shuffle(order)
    average = max(1, sum(map(max, sides)) // max(1, len(sides)))
    step = max(1, pool * max_tokens // average)
    for start in range(0, len(order), step):
        chunk = order[start : start + step]
        # Strips pad less where there are many batches to fill, the plain order where there are few.
        orders = _by_the_longer_side(chunk, sides), _in_strips(chunk, sides, max_tokens)
        filled = [_fill(indices, sides, max_tokens) for indices in orders]
        batches = min(filled, key=lambda batches: _padded_size(batches, sides))
        rng.shuffle(batches)
        yield from batches


def _by_the_longer_side(indices: list[int], sides: Sides) -> list[int]:
    # That side fills the budget.
    return sorted(indices, key=lambda i: (max(sides[i]), sides[i][0]))


def _in_strips(indices: list[int], sides: Sides, max_tokens: int) -> list[int]:
    """Neighbours of similar length on both sides.

    Sorted by one side, neighbours may differ much on the other. So the pairs are cut into strips
    of similar target length, about as many as batches in each; within a strip the source's length
    rises, in the next one it falls.
    """
    n_batches = sum(max(sides[i]) for i in indices) / max_tokens
    n_tokens = sum(sides[i][1] for i in indices)
    n_strips = max(1, round(math.sqrt(n_batches)))
    strips: list[list[int]] = [[] for _ in range(n_strips)]
    before = 0
    for i in sorted(indices, key=lambda i: (sides[i][1], sides[i][0])):
        strips[before * n_strips // n_tokens].append(i)
        before += sides[i][1]
    return [
        i
        for number, strip in enumerate(strips)
        for i in sorted(strip, key=lambda i: sides[i], reverse=number % 2 == 1)
    ]


def _fill(order: list[int], sides: Sides, max_tokens: int) -> list[list[int]]:
    batches: list[list[int]] = []
    longest = 0
    for i in order:
        grown = max(longest, *sides[i])
        if batches and (len(batches[-1]) + 1) * grown <= max_tokens:
            batches[-1].append(i)
            longest = grown
        else:
            batches.append([i])
            longest = max(sides[i])
    return batches


def _padded_size(batches: list[list[int]], sides: Sides) -> int:
    """The tokens of all rectangles, padding included."""
    return sum(
        len(batch) * (max(sides[i][0] for i in batch) + max(sides[i][1] for i in batch))
        for batch in batches
    )


def padding_share(batches: Iterable[Batch], pad_id: int) -> float:
    """The share of padding among all tokens of all batches, source and target counted alike."""
    total = padding = 0
    for batch in batches:
        for tensor in (batch.src, batch.tgt_in):
            total += tensor.numel()
            padding += int((tensor == pad_id).sum())
    return padding / total if total else 0.0
