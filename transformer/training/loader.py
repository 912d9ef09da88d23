"""What a run reads: batch after batch, epoch after epoch, from where it stands."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any

from transformer.batching import Batch, TokenPair, make_batch, token_batches
from transformer.training.distributed import Workers
from transformer.training.settings import TrainingConfig
from transformer.training.state import require_same


class BatchLoader:
    """The batches of step after step, in an order that only the seed decides, without end.

    Of each batch it makes this process's share.

    Args:
        pairs: (source, target) token ids without marks.
        config: how to train.
        marks: bos_id, eos_id and pad_id.
        workers: who shares each batch.

    Attributes:
        batches_seen, pairs_seen: how many all processes together have read.
    """

    def __init__(
        self,
        pairs: Sequence[TokenPair],
        config: TrainingConfig,
        marks: Mapping[str, int],
        workers: Workers,
    ) -> None:
        self.pairs, self.config, self.marks, self.workers = pairs, config, marks, workers
        self.batches_seen = self.pairs_seen = 0

    @property
    def epoch(self) -> float:
        """Passes over the pairs so far."""
        return self.pairs_seen / len(self.pairs)

    def __iter__(self) -> Iterator[list[Batch]]:
        batches = self._batches()
        while True:
            yield list(islice(batches, self.config.accumulate))

    def _batches(self) -> Iterator[Batch]:
        position = self.batches_seen
        for epoch in count():
            seed = self.config.seed * 1_000_003 + epoch
            for indices in token_batches(self.pairs, self.config.max_tokens, seed=seed):
                if position:  # done before the checkpoint
                    position -= 1
                    continue
                self.batches_seen += 1
                self.pairs_seen += len(indices)
                yield self._local_batch(indices)

    def _local_batch(self, indices: list[int]) -> Batch:
        """This process's rows of a batch; `n_tokens` counts those of all."""
        n_tokens = sum(len(self.pairs[i][1]) + 1 for i in indices)
        local = self.workers.shard(indices)
        batch = make_batch((self.pairs[i] for i in local or indices[:1]), **self.marks)
        if not local:  # fewer rows than processes: this one must take part, and adds nothing
            batch.tgt_out.fill_(self.marks["pad_id"])
        return replace(batch, n_tokens=n_tokens)

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
        return zlib.crc32(json.dumps([(list(src), list(tgt)) for src, tgt in sample]).encode())
