"""How a command runs and speaks: in sentences, of which no character steers a terminal."""

import io
import os
import signal
import sys
from typing import Any, NoReturn

import typer
from typing_extensions import override

from transformer.support.files import TransformerError
from transformer.support.terminal import printable, printable_lines


class Unread(io.FileIO):
    """A file to write to that may be a pipe, whose reader may end before the command does.

    Then the command ends as well, and as `cat` does (`| head -1`); or it goes on, in silence. A
    full device is an error once, and not again when the process ends.
    """

    goes_on = False
    failed = False

    @override
    def write(self, data: Any, /) -> int:
        """Write the octets, or let them go."""
        try:
            return super().write(data)
        except BrokenPipeError:
            if hasattr(signal, "SIGPIPE") and not Unread.goes_on:
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGPIPE)
        except OSError:
            if not (Unread.goes_on or self.failed):
                self.failed = True
                raise
        return memoryview(data).nbytes


def open_streams() -> None:
    """Speak UTF-8, whatever the terminal's locale is, as files are read; see also `Unread`.

    A stream that something else has put in the place of a process's own stays as it is.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the shell has closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        if isinstance(stream, io.TextIOWrapper) and stream is getattr(sys, f"__{name}__"):
            stream.flush()
            octets = io.BufferedWriter(Unread(stream.fileno(), "wb", closefd=False))
            by_line = stream.line_buffering or stream.write_through
            # Half a character, which a file's name may hold, is spelled out.
            text = io.TextIOWrapper(octets, "utf-8", "backslashreplace", line_buffering=by_line)
            setattr(sys, name, text)


def go_on_unread() -> None:
    """From here on the command has work to do that is worth more than what it says of it."""
    Unread.goes_on = True


def say(line: str) -> None:
    """Print a line, in which names and text of strangers may stand."""
    typer.echo(printable(line))


def say_exactly(line: str) -> None:
    """Print a line that is a result: unchanged, but in a terminal, which it could steer."""
    print(printable(line) if sys.stdout.isatty() else line)


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
    open_streams()
    try:
        _ended(app)
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


def _ended(app: typer.Typer) -> None:
    """Run a command until all that it says is written."""
    try:
        app()
    finally:
        sys.stdout.flush()


def _wants_traceback() -> bool:
    return os.environ.get("TRANSFORMER_TRACEBACK", "") not in ("", "0")


def _fail(message: str) -> NoReturn:
    typer.echo(f"Error: {printable_lines(message)}", err=True)
    sys.exit(1)
