"""The training loop (section 5): batches, Adam, the paper's schedule, exact resuming."""

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.files import write_atomically
from transformer.model import Transformer
from transformer.runtime import pick_device
from transformer.training.averaging import keep_weights
from transformer.training.batching import Batch, TokenPair, make_batch, token_batches
from transformer.training.checkpoints import save_model
from transformer.training.loss import label_smoothing_loss
from transformer.training.progress import progress
from transformer.training.schedule import linear_cooldown, noam_rate
from transformer.training.settings import TrainingConfig
from transformer.training.state import load_state, save_state

Metrics = dict[str, Any]
CHECKPOINT = "checkpoint.safetensors"


class TrainingError(Exception):
    """Training cannot go on; the message says why and what to try."""


class Trainer:
    """Trains a model on pairs of token ids.

    Args:
        model: trained in place, moved to `device`.
        pairs: (source, target) token ids without marks.
        config: how to train.
        run_dir: folder for metrics, checkpoints and the final weights; None keeps all in memory.
        evaluate: called every `evaluate_every` steps with the model in evaluation mode; the
            numbers that it returns join the metrics.
        show_progress: draw a progress line.

    Raises:
        TrainingError: the loss is not finite any more.
        FileError: a checkpoint cannot be written.
    """

    def __init__(
        self,
        model: Transformer,
        pairs: Sequence[TokenPair],
        config: TrainingConfig,
        *,
        bos_id: int = 1,
        eos_id: int = 2,
        device: torch.device | str | None = None,
        run_dir: Path | str | None = None,
        evaluate: Callable[[Transformer], Metrics] | None = None,
        show_progress: bool = True,
    ) -> None:
        if not pairs:
            raise ValueError("there is nothing to train on: the list of sentence pairs is empty")
        self.config = config
        self.device = torch.device(device) if device is not None else pick_device()
        self.model = model.to(self.device)
        self.pairs = pairs
        self.marks = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": model.config.pad_id}
        self.run_dir = Path(run_dir) if run_dir is not None else None
        self._checkpoint = self.run_dir / CHECKPOINT if self.run_dir else None
        self.evaluate = evaluate
        self.show_progress = show_progress
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=config.betas, eps=config.eps, fused=True
        )
        self.step = 0
        self.batches_seen = self.pairs_seen = 0
        self.seconds = 0.0
        self.metrics: list[Metrics] = []
        self._forward: Callable[..., Tensor] = (
            torch.compile(self.model, dynamic=True) if config.compile else self.model
        )
        bf16 = self.device.type == "cuda" and torch.cuda.is_bf16_supported()
        self._bf16 = config.precision == "bf16" or (config.precision == "auto" and bf16)

    def train(self) -> list[Metrics]:
        """Run until `config.steps` steps are done; return the metrics, one dictionary per log.

        Each holds step, epoch, loss (nats per target token since the last log), rate,
        tokens_per_second (target tokens, padding not counted) and seconds (of training alone).
        """
        config, batches = self.config, self._batches()
        bar = progress(config.steps, self.step, self.show_progress)
        losses: list[Tensor] = []
        n_tokens, began = 0, time.perf_counter()
        if not self.step:  # a resumed run has its dice from the checkpoint
            torch.manual_seed(config.seed)
        self.model.train()
        try:
            while self.step < config.steps:
                loss, n = self._update(list(islice(batches, config.accumulate)))
                losses.append(loss)
                n_tokens += n
                due = [self._due(e) for e in (config.evaluate_every, config.checkpoint_every)]
                if logging := self._due(config.log_every) or any(due):
                    self._log(losses, n_tokens, began)
                bar.update(self._line())
                if due[0] and self.evaluate:
                    self._evaluate(self.evaluate)
                if due[1] and self.run_dir:
                    self._keep(self.run_dir)
                if logging:
                    losses, n_tokens, began = [], 0, time.perf_counter()
        finally:
            bar.close()
        self.model.eval()
        if self.run_dir:
            save_model(self.run_dir / "model.safetensors", self.model)
        return self.metrics

    def _keep(self, run_dir: Path) -> None:
        # The weights first: a run that is killed between the two writes them again.
        if self.config.keep:
            keep_weights(run_dir, self.step, self.model, self.config.keep)
        self.save(run_dir / CHECKPOINT)

    def _update(self, batches: list[Batch]) -> tuple[Tensor, int]:
        """One step: gradients of all batches, divided by their tokens together, and Adam.

        Returns the loss summed over the step's tokens, and their number.
        """
        # Dividing each batch by its own count would give the words of short batches more weight.
        n_tokens = sum(batch.n_tokens for batch in batches)
        total = torch.zeros((), device=self.device)
        for batch in (batch.to(self.device) for batch in batches):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self._bf16):
                logits = self._forward(batch.src, batch.tgt_in)
            smoothing, pad_id = self.config.label_smoothing, self.marks["pad_id"]
            loss, _ = label_smoothing_loss(logits, batch.tgt_out, smoothing, pad_id)
            (loss / n_tokens).backward()
            total += loss.detach()
        if self.config.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.step += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
        self.optimizer.step()
        self.optimizer.zero_grad()
        return total, n_tokens

    @property
    def rate(self) -> float:
        """The learning rate of the current step."""
        c = self.config
        rate = noam_rate(self.step, self.model.config.d_model, c.warmup, c.factor)
        return rate * linear_cooldown(self.step, c.steps, c.cooldown)

    def _batches(self) -> Iterator[Batch]:
        """Epoch after epoch in an order that only the seed decides, from where we stand."""
        position = self.batches_seen
        for epoch in count():
            seed = self.config.seed * 1_000_003 + epoch
            for indices in token_batches(self.pairs, self.config.max_tokens, seed=seed):
                if position:  # done before the checkpoint
                    position -= 1
                    continue
                self.batches_seen += 1
                self.pairs_seen += len(indices)
                yield make_batch((self.pairs[i] for i in indices), **self.marks)

    def _due(self, every: int) -> bool:
        return self.step == self.config.steps or (every > 0 and self.step % every == 0)

    def _log(self, losses: list[Tensor], n_tokens: int, began: float) -> None:
        loss = float(torch.stack(losses).sum()) / n_tokens  # waits for a GPU, so before the clock
        self._require_finite(loss, self.step - len(losses) + 1)
        took = time.perf_counter() - began
        self.seconds += took
        self.metrics.append(
            {
                "step": self.step,
                "epoch": round(self.pairs_seen / len(self.pairs), 3),
                "loss": loss,
                "rate": self.rate,
                "tokens_per_second": round(n_tokens / took),
                "seconds": round(self.seconds, 2),
            }
        )
        self._write_metrics()

    def _require_finite(self, loss: float, first: int) -> None:
        # The last step's loss may be finite and its update not, so the weights are looked at too.
        weights = torch.stack([weight.isfinite().all() for weight in self.model.parameters()])
        if math.isfinite(loss) and weights.all():
            return
        what = "weights are no longer finite" if math.isfinite(loss) else f"loss became {loss}"
        path = self._checkpoint
        saved = f"; {path} is from before" if path and path.exists() else ""
        raise TrainingError(
            f"the {what} between steps {first} and {self.step}{saved}. Lower factor "
            f"({self.config.factor}), raise warmup ({self.config.warmup}) or set clip (1.0)"
        )

    def _evaluate(self, evaluate: Callable[[Transformer], Metrics]) -> None:
        self.model.eval()
        # Whatever dice the evaluation throws, training goes on as if it had not.
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            self.metrics[-1].update(evaluate(self.model))
        self.model.train()
        self._write_metrics()

    def _line(self) -> str:
        if not self.metrics:
            return ""
        m = self.metrics[-1]
        return f"loss {m['loss']:.3f} · {m['tokens_per_second']:,} tokens/s"

    def _write_metrics(self) -> None:
        if self.run_dir:
            lines = "".join(json.dumps(entry) + "\n" for entry in self.metrics)
            write_atomically(self.run_dir / "metrics.jsonl", lines.encode())

    def save(self, path: Path | str) -> None:
        """Write all that an exact continuation needs."""
        save_state(self, Path(path))

    def resume(self, path: Path | str) -> None:
        """Go on from a checkpoint, as if training had never stopped.

        Raises:
            CheckpointError: it is damaged, or belongs to another model or training set-up.
        """
        load_state(self, Path(path))
