"""Executes the chapters, the longest first, as many side by side as there are cores for.

Their outputs go into the cache in which Jupyter Book looks, so that it executes nothing itself. Why
not jupyter_cache's own executor, `local-parallel`: it takes every core, whatever memory there is,
and waits without end for a process that was killed.

A cell may take as long as it needs: no slow or busy machine fails a chapter. It is stopped when its
kernel makes no progress, which is when it has neither used the processor nor sent output for a
while, and when it has used so much processor time that it will hardly ever end.
"""

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from traitlets.config import Config

from tools.site.durations import Durations, in_words
from tools.site.keys import NIGHT

from transformer_book.cores import cores

MOST_WORKERS = 4  # each takes up to 2 GB of memory
READER = {"name": "myst_nb_md", "type": "plugin"}
ANSI = re.compile(r"\x1b\[[0-9;]*m")
# Of a core: a kernel that only waits uses less, and one that computes gets more on a busy machine.
IDLE_SHARE = 0.001
TICK = 1.0  # seconds between two looks at the kernels
GRACE = 10.0  # seconds in which a cell that was interrupted has to end
FOREVER = 10**6  # seconds, where a library asks for a limit
WORDS = 25  # that a check prints at most: readers read them


@dataclass(frozen=True)
class Limits:
    """When a cell is stopped.

    Attributes:
        idle: after so many seconds in which its kernel has neither used the processor nor sent
            output.
        processor: after so many processor seconds for each thread that the kernel may use.
    """

    idle: float = 600
    processor: float = 3600


@dataclass
class Executed:
    """What became of the chapters that were executed.

    Attributes:
        seconds: of those that ended well, the processor time.
        cells: of the same, that of the longest cell.
        failures: of the others, what happened and in which cell.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    cells: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class Chapter(NotebookClient):
    """A chapter in a kernel of its own, under watch."""

    def __init__(
        self, name: str, notebook: NotebookNode, path: Path, limits: Limits, threads: int = 1
    ) -> None:
        """`path` is the chapter's file, `threads` how many its kernel may use."""
        here = {"KernelSpecManager": {"kernel_dirs": [f"{sys.prefix}/share/jupyter/kernels"]}}
        super().__init__(
            notebook,
            config=Config(here),
            timeout=None,
            startup_timeout=FOREVER,
            iopub_timeout=FOREVER,
            record_timing=False,  # it would change what the cache looks for
            extra_arguments=[f"--InteractiveShellApp.extra_extensions={NIGHT}"],
            on_cell_execute=self._begin_cell,
            on_cell_executed=self._end_cell,
        )
        self.name, self.path = name, path
        self.limits, self.threads = limits, threads
        self.source = ""  # of the cell that runs
        self.verdict = ""  # why it was stopped
        self.seconds = 0.0  # of processor time that the kernel has used
        self.longest = 0.0  # the same, by one cell
        self._at_cell = self._at_progress = 0.0  # the same, then
        self._idle = 0.0  # seconds without progress
        self._began = self._watched = time.monotonic()

    def run(self, **settings: Any) -> None:
        """Execute all cells; `settings` are those of the kernel's process.

        Raises:
            CellExecutionError: a cell failed.
            RuntimeError: the kernel has ended.
        """
        asyncio.run(self.async_execute(cwd=str(self.path.parent), **settings))
        if self.verdict:
            raise RuntimeError(self.verdict)

    def took(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def watch(self) -> None:
        """Stops a cell that is stuck, and one that does not end. Called once a TICK."""
        now = time.monotonic()
        # Not the whole time when the build itself was paused.
        self._idle += min(now - self._watched, 2 * TICK)
        self._watched = now
        self._measure()
        used = self.seconds - self._at_cell
        if self.verdict:
            if self._idle > GRACE:
                self.kill()
        elif self._idle > self.limits.idle:
            self._interrupt(
                "its kernel has neither used the processor nor sent any output for "
                f"{self.limits.idle:g} seconds"
            )
        elif used > self.limits.processor * self.threads:
            self._interrupt(f"it has used {in_words(used)} of processor time; does it ever end?")

    def kill(self) -> None:
        """Ends the kernel, and what it has started."""
        self.verdict = self.verdict or "it was stopped"
        for process in self._processes():
            with suppress(psutil.Error):
                process.kill()

    def was_killed(self, error: BaseException | None) -> bool:
        """Whether its kernel ended, and not by us."""
        return isinstance(error, RuntimeError) and not self.verdict

    def failure(self, error: BaseException | None) -> str:
        """What happened and in which cell; nothing when all is well."""
        if error is None:
            return self._complaint()
        lines = [f"The chapter {self.name} failed in this cell:", *_indented(self.source)]
        if self.verdict:
            lines.append(f"It was stopped: {self.verdict}.")
        if self.was_killed(error):
            lines.append("Its kernel was killed, twice; perhaps there is too little memory for it.")
        elif isinstance(error, CellExecutionError):
            traceback = [x for x in ANSI.sub("", str(error)).splitlines() if x.strip()]
            lines += ["with this error:", *_indented("\n".join(traceback[-5:]))]
        elif not self.verdict:
            lines += ["with this error:", f"    {type(error).__name__}: {error}"]
        return "\n".join(lines)

    def _complaint(self) -> str:
        """What its cells wrote to stderr, the beginning of it; else which check prints too much."""
        for cell in self.nb.cells:
            for output in cell.get("outputs", []):
                if output.get("name") == "stderr":
                    said = _indented("\n".join(output.text.strip().splitlines()[:6]))
                    lines = [f"The chapter {self.name} wrote to stderr:", *said]
                    return "\n".join([*lines, "in this cell:", *_indented(cell.source)])
        for cell in self.nb.cells:
            if (n := _printed_by_check(cell)) > WORDS:
                fault = (
                    f"The chapter {self.name} has a check that prints {n} words, {WORDS} at most:"
                )
                return "\n".join([fault, *_indented(cell.source)])
        return ""

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Output is progress."""
        if not self.verdict:
            self._idle = 0.0
        return super().process_message(msg, cell, cell_index)

    def _begin_cell(self, cell: NotebookNode, **_: Any) -> None:
        if self.verdict:
            raise RuntimeError(self.verdict)
        self.source, self._at_cell = cell.source, self.seconds

    def _end_cell(self, **_: Any) -> None:
        self._measure()
        self.longest = max(self.longest, self.seconds - self._at_cell)

    def _interrupt(self, verdict: str) -> None:
        self.verdict, self._idle = verdict, 0.0
        for kernel in self._processes()[:1]:
            with suppress(psutil.Error):
                kernel.send_signal(signal.SIGINT)  # so that its traceback says where it was

    def _measure(self) -> None:
        used = 0.0
        for process in self._processes():
            with suppress(psutil.Error):
                used += sum(process.cpu_times()[:4])  # its own, and that of children that ended
        self.seconds = max(self.seconds, used)
        if self.seconds - self._at_progress > IDLE_SHARE * self._idle and not self.verdict:
            self._at_progress, self._idle = self.seconds, 0.0

    def _processes(self) -> list[psutil.Process]:
        """The kernel and what it has started; none before it begins and after it has ended."""
        try:
            # Not the provisioner's `pid`: before that it is None, and psutil takes None for itself.
            kernel = psutil.Process(self.km.provisioner.process.pid)  # type: ignore[union-attr]
            return [kernel, *kernel.children(recursive=True)]
        except (AttributeError, psutil.Error):
            return []


class Execution:
    """Executes those chapters that are not in the cache, and says how far it is."""

    def __init__(
        self,
        cache_path: Path,
        chapters: Mapping[str, Path],
        durations: Durations,
        limits: Limits | None = None,
        *,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """Looks which chapters are in the cache.

        Args:
            cache_path: Jupyter Book's cache.
            chapters: the notebooks by name.
            durations: what they took before.
            limits: when a cell is stopped.
            keys: of each chapter, what its outputs depend on besides its own text; those that were
                put out under another key are removed. Without keys they are taken as they are.
        """
        self.cache = get_cache(str(cache_path))
        self.keys = dict(keys or {})
        uris = {
            self.cache.add_nb_to_project(str(path), read_data=READER).uri: name
            for name, path in chapters.items()
        }
        self.before = Executed()  # of what is in the cache, the times
        for uri, name in uris.items():
            record = self.cache.get_cached_project_nb(uri)
            data: dict[str, Any] = (record and record.data) or {}
            if keys and record is not None and data.get("key") != self.keys.get(name):
                self.cache.remove_cache(record.pk)
            elif "seconds" in data:
                self.before.seconds[name], self.before.cells[name] = data["seconds"], data["cell"]
        missing = self.cache.list_unexecuted(filter_uris=[*uris])
        self.due = {uris[record.uri]: record for record in missing}
        self.durations, self.limits = durations, limits or Limits()
        self.workers = max(1, min(cores(), MOST_WORKERS, len(self.due)))
        # Each kernel has its share of the cores; with more threads they would wait for each other.
        given = os.environ.get("OMP_NUM_THREADS", "")
        self.threads = int(given) if given.isdecimal() else cores() // self.workers
        self.waiting = durations.order(self.due)
        self.running: dict[Future[None], Chapter] = {}
        # The same, each from before its thread begins: Ctrl-C may come between the two.
        self.begun: list[Chapter] = []
        self.killed: set[str] = set()
        self.took: dict[str, float] = {}  # seconds by the clock
        self.executed = Executed()

    def run(self, environ: Mapping[str, str], log_path: Path) -> Executed:
        """Execute them.

        Args:
            environ: variables for the kernels.
            log_path: where the kernels' own messages go.
        """
        env = {**os.environ, **environ, "OMP_NUM_THREADS": str(self.threads)}
        with log_path.open("a") as log, ThreadPoolExecutor(self.workers) as pool:
            try:
                while self.waiting or self.running:
                    while self.waiting and len(self.running) < self.workers:
                        chapter = self._next()
                        self.running[pool.submit(chapter.run, env=env, stderr=log)] = chapter
                    ended, _ = wait(self.running, TICK, FIRST_COMPLETED)
                    for future in ended:
                        self._end(self.running.pop(future), future.exception())
                    for chapter in self.running.values():
                        chapter.watch()
            except BaseException:
                for chapter in self.begun:
                    chapter.kill()
                raise
        return self.executed

    def cached(self) -> set[tuple[int, str]]:
        """What is in the cache: a number and the chapter's file for each set of outputs."""
        return {(record.pk, record.uri) for record in self.cache.list_cache_records()}

    def forecast(self) -> str:
        """How long the rest takes, as the end of a line; nothing before this machine is known."""
        known = self.took or self.durations.here
        return f"; about {in_words(self.left())} left" if known else ""

    def left(self) -> float:
        """About how many seconds the rest takes, pages and all."""
        running = {chapter.name: chapter.took() for chapter in self.running.values()}
        return self.durations.left(self.waiting, running, self.took, self.workers)

    def _next(self) -> Chapter:
        number, forecast = len(self.due) - len(self.waiting) + 1, self.forecast()
        name = self.waiting.pop(0)
        print(f"  chapter {number} of {len(self.due)}: {name}{forecast}", flush=True)
        record = self.due[name]
        notebook = self.cache.get_project_notebook(record.pk).nb
        chapter = Chapter(name, notebook, Path(record.uri), self.limits, self.threads)
        self.begun.append(chapter)
        return chapter

    def _end(self, chapter: Chapter, error: BaseException | None) -> None:
        """Keep what the cells of a chapter have put out, or say what happened."""
        name = chapter.name
        self.begun.remove(chapter)
        if chapter.was_killed(error) and name not in self.killed:
            print(f"  {name}: its kernel was killed; the rest one after another", flush=True)
            self.killed.add(name)
            self.waiting.append(name)
            self.workers = 1  # there was no memory for more, perhaps
        elif failure := chapter.failure(error):
            self.executed.failures[name] = failure
        else:
            self.took[name] = chapter.took()
            self.executed.seconds[name] = chapter.seconds
            self.executed.cells[name] = chapter.longest
            data: dict[str, Any] = {"execution_seconds": self.took[name]}
            data |= {"seconds": chapter.seconds, "cell": chapter.longest}
            if name in self.keys:
                data["key"] = self.keys[name]
            bundle = CacheBundleIn(chapter.nb, str(chapter.path), data=data)
            self.cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _printed_by_check(cell: NotebookNode) -> int:
    """How many words a check prints on the page; none where it is folded, or no check."""
    tags = cell.metadata.get("tags", [])
    if "check" not in tags or "hide-cell" in tags:
        return 0
    return sum(len(output.get("text", "").split()) for output in cell.get("outputs", []))


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]
