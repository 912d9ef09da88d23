"""Programs that tests run: none of them, and nothing that they have started, outlives its test."""

import subprocess
from contextlib import suppress
from typing import Any

import psutil


def run_program(
    command: list[str], timeout: float, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a program says and how it ends; past its time it is killed, its children too."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, **options) as program:
        try:
            out, err = program.communicate(timeout=timeout)
        except BaseException:
            # Children would keep the pipes open, and the test waiting for their end.
            children = psutil.Process(program.pid).children(recursive=True)
            for process in (program, *children):
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(children, timeout=10)
            raise
    return subprocess.CompletedProcess(command, program.returncode, out, err)
