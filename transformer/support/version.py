"""The version of this module, and the commit that it stands at; the build of a wheel asks too."""

import os
import re
import subprocess
from importlib import metadata
from pathlib import Path

RELEASE = "0.1.0"
NAME = "transformer-book"
ROOT = Path(__file__).resolve().parents[2]
# Names the commit where the code has neither a repository beside it nor been installed by pip.
COMMIT = "TRANSFORMER_COMMIT"
# The local part of a version, as `version` writes it.
LOCAL = re.compile(r"g([0-9a-f]{7,40})(\.dirty)?")


def version(root: Path = ROOT) -> str:
    """The release, and where a clone is built, its commit: 0.1.0+g1a2b3c4d5e."""
    known = _of_clone(root)
    return f"{RELEASE}+g{known.replace('-', '.')}" if known else RELEASE


def commit() -> str | None:
    """The commit of this code; "-dirty" where files differ from it, None where nobody knows.

    A clone asks git, what pip has installed says it in its version, and of a bare copy of the files
    the environment variable TRANSFORMER_COMMIT may say it.
    """
    return _of_clone(ROOT) or _of_installed() or _of_environment()


def commit_of(version: str) -> str | None:
    """The commit that a version names: "1a2b3c4d5e" for 0.1.0+g1a2b3c4d5e."""
    _, _, local = version.partition("+")
    match = LOCAL.fullmatch(local)
    return match[1] + ("-dirty" if match[2] else "") if match else None


def _of_clone(root: Path) -> str | None:
    """Only where the repository is the project's own: an environment may lie in somebody else's."""
    pyproject = root / "pyproject.toml"
    if not pyproject.exists() or f'name = "{NAME}"' not in pyproject.read_text("utf-8"):
        return None
    top = _git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():
        return None
    return _git(root, "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _of_environment() -> str | None:
    found = os.environ.get(COMMIT, "")
    return found if re.fullmatch(r"[0-9a-f]{7,40}", found) else None


def _of_installed() -> str | None:
    for found in metadata.distributions(name=NAME):
        path = Path(str(found.locate_file("transformer/support/version.py")))
        if path.resolve() == Path(__file__).resolve():  # not another copy, beside this one
            return commit_of(found.version)
    return None
