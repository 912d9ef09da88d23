"""Files of strangers that take all memory, all time or the terminal: refused with a sentence.

Each goes through the real command line, in a process of its own, which may take 100 MB more than
after its imports and 2 s of the processor, whatever the machine does beside it.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.measured import Commands, Measured, commands
from tests.helpers.poisons import ARCHIVES, RUNS, SETTINGS, TEXTS, honest, run_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")

MEGABYTES, SECONDS = 100, 2
# What a terminal would obey, and what would not be one line.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd]")


@pytest.fixture(scope="module")
def command() -> Iterator[Commands]:
    with commands() as process:
        yield process


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_folder(tmp_path / "run")


def assert_refused(done: Measured, sentence: str) -> None:
    """As it should be: what is wrong is said, and little was taken to find it out."""
    assert done.code == 1, done
    assert done.err.startswith("Error: ") and "Traceback" not in done.err
    assert done.err.rstrip().count("\n") <= 1 and len(done.err) < 2_000, "a sentence"
    assert re.search(sentence, done.err), done.err
    assert not STEERING.search(done.out + done.err)
    assert done.megabytes < MEGABYTES, done
    assert done.seconds < SECONDS, done


def named(value: Callable[..., object] | str) -> str:
    """A case is called by its poison alone."""
    return "" if isinstance(value, str) else value.__name__


def archives() -> Iterator[object]:
    for poison, sentence in ARCHIVES.items():
        long = poison.__name__ == "zip_with_a_small_size"  # it is unpacked to its end
        yield pytest.param(poison, sentence, marks=pytest.mark.slow if long else ())


@pytest.mark.slow
@pytest.mark.parametrize(("poison", "sentence"), [*archives()], ids=named)
def test_poisoned_archives_are_refused(poison, sentence, command: Commands, tmp_path: Path) -> None:
    given, out = poison(tmp_path), tmp_path / "out"
    assert_refused(command.run("train", "iwslt14", "--data", given, "--out", out), sentence)
    assert not out.exists()


@pytest.mark.parametrize(("poison", "sentence"), TEXTS.items(), ids=named)
def test_poisoned_texts_are_refused(poison, sentence, command: Commands, tmp_path: Path) -> None:
    given, out = poison(tmp_path), tmp_path / "out"
    assert_refused(command.run("train", "text", "--data", given, "--out", out), sentence)
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("poison", "sentence"), RUNS.items(), ids=named)
def test_poisoned_runs_are_refused(poison, sentence, command: Commands, run: Path) -> None:
    poison(run)
    assert_refused(command.run("evaluate", run), sentence)


@pytest.mark.parametrize(("poison", "sentence"), SETTINGS.items(), ids=named)
def test_poisoned_settings_are_refused(poison, sentence, command: Commands, tmp_path: Path) -> None:
    given, out = poison(tmp_path), tmp_path / "out"
    assert_refused(command.run("train", "--config", given, "--out", out), sentence)
    assert not out.exists()


@pytest.mark.slow
def test_what_is_not_poisoned_is_read_by_the_same_way(
    command: Commands, run: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("1 2 3\n")
    done = command.run("translate", run, tmp_path / "in.txt")
    assert (done.code, done.err) == (0, "")
    release = tmp_path / "release"
    release.mkdir()
    out = ["--out", tmp_path / "out", "--steps", "1", "--vocab-size", "300", "--no-score"]
    tiny = ["--d-model", "8", "--d-ff", "8", "--n-heads", "1", "--n-layers", "1"]
    done = command.run("train", "iwslt14", "--data", honest(release), *out, *tiny)
    assert done.code == 0, done
