"""What a run says about itself: loss, rate, speed and scores, in memory and in its folder."""

import json
import math
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.files import write_atomically
from transformer.training.events import Events
from transformer.training.settings import TrainingConfig

Metrics = dict[str, Any]


class TrainingError(Exception):
    """Training cannot go on; the message says why and what to try."""


class Recorder:
    """Gathers the numbers of the steps and writes an entry of the metrics now and then.

    Args:
        run_dir: where metrics.jsonl and TensorBoard's files go; None keeps all in memory.

    Attributes:
        entries: the metrics, one dictionary per report.
        seconds: of training, without evaluation and checkpoints.
    """

    def __init__(self, run_dir: Path | None) -> None:
        self.run_dir = run_dir
        self.entries: list[Metrics] = []
        self.seconds = 0.0
        self._events: Events | None = None
        self.start()

    def start(self) -> None:
        """From here on the clock runs and steps are gathered."""
        self._losses: list[Tensor] = []
        self._n_tokens, self._began, self._took = 0, time.perf_counter(), 0.0

    def add(self, loss: Tensor, n_tokens: int) -> None:
        """A step: the loss summed over this process's tokens, and the number of all tokens."""
        self._losses.append(loss)
        self._n_tokens += n_tokens

    @property
    def n_steps(self) -> int:
        """How many steps have been gathered."""
        return len(self._losses)

    def loss_sum(self) -> Tensor:
        """The loss summed over all tokens that this process has seen since the start."""
        return torch.stack(self._losses).sum()

    def per_token(self, loss_sum: Tensor) -> float:
        """The loss per token since the start; stops the clock, because it waits for a GPU."""
        loss = float(loss_sum) / self._n_tokens
        self._took = time.perf_counter() - self._began
        return loss

    def report(self, step: int, epoch: float, loss: float, rate: float) -> None:
        """A new entry."""
        self.seconds += self._took
        entry = {
            "step": step,
            "epoch": round(epoch, 3),
            "loss": loss,
            "rate": rate,
            "tokens_per_second": round(self._n_tokens / self._took),
            "seconds": round(self.seconds, 2),
        }
        self.entries.append({})
        self.extend(entry)

    def extend(self, numbers: Metrics) -> None:
        """More numbers for the last entry."""
        self.entries[-1].update(numbers)
        if self.run_dir is None:
            return
        lines = "".join(json.dumps(entry) + "\n" for entry in self.entries)
        write_atomically(self.run_dir / "metrics.jsonl", lines.encode())
        if self._events is None:
            self._events = Events(self.run_dir, self.entries)
        else:
            self._events.write(self.entries[-1], numbers)

    def close(self) -> None:
        """Nothing comes any more."""
        if self._events:
            self._events.close()
        self._events = None

    def line(self) -> str:
        """The last numbers in a few words."""
        if not self.entries:
            return ""
        last = self.entries[-1]
        bleu = next((f" · BLEU {e['bleu']:.1f}" for e in self.entries[::-1] if "bleu" in e), "")
        return f"loss {last['loss']:.3f}{bleu} · {last['tokens_per_second']:,} tokens/s"


def require_finite(
    model: nn.Module, loss: float, between: str, config: TrainingConfig, checkpoint: Path | None
) -> None:
    """Before anything is saved: are loss and weights numbers still?

    Raises:
        TrainingError: they are not.
    """
    # The last step's loss may be finite and its update not, so the weights are looked at too.
    weights = torch.stack([weight.isfinite().all() for weight in model.parameters()])
    if math.isfinite(loss) and weights.all():
        return
    what = "weights are no longer finite" if math.isfinite(loss) else f"loss became {loss}"
    saved = f"; {checkpoint} is from before" if checkpoint and checkpoint.exists() else ""
    raise TrainingError(
        f"the {what} between {between}{saved}. Lower factor "
        f"({config.factor}), raise warmup ({config.warmup}) or set clip (1.0)"
    )
