"""What a run says about itself: loss, rate, speed and scores, in memory and in its folder."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.support.files import TransformerError, own_folder, write_atomically
from transformer.training.settings import TrainingConfig

Metrics = dict[str, Any]

EVENTS = "tensorboard"  # a run's folder for the event files
OF_TRAINING = ("loss", "rate", "tokens_per_second", "epoch")
WITHOUT_LIBRARY = (
    "No curves for TensorBoard are written, because the package tensorboard is not installed "
    "(pip install tensorboard); metrics.jsonl has all numbers."
)


class TrainingError(TransformerError):
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
        """Write a new entry."""
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
        """Add numbers to the last entry."""
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
        """Close the event files; a later entry would open new ones."""
        if self._events:
            self._events.close()
        self._events = None

    def state_dict(self) -> Metrics:
        """What has been reported so far."""
        return {"seconds": self.seconds, "metrics": self.entries}

    def load_state_dict(self, state: Metrics) -> None:
        """Go on from what has been reported so far."""
        self.seconds, self.entries = state["seconds"], [*state["metrics"]]

    def line(self) -> str:
        """The last numbers in a few words."""
        if not self.entries:
            return ""
        last = self.entries[-1]
        bleu = next((f" · BLEU {e['bleu']:.1f}" for e in self.entries[::-1] if "bleu" in e), "")
        return f"loss {last['loss']:.3f}{bleu} · {last['tokens_per_second']:,} tokens/s"


class Events:
    """The numbers of a run as TensorBoard's scalars: training/loss, evaluation/bleu and so on.

    What a run that was stopped has written is replaced, from the metrics that its checkpoint
    holds: a reader finds each step once. Where the library is missing, nothing is written.

    Args:
        run_dir: the run's folder; the files go into RUN/tensorboard.
        earlier: the entries of the metrics that there are already.

    Raises:
        FileError: RUN/tensorboard is a link.
    """

    def __init__(self, run_dir: Path, earlier: Sequence[Metrics]) -> None:
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            print(WITHOUT_LIBRARY)
            return
        folder = own_folder(run_dir / EVENTS)
        for path in folder.glob("events.out.tfevents.*"):
            path.unlink()
        # As if the run had not been interrupted: TensorBoard draws over this time.
        self._began = time.time() - (earlier[-1]["seconds"] if earlier else 0.0)
        self._writer = SummaryWriter(str(folder))
        for entry in earlier:
            self._add(entry, entry)
        self._writer.flush()

    def write(self, entry: Metrics, new: Metrics) -> None:
        """Add the new numbers of an entry of the metrics."""
        if self._writer:
            self._add(entry, new)
            self._writer.flush()

    def close(self) -> None:
        """Close the files."""
        if self._writer:
            self._writer.close()

    def _add(self, entry: Metrics, new: Metrics) -> None:
        for key, value in new.items():
            if key in ("step", "seconds") or not isinstance(value, int | float):
                continue
            group = "training" if key in OF_TRAINING else "evaluation"
            when = self._began + entry["seconds"]
            self._writer.add_scalar(f"{group}/{key}", value, entry["step"], walltime=when)


def require_finite(
    model: nn.Module,
    loss: float,
    between: str,
    config: TrainingConfig,
    checkpoint: Path | None,
    half: bool = False,
) -> None:
    """Before anything is saved: are loss and weights numbers still?

    `half` says that they are computed in float16.

    Raises:
        TrainingError: they are not.
    """
    # The last step's loss may be finite and its update not, so the weights are looked at too.
    weights = torch.stack([weight.isfinite().all() for weight in model.parameters()])
    if math.isfinite(loss) and weights.all():
        return
    what = "weights are no longer finite" if math.isfinite(loss) else f"loss became {loss}"
    saved = f"; {checkpoint} is from before" if checkpoint and checkpoint.exists() else ""
    wider = ", or choose --precision float32" if half else ""
    raise TrainingError(
        f"the {what} between {between}{saved}. Lower factor "
        f"({config.factor}), raise warmup ({config.warmup}) or set clip (1.0){wider}"
    )
