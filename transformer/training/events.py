"""Event files that TensorBoard reads, written beside metrics.jsonl."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = "tensorboard"
OF_TRAINING = ("loss", "rate", "tokens_per_second", "epoch")
WITHOUT_LIBRARY = (
    "No curves for TensorBoard are written, because the package tensorboard is not installed "
    "(pip install tensorboard); metrics.jsonl has all numbers."
)


class Events:
    """The numbers of a run as TensorBoard's scalars: training/loss, evaluation/bleu and so on.

    What a run that was stopped has written is replaced, from the metrics that its checkpoint
    holds: a reader finds each step once. Where the library is missing, nothing is written.

    Args:
        run_dir: the run's folder; the files go into RUN/tensorboard.
        earlier: the entries of the metrics that there are already.
    """

    def __init__(self, run_dir: Path, earlier: Sequence[dict[str, Any]]) -> None:
        self._writer: Any = None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            print(WITHOUT_LIBRARY)
            return
        for path in (run_dir / FOLDER).glob("events.out.tfevents.*"):
            path.unlink()
        # As if the run had not been interrupted: TensorBoard draws over this time.
        self._began = time.time() - (earlier[-1]["seconds"] if earlier else 0.0)
        self._writer = SummaryWriter(str(run_dir / FOLDER))
        for entry in earlier:
            self._add(entry, entry)
        self._writer.flush()

    def write(self, entry: dict[str, Any], new: dict[str, Any]) -> None:
        """Add the new numbers of an entry of the metrics."""
        if self._writer:
            self._add(entry, new)
            self._writer.flush()

    def close(self) -> None:
        """Nothing comes any more."""
        if self._writer:
            self._writer.close()

    def _add(self, entry: dict[str, Any], new: dict[str, Any]) -> None:
        for key, value in new.items():
            if key in ("step", "seconds") or not isinstance(value, int | float):
                continue
            group = "training" if key in OF_TRAINING else "evaluation"
            when = self._began + entry["seconds"]
            self._writer.add_scalar(f"{group}/{key}", value, entry["step"], walltime=when)
