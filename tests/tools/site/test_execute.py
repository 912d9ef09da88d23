"""What is executed, in which order, and when a cell is stopped."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_client.provisioning import LocalProvisioner
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.site.durations import Durations, in_words
from tools.site.execute import Chapter, Executed, Execution, Limits

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
    monkeypatch.setattr("tools.site.execute.cores", lambda: 2)


@pytest.mark.slow
def test_cell_that_does_nothing_is_stopped_and_named(tmp_path: Path) -> None:
    done = execute(tmp_path, Limits(idle=2), sleeper=SLEEPS)
    (failure,) = done.failures.values()
    assert (
        "The chapter sleeper failed in this cell:\n    import time\n    time.sleep(500)" in failure
    )
    assert "neither used the processor nor sent any output for 2 seconds" in failure
    assert "KeyboardInterrupt" in failure
    assert not done.seconds


@pytest.mark.slow
def test_cell_that_will_not_be_interrupted_is_killed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tools.site.execute.GRACE", 1)
    stubborn = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{SLEEPS}"
    done = execute(tmp_path, Limits(idle=2), stubborn=stubborn)
    (failure,) = done.failures.values()
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
    (failure,) = done.failures.values()
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
    divides, complains = sorted(done.failures.values(), reverse=True)
    assert "The chapter divides failed in this cell" in divides
    assert "    numerator / 0" in divides
    assert "ZeroDivisionError: division by zero" in divides
    assert "The chapter complains wrote to stderr:\n    oh\nin this cell:" in complains
    assert all(len(text.splitlines()) < 12 for text in done.failures.values())

    mended = {"divides": "1 / 2", "complains": 'print("oh")'}
    assert set(execute(tmp_path, **(chapters | mended)).seconds) == {"divides", "complains"}
    assert execute(tmp_path, **(chapters | mended)) == Executed()


@pytest.mark.slow
def test_chapter_whose_kernel_is_killed_gets_a_second_try_alone(tmp_path: Path, capfd) -> None:
    done = execute(tmp_path, killed_once=KILLED_ONCE)
    assert not done.failures and set(done.seconds) == {"killed_once"}
    assert "its kernel was killed; the rest one after another" in capfd.readouterr().out
    (failure,) = execute(tmp_path, killed=KILLED_ONCE.replace("not ", "")).failures.values()
    assert "Its kernel was killed, twice" in failure and "    import os, pathlib, signal" in failure


def test_before_its_kernel_begins_a_chapter_has_used_nothing(tmp_path: Path) -> None:
    """Not what the build itself has used, and all that the build has started."""
    chapter = Chapter("early", new_notebook(), tmp_path / "early.md", Limits())
    chapter.km = SimpleNamespace(provisioner=LocalProvisioner())
    chapter.watch()
    assert chapter.seconds == 0


@pytest.mark.parametrize(
    ("words", "tags", "fails"),
    [
        (25, ["check"], False),
        (26, ["check"], True),
        (26, ["check", "hide-input"], True),
        (26, ["check", "hide-cell"], False),
        (26, [], False),
    ],
)
def test_check_that_prints_more_than_25_words_is_named(
    tmp_path: Path, words: int, tags: list[str], fails: bool
) -> None:
    cells = [
        new_code_cell(
            source,
            outputs=[new_output("stream", name="stdout", text=text)],
            metadata={"tags": tags},
        )
        for source, text in [("tell()", "All\nis well. "), ("tell(more)", "so " * words)]
    ]
    failure = Chapter("talks", new_notebook(cells=cells), tmp_path, Limits()).failure(None)
    said = "The chapter talks has a check that prints 26 words, 25 at most:"
    assert failure == (f"{said}\n    tell(more)" if fails else "")


class Interrupting(ThreadPoolExecutor):
    """Ctrl-C comes when a thread has begun, before anyone has written down that it has."""

    def submit(self, *args, **kwargs):
        super().submit(*args, **kwargs)
        raise KeyboardInterrupt


@pytest.mark.slow
def test_interrupted_as_a_chapter_begins_it_does_not_wait_for_it(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("tools.site.execute.ThreadPoolExecutor", Interrupting)
    awake = "\nimport pathlib; pathlib.Path('awake').touch()"
    with pytest.raises(KeyboardInterrupt):
        execute(tmp_path, sleeper=SLEEPS + awake)
    assert not (tmp_path / "awake").exists()


def test_longest_chapters_come_first_and_new_ones_are_thought_of_as_usual(tmp_path: Path) -> None:
    known = Durations({"short": 1.0, "usual": 5.0, "long": 20.0}, here=True)
    paths = {name: tmp_path / f"{name}.md" for name in ("short", "new", "long", "usual")}
    for name, path in paths.items():
        path.write_text(f"{FRONT}\n```{{code-cell}} ipython3\nprint('{name}')\n```\n")
    execution = Execution(tmp_path / "cache", paths, known)
    assert execution.waiting == ["long", "new", "usual", "short"]


def test_time_that_is_left_follows_the_pace_of_this_machine() -> None:
    known = Durations({"a": 10.0, "b": 10.0, "c": 10.0, "d": 30.0}, pages=5.0)
    assert known.left("abcd", {}, {}, workers=2) == 30 + 5
    assert known.left("bc", {"d": 10.0}, {}, workers=2) == 20 + 5
    assert known.left("", {"c": 30.0}, {"a": 20.0, "b": 40.0, "d": 90.0}, workers=2) == 3 * 5
    assert known.left("bc", {}, {"a": 50.0}, workers=1) == 5 * (10 + 10 + 5)


def test_where_the_machine_is_not_known_a_short_chapter_that_tells_comes_first() -> None:
    recorded = {"long": 60.0, "usual": 20.0, "telling": 9.0, "tiny": 2.0}
    known = Durations(dict(recorded))
    assert known.order(recorded) == ["telling", "long", "usual", "tiny"]
    known.chapters["short"] = 5.0
    assert known.order(["tiny", "short"]) == ["short", "tiny"]
    assert known.order(["tiny"]) == ["tiny"]
    known.here = True
    assert known.order(recorded) == ["long", "usual", "telling", "tiny"]


BOOK = Durations(
    {f"chapter {n}": seconds for n, seconds in enumerate([55, 43, 39, 26, *[12] * 8, *[5] * 10])},
    pages=40.0,
)


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("slower", [0.5, 1.0, 5.0])
def test_every_time_that_is_said_is_about_true_on_a_machine_of_any_speed(
    workers: int, slower: float
) -> None:
    """A build that is played by the clock: what is left at each begin, and what it then was."""
    waiting, running, done = BOOK.order(BOOK.chapters), {}, {}
    now, said = 0.0, []
    while waiting or running:
        while waiting and len(running) < workers:
            if done:
                ago = {name: now - began for name, began in running.items()}
                said.append((now, BOOK.left(waiting, ago, done, workers)))
            running[waiting.pop(0)] = now
        ends = {name: began + slower * BOOK.of(name) for name, began in running.items()}
        ended = min(ends, key=ends.__getitem__)
        now = ends[ended]
        done[ended] = now - running.pop(ended)
    said.append((now, BOOK.left((), {}, done, workers)))
    end = now + slower * BOOK.pages
    assert said[0][0] < 0.2 * end  # soon
    for when, left in said:
        assert left == pytest.approx(end - when, rel=0.15), f"at {when} of {end}"


def test_a_chapter_that_overruns_is_evidence_before_it_ends() -> None:
    known = Durations({"quick": 10.0, "long": 30.0, "next": 30.0}, pages=10.0)
    on_time = known.left(["next"], {"long": 20.0}, {"quick": 10.0}, workers=2)
    assert on_time == 30 + 10
    late = known.left(["next"], {"long": 150.0}, {"quick": 10.0}, workers=2)
    assert late == pytest.approx(160 / 40 * (30 + 10))


@pytest.mark.slow
def test_nothing_is_said_of_the_time_that_is_left_before_a_chapter_has_ended_here(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr("tools.site.execute.cores", lambda: 1)
    execute(tmp_path, one="1", other="2", third="3")
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "  chapter 1 of 3: third"
    assert len(others) == 2
    assert all(re.fullmatch(r"  chapter \d of 3: \w+; about \d+ \w+ left", o) for o in others)


def test_durations_of_this_machine_count_more_than_recorded_ones(tmp_path: Path) -> None:
    recorded, measured = tmp_path / "recorded.json", tmp_path / "measured.json"
    Durations({"a": 1.0, "b": 2.04}, {"b": 1.5}, 3.0).write(recorded)
    assert Durations.read(recorded, measured) == Durations({"a": 1.0, "b": 2.0}, {"b": 1.5}, 3.0)
    Durations({"a": 2.0, "b": 5.0}, {"b": 4.0}, 4.0).write(measured)
    known = Durations.read(recorded, measured)
    assert known == Durations({"a": 2.0, "b": 5.0}, {"b": 4.0}, 4.0, here=True)
    Durations().write(measured)  # of a build that was interrupted at once
    assert not Durations.read(recorded, measured).here


def test_what_this_machine_has_not_executed_takes_as_much_longer_as_what_it_has(tmp_path) -> None:
    """After a build that was interrupted, on a machine five times slower."""
    recorded, measured = tmp_path / "recorded.json", tmp_path / "measured.json"
    Durations({"a": 10.0, "b": 20.0, "c": 30.0}, pages=8.0).write(recorded)
    Durations({"a": 50.0, "b": 100.0}).write(measured)
    known = Durations.read(recorded, measured)
    assert known.chapters == {"a": 50.0, "b": 100.0, "c": 150.0}
    assert (known.pages, known.here) == (40.0, True)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "5 seconds"),
        (12, "10 seconds"),
        (44, "45 seconds"),
        (57, "a minute"),
        (170, "3 minutes"),
        (60 * 61, "61 minutes"),
        (3 * 3600, "3 hours"),
    ],
)
def test_durations_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
