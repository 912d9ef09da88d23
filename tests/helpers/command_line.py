"""The command line, for tests that ask it what a user asks."""

import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import jaxtyping

from transformer.command_line import running
from transformer.command_line.cli import main

from transformer_book.__main__ import app


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m transformer` in this process, without the tests' checks of types."""
    return _run(main, "transformer", *arguments, stdin=stdin)


def run_book(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m transformer_book`, likewise."""
    return _run(lambda: running.run(app), "transformer_book", *arguments, stdin=stdin)


def _run(
    main: Callable[[], object], program: str, *arguments: str, stdin: str
) -> subprocess.CompletedProcess[str]:
    out, err = io.StringIO(), io.StringIO()
    typed = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with (
        patch.object(sys, "argv", [f"{program}/__main__.py", *arguments]),
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
