"""Watching: a save is checked at once, the next exercise opens, and nothing is lost at the end."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from transformer_book.exercises import EXERCISES, solution
from transformer_book.exercises.track.files import files_in
from transformer_book.exercises.track.folder import Track, TrackError
from transformer_book.exercises.track.watch import INTERVAL, watch

FIRST, SECOND = [*EXERCISES][:2]


@pytest.fixture
def track(tmp_path: Path) -> Track:
    return Track.open(tmp_path / "mine")


class Reader:
    """Does one thing after another, each when the watch waits; then quits."""

    def __init__(self, track: Track, *steps: object) -> None:
        self.track, self.steps, self.said = track, iter(steps), [""]

    def say(self, text: str) -> None:
        self.said[-1] += f"{text}\n"

    def ask(self, seconds: float) -> str:
        assert seconds == INTERVAL
        self.said.append("")
        step = next(self.steps, "q")
        if isinstance(step, str):
            return step
        assert callable(step)
        step()
        return ""

    def watches(self) -> list[str]:
        """What was said before the first step, and after each."""
        watch(self.track, self.say, self.ask)
        return self.said


def saves(track: Track, name: str, text: str):
    return lambda: files_in(track.folder)[name].write_text(text)


def test_the_sentence_stands_below_the_numbers_where_a_terminal_ends(track: Track) -> None:
    wrong = "def softmax(x):\n    print('drip')\n    return x.softmax(0)\n"
    said = Reader(track, saves(track, "softmax", wrong)).watches()[1]
    assert said.index("yours = ") < said.index("drip") < said.index("✗ The columns sum to 1")


def test_our_solution_is_shown_only_to_those_who_ask_twice(track: Track) -> None:
    ours = str(solution("softmax"))
    asked = Reader(track, "s", "h", "s", "s", "s").watches()
    shown = [ours in said for said in asked]
    assert shown == [False, False, False, False, True, False, False]
    assert "type s once more" in asked[1] and "3 hints" in asked[1]


def test_a_save_is_checked_and_the_next_opens(track: Track) -> None:
    wrong = "def softmax(x):\n    return x.softmax(0)\n"
    reader = Reader(
        track,
        lambda: None,
        saves(track, FIRST, wrong),
        saves(track, FIRST, str(solution(FIRST))),
    )
    start, nothing, mistake, right, _ = reader.watches()
    assert f"Next: {track.path(FIRST)}" in start and "Save the file and it is checked" in start
    assert nothing == ""
    assert "✗ The columns sum to 1, not the rows" in mistake and SECOND not in mistake
    assert f"✓ {FIRST} is right." in right and f"Next: {track.path(SECOND)}" in right
    assert Track(track.folder).current is EXERCISES[SECOND]


def test_what_is_written_already_passes_at_once(track: Track) -> None:
    saves(track, SECOND, str(solution(SECOND)))()
    first, then, _ = Reader(track, saves(track, FIRST, str(solution(FIRST)))).watches()
    assert f"✓ {SECOND} is right." in first
    assert "2 of " in then and [*EXERCISES][2] in then


def test_another_file_than_the_next_is_checked_when_it_is_saved(track: Track) -> None:
    _, said, _ = Reader(track, saves(track, "residual", str(solution("residual")))).watches()
    assert "✓ residual is right." in said
    assert "Next:" not in said
    assert track.current is EXERCISES[FIRST]


def test_a_part_that_is_spoilt_later_is_the_next_again(track: Track) -> None:
    saves(track, FIRST, str(solution(FIRST)))()
    _, said, _ = Reader(track, saves(track, FIRST, "x = 1\n")).watches()
    assert "has no function softmax" in said
    assert track.current is EXERCISES[FIRST]


def test_an_editor_may_take_the_file_away_for_a_moment(track: Track) -> None:
    path = track.path(FIRST)
    reader = Reader(track, path.unlink, saves_new(path, str(solution(FIRST))))
    _, away, back, _ = reader.watches()
    assert away == ""
    assert f"✓ {FIRST} is right." in back


def saves_new(path: Path, text: str):
    """As editors do that write another file and rename it."""

    def save() -> None:
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").rename(path)

    return save


def test_keys_give_hints_the_solution_and_the_list(track: Track) -> None:
    _, hint, _, ours, listed, other, _ = Reader(track, "h", "s", "solution", "l", "?").watches()
    assert hint.startswith(f"Hint 1 of {len(EXERCISES[FIRST].hints)}")
    assert ours == f"{solution(FIRST)}\n"
    assert "minutes are left" in listed
    assert "Type h (hint)" in other


@pytest.mark.slow
def test_the_watch_ends_when_everything_passes(track: Track) -> None:
    last = [*EXERCISES][-1]
    for name in EXERCISES:
        if name != last:
            saves(track, name, str(solution(name)))()
            track.progress.passed[name] = "unknown"
    for name in EXERCISES:
        if name != last:
            track.check(name)
    _, said = Reader(track, saves(track, last, str(solution(last)))).watches()
    assert f"{len(EXERCISES)} of {len(EXERCISES)} pass" in said
    assert "--train copy" in said


@pytest.mark.parametrize("key", ["", "h", "l"])
def test_a_folder_that_is_moved_or_deleted_gets_a_sentence(track: Track, key: str) -> None:
    moved = track.folder.with_name("moved")

    class Moves(Reader):
        def ask(self, seconds: float) -> str:
            track.folder.rename(moved)
            return key

    reader = Moves(track)
    with pytest.raises(TrackError, match="mine is gone, or empty. If you have moved it, name it"):
        reader.watches()
    assert not track.folder.exists()
    assert files_in(moved)


def test_a_folder_that_goes_while_it_is_checked_is_not_made_again(track: Track) -> None:
    path = track.path(FIRST)
    path.write_text(f"{solution(FIRST)}\nimport shutil\nshutil.rmtree({str(track.folder)!r})\n")
    with pytest.raises(TrackError, match="is gone, or empty"):
        track.check(FIRST)
    assert not track.folder.exists()


def test_progress_that_is_deleted_meanwhile_is_kept(track: Track) -> None:
    saves(track, FIRST, str(solution(FIRST)))()
    assert track.check(FIRST)
    (track.folder / "progress.json").unlink()
    saves(track, SECOND, str(solution(SECOND)))()
    assert track.check(SECOND)
    assert [*Track(track.folder).progress.passed] == [FIRST, SECOND]


def test_messages_are_as_wide_as_the_terminal(track: Track, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    wrong = "def softmax(x):\n    return x.softmax(0)\n"
    reader = Reader(track, saves(track, FIRST, wrong), "h", "?")
    text = "".join(reader.watches())
    prose = [line for line in text.splitlines() if "/" not in line]  # names of files stay whole
    assert max(map(len, prose)) <= 60
    assert "✗ The columns sum to 1, not the rows: the sum runs over the\nfirst axis" in text
    monkeypatch.setenv("COLUMNS", "400")
    assert "over the first axis (dim=0), and" in "".join(Reader(track).watches())


def test_a_hint_of_another_command_is_not_forgotten(track: Track) -> None:
    other = Track(track.folder)
    assert "Hint 1" in other.hint(FIRST)
    saves(track, FIRST, str(solution(FIRST)))()
    assert track.check(FIRST)
    assert "Hint 2" in Track(track.folder).hint(FIRST)


# In a terminal --------------------------------------------------------------------------------


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
    """The command, in a process of its own, with a terminal."""
    folder, (ours, its) = tmp_path / "mine", pty.openpty()
    command = [sys.executable, "-m", "transformer_book", "exercise", str(folder)]
    # Whoever runs the tests in the background may have them ignore what Ctrl-C sends.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True)
    signal.signal(signal.SIGINT, before)
    os.close(its)
    yield process, ours, folder
    process.kill()
    process.wait()
    os.close(ours)


def read_until(terminal: int, words: str) -> str:
    """What the terminal shows, up to these words."""
    text, until = "", time.monotonic() + 300
    while words not in text:
        left = until - time.monotonic()
        assert select.select([terminal], [], [], max(0, left))[0], text
        text += os.read(terminal, 4096).decode(errors="replace")
    return text


@pytest.mark.slow
def test_in_a_terminal_it_watches_until_it_is_interrupted(terminal) -> None:
    process, shown, folder = terminal
    read_until(shown, "Save the file and it is checked.")
    files_in(folder)[FIRST].write_text(str(solution(FIRST)))
    assert f"{FIRST} is right." in read_until(shown, f"{SECOND} is not written yet")
    os.write(shown, b"h\n")
    read_until(shown, f"for {SECOND}: ")
    process.send_signal(signal.SIGINT)
    said = read_until(shown, "The same command goes on from there.")
    assert "Traceback" not in said
    assert process.wait(60) == 0
    assert Track(folder).current is EXERCISES[SECOND]
