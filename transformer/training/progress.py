"""How training stands: a line by tqdm in a terminal, a line and live curves in a notebook."""

import html
import sys
import time
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from transformer.training.curves import curves_svg

Metrics = Sequence[dict[str, Any]]

# A notebook's page keeps the last state of the line; more updates than this only cost time.
SECONDS_BETWEEN_UPDATES = 0.25


def progress(total: int, start: int = 0, show: bool = True) -> "Progress":
    """A progress line for `total` steps, of the kind that fits the place."""
    if not show:
        return Progress(total, start)
    return NotebookProgress(total, start) if _in_notebook() else TerminalProgress(total, start)


class Progress:
    """Counts steps and the time, and shows nothing."""

    def __init__(self, total: int, start: int) -> None:
        self.total = total
        self.start = self.step = start
        self.began = time.perf_counter()

    def update(self, facts: str, metrics: Metrics = ()) -> None:
        """One step more; `facts` is a short text such as "loss 1.23", `metrics` what to draw."""
        self.step += 1

    def close(self) -> None:
        """Leave the last state standing."""


class TerminalProgress(Progress):
    """tqdm on standard error, with the time left."""

    def __init__(self, total: int, start: int) -> None:
        super().__init__(total, start)
        self.bar = tqdm(total=total, initial=start, unit="step", dynamic_ncols=True)

    def update(self, facts: str, metrics: Metrics = ()) -> None:
        """One step more."""
        super().update(facts, metrics)
        self.bar.set_postfix_str(facts, refresh=False)
        self.bar.update()

    def close(self) -> None:
        """Leave the last state standing."""
        self.bar.close()


class NotebookProgress(Progress):
    """One output that is rewritten in place: nothing on stderr, readable without a kernel."""

    def __init__(self, total: int, start: int) -> None:
        super().__init__(total, start)
        self.facts = ""
        self.metrics: Metrics = ()
        self.shown = 0.0
        self.handle: Any = None

    def update(self, facts: str, metrics: Metrics = ()) -> None:
        """One step more."""
        super().update(facts, metrics)
        self.facts, self.metrics = facts, metrics
        if time.perf_counter() - self.shown > SECONDS_BETWEEN_UPDATES:
            self._show()

    def close(self) -> None:
        """Leave the last state standing."""
        self._show()

    def _show(self) -> None:
        from IPython.display import display

        self.shown = time.perf_counter()
        took = self.shown - self.began
        parts = [f"step {self.step:,} of {self.total:,}", duration(took)]
        if self.start < self.step < self.total:
            left = took / (self.step - self.start) * (self.total - self.step)
            parts.append(f"{duration(left)} left")
        text = " · ".join([*parts, self.facts] if self.facts else parts)
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
