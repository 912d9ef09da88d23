"""How training stands: a bar in a terminal, lines in a file, and live curves in a notebook."""

import html
import sys
import time
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm
from typing_extensions import override

from transformer.training.curves import curves_svg

Metrics = Sequence[dict[str, Any]]

# A notebook's page keeps the last state of the line; more updates than this only cost time.
SECONDS_BETWEEN_UPDATES = 0.25


def progress(total: int, start: int = 0, show: bool = True) -> "Progress":
    """A progress line for `total` steps, of the kind that fits the place."""
    if not show:
        return Progress(total, start)
    if _in_notebook():
        return NotebookProgress(total, start)
    return (TerminalProgress if sys.stderr.isatty() else LoggedProgress)(total, start)


class Progress:
    """Counts steps and the time, and shows nothing."""

    def __init__(self, total: int, start: int) -> None:
        self.total = total
        self.start = self.step = start
        self.began = time.perf_counter()

    def update(self, numbers: str, metrics: Metrics = ()) -> None:
        """One step more; `numbers` is a short text such as "loss 1.23", `metrics` what to draw."""
        self.step += 1

    def close(self) -> None:
        """Leave the last state on view."""


class TerminalProgress(Progress):
    """tqdm on standard error, with the time left."""

    def __init__(self, total: int, start: int) -> None:
        super().__init__(total, start)
        self.bar = tqdm(total=total, initial=start, unit="step", dynamic_ncols=True)

    @override
    def update(self, numbers: str, metrics: Metrics = ()) -> None:
        super().update(numbers, metrics)
        self.bar.set_postfix_str(numbers, refresh=False)
        self.bar.update()

    @override
    def close(self) -> None:
        self.bar.close()


class LoggedProgress(Progress):
    """A line on standard error for each entry of the log: for files and pipes, which keep a bar."""

    @override
    def update(self, numbers: str, metrics: Metrics = ()) -> None:
        super().update(numbers, metrics)
        if metrics and metrics[-1].get("step") == self.step:
            line = f"step {self.step:,} of {self.total:,}: {numbers}"  # a pipe may be plain ASCII
            print(line, file=sys.stderr, flush=True)


class NotebookProgress(Progress):
    """One output that is rewritten in place: nothing on stderr, readable without a kernel."""

    def __init__(self, total: int, start: int) -> None:
        super().__init__(total, start)
        self.numbers = ""
        self.metrics: Metrics = ()
        self.shown = 0.0
        self.handle: Any = None

    @override
    def update(self, numbers: str, metrics: Metrics = ()) -> None:
        super().update(numbers, metrics)
        self.numbers, self.metrics = numbers, metrics
        if time.perf_counter() - self.shown > SECONDS_BETWEEN_UPDATES:
            self._show()

    @override
    def close(self) -> None:
        self._show(ended=True)  # without a time: another reader's machine takes another

    def _show(self, ended: bool = False) -> None:
        from IPython.display import display

        self.shown = time.perf_counter()
        took = self.shown - self.began
        parts = [f"step {self.step:,} of {self.total:,}"]
        if not ended:
            parts.append(duration(took))
            if self.start < self.step < self.total:
                left = took / (self.step - self.start) * (self.total - self.step)
                parts.append(f"{duration(left)} left")
        text = " · ".join([*parts, self.numbers] if self.numbers else parts)
        bar = f'<progress aria-label="training" max="{self.total}" value="{self.step}"></progress>'
        curves = curves_svg(self.metrics, self.total)
        data = {"text/plain": text, "text/html": f"<div>{bar} {html.escape(text)}{curves}</div>"}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


def duration(seconds: float) -> str:
    """A time as people say it: 42 s, 3 min 05 s, 2 h 10 min."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")
