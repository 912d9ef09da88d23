"""What `make setup` does and says, on machines that lack something too."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment
from tools.environment import SetupError, create, groups, install, installed, main, wanted

ROOT = Path(__file__).resolve().parents[2]
# In the place of the environment's Python: notes how it was called, and says what pip would say.
PYTHON = """#!/bin/sh
echo "$@" "[$PYTHONPATH$PIP_TARGET]" >> "{calls}"
case "$*" in *--no-index*) echo "ERROR: No matching distribution found"; exit 1;; esac
echo "Downloading torch-1.whl (190.5 MB)"
echo "{says}"
exit {code}
"""
PINS = """\
# Ours
torch==1.0 \\
    --hash=sha256:0

# [build]
book==1.0

# [pdf bench]
browser==1.0

# [bench]
peer==1.0

# [test]
linter==1.0
"""
CHECKED = "--require-hashes --only-binary=:all: --no-compile"


class Project:
    """A folder to set up with a few pins, whose environments are made in no time."""

    def __init__(self, root: Path) -> None:
        self.root, self.pins, self.venv = root, root / "requirements.txt", root / ".venv"
        root.mkdir()
        (root / "pyproject.toml").touch()
        (root / "requirements-cuda.txt").touch()
        self.pins.write_text(PINS)
        self.made: list[Path] = []
        self.says, self.code = "Installing collected packages", 0

    def create(self, venv: Path) -> None:
        """Makes an environment, with a Python of our own."""
        path = venv / "bin/python"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PYTHON.format(calls=self.root / "calls", says=self.says, code=self.code))
        path.chmod(0o755)
        self.made.append(venv)

    def calls(self, *named: str) -> list[str]:
        """What an installation calls; nothing where all is there."""
        (self.root / "calls").unlink(missing_ok=True)
        install(self.root, *named)
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    monkeypatch.setattr(environment, "create", made.create)
    monkeypatch.setattr(environment, "LAZILY", ("--no-compile",))
    monkeypatch.delenv("TORCH_INDEX_URL", raising=False)
    return made


def test_the_pins_are_installed_and_then_the_package_itself(project, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    nearby, torch, others, itself, warm = project.calls()
    assert " --no-index --require-hashes " in nearby
    assert torch.startswith("-m pip install") and others.startswith("-m pip install")
    assert torch.endswith(f" {CHECKED} --no-deps -r .venv/torch.txt []")
    assert others.endswith(f" {CHECKED} -r .venv/test.txt []")
    assert (project.venv / "test.txt").read_text() == PINS
    assert (project.venv / "torch.txt").read_text().split() == ["torch==1.0", "--hash=sha256:0"]
    assert itself.endswith("--no-deps --no-build-isolation -e . []")
    assert warm.startswith("-W ignore -c import ") and " torch" in warm
    said = capsys.readouterr().out
    assert "  torch (190.5 MB)\n  installing\n" in said and "Set up .venv in" in said
    assert (project.calls(), capsys.readouterr().out) == ([], ""), "a second call does nothing"


@pytest.mark.parametrize(("kept", "expected"), [("", "('--no-compile',)"), ("1", "()")])
def test_pip_compiles_where_python_may_not_keep_what_it_compiles(kept: str, expected: str) -> None:
    command = [sys.executable, "-c", "from tools.environment import LAZILY; print(LAZILY)"]
    environ = os.environ | {"PYTHONDONTWRITEBYTECODE": kept}
    assert subprocess.check_output(command, cwd=ROOT, env=environ, text=True).strip() == expected


def test_a_group_has_what_its_headings_name_and_what_the_book_needs() -> None:
    found = groups(PINS)
    assert {name: re.findall(r"^(\w+)==", lines, re.M) for name, lines in found.items()} == {
        "build": ["torch", "book"],
        "pdf": ["torch", "book", "browser"],
        "bench": ["torch", "book", "browser", "peer"],
        "test": ["torch", "book", "browser", "peer", "linter"],
    }
    assert found["test"] == PINS
    assert "torch==1.0 \\\n    --hash=sha256:0\n" in found["build"]


def test_a_target_installs_its_group_and_the_next_one_adds_to_it(project) -> None:
    for group, complete in (
        ("build", {"build"}),
        ("bench", {"build", "bench"}),
        ("test", {"build", "pdf", "bench", "test"}),
    ):
        assert f" -r .venv/{group}.txt []" in project.calls(group)[2]
        assert (project.venv / f"{group}.txt").read_text() == groups(PINS)[group]
        assert ({*installed(project.root)}, len(project.made)) == (complete, 1)
    # All is there, whatever is asked for next; another linter is nothing to who builds the book.
    assert not any(project.calls(group) for group in ("build", "pdf", "test"))
    project.pins.write_text(PINS.replace("linter==1.0", "linter==2.0"))
    assert not project.calls("build") and not project.calls("bench")
    assert project.calls("test")
    assert installed(project.root) == wanted(project.root)


def test_an_interrupted_installation_leaves_the_stamps_of_what_was_complete_before(
    project, monkeypatch
) -> None:
    def interrupted(*arguments: object, **settings: object) -> None:
        raise KeyboardInterrupt

    for pins, asked, stays in (
        (PINS, "build", set()),
        (PINS, "test", {"build"}),
        ("", "test", set()),
    ):
        project.pins.write_text(pins)
        with monkeypatch.context() as changed, pytest.raises(KeyboardInterrupt):
            changed.setattr(environment, "run_pip", interrupted)
            install(project.root, asked)
        assert {*installed(project.root)} == stays
        assert project.calls(asked)
    assert installed(project.root) == wanted(project.root)


def test_each_target_asks_for_its_own_group() -> None:
    """As `make -n` says; of what is printed only the first setting up does anything."""
    asked = {}
    for target in ("book", "notebooks", "slides", "pdf", "lab", "bench", "check", "test", "setup"):
        said = subprocess.check_output(["make", "-n", "-C", str(ROOT), target], text=True)
        asked[target] = re.findall(r"-m tools\.environment (\w+)", said)
    both = {"slides": ["slides", "build"], "pdf": ["pdf", "build"]}
    alone = {"book": ["build"], "notebooks": ["build"], "lab": ["lab"], "bench": ["bench"]}
    assert asked == both | alone | {target: ["test"] for target in ("check", "test", "setup")}
    there = groups((ROOT / "requirements.txt").read_text())
    assert {group for named in asked.values() for group in named} == {*there}


def test_another_python_or_folder_makes_the_environment_anew_and_new_pins_do_not(
    project, monkeypatch
) -> None:
    install(project.root)
    project.pins.write_text(PINS + "another==1.0\n")
    assert len(project.calls()) == 5 and project.made == [project.venv]
    with monkeypatch.context() as changed:
        changed.setattr(sys, "version", "4.0")
        install(project.root)
    assert len(project.made) == 2
    moved = project.root.rename(project.root.with_name("moved"))
    install(moved)
    assert project.made[2:] == [moved / ".venv"]
    (moved / ".venv/bin/python").unlink()
    (moved / ".venv/bin/python").symlink_to("/gone/python3")
    assert installed(moved) == {}


def test_when_pip_fails_its_last_words_and_what_to_do_are_said(project, capsys) -> None:
    project.says, project.code = "ERROR: No matching distribution found for torch==2.13.0", 1
    with pytest.raises(SetupError, match="pip could not install") as raised:
        install(project.root)
    assert project.says in capsys.readouterr().err
    for advice in ("check the network", "HTTPS_PROXY", "try another Python", "GiB are free"):
        assert advice in str(raised.value)
    assert project.says in (project.venv / "install.log").read_text()
    assert installed(project.root) == {}


def test_nvidias_libraries_come_with_a_torch_that_asks_for_them_alone(project) -> None:
    assert not any("requirements-cuda.txt" in call for call in project.calls("build"))
    folder = project.venv / "lib/python3.11/site-packages/torch-2.13.0.dist-info"
    folder.mkdir(parents=True)
    asks = "Requires-Dist: nvidia-cudnn-cu13==9.20.0.48; platform_system == 'Linux'\n"
    (folder / "METADATA").write_text(f"Name: torch\nVersion: 2.13.0\n{asks}")
    _, _, cuda, others, *_ = project.calls()
    assert cuda.endswith(f"{CHECKED} --no-deps -r requirements-cuda.txt []")
    assert others.endswith("-r .venv/test.txt []")


def test_little_disk_is_refused_before_anything_is_written(project, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(9, 8, 2**30))
    with pytest.raises(SetupError, match=r"needs 4 GiB; 1\.0 are free"):
        install(project.root)
    assert not project.venv.exists()


def test_without_a_venv_module_the_package_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    with pytest.raises(SetupError, match=r"apt-get install python3\.\d+-venv"):
        create(tmp_path / ".venv")
    assert not (tmp_path / ".venv").exists()


def test_an_old_python_is_told_what_to_install_and_can_read_the_file(monkeypatch, capsys) -> None:
    source = (ROOT / "tools" / "environment.py").read_text()
    compile(source, "environment.py", "exec", dont_inherit=True, _feature_version=7)
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
        (None, 1, "no group 'bok' in requirements.txt; it has: bench, build, pdf, test"),
    ],
)
def test_every_end_is_a_sentence(project, monkeypatch, capsys, error, code, sentence) -> None:
    def failing(root: Path, group: str) -> None:
        raise error

    monkeypatch.setattr(environment, "ROOT", project.root)
    if error:
        monkeypatch.setattr(environment, "install", failing)
    assert main(["bok"]) == code
    assert sentence in capsys.readouterr().err
    assert not project.made
