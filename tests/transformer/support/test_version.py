"""The version of a wheel names the commit; no commit of another project is ever recorded."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import transformer
from transformer.support import version as module
from transformer.support.version import NAME, RELEASE, commit, commit_of, version

ROOT = Path(__file__).parents[3]
WITHOUT_TORCH = "import runpy; print(runpy.run_path('{}')['commit']())"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path) -> str:
    """Puts all of a folder into a repository of its own; returns the commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All of it")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a clone of the project holds, as far as its version is concerned."""
    root = tmp_path / "clone"
    (root / "transformer/support").mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", root)
    shutil.copy(ROOT / "transformer/support/version.py", root / "transformer/support")
    return root


def commit_in(root: Path) -> str:
    """What the copy of the module in a folder says of itself."""
    code = WITHOUT_TORCH.format(root / "transformer/support/version.py")
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def installed(site: Path, version: str) -> None:
    """Puts the module into a folder of packages, as pip does."""
    (site / "transformer/support").mkdir(parents=True)
    shutil.copy(ROOT / "transformer/support/version.py", site / "transformer/support")
    folder = site / f"transformer_book-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n")


def test_a_clone_says_its_own_commit_and_whether_files_differ_from_it(clone: Path) -> None:
    assert (commit_in(clone), version(clone)) == ("None", RELEASE)
    full = repository(clone)
    git(clone, "tag", "v9")  # a tag is no commit
    assert commit_in(clone) == full[:10]
    assert version(clone) == f"{RELEASE}+g{full[:10]}"
    (clone / "pyproject.toml").write_text((clone / "pyproject.toml").read_text() + "\n")
    assert commit_in(clone) == f"{full[:10]}-dirty"
    assert version(clone) == f"{RELEASE}+g{full[:10]}.dirty"


def test_a_copy_within_another_project_records_no_commit_of_it(clone: Path) -> None:
    repository(clone.parent)
    assert (commit_in(clone), version(clone)) == ("None", RELEASE)


def test_installed_within_another_project_it_says_the_commit_of_its_own_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "venv/lib/site-packages"
    installed(site, "0.1.0+g1a2b3c4d5e")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a-thesis"\n')
    stranger = repository(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(site))
    assert commit_in(site) == "1a2b3c4d5e" != stranger[:10]


def test_a_repository_of_packages_is_not_the_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "0.1.0")
    repository(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert commit_in(tmp_path) == "None"


def test_the_version_of_another_copy_is_not_this_ones(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "site", "0.1.0+g1a2b3c4d5e")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    assert commit_in(clone) == "None"


def test_without_git_no_commit_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(module.metadata, "distributions", lambda **name: [])
    assert commit() is None
    assert version() == RELEASE


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("0.1.0", None),
        ("0.1.0+g1a2b3c4d5e", "1a2b3c4d5e"),
        ("0.1.0+g1a2b3c4d5e.dirty", "1a2b3c4d5e-dirty"),
        ("0.1.0+cpu", None),
        ("0.1.0+g1a2b3c4d5e.local", None),
    ],
)
def test_a_commit_is_read_from_a_version(written: str, named: str | None) -> None:
    assert commit_of(written) == named


def test_the_release_stands_in_one_place_and_is_the_one_to_cite() -> None:
    assert transformer.__version__ == RELEASE
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["name"] == NAME
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "transformer/support/version.py"
    assert str(yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]) == RELEASE
