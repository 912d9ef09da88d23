"""Whatever a reader's file does, its check ends: it runs in a process that can be ended."""

import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from transformer_book.exercises import solution
from transformer_book.exercises.track import examiner
from transformer_book.exercises.track.examiner import Examiner


@pytest.fixture(scope="module")
def process() -> Iterator[Examiner]:
    """The process that checks."""
    made = Examiner()
    yield made
    made.end()


def check_of(process: Examiner, folder: Path, *lines: str, above: str = "") -> str:
    """The sentence about a softmax with this body, which does not pass."""
    path = folder / "01_softmax.py"
    body = "".join(f"    {line}\n" for line in lines)
    path.write_text(f"import itertools, os, time\nimport torch\n{above}\ndef softmax(x):\n{body}")
    found = process.check(path, "softmax")
    assert not found.passed
    assert found.lines[0] == f"✗ {found.sentence}"
    assert found.sentence.endswith((".", "?"))
    return found.sentence


def test_an_answer_is_that_of_the_check(process: Examiner, tmp_path: Path) -> None:
    path = tmp_path / "01_softmax.py"
    path.write_text(str(solution("softmax")))
    found = process.check(path, "softmax")
    assert found and found.lines[0] == "✓ softmax is right."
    path.write_text("def softmax(x):\n    print('drip')\n    return x.softmax(0)\n")
    found = process.check(path, "softmax")
    assert not found and found.sentence.startswith("The columns sum to 1, not the rows")
    assert "target = [" in found.details and "It printed:\n  drip" in found.details
    path.write_text("def softmax(x):\n    ...\n")
    assert not process.check(path, "softmax").written


def test_an_error_that_says_nothing_leaves_no_gap_in_the_sentence(process, tmp_path) -> None:
    said = check_of(process, tmp_path, "return x", above="raise SystemExit")
    assert said.endswith("before anything is called.")


def test_one_process_serves_many_checks(process: Examiner, tmp_path: Path) -> None:
    check_of(process, tmp_path, "return x")
    number = process._process
    check_of(process, tmp_path, "return x + 1")
    assert process._process is number is not None


CALLS_THAT_DO_NOT_COME_BACK = {
    "time.sleep(1000)": "it did not return within 5 seconds",
    "torch.ones(5000, 5000).matrix_power(2**62 - 1)": "was stopped",
    "sum(itertools.count())": "a single call that never ends",
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS_THAT_DO_NOT_COME_BACK)
def test_a_call_outside_of_python_is_ended(process: Examiner, tmp_path: Path, call: str) -> None:
    said = check_of(process, tmp_path, call)
    assert CALLS_THAT_DO_NOT_COME_BACK[call] in said
    assert "still runs" not in said and "restart" not in said
    assert "sum to 1" in check_of(process, tmp_path, "return x")  # and the next is checked


def test_a_file_that_lets_nothing_else_run_is_ended(process, tmp_path, monkeypatch) -> None:
    check_of(process, tmp_path, "return x")  # the process runs
    monkeypatch.setattr(examiner, "MOST_MISSED", 3)
    said = check_of(process, tmp_path, "return x", above="sum(itertools.count())")
    assert "01_softmax.py was stopped: it let nothing else run for 0.6 seconds" in said
    assert [each for each in multiprocessing.active_children() if each is process._process]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say how much it is")
def test_memory_that_one_call_fills_is_found(process, tmp_path, monkeypatch) -> None:
    check_of(process, tmp_path, "return x")
    monkeypatch.setattr(examiner, "MEMORY", 2**25)
    monkeypatch.setattr(examiner, "USUAL", 0)
    said = check_of(process, tmp_path, "return [*itertools.repeat(x, 10**9)]")
    assert "softmax takes more than 32 MB of memory: what grows there?" in said


@pytest.mark.slow
@pytest.mark.parametrize("call", ["os._exit(3)", "os.abort()"])
def test_whoever_ends_the_process_gets_a_sentence(process: Examiner, tmp_path, call: str) -> None:
    said = check_of(process, tmp_path, call)
    assert said.startswith("01_softmax.py has ended the process in which it was checked (its code")
    assert "sum to 1" in check_of(process, tmp_path, "return x")


def test_a_key_that_interrupts_ends_the_process(process, tmp_path, monkeypatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check_of(process, tmp_path, "while True: pass")
    assert process._process is None
