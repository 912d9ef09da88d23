"""Text of strangers on a terminal: it is seen, and does nothing."""

import os
import re
import shlex
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.helpers.measured import commands
from tests.helpers.poisons import named_badly, run_folder
from transformer.support.terminal import STEERING, command_line, printable, printable_lines

CLEARS = "\x1b[2J"


@given(st.text() | st.binary().map(os.fsdecode))
@example("a\x9b2Jb\x1b]0;title\x07\r\x08\x7f\x85\u2028\u2029")
@example("\u202eabc\u2066\udcff")
@example("gra\u200epes\u200f\u061c")
def test_nothing_that_is_shown_steers_a_terminal_or_ends_the_line(text: str) -> None:
    shown = printable(text)
    shown.encode()  # an error where there is half a character
    assert len(shown.splitlines()) <= 1
    for character in shown:
        assert unicodedata.category(character) not in ("Cc", "Cs") or character == "\t"
        assert unicodedata.bidirectional(character) not in (
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
        )
        assert character not in "\u061c\u200e\u200f", "marks of direction that nobody sees"


@given(st.text())
def test_text_that_people_write_stays_as_it_is(text: str) -> None:
    kept = "".join(c for c in text if unicodedata.category(c)[0] in "LMNPS" or c in " \t\u200d")
    assert printable(kept) == kept


def test_what_is_taken_out_can_be_read() -> None:
    assert printable("\x1b[31m\u202e\n\udcff") == r"\x1b[31m\u202e\n\udcff"
    assert printable_lines("one\x1b\ntwo\r\n") == "one\\x1b\ntwo\\r\n"


NAMES = st.text(min_size=1).filter(lambda name: not {"\0", "/"} & {*name})


@given(NAMES.filter(lambda name: not STEERING.search(name)))
@example("runs Über uns")
@example("-x")
@example("$(x) 'q' \"p\" `y` \\ ~ * 两只")
def test_a_command_to_be_copied_names_the_folder_again(name: str) -> None:
    line = command_line("evaluate", Path(name), "--name", name)
    command, path, option, word = shlex.split(line)
    assert (command, Path(path), option, word) == ("evaluate", Path(name), "--name", name)
    assert not path.startswith("-")


@given(st.lists(NAMES | st.binary(min_size=1).map(os.fsdecode)))
@example(["a\x1b[2Jb'\\\n", "\u202e", "Stra\udcdf", "\udcc3f"])
@settings(max_examples=20)
def test_a_shell_reads_names_that_would_steer_a_terminal(names: list[str]) -> None:
    names = ["-", *(name.replace("\0", "") for name in names)]
    line = command_line("printf", r"%s\0", *names)
    assert not STEERING.search(line)
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stdout.split(b"\0")[:-1] == [*map(os.fsencode, names)]


@pytest.mark.slow
def test_neither_a_model_nor_the_names_of_its_data_reach_the_terminal_raw(tmp_path: Path) -> None:
    """Translations line by line, the lines about splits, and sentences about what is wrong."""
    (tmp_path / "in.txt").write_text("1 2 3\n\n4 5\n")
    run = run_folder(tmp_path / "run", words=[f"{i}{CLEARS}\u202e\x9b" for i in range(10)])
    data = named_badly(tmp_path / "data")
    with commands() as command:
        translated = command.run("translate", run, tmp_path / "in.txt")
        scored = command.run("evaluate", run_folder(tmp_path / "text", task="text"), "--data", data)
        refused = command.run("evaluate", tmp_path / f"gone{CLEARS}\u202e")
    assert translated.code == 0, translated
    lines = translated.out.split("\n")
    assert len(lines) == 4 and lines[1] == lines[3] == ""
    assert "[2J" in lines[0]  # a translation is written as it is scored: `normalize` has cleaned it
    assert scored.code == 0 and r"test\x1b[2J" in scored.out, scored
    assert refused.code == 1 and r"gone\x1b[2J\u202e holds no run" in refused.err
    for done in (translated, scored, refused):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.out + done.err)
