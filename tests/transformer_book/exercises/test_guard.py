"""Nothing that a function does stops a check, or outlives it."""

import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from transformer_book.exercises import check
from transformer_book.exercises.guard import MOST_PRINTED, Printed, guarded

SHORT = 0.2


def stopped(function: Callable[..., Any], **limits: Any) -> str:
    result = check(function, "softmax", **{"seconds": SHORT, **limits})
    assert not result.passed
    return str(result)


def test_an_endless_loop_is_stopped() -> None:
    def loops(x):
        while True:
            pass

    before = threading.active_count()
    said = stopped(loops)
    assert "was stopped" in said
    assert "restart" not in said
    assert threading.active_count() == before


def test_an_endless_loop_of_tensors_is_stopped() -> None:
    def loops(x):
        while True:
            torch.zeros(1)

    assert "was stopped" in stopped(loops)


def test_a_loop_that_catches_exceptions_is_stopped() -> None:
    def loops(x):
        while True:
            try:
                raise ValueError
            except Exception:
                pass

    assert "was stopped" in stopped(loops)


@pytest.mark.slow
def test_what_sleeps_is_left_behind_and_said_so() -> None:
    woken = threading.Event()
    result = check(lambda x: woken.wait(1000), "softmax", seconds=SHORT)
    assert "was stopped" in result.sentence and result.still_runs
    assert "restart the kernel" in str(result) and "restart the kernel" in result._repr_html_()
    woken.set()  # the thread ends, so that no test has it about


def test_only_the_call_that_does_not_end_is_called() -> None:
    calls = []

    def loops(x):
        calls.append(x)
        while x.dim() > 1:
            pass
        return x.softmax(-1)

    assert "was stopped" in stopped(loops)
    assert [x.dim() for x in calls] == [1, 1, 2]


def test_a_recursion_without_end_is_named() -> None:
    def calls_itself(x):
        return calls_itself(x)

    class Module(torch.nn.Module):
        def forward(self, x):
            return self(x)

    assert "calls itself without an end" in stopped(calls_itself, seconds=30.0)
    assert "calls itself without an end" in stopped(Module(), seconds=30.0)


def test_too_much_memory_at_once_is_named() -> None:
    assert "more memory than there is" in stopped(lambda x: torch.zeros(10**15))
    assert "more memory than there is" in stopped(lambda x: [0] * 10**14)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say how much it is")
def test_a_machine_that_stood_still_for_a_minute_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual, held = time.monotonic, [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: usual() + held[0])

    def waits_a_moment(x: torch.Tensor) -> torch.Tensor:
        held[0] += 60.0  # as if machine and clock had been apart
        time.sleep(0.1)
        return x.softmax(-1)

    assert check(waits_a_moment, "softmax").passed


def test_memory_that_grows_is_stopped() -> None:
    def grows(x):
        tensors = []
        while True:
            tensors.append(torch.ones(2**18))

    assert "takes more than 64 MB of memory" in stopped(grows, seconds=30.0, memory=2**26)


@pytest.mark.slow
def test_a_flood_of_text_is_cut_and_does_not_get_out(capsys: pytest.CaptureFixture[str]) -> None:
    def floods(x):
        for _ in range(10_000):
            print("drip")
        return x.softmax(-1)

    result = check(floods, "softmax")
    assert result.passed
    assert len(result.printed) == MOST_PRINTED
    assert "drip" in repr(result)
    assert repr(result).count("\n") < 20
    assert capsys.readouterr().out == ""


def test_other_threads_print_as_they_did(capsys: pytest.CaptureFixture[str]) -> None:
    printed = Printed(sys.stdout)
    printed.write("from the main thread")
    assert printed.text == ""
    assert capsys.readouterr().out == "from the main thread"


def test_warnings_and_default_types_do_not_get_out() -> None:
    def warns(x):
        warnings.warn("a stray warning", stacklevel=1)
        torch.set_default_dtype(torch.float64)
        return x.softmax(-1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(warns, "softmax")
    assert torch.get_default_dtype() == torch.float32
    assert sys.stdout is not None


def test_what_all_share_is_as_it_was_after_an_error() -> None:
    stdout, state = sys.stdout, torch.get_rng_state()
    with pytest.raises(ValueError, match="ours"), guarded(1.0, 2**30):
        torch.rand(1)
        raise ValueError("ours")
    assert sys.stdout is stdout
    assert torch.equal(torch.get_rng_state(), state)


def test_a_key_that_interrupts_ends_the_thread_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, or the notebook's stop button, comes up in the thread that waits."""
    begun, join = threading.Event(), threading.Thread.join
    interrupted = []

    def interrupting(thread: threading.Thread, timeout: float | None = None) -> None:
        if thread.name == "exercise" and begun.wait(60) and not interrupted:
            interrupted.append(thread)
            raise KeyboardInterrupt
        join(thread, timeout)

    def loops(x):
        begun.set()
        while True:
            time.sleep(0.001)

    monkeypatch.setattr(threading.Thread, "join", interrupting)
    with pytest.raises(KeyboardInterrupt):
        check(loops, "softmax", seconds=30.0)
    assert not interrupted[0].is_alive()
