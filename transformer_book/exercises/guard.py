"""Calls a function of which nothing is known: it may raise, never end, print, or eat memory.

The call runs in a thread of its own, so that it can be stopped from outside on every system, in a
notebook as in a terminal: an exception is put into the thread, and comes up at its next step of
Python. A thread that sleeps, or that is inside one long call into C, does not get there; it is left
behind, and ends with the program. Only a call into C that never lets other threads run, such as
`sum(itertools.count())`, stops everything: the kernel has to be restarted then.
"""

import ctypes
import io
import random
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_book.exercises.comparing import changed

STACK = 2**26  # bytes of a thread's stack: macOS gives too few for a thousand nested modules
STEP = 0.02  # seconds between two looks at the clock and at the memory
LATE = 10 * STEP  # a look that comes later counts as this: the machine stood still, not the call
GRACE = 2.0  # seconds for a thread to end that is to
IDLE = 0.02  # a call whose process computes for less than this share of the time is waiting
PATIENT = 10  # times the limit that a call may take on a busy machine
MOST_PRINTED = 2000  # characters that are kept


class ChangedError(Exception):
    """An argument was changed; its text is the name."""


class Stop(SystemExit):
    """Ends a thread from outside; not an `Exception`, so that few functions catch it."""


@dataclass
class Outcome:
    """What came of one call.

    Attributes:
        value: what it returned.
        error: what it raised.
        stopped: "time" or "memory", if it was stopped.
        draws: whether it has used or set the random numbers that all share.
    """

    value: Any = None
    error: BaseException | None = None
    stopped: str = ""
    draws: bool = False


@dataclass
class Guard:
    """The limits of the calls.

    Attributes:
        seconds: for one call to compute, or to wait without computing. On a busy machine, where
            others compute, a call may take longer.
        memory: bytes by which the process may grow in one call.
        printed: what the calls print.
        still_runs: whether one of the calls could not be stopped.
    """

    seconds: float | int
    memory: int
    printed: "Printed" = field(default_factory=lambda: Printed(sys.stdout))
    still_runs: bool = False

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        """Calls it, and says what came of it; raises nothing of its own."""
        return self.calls(function, [arguments])[0]

    def calls(
        self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]]
    ) -> list[Outcome]:
        """The same for several calls, one after another; a call that is stopped is the last."""
        outcomes: list[Outcome] = []
        ended: list[Outcome] = []  # those of the outcomes whose calls have come to an end

        def body() -> None:
            for each in arguments:
                outcome, before = Outcome(), shared_numbers()
                outcomes.append(outcome)
                try:
                    outcome.value = function(*each)
                except Stop:
                    return
                except BaseException as error:  # SystemExit and KeyboardInterrupt are answers too
                    outcome.error = error
                outcome.draws = not _equal(before, shared_numbers())
                ended.append(outcome)

        def run() -> None:
            # It may be stopped once more while it deals with the first time.
            with suppress(Stop), suppress(Stop):
                body()

        thread = threading.Thread(target=run, name="exercise", daemon=True)
        self.printed.threads.add(thread)
        _start(thread)
        stopped = ""
        try:
            stopped = self._watch(thread, ended)
        finally:
            if thread.is_alive():
                self.still_runs |= not _stop(thread)
        if stopped:
            # A thread that was left behind may go on with its last outcome, but not with a copy.
            return [*ended[: len(outcomes) - 1], Outcome(stopped=stopped)]
        return outcomes

    def answers(
        self, function: Callable[..., Any], many: Sequence[Mapping[str, Any]]
    ) -> list[Outcome]:
        """The same with copies of arguments given by name; to change one is an error."""
        arguments = [[copied(value) for value in inputs.values()] for inputs in many]
        outcomes = self.calls(function, arguments)
        for inputs, used, outcome in zip(many, arguments, outcomes, strict=False):
            for (name, before), after in zip(inputs.items(), used, strict=True):
                if not outcome.stopped and changed(before, after):
                    outcome.error = outcome.error or ChangedError(name)
        return outcomes

    def _watch(self, thread: threading.Thread, ended: Sequence[Outcome]) -> str:
        """Why the thread is to be stopped; "" once it has ended by itself."""
        at_first = peak_memory()
        while True:
            n_ended, passed = len(ended), 0.0
            looked, computed = time.monotonic(), time.process_time()
            while n_ended == len(ended):
                thread.join(STEP)
                if not thread.is_alive():
                    return ""
                if peak_memory() - at_first > self.memory:
                    return "memory"
                now, used = time.monotonic(), time.process_time() - computed
                passed, looked = passed + min(now - looked, LATE), now
                waits = used < IDLE * passed or passed > PATIENT * self.seconds
                if used > self.seconds or (passed > self.seconds and waits):
                    return "time"


def _start(thread: threading.Thread) -> None:
    usual = threading.stack_size(STACK)
    try:
        thread.start()
    finally:
        threading.stack_size(usual)


def _stop(thread: threading.Thread) -> bool:
    """Whether the thread has ended."""
    until = time.monotonic() + GRACE
    while thread.is_alive() and time.monotonic() < until:
        number = ctypes.c_ulong(thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(Stop))
        thread.join(STEP)
    return not thread.is_alive()


def peak_memory() -> int:
    """The most bytes that the process has had so far; 0 where the system does not say.

    What has been reached before did no harm, so only what goes beyond it counts.
    """
    try:
        import resource
    except ImportError:  # Windows
        return 0
    kilo = 1 if sys.platform == "darwin" else 1024
    return kilo * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Printed(io.TextIOBase):
    """Keeps the beginning of what some threads print, and lets all others print as they did."""

    def __init__(self, usual: Any) -> None:
        self.usual, self.text = usual, ""
        self.threads: set[threading.Thread] = set()

    def write(self, text: str) -> int:
        """Of a flood the first lines are enough."""
        if threading.current_thread() not in self.threads:
            return self.usual.write(text)
        if len(self.text) < MOST_PRINTED:
            self.text += text[: MOST_PRINTED - len(self.text)]
        return len(text)

    def flush(self) -> None:
        """Flush the usual output."""
        self.usual.flush()


@contextmanager
def guarded(seconds: float | int, memory: int) -> Iterator[Guard]:
    """Inside the block calls are limited; after it everything that all share is as it was."""
    random_numbers, dtype = random_state(), torch.get_default_dtype()
    stdout, stderr, hook = sys.stdout, sys.stderr, sys.unraisablehook

    def quiet(unraisable: Any) -> None:
        # A thread may be stopped while it clears up, where nobody can catch it.
        if unraisable.exc_type is not Stop:
            hook(unraisable)

    guard = Guard(seconds, memory, Printed(stdout))
    try:
        sys.stdout = sys.stderr = guard.printed
        sys.unraisablehook = quiet
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield guard
    finally:
        sys.stdout, sys.stderr, sys.unraisablehook = stdout, stderr, hook
        set_random_state(random_numbers)
        torch.set_default_dtype(dtype)


def random_state() -> tuple[Any, Any, Tensor]:
    """Of Python, of NumPy and of torch."""
    return random.getstate(), np.random.get_state(), torch.get_rng_state()


def set_random_state(state: tuple[Any, Any, Tensor]) -> None:
    """Puts back what `random_state` gave."""
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.set_rng_state(state[2])


def shared_numbers() -> tuple[Any, Tensor]:
    """The state of the random numbers of which a call is to draw none.

    Python's are not among them: whoever checks types at run time draws some, to look into lists.
    """
    return np.random.get_state(), torch.get_rng_state()


def _equal(one: tuple[Any, Tensor], other: tuple[Any, Tensor]) -> bool:
    numpy = all(np.array_equal(a, b) for a, b in zip(one[0], other[0], strict=True))
    return numpy and torch.equal(one[1], other[1])


def copied(value: Any) -> Any:
    """Copies tensors, and lists with them, so that the caller's own cannot be changed."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, list):
        return [copied(each) for each in value]
    return value


def tried(function: Callable[..., Any], inputs: Mapping[str, Any]) -> Outcome:
    """What comes of one call of a function of ours, which needs no guard."""
    try:
        return Outcome(function(*map(copied, inputs.values())))
    except Exception as error:
        return Outcome(error=error)


def line_of(error: BaseException, function: Callable[..., Any]) -> str:
    """The line of the function at which an error arose: its text, or nothing where it is lost."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [
        step.line for step in traceback.extract_tb(error.__traceback__) if step.filename == file
    ]
    return (lines[-1] or "") if lines else ""
