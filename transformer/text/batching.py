"""Batches of about equally many tokens, with little padding (section 5.1)."""

import math
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

Integers = NDArray[np.integer]
TokenPair = tuple[Sequence[int] | Integers, Sequence[int] | Integers]

LIMITS = {"max_len": "the model takes", "max_tokens": "a batch may hold"}


@dataclass(frozen=True)
class Lengths:
    """The lengths of source and target of many pairs, marks included, and the longer of the two."""

    src: Integers
    tgt: Integers
    longer: Integers

    @classmethod
    def of(cls, pairs: Sequence[TokenPair]) -> "Lengths":
        """Of these pairs, which come without marks: one place is for bos or eos."""
        if isinstance(pairs, TokenPairs):
            src, tgt = pairs.src.lengths, pairs.tgt.lengths
        else:
            src, tgt = (np.fromiter((len(p[k]) for p in pairs), int, len(pairs)) for k in (0, 1))
        return cls(src + 1, tgt + 1, np.maximum(src, tgt) + 1)

    @classmethod
    def of_sources(cls, sources: Sequence[Sequence[int]]) -> "Lengths":
        """Of sentences that have no translation yet."""
        longer = np.fromiter(map(len, sources), int, len(sources)) + 1
        return cls(longer, np.ones_like(longer), longer)

    def __len__(self) -> int:
        return len(self.longer)

    def require(self, name: str = "", **limits: int) -> None:
        """Raises ValueError where one is longer than a limit, with the number that would do."""
        longest = int(self.longer.max(initial=0))
        if small := [limit for limit, most in limits.items() if longest > most]:
            more = " and ".join(f"more than {LIMITS[limit]} ({limits[limit]})" for limit in small)
            options = " and ".join(f"{limit} (--{limit.replace('_', '-')})" for limit in small)
            raise ValueError(
                f"{name or f'sentence pair {self.longer.argmax()}'} has {longest} tokens, {more}; "
                f"raise {options} to at least {longest}, which counts its mark, or drop it"
            )


class TokenTable:
    """The token ids of many sentences in one array: four bytes a token, ready to be copied.

    Args:
        tokens: of all sentences, one after the other; int32.
        lengths: of each sentence; int64.
    """

    def __init__(self, tokens: Integers, lengths: Integers) -> None:
        self.tokens, self.lengths, self.ends = tokens, lengths, lengths.cumsum()

    def __getitem__(self, i: int) -> Integers:
        """A sentence."""
        return self.tokens[self.ends[i] - self.lengths[i] : self.ends[i]]


class TokenPairs(Sequence[TokenPair]):
    """Sentence pairs as two tables of token ids, which are what a long training reads from.

    Args:
        pairs: read once, one after the other, so that they need never be in memory together.

    Raises:
        ValueError: a token id is no number of 32 bits.
    """

    def __init__(self, pairs: Iterable[TokenPair]) -> None:
        sides = [(array("i"), array("q")) for _ in range(2)]
        for pair in pairs:
            for (tokens, lengths), sentence in zip(sides, pair, strict=True):
                try:
                    tokens.extend(sentence)
                except OverflowError as error:
                    raise ValueError(f"a token id is no number of 32 bits: {error}") from error
                lengths.append(len(sentence))
        self.src, self.tgt = (TokenTable(*map(np.asarray, side)) for side in sides)  # no copies

    @classmethod
    def of(cls, pairs: Iterable[TokenPair]) -> "TokenPairs":
        """These pairs; themselves, not a copy, where they are tables already."""
        return pairs if isinstance(pairs, cls) else cls(pairs)

    def __len__(self) -> int:
        return len(self.src.lengths)

    @overload
    def __getitem__(self, i: int) -> TokenPair: ...
    @overload
    def __getitem__(self, i: slice) -> list[TokenPair]: ...
    def __getitem__(self, i: int | slice) -> TokenPair | list[TokenPair]:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        return self.src[i], self.tgt[i]


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
        """The same batch on another device; from pinned memory to CUDA without waiting for it."""
        # Only CUDA keeps pinned memory until the copy is over: elsewhere, as on Apple's GPUs, the
        # source could be freed and overwritten before it has been read.
        non_blocking = device.type == "cuda"
        return self._with(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pinned(self) -> "Batch":
        """The same batch in memory that a CUDA GPU can fetch by itself."""
        return self._with(Tensor.pin_memory)

    def _with(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        src, tgt_in, tgt_out = map(change, (self.src, self.tgt_in, self.tgt_out))
        return Batch(src, tgt_in, tgt_out, self.n_tokens)


def make_batch(
    pairs: Iterable[TokenPair], *, bos_id: int, eos_id: int, pad_id: int, multiple: int = 1
) -> Batch:
    """Pad sentence pairs to a batch; bos and eos are added here, the ids come without them.

    The source ends in eos, so that the encoder knows a whole sentence from a cut one.
    `n_tokens` counts what the loss counts: target words and their eos. The lengths of the
    rectangles are multiples of `multiple`.
    """
    pairs = list(pairs)
    if not pairs:
        raise ValueError("a batch needs at least one sentence pair")
    lengths, rows = Lengths.of(pairs), np.arange(len(pairs))
    src, tgt_out = (
        _rectangle([pair[k] for pair in pairs], -(-int(sides.max()) // multiple) * multiple, pad_id)
        for k, sides in enumerate((lengths.src, lengths.tgt))
    )
    tgt_in = np.roll(tgt_out, 1, axis=1)  # the last column, which comes first, is padding still
    tgt_in[:, 0] = bos_id
    src[rows, lengths.src - 1] = eos_id
    tgt_out[rows, lengths.tgt - 1] = eos_id
    as_tensor, n_tokens = torch.from_numpy, int(lengths.tgt.sum())
    return Batch(as_tensor(src), as_tensor(tgt_in), as_tensor(tgt_out), n_tokens)


def pad(rows: Sequence[Sequence[int]], pad_id: int) -> Int[Tensor, "batch len"]:
    """Token lists as one rectangle, filled up on the right."""
    return torch.from_numpy(_rectangle(rows, max(map(len, rows)), pad_id))


def _rectangle(
    rows: Sequence[Sequence[int] | Integers], width: int, pad_id: int
) -> NDArray[np.int64]:
    filled = np.full((len(rows), width), pad_id, dtype=np.int64)
    for line, row in zip(filled, rows, strict=True):
        line[: len(row)] = row
    return filled


def token_batches(
    pairs: Sequence[TokenPair] | Lengths,
    max_tokens: int,
    *,
    seed: int | None = None,
    pool: int = 1000,
) -> Iterator[list[int]]:
    """Group sentence pairs of similar lengths; yield the indices of one batch after the other.

    No batch's rectangle, padding included, exceeds `max_tokens` on either side. Each pair comes
    exactly once.

    Args:
        pairs: token ids without marks (one place per sentence is reserved for bos or eos), or
            their lengths.
        max_tokens: the budget for source and target each, in tokens.
        seed: shuffle with this seed; None keeps a fixed order, short to long.
        pool: sort within so many batches' worth of shuffled pairs at a time. A larger pool has
            less padding, a smaller one mixes lengths better from batch to batch.

    Raises:
        ValueError: a sentence does not fit into `max_tokens` at all.
    """
    lengths = pairs if isinstance(pairs, Lengths) else Lengths.of(pairs)
    lengths.require(max_tokens=max_tokens)
    order = list(range(len(lengths)))
    if seed is None:
        by_length = _by_the_longer_side(np.array(order, int), lengths)
        return (batch.tolist() for batch in _fill(by_length, lengths, max_tokens))
    return _shuffled(order, lengths, max_tokens, random.Random(seed), pool)


def _shuffled(
    order: list[int], lengths: Lengths, max_tokens: int, rng: random.Random, pool: int
) -> Iterator[list[int]]:
    rng.shuffle(order)
    average = max(1, int(lengths.longer.sum()) // max(1, len(order)))
    step = max(1, pool * max_tokens // average)
    for start in range(0, len(order), step):
        chunk = np.array(order[start : start + step])
        # Strips pad less where there are many batches to fill, the plain order where there are few.
        orders = _by_the_longer_side(chunk, lengths), _in_strips(chunk, lengths, max_tokens)
        filled = [_fill(indices, lengths, max_tokens) for indices in orders]
        batches = min(filled, key=lambda batches: _padded_size(batches, lengths))
        rng.shuffle(batches)
        yield from (batch.tolist() for batch in batches)


def _by_the_longer_side(indices: Integers, lengths: Lengths) -> Integers:
    # That side fills the budget. numpy sorts by the last key first.
    return indices[np.lexsort((lengths.src[indices], lengths.longer[indices]))]


def _in_strips(indices: Integers, lengths: Lengths, max_tokens: int) -> Integers:
    """Neighbours of similar length on both sides.

    Sorted by one side, neighbours may differ much on the other. So the pairs are cut into strips
    of similar target length, about as many as batches in each; within a strip the source's length
    rises, in the next one it falls.
    """
    n_batches = int(lengths.longer[indices].sum()) / max_tokens
    n_strips = max(1, round(math.sqrt(n_batches)))
    indices = indices[np.lexsort((lengths.src[indices], lengths.tgt[indices]))]
    src, tgt = lengths.src[indices], lengths.tgt[indices]
    strip = (tgt.cumsum() - tgt) * n_strips // tgt.sum()
    upwards = np.where(strip % 2 == 1, -1, 1)
    return indices[np.lexsort((upwards * tgt, upwards * src, strip))]


def _fill(order: Integers, lengths: Lengths, max_tokens: int) -> list[Integers]:
    batches: list[Integers] = []
    longer, start = lengths.longer[order], 0
    while start < len(order):
        # What the rectangle would measure with 1, 2, 3, ... of the next pairs in it.
        next_ones = longer[start : start + max(1, max_tokens // int(longer[start]))]
        sizes = np.maximum.accumulate(next_ones) * np.arange(1, len(next_ones) + 1)
        end = start + max(1, int(sizes.searchsorted(max_tokens, side="right")))
        batches.append(order[start:end])
        start = end
    return batches


def _padded_size(batches: list[Integers], lengths: Lengths) -> int:
    """The tokens of all rectangles, padding included."""
    return sum(len(b) * int(lengths.src[b].max() + lengths.tgt[b].max()) for b in batches)


def padding_share(batches: Iterable[Batch], pad_id: int) -> float:
    """The share of padding among all tokens of all batches, source and target counted alike."""
    total = padding = 0
    for batch in batches:
        for tensor in (batch.src, batch.tgt_in):
            total += tensor.numel()
            padding += int((tensor == pad_id).sum())
    return padding / total if total else 0.0
