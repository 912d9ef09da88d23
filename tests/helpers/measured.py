"""Runs commands of the command line and says what each took of the processor and of the memory.

As a program it reads lists of arguments, a JSON list a line, and answers each with a line. All
modules are loaded once; each command runs in a fork, so that what it takes is its own.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MOST_SECONDS, MOST_BYTES = 30, 6 * 2**30  # beyond them a command is ended: others use this machine


@dataclass(frozen=True)
class Measured:
    """A command that has ended.

    Attributes:
        code: its exit status; None where it had to be ended.
        out, err: what it printed.
        seconds: of processor time, without the imports.
        megabytes: above what the process had after its imports.
    """

    code: int | None
    out: str
    err: str
    seconds: float = 0.0
    megabytes: float = 0.0


class Commands:
    """A process that has imported everything, and waits for commands."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def run(self, *arguments: str | Path) -> Measured:
        assert self.process.stdin and self.process.stdout
        print(json.dumps([str(each) for each in arguments]), file=self.process.stdin, flush=True)
        return Measured(**json.loads(self.process.stdout.readline()))


@contextmanager
def commands() -> Iterator[Commands]:
    """Such a process, meanwhile."""
    environ = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "tests.helpers.measured"]
    with subprocess.Popen(command, cwd=ROOT, env=environ, **pipes) as process:
        yield Commands(process)
        assert process.stdin
        process.stdin.close()


def _in_a_fork(arguments: list[str], folder: Path) -> None:
    """The command, in a process that ends with it; its files go into the folder."""
    from transformer.command_line.cli import main

    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_CREAT | os.O_WRONLY), descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    before, code = resource.getrusage(resource.RUSAGE_SELF), 0
    sys.argv = ["transformer", *arguments]
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 99
    after = resource.getrusage(resource.RUSAGE_SELF)
    sys.stdout.flush()
    sys.stderr.flush()
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    grown = (after.ru_maxrss - before.ru_maxrss) / 1024  # Linux counts in kB
    result = {"code": code, "seconds": took, "megabytes": grown}
    (folder / "result").write_text(json.dumps(result))


def _answer(arguments: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not (child := os.fork()):
            try:
                _in_a_fork(arguments, folder)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        path = folder / "result"
        result = json.loads(path.read_text()) if path.exists() else {"code": None}
        said = {each: (folder / each).read_text(errors="replace") for each in ("out", "err")}
        return {**result, **said}


if __name__ == "__main__":
    import pooch  # noqa: F401
    import requests  # noqa: F401
    import sacrebleu  # noqa: F401
    import tokenizers  # noqa: F401

    import transformer.command_line.cli  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)
