"""What a run reads: batch after batch, epoch after epoch, from where it stands."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice

from transformer.batching import Batch, TokenPair, make_batch, token_batches
from transformer.training.distributed import Workers
from transformer.training.settings import TrainingConfig


class BatchLoader:
    """Batches in an order that only the seed decides, of each this process's share.

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

    def steps(self) -> Iterator[list[Batch]]:
        """The batches of one step after the other, without end."""
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
                yield self._share(indices)

    def _share(self, indices: list[int]) -> Batch:
        """This process's rows of a batch; `n_tokens` counts those of all."""
        n_tokens = sum(len(self.pairs[i][1]) + 1 for i in indices)
        own = self.workers.share(indices)
        batch = make_batch((self.pairs[i] for i in own or indices[:1]), **self.marks)
        if not own:  # fewer rows than processes: this one must take part, and adds nothing
            batch.tgt_out.fill_(self.marks["pad_id"])
        return replace(batch, n_tokens=n_tokens)
