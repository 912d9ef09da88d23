"""A package from npm: asked for once, in its version, and whole."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import npm
from tools.npm import NpmError, npm_package

FILES = ["dist/run.js"]
Install = Callable[..., list[list[str]]]


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Install:
    """A registry that brings this version with these files; what npm was asked for is listed."""

    def stand_in(version: str, files: list[str]) -> list[list[str]]:
        asked: list[list[str]] = []

        def bring(arguments: list[str]) -> int:
            asked.append(arguments)
            folder = Path(arguments[arguments.index("--prefix") + 1]) / "node_modules/runner"
            for file in files:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).touch()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text(json.dumps({"version": version}))
            return 0

        monkeypatch.setattr(npm, "npm", bring)
        return asked

    return stand_in


def test_a_package_is_fetched_once_and_runs_no_script_of_its_own(
    registry: Install, tmp_path: Path
) -> None:
    asked = registry("2.1.0", FILES)
    package = npm_package(tmp_path, "runner", "2.1.0", FILES)
    assert (package / FILES[0]).is_file()
    assert npm_package(tmp_path, "runner", "2.1.0", FILES) == package
    (arguments,) = asked
    assert arguments[0] == "install" and arguments[-1] == "runner@2.1.0"
    assert "--ignore-scripts" in arguments


def test_another_version_and_a_package_with_a_file_missing_are_fetched_again(
    registry: Install, tmp_path: Path
) -> None:
    registry("2.0.0", FILES)
    package = npm_package(tmp_path, "runner", "2.0.0", FILES)
    asked = registry("2.1.0", FILES)
    npm_package(tmp_path, "runner", "2.1.0", FILES)
    (package / FILES[0]).unlink()
    npm_package(tmp_path, "runner", "2.1.0", FILES)
    assert len(asked) == 2


@pytest.mark.parametrize(("version", "files"), [("2.1.0", []), ("2.0.0", FILES)])
def test_what_npm_did_not_bring_is_named(
    registry: Install, tmp_path: Path, version: str, files: list[str]
) -> None:
    registry(version, files)
    with pytest.raises(NpmError, match=r"npm did not bring runner 2\.1\.0; is its registry"):
        npm_package(tmp_path, "runner", "2.1.0", FILES)
