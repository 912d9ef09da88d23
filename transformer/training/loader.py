"""What a run reads: batch after batch, epoch after epoch, from where it stands."""

import json
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count, islice
from typing import Any, TypeVar

import numpy as np
import torch

from transformer.text.batching import (
    Batch,
    Lengths,
    TokenPair,
    TokenPairs,
    TokenTable,
    make_batch,
    token_batches,
)
from transformer.training.distributed import Workers
from transformer.training.settings import TrainingConfig
from transformer.training.state import require_same

T = TypeVar("T")


class BatchLoader:
    """The batches of step after step, in an order that only the seed decides, without end.

    Of each batch it makes this process's share, while the step before is computed.

    Args:
        pairs: (source, target) token ids without marks.
        config: how to train.
        marks: bos_id, eos_id and pad_id.
        workers: who shares each batch.
        device: where the batches go.
        compiled: whether a compiled model reads them.

    Attributes:
        batches_seen, pairs_seen: how many all processes together have read.
    """

    def __init__(
        self,
        pairs: Sequence[TokenPair],
        config: TrainingConfig,
        marks: Mapping[str, int],
        workers: Workers,
        device: torch.device,
        *,
        compiled: bool = False,
    ) -> None:
        self.pairs = TokenPairs.of(pairs)
        self.config, self.marks, self.workers = config, marks, workers
        self.pinned = device.type == "cuda"
        # Compiled for CUDA, attention's kernels want the rows of a mask to begin at addresses that
        # 16 bytes divide. With lengths that 8 divides they do.
        self.multiple = 8 if compiled and device.type == "cuda" else 1
        self.batches_seen = self.pairs_seen = 0

    @property
    def epoch(self) -> float:
        """Passes over the pairs so far."""
        return self.pairs_seen / len(self.pairs)

    def __iter__(self) -> Generator[list[Batch], None, None]:
        """The batches of each step; the next one's are made meanwhile, not yet counted."""
        for batches, n_pairs in one_ahead(self._steps(self.batches_seen)):
            self.batches_seen += len(batches)
            self.pairs_seen += n_pairs
            yield batches

    def _steps(self, done: int) -> Iterator[tuple[list[Batch], int]]:
        """The batches of each step, with the number of pairs in them, from batch `done` on."""
        batches = islice(self._batches(), done, None)
        while True:
            indices = list(islice(batches, self.config.accumulate))
            yield [self._local_batch(batch) for batch in indices], sum(map(len, indices))

    def _batches(self) -> Iterator[list[int]]:
        """The pairs of each batch, by their numbers."""
        for epoch in count():
            seed = self.config.seed * 1_000_003 + epoch
            yield from token_batches(self.pairs, self.config.max_tokens, seed=seed)

    def _local_batch(self, indices: list[int]) -> Batch:
        """This process's rows of a batch; `n_tokens` counts those of all."""
        n_tokens = int(self.pairs.tgt.lengths[indices].sum()) + len(indices)
        local = self.workers.shard(indices)
        rows = (self.pairs[i] for i in local or indices[:1])
        batch = make_batch(rows, **self.marks, multiple=self.multiple)
        if not local:  # fewer rows than processes: this one must take part, and adds nothing
            batch.tgt_out.fill_(self.marks["pad_id"])
        batch = replace(batch, n_tokens=n_tokens)
        return batch.pinned() if self.pinned else batch

    def require_vocabulary(self, src_vocab_size: int, tgt_vocab_size: int) -> None:
        """Hold the token ids against the model, while they can be looked at without waiting.

        On a GPU an id that is none ends in an error of the device, after which the process can
        compute nothing more on it.

        Raises:
            ValueError: there are others than 0 to the vocabulary's size less 1.
        """
        bos_id, eos_id, pad_id = (self.marks[name] for name in ("bos_id", "eos_id", "pad_id"))
        require_known(self.pairs.src, "source", src_vocab_size, eos_id, pad_id)
        require_known(self.pairs.tgt, "target", tgt_vocab_size, bos_id, eos_id, pad_id)

    def require_lengths(self, max_len: int) -> None:
        """Hold the sentences against the model and the batch, before the first step.

        Raises:
            ValueError: one is too long.
        """
        lengths = Lengths.of(self.pairs)
        lengths.require(max_len=max_len, max_tokens=self.config.max_tokens)
        if -(-int(lengths.longer.max()) // self.multiple) * self.multiple > max_len:
            self.multiple = 1  # else padding would be longer than the model takes

    def state_dict(self) -> dict[str, Any]:
        """How far it has read, and in what."""
        return {
            "batches_seen": self.batches_seen,
            "pairs_seen": self.pairs_seen,
            "data": {"pairs": len(self.pairs), "fingerprint": self._fingerprint()},
            "marks": dict(self.marks),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Read on from there.

        Raises:
            CheckpointError: that was in other sentences, or with other marks.
        """
        own = self.state_dict()
        require_same(state["data"], own["data"])
        require_same(state["marks"], own["marks"])
        self.batches_seen, self.pairs_seen = state["batches_seen"], state["pairs_seen"]

    def _fingerprint(self) -> int:
        """Tells other sentences from these; looks at a thousand of them."""
        sample = self.pairs[:: max(1, len(self.pairs) // 1000)]
        text = json.dumps([[np.asarray(side).tolist() for side in pair] for pair in sample])
        return zlib.crc32(text.encode())


def one_ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items of an endless iterator, each made by a thread while the one before is used."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches") as thread:
        coming = thread.submit(next, items)
        while True:
            item = coming.result()
            coming = thread.submit(next, items)
            yield item


def require_known(table: TokenTable, side: str, vocab_size: int, *marks: int) -> None:
    """Raises ValueError where a sentence, or a mark, has an id that the vocabulary does not."""
    outside = ((table.tokens < 0) | (table.tokens >= vocab_size)).nonzero()[0]
    wrong = [mark for mark in marks if not 0 <= mark < vocab_size]
    where = "of a mark"
    if len(outside):
        wrong = [int(table.tokens[outside[0]])]
        where = f"of sentence pair {table.ends.searchsorted(outside[0], side='right')}"
    if wrong:
        raise ValueError(
            f"{side} token id {wrong[0]} {where} is out of range: the {side} vocabulary has "
            f"{vocab_size} tokens, 0 to {vocab_size - 1}"
        )
