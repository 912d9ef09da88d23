"""How a command runs and speaks: in sentences, of which no character steers a terminal."""

import os
import sys
from typing import NoReturn

import typer

from transformer.support.files import TransformerError
from transformer.support.terminal import printable, printable_lines


def say(line: str) -> None:
    """Print a line, in which names and text of strangers may stand."""
    typer.echo(printable(line))


def say_at_once(line: str) -> None:
    """Print a line of one of several processes, which may be killed before it prints another."""
    say(line)
    sys.stdout.flush()


# What is raised with a sentence for the user. A ValueError may be a bug as well.
SENTENCES = (TransformerError, ValueError)
MOST_OF_A_NAME = 200  # letters of a file's name in a message


def run(app: typer.Typer) -> None:
    """Run a command; what is wrong with the input comes out as a sentence, not as a traceback.

    With TRANSFORMER_TRACEBACK=1 it is a traceback, for whoever looks for a bug.
    """
    try:
        app()
    except SENTENCES as error:
        if _wants_traceback():
            raise
        _fail(str(error))
    except OSError as error:
        if _wants_traceback():
            raise
        # Names too long, folders that may not be read, links in a circle.
        name = f" {str(error.filename)[:MOST_OF_A_NAME]!r}" if error.filename else ""
        _fail(f"could not read or write{name}: {error.strerror or error}")


def _wants_traceback() -> bool:
    return os.environ.get("TRANSFORMER_TRACEBACK", "") not in ("", "0")


def _fail(message: str) -> NoReturn:
    typer.echo(f"Error: {printable_lines(message)}", err=True)
    sys.exit(1)
