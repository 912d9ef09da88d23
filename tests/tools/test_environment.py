"""What `make setup` does and says, on machines that lack something too."""

import shutil
import sys
from pathlib import Path

import pytest

from tools import environment
from tools.environment import SetupError, create, install, installed, main, wanted

ROOT = Path(__file__).resolve().parents[2]
# In the place of the environment's Python: notes how it was called, and says what pip would say.
PYTHON = """#!/bin/sh
echo "$@" "[$PYTHONPATH$PIP_TARGET]" >> "{calls}"
case "$*" in *--no-index*) echo "ERROR: No matching distribution found"; exit 1;; esac
echo "Downloading torch-1.whl (190.5 MB)"
echo "{says}"
exit {code}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to set up, whose environments are made in no time, with a Python of our own."""
    root = tmp_path / "project"
    root.mkdir()
    for name in (*environment.PINS, "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    monkeypatch.setattr(environment, "create", lambda venv: python(root))
    return root


def python(root: Path, says: str = "Installing collected packages", code: int = 0) -> None:
    """Puts a Python into the project's environment."""
    path = root / ".venv/bin/python"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PYTHON.format(calls=root / "calls", says=says, code=code))
    path.chmod(0o755)


def calls(root: Path) -> list[str]:
    return (root / "calls").read_text().splitlines()


def test_the_pins_are_installed_and_then_the_package_itself(project, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    monkeypatch.delenv("TORCH_INDEX_URL", raising=False)
    install(project)
    nearby, torch, others, itself = calls(project)
    assert " --no-index --require-hashes " in nearby
    for call in (torch, others):
        assert call.startswith("-m pip install")
        assert "--require-hashes --only-binary=:all: " in call
    assert torch.endswith(" --no-deps -r .venv/torch.txt []")
    assert others.endswith(" --only-binary=:all: -r requirements.txt []")
    assert itself.endswith("--no-deps --no-build-isolation -e . []")
    said = capsys.readouterr().out
    assert "  torch (190.5 MB)\n  installing\n" in said and "Set up .venv in" in said


def test_a_second_call_does_nothing_until_a_pin_changes(project, capsys) -> None:
    install(project)
    capsys.readouterr()
    install(project)
    assert (len(calls(project)), capsys.readouterr().out) == (4, "")
    with (project / "requirements.txt").open("a") as pins:
        pins.write("another==1.0\n")
    install(project)
    assert len(calls(project)) == 8
    assert installed(project) == wanted(project)


def test_new_pins_go_into_the_environment_that_another_python_or_folder_makes_anew(
    project, monkeypatch
) -> None:
    install(project)
    made = []
    monkeypatch.setattr(environment, "create", made.append)
    with (project / "requirements.txt").open("a") as pins:
        pins.write("another==1.0\n")
    install(project)
    assert made == []
    with monkeypatch.context() as changed:
        changed.setattr(sys, "version", "4.0")
        install(project)
    assert made == [project / ".venv"]
    moved = project.rename(project.with_name("moved"))
    install(moved)
    assert made[1:] == [moved / ".venv"]


def test_an_environment_whose_python_is_gone_is_not_complete(project) -> None:
    install(project)
    (project / ".venv/bin/python").unlink()
    (project / ".venv/bin/python").symlink_to("/gone/python3")
    assert installed(project) == []


def test_an_interrupted_installation_leaves_no_stamp(project, monkeypatch) -> None:
    install(project)
    (project / "requirements.txt").write_text("changed==1.0\n")

    def interrupted(root: Path, *arguments: str, needed: bool = True) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "run_pip", interrupted)
    with pytest.raises(KeyboardInterrupt):
        install(project)
    assert installed(project) == []


def test_when_pip_fails_its_last_words_and_what_to_do_are_said(
    project, monkeypatch, capsys
) -> None:
    says = "ERROR: No matching distribution found for torch==2.13.0"
    monkeypatch.setattr(environment, "create", lambda venv: python(project, says, code=1))
    with pytest.raises(SetupError, match="pip could not install") as raised:
        install(project)
    assert says in capsys.readouterr().err
    for advice in ("check the network", "HTTPS_PROXY", "try another Python", "GiB are free"):
        assert advice in str(raised.value)
    assert says in (project / ".venv/install.log").read_text()
    assert installed(project) == []


@pytest.mark.parametrize(
    "says",
    [
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        "ERROR: Hashes are required in --require-hashes mode, but they are missing from some",
    ],
)
def test_a_file_that_was_not_pinned_is_no_matter_of_the_network(project, monkeypatch, says) -> None:
    monkeypatch.setattr(environment, "create", lambda venv: python(project, says, code=1))
    with pytest.raises(SetupError, match="pip refused a file: its hash is not the one") as raised:
        install(project)
    assert "python -m tools.pins writes its hashes" in str(raised.value)
    assert "check the network" not in str(raised.value)


def torch_of(root: Path, requires: str) -> None:
    """Puts what an installed torch says of itself into the project's environment."""
    folder = root / ".venv/lib/python3.11/site-packages/torch-2.13.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Name: torch\nVersion: 2.13.0\n{requires}")


def test_nvidias_libraries_come_with_a_torch_that_asks_for_them_alone(project, monkeypatch) -> None:
    asking = "Requires-Dist: nvidia-cudnn-cu13==9.20.0.48; platform_system == 'Linux'\n"
    install(project)
    assert not any("requirements-cuda.txt" in call for call in calls(project))
    (project / "calls").unlink()
    torch_of(project, asking)
    with (project / "requirements-cuda.txt").open("a") as pins:
        pins.write("another==1.0\n")
    install(project)
    _, _, cuda, others, _ = calls(project)
    assert cuda.endswith(
        "--require-hashes --only-binary=:all: --no-deps -r requirements-cuda.txt []"
    )
    assert others.endswith("-r requirements.txt []")


def test_the_index_that_is_named_for_torch_is_asked_for_torch_alone(project, monkeypatch) -> None:
    monkeypatch.setenv("TORCH_INDEX_URL", "https://builds.example/cpu")
    install(project)
    _, torch, *others = calls(project)
    assert " --index-url https://builds.example/cpu --require-hashes " in torch
    assert " --no-deps -r .venv/torch.txt" in torch
    assert not any("builds.example" in call for call in others)
    pins = (project / ".venv/torch.txt").read_text()
    assert pins.startswith("torch==2.13.0 ") and pins.count("torch==") == pins.count("==") == 1
    assert pins.count("--hash=sha256:") > 10


def test_little_disk_is_refused_before_anything_is_written(project, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 8, 2**30))
    with pytest.raises(SetupError, match=r"needs 4 GiB; 1\.0 are free"):
        install(project)
    assert not (project / ".venv").exists()


def test_without_a_venv_module_the_package_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    with pytest.raises(SetupError, match=r"apt-get install python3\.\d+-venv"):
        create(tmp_path / ".venv")
    assert not (tmp_path / ".venv").exists()


def test_an_old_python_is_told_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    assert main() == 1
    said = capsys.readouterr().err
    assert "This Python is 3.9, and the book needs Python 3.11 or newer" in said
    assert "make book PYTHON=" in said


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (SetupError("Install it."), 1, "Setting up failed. Install it."),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "the next call starts the installation again"),
    ],
)
def test_every_end_is_a_sentence(monkeypatch, capsys, error, code, sentence) -> None:
    def failing(root: Path) -> None:
        raise error

    monkeypatch.setattr(environment, "install", failing)
    assert main() == code
    assert sentence in capsys.readouterr().err


def test_the_file_has_no_syntax_that_an_old_python_cannot_read() -> None:
    source = (ROOT / "tools" / "environment.py").read_text()
    compile(source, "environment.py", "exec", dont_inherit=True, _feature_version=7)
