"""Checks a reader's files in a process of its own, which is ended when it no longer answers.

`guard` stops a loop of Python by itself. What it cannot stop is one call that never comes back to
Python: a product of huge matrices, a sleep, or a call that lets nothing else run at all, such as
`sum(itertools.count())`. So the process in which the files are checked sends signs of life, and is
killed when none comes, or when it has left a call behind that still runs; the next check gets a new
one. A process is started once and kept, so that a check takes no longer than it would here.
"""

import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from transformer_book.exercises.checking import MEMORY, SECONDS, check, find
from transformer_book.exercises.guard import Guard, Outcome, guarded
from transformer_book.exercises.track.load import LoadError, load
from transformer_book.exercises.verdict import Result, stopped_sentence

SIGN = 0.1  # seconds between two signs of life
LOOK = 0.2  # seconds that are waited for one
ENDED = "does it call os._exit, or something outside of Python that breaks down?"
USUAL = 2**29  # bytes that the process takes before anything is checked
MOST_MISSED = 40  # waits without a sign, after which the process is ended


def examine(path: Path, name: str) -> Result:
    """Check an exercise's file in this process."""
    exercise = find(name)
    with guarded(SECONDS, MEMORY) as guard:
        try:
            function = load(path, exercise, guard)
        except LoadError as error:
            verdict = Result(name, False, str(error))
            left = replace(verdict, printed=guard.printed.text, still_runs=guard.still_runs)
            return left.without_values()
    return check(function, name).without_values()


# In the other process ------------------------------------------------------------------------


def serve(connection: Connection) -> None:
    """Check what is asked for, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    sending, busy = threading.Lock(), threading.Event()

    def send(message: Result | None) -> None:
        with sending:
            connection.send(message)

    def signs() -> None:
        with suppress(OSError):  # nobody listens any more
            while busy.wait():
                send(None)
                time.sleep(SIGN)

    with suppress(EOFError, OSError):
        send(None)  # everything is imported
        threading.Thread(target=signs, name="signs of life", daemon=True).start()
        while True:
            path, name = connection.recv()
            busy.set()
            verdict = examine(path, name)
            busy.clear()
            send(verdict)


# In this one ---------------------------------------------------------------------------------


class Examiner:
    """The process that checks: started when it is needed first, and again after it was ended."""

    def __init__(self) -> None:
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None
        self._ready = False

    def start(self) -> Connection:
        """Start it, unless it runs; whoever waits for a reader does so in advance."""
        if self._connection is None or self._process is None or not self._process.is_alive():
            self.end()
            context = multiprocessing.get_context("spawn")  # on every system the same
            self._connection, its = context.Pipe()
            self._process = context.Process(target=serve, args=(its,), daemon=True)
            self._process.start()
            its.close()
            self._ready = False
        return self._connection

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def check(self, path: Path, name: str) -> Result:
        """Check an exercise's file; whatever stands in it, an answer comes."""
        connection = self.start()
        try:
            connection.send((path.absolute(), name))
            verdict = self._answer(connection, path, name)
        except (EOFError, OSError):
            sentence = (
                f"{path.name} has ended the process in which it was checked{self._how()}: {ENDED}"
            )
            verdict = Result(name, False, sentence)
            self.end()
        except BaseException:  # Ctrl-C
            self.end()
            raise
        if verdict.still_runs:
            self.end()
            self.start()
        return replace(verdict, still_runs=False)  # nothing runs once it is ended

    def _answer(self, connection: Connection, path: Path, name: str) -> Result:
        missed, at_first = 0, max(self._memory(), USUAL)
        while missed < MOST_MISSED:
            if connection.poll(LOOK):
                missed, self._ready = 0, True
                if (message := connection.recv()) is not None:
                    return message
                continue
            missed += self._ready  # before that it imports
            if self._memory() - at_first > MEMORY:
                sentence = stopped_sentence(name, Outcome(stopped="memory"), Guard(SECONDS, MEMORY))
                return Result(name, False, sentence, still_runs=True)
        sentence = (
            f"{path.name} was stopped: it let nothing else run for {MOST_MISSED * LOOK:g} seconds. "
            "Is there a single call that never ends, such as sum() of an iterator without an end?"
        )
        return Result(name, False, sentence, still_runs=True)

    def _memory(self) -> int:
        """Bytes that the process has; 0 where the system does not say."""
        try:
            number = self._process.pid if self._process else None
            pages = Path(f"/proc/{number}/statm").read_text(encoding="ascii").split()[1]
            return int(pages) * os.sysconf("SC_PAGE_SIZE")
        except OSError:  # there is none on macOS and on Windows
            return 0

    def _how(self) -> str:
        if self._process is None:
            return ""
        self._process.join(1)
        code = self._process.exitcode
        return "" if code is None else f" (its code: {code})"


# One serves all tracks of a program.
EXAMINER = Examiner()
