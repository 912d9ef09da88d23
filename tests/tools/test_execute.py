"""What is executed, in which order, and when a cell is stopped."""

import time
from pathlib import Path

import pytest

from tools.durations import Durations, in_words
from tools.execute import Executed, Execution, Limits

FRONT = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# A chapter
"""
SLEEPS = "import time\ntime.sleep(500)"
# A tenth of a core, as on a machine that is shared by ten.
SLOW = """\
import time
start = time.monotonic()
while time.monotonic() - start < 8:
    busy = time.monotonic()
    while time.monotonic() - busy < 0.02:
        pass
    time.sleep(0.2)
print("done")"""
SPEAKS = """\
import time
for i in range(8):
    time.sleep(1)
    print(i, flush=True)"""
MEETING = """\
import pathlib, time
pathlib.Path("{0}").touch()
while not pathlib.Path("{1}").exists():
    time.sleep(0.1)
print("{0} has met {1}")"""
KILLED_ONCE = """\
import os, pathlib, signal
if not pathlib.Path("killed").exists():
    pathlib.Path("killed").touch()
    os.kill(os.getpid(), signal.SIGKILL)
print("alive")"""


def execute(folder: Path, limits: Limits | None = None, **chapters: str) -> Executed:
    """Executes chapters of one cell each, with the cache of the folder."""
    paths = {}
    for name, cell in chapters.items():
        paths[name] = folder / f"{name}.md"
        paths[name].write_text(f"{FRONT}\n```{{code-cell}} ipython3\n{cell}\n```\n")
    execution = Execution(folder / "cache", paths, Durations(), limits)
    return execution.run({"IPYTHONDIR": str(folder / "ipython")}, folder / "kernels.log")


@pytest.fixture
def two_cores(monkeypatch) -> None:
    """Two kernels side by side, whatever the machine."""
    monkeypatch.setattr("tools.execute.cores", lambda: 2)


@pytest.mark.slow
def test_cell_that_does_nothing_is_stopped_and_named(tmp_path: Path) -> None:
    started = time.monotonic()
    done = execute(tmp_path, Limits(idle=2), sleeper=SLEEPS)
    assert time.monotonic() - started < 100
    (failure,) = done.failures
    assert (
        "The chapter sleeper failed in this cell:\n    import time\n    time.sleep(500)" in failure
    )
    assert "neither used the processor nor sent any output for 2 seconds" in failure
    assert "KeyboardInterrupt" in failure
    assert not done.seconds


@pytest.mark.slow
def test_cell_that_will_not_be_interrupted_is_killed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tools.execute.GRACE", 1)
    stubborn = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{SLEEPS}"
    done = execute(tmp_path, Limits(idle=2), stubborn=stubborn)
    (failure,) = done.failures
    assert "The chapter stubborn failed in this cell:" in failure
    assert "neither used the processor nor sent any output" in failure


@pytest.mark.slow
def test_cell_that_is_slow_but_computes_or_speaks_is_not_stopped(
    tmp_path: Path, two_cores: None
) -> None:
    done = execute(tmp_path, Limits(idle=3), slow=SLOW, speaks=SPEAKS)
    assert not done.failures
    assert set(done.seconds) == set(done.cells) == {"slow", "speaks"}
    assert 0 < done.cells["slow"] <= done.seconds["slow"]
    assert done.seconds["slow"] < 8  # of the processor, not of the clock


@pytest.mark.slow
def test_cell_that_computes_for_ever_is_stopped_by_the_processor_time_it_has_used(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    done = execute(tmp_path, Limits(processor=3), endless="while True:\n    pass")
    (failure,) = done.failures
    assert "The chapter endless failed in this cell:\n    while True:\n        pass" in failure
    assert "of processor time; does it ever end?" in failure


@pytest.mark.slow
def test_chapters_run_side_by_side_each_once_and_all_failures_are_named(
    tmp_path: Path, two_cores: None
) -> None:
    """Two wait for each other: one after another they would be stopped."""
    chapters = {
        "one": MEETING.format("one", "other"),
        "other": MEETING.format("other", "one"),
        "divides": "numerator = 1\nnumerator / 0",
        "complains": 'import sys\nprint("oh", file=sys.stderr)',
    }
    done = execute(tmp_path, Limits(idle=60), **chapters)
    assert set(done.seconds) == {"one", "other"}
    divides, complains = sorted(done.failures, reverse=True)
    assert "The chapter divides failed in this cell" in divides
    assert "    numerator / 0" in divides
    assert "ZeroDivisionError: division by zero" in divides
    assert "The chapter complains wrote to stderr:\n    oh\nin this cell:" in complains
    assert all(len(text.splitlines()) < 12 for text in done.failures)

    mended = {"divides": "1 / 2", "complains": 'print("oh")'}
    assert set(execute(tmp_path, **(chapters | mended)).seconds) == {"divides", "complains"}
    assert execute(tmp_path, **(chapters | mended)) == Executed()


@pytest.mark.slow
def test_chapter_whose_kernel_is_killed_gets_a_second_try_alone(tmp_path: Path, capfd) -> None:
    done = execute(tmp_path, killed_once=KILLED_ONCE)
    assert not done.failures and set(done.seconds) == {"killed_once"}
    assert "its kernel was killed; the rest one after another" in capfd.readouterr().out
    (failure,) = execute(tmp_path, killed=KILLED_ONCE.replace("not ", "")).failures
    assert "Its kernel was killed, twice" in failure and "    import os, pathlib, signal" in failure


def test_longest_chapters_come_first_and_new_ones_are_thought_of_as_usual(tmp_path: Path) -> None:
    known = Durations({"short": 1.0, "usual": 5.0, "long": 20.0})
    paths = {name: tmp_path / f"{name}.md" for name in ("short", "new", "long", "usual")}
    for name, path in paths.items():
        path.write_text(f"{FRONT}\n```{{code-cell}} ipython3\nprint('{name}')\n```\n")
    execution = Execution(tmp_path / "cache", paths, known)
    assert execution.waiting == ["long", "new", "usual", "short"]


def test_time_that_is_left_follows_the_pace_of_this_machine() -> None:
    known = Durations({"a": 10.0, "b": 10.0, "c": 10.0, "d": 30.0}, pages=5.0)
    assert known.left("abcd", {}, {}, workers=2) == 30 + 5
    assert known.left("bc", {"d": 10.0}, {}, workers=2) == 20 + 5
    assert known.left("", {"c": 50.0}, {"a": 20.0, "b": 40.0, "d": 90.0}, workers=2) == 3 * 5
    assert known.left("bc", {}, {"a": 50.0}, workers=1) == 5 * (10 + 10 + 5)


def test_durations_are_kept_and_later_files_count_more(tmp_path: Path) -> None:
    recorded, measured = tmp_path / "recorded.json", tmp_path / "measured.json"
    Durations({"a": 1.0, "b": 2.04}, {"b": 1.5}, 3.0).write(recorded)
    assert Durations.read(recorded, measured) == Durations({"a": 1.0, "b": 2.0}, {"b": 1.5}, 3.0)
    Durations({"b": 5.0}, {"b": 4.0}, 4.0).write(measured)
    assert Durations.read(recorded, measured) == Durations({"a": 1.0, "b": 5.0}, {"b": 4.0}, 4.0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (12, "12 seconds"),
        (44, "40 seconds"),
        (170, "3 minutes"),
        (60 * 61, "61 minutes"),
        (3 * 3600, "3 hours"),
    ],
)
def test_durations_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
