"""The command line, for tests that ask it what a user asks."""

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import jaxtyping

from transformer.cli import main


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A command in this process, without the tests' checks of types: a user has none."""
    out, err = io.StringIO(), io.StringIO()
    typed = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with (
        patch.object(sys, "argv", ["transformer", *arguments]),
        patch.object(sys, "stdin", typed),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        jaxtyping.config.update("jaxtyping_disable", True)
        try:
            code = main()
        except SystemExit as end:
            code = end.code
        finally:
            jaxtyping.config.update("jaxtyping_disable", False)
    return subprocess.CompletedProcess(arguments, code or 0, out.getvalue(), err.getvalue())
