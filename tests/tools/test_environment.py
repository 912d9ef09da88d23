"""What `make book` says and does on machines that lack something."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the two files that decide what is installed."""
    for name in ("requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def fake_venv(project: Path) -> Path:
    """A `.venv` whose Python runs, without its stamp."""
    binary = project / ".venv" / "bin"
    binary.mkdir(parents=True)
    (binary / "python").symlink_to(sys.executable)
    return project / ".venv"


def stamp(venv: Path) -> None:
    (venv / environment.STAMP).write_text(json.dumps(environment.wanted(venv.parent)))


def test_old_python_is_told_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(environment, "newer_python", lambda: None)
    assert environment.main() == 1
    said = capsys.readouterr().err
    assert "This Python is 3.9" in said
    assert "needs Python 3.11 or newer" in said
    assert "make book PYTHON=" in said


def test_old_python_hands_over_to_a_newer_one(monkeypatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(environment, "newer_python", lambda: "/usr/bin/python3.12")
    monkeypatch.setattr(subprocess, "call", lambda command: calls.append(command) or 0)
    assert environment.main() == 0
    assert calls == [["/usr/bin/python3.12", "-m", "tools.environment"]]


def test_file_has_no_syntax_that_an_old_python_cannot_read() -> None:
    source = (ROOT / "tools" / "environment.py").read_text()
    compile(source, "environment.py", "exec", dont_inherit=True, _feature_version=7)


def test_complete_installation_is_current_until_a_pin_changes(project, fake_venv) -> None:
    assert environment.installed(project) == {}
    stamp(fake_venv)
    assert environment.installed(project) == environment.wanted(project)
    with (project / "requirements.txt").open("a") as pins:
        pins.write("another==1.0\n")
    assert environment.installed(project) != environment.wanted(project)


def test_environment_whose_python_is_gone_is_not_current(project, fake_venv) -> None:
    stamp(fake_venv)
    (fake_venv / "bin" / "python").unlink()
    assert environment.installed(project) == {}


def test_interrupted_installation_leaves_no_stamp(project, fake_venv, monkeypatch) -> None:
    stamp(fake_venv)
    (project / "requirements.txt").write_text("changed==1.0\n")

    def interrupted(root: Path, arguments: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "run_pip", interrupted)
    with pytest.raises(KeyboardInterrupt):
        environment.install(project)
    assert environment.installed(project) == {}


def test_little_disk_is_refused_before_anything_is_written(project, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 8, 2**30))
    with pytest.raises(environment.SetupError, match=r"needs 4 GiB; 1\.0 are free"):
        environment.install(project)
    assert not (project / ".venv").exists()


def test_missing_venv_module_names_the_package(project, monkeypatch) -> None:
    failed = subprocess.CompletedProcess([], 1, stdout="ensurepip is not available")
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: failed)
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    with pytest.raises(environment.SetupError, match=r"apt-get install python3\.\d+-venv"):
        environment.create(project / ".venv")
    assert not (project / ".venv").exists()


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("NameResolutionError: Temporary failure in name resolution", "Check the network"),
        ("ERROR: No matching distribution found for torch==2.13.0", "Try another Python"),
        ("something else\nwent wrong", "went wrong"),
    ],
)
def test_failures_of_pip_become_sentences(log: str, sentence: str) -> None:
    assert sentence in environment.explain(log)


def test_pins_are_exact_and_of_any_machine() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert "torch==2.13.0" in pins
    assert "jupyter-book==1.0.4.post1" in pins
    for pin in pins:
        name, _, version = pin.partition("==")
        assert name and version, f"not an exact pin: {pin}"
        assert "+" not in version and "@" not in pin, f"only some machines have it: {pin}"
