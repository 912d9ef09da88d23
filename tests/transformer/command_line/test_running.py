"""How a command speaks: to a terminal, a file, and a pipe whose reader leaves early."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from transformer.command_line.running import Unread, open_streams, say_exactly

COMMANDS = """
import sys
from pathlib import Path
import typer
from transformer.command_line.running import go_on_unread, run, say, say_exactly

app = typer.Typer()

@app.command()
def says(text: str) -> None:
    say(text)
    print(text, file=sys.stderr)

@app.command()
def results() -> None:
    for i in range(100_000):
        say_exactly(str(i))

@app.command()
def works(file: Path) -> None:
    go_on_unread()
    for i in range(100_000):
        print(i, file=sys.stderr if i % 1000 == 0 else sys.stdout)
    file.touch()

run(app)
"""
COMMAND = [sys.executable, "-c", COMMANDS]


def test_what_nobody_reads_any_more_is_let_go_and_what_somebody_reads_is_utf8() -> None:
    reader, writer = os.pipe()
    with (
        os.fdopen(writer, "w", encoding="ascii") as before,
        patch.multiple(sys, stdout=before, __stdout__=before),
        patch.object(Unread, "goes_on", True),
    ):
        open_streams()
        print("两只 \udcff", flush=True)
        assert os.read(reader, 100) == "两只 \\udcff\n".encode()
        os.close(reader)
        print("and on", flush=True)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16", "cp1252:strict"])
def test_a_command_speaks_utf8_whatever_the_terminal_is(encoding: str) -> None:
    environ = os.environ | {"PYTHONIOENCODING": encoding}
    said = "Zwei Hunde, 两只狗, ✓"
    done = subprocess.run([*COMMAND, "says", said], env=environ, capture_output=True, check=True)
    assert done.stdout == done.stderr == f"{said}\n".encode()
    options = [*COMMAND, "says", os.fsencode("Stra\udcdf"), "--none\udce9"]
    wrong = subprocess.run(options, env=environ, capture_output=True)
    assert wrong.returncode == 2 and rb"--none\udce9" in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize("n_lines", [0, 1])
def test_a_command_that_prints_results_ends_with_its_reader_as_cat_does(n_lines: int) -> None:
    pipe, errors = subprocess.PIPE, subprocess.PIPE
    with subprocess.Popen([*COMMAND, "results"], stdout=pipe, stderr=errors) as process:
        assert process.stdout and process.stderr
        for i in range(n_lines):
            assert process.stdout.readline() == f"{i}\n".encode()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE


@pytest.mark.slow
def test_a_command_that_works_goes_on_without_a_reader(tmp_path: Path) -> None:
    command = [*COMMAND, "works", str(tmp_path / "done")]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, **both) as process:
        assert process.stdout
        process.stdout.close()
    assert process.returncode == 0 and (tmp_path / "done").exists()


@pytest.mark.slow
def test_a_full_device_is_said_in_a_sentence_and_work_goes_on(tmp_path: Path) -> None:
    full = ["sh", "-c", '"$@" >/dev/full', "sh", *COMMAND]
    failed = subprocess.run([*full, "results"], capture_output=True)
    assert failed.returncode == 1
    assert failed.stderr == b"Error: could not read or write: No space left on device\n"
    subprocess.run([*full, "works", tmp_path / "done"], check=True, capture_output=True)
    assert (tmp_path / "done").exists()


@pytest.mark.slow
def test_a_command_speaks_to_nobody_where_the_shell_has_closed_its_output() -> None:
    closed = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *COMMAND, "results"])
    assert closed.returncode == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_marks_of_direction_are_spelled_out_in_a_terminal_alone(terminal: bool) -> None:
    with patch("sys.stdout", io.StringIO()) as out, patch.object(out, "isatty", lambda: terminal):
        say_exactly("שלום\u200f")
    assert out.getvalue() == ("שלום\\u200f\n" if terminal else "שלום\u200f\n")
