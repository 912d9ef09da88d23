"""A release is what its tag, its module and its change log say together."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from tools.release import ReleaseError, main, make_release, notes_of, require_version
from transformer import __version__

CHANGES = "# Changes\n\n## Unreleased\n\n- A.\n\n## 1.2.0, 3 May\n\n- B.\n\n## 1.1.0\n\n- C.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository of a package, small enough to be built in a moment."""
    root = tmp_path / "project"
    (root / "transformer").mkdir(parents=True)
    files = {
        "pyproject.toml": '[build-system]\nrequires = ["hatchling"]\n'
        'build-backend = "hatchling.build"\n[project]\nname = "transformer-book"\n'
        'version = "1.2.0"\nrequires-python = ">=3.11"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["transformer"]\n',
        "transformer/__init__.py": "",
        "CITATION.cff": "version: 1.2.0\n",
        "CHANGELOG.md": CHANGES,
    }
    for name, text in files.items():
        (root / name).write_text(text)
    for command in ("init --quiet", "add --all", "commit --quiet --message All"):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *command.split()]
        subprocess.run(git, cwd=root, check=True)
    return root


def test_the_notes_are_those_of_the_version_alone() -> None:
    assert notes_of("1.2.0", CHANGES) == "- B.\n"
    assert notes_of("1.1.0", CHANGES) == "- C.\n"
    with pytest.raises(ReleaseError, match=r"says nothing of 1.3.0: give Unreleased's lines"):
        notes_of("1.3.0", CHANGES)


def test_tag_module_and_citation_have_to_agree(project: Path) -> None:
    require_version("v1.2.0", project, "1.2.0")
    with pytest.raises(ReleaseError, match=r"the tag is 1.2.0, but the module's RELEASE is 1.2.0"):
        require_version("1.2.0", project, "1.2.0")
    with pytest.raises(ReleaseError, match=r"CITATION.cff has the version 1.2.0, .* 1.3.0"):
        require_version("v1.3.0", project, "1.3.0")


def test_the_wheel_holds_what_was_committed_and_nothing_else(project: Path, tmp_path: Path) -> None:
    (project / "transformer/forgotten.py").touch()
    wheel = make_release("v1.2.0", tmp_path / "out", project, "1.2.0")
    assert wheel.name == "transformer_book-1.2.0-py3-none-any.whl"
    names = {name for name in zipfile.ZipFile(wheel).namelist() if "dist-info" not in name}
    assert names == {"transformer/__init__.py"}
    assert (tmp_path / "out/notes.md").read_text() == "- B.\n"
    with pytest.raises(ReleaseError, match="holds files already"):
        make_release("v1.2.0", tmp_path / "out", project, "1.2.0")


def test_a_wheel_of_another_version_is_refused(project: Path, tmp_path: Path) -> None:
    (project / "CITATION.cff").write_text("version: 1.1.0\n")
    with pytest.raises(ReleaseError, match=r"should be of the version 1.1.0"):
        make_release("v1.1.0", tmp_path / "out", project, "1.1.0")


def test_what_is_missing_is_said_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["v0.0.0", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said == f"the tag is v0.0.0, but the module's RELEASE is {__version__}\n"
