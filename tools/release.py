"""Makes what a release holds: `python -m tools.release v1.2.3 FOLDER` (docs/release.md).

The wheel is built from what git has at this commit, in a folder without a repository, so that its
version is the release's alone: PyPI takes no version that names a commit, as those of clones do.
"""

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import yaml

from transformer import __version__

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## ([^\s,]+).*\n", re.MULTILINE)


class ReleaseError(Exception):
    """The release cannot be made; the message says what is missing."""


def notes_of(version: str, changes: str) -> str:
    """What the change log says of a version, without its heading.

    Raises:
        ReleaseError: it says nothing.
    """
    parts = HEADING.split(changes)
    notes = dict(zip(parts[1::2], parts[2::2], strict=True)).get(version, "").strip()
    if not notes:
        raise ReleaseError(
            f"CHANGELOG.md says nothing of {version}: give Unreleased's lines this heading"
        )
    return notes + "\n"


def require_version(tag: str, root: Path, version: str) -> None:
    """The tag, the module and CITATION.cff have to name the same version.

    Raises:
        ReleaseError: they do not.
    """
    if tag != f"v{version}":
        raise ReleaseError(f"the tag is {tag}, but the module's RELEASE is {version}")
    cited = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    if str(cited) != version:
        raise ReleaseError(f"CITATION.cff has the version {cited}, but the module's is {version}")


def build_wheel(root: Path, out: Path) -> Path:
    """The wheel of the commit that a repository stands at.

    Raises:
        ReleaseError: it could not be built.
    """
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=root, capture_output=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
        done = subprocess.run(
            [*command, "-d", str(out.resolve())], cwd=folder, capture_output=True, text=True
        )
    if done.returncode != 0:
        raise ReleaseError(f"the wheel was not built:\n{done.stdout}{done.stderr}")
    (wheel,) = out.glob("*.whl")
    return wheel


def make_release(tag: str, out: Path, root: Path = ROOT, version: str = __version__) -> Path:
    """Writes the wheel and `notes.md` into a folder that is new or empty; returns the wheel.

    Raises:
        ReleaseError: versions differ, the change log is silent, files are in the way.
    """
    require_version(tag, root, version)
    notes = notes_of(version, (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if out.exists() and any(out.iterdir()):
        raise ReleaseError(f"{out} holds files already: remove them, or name another folder")
    out.mkdir(parents=True, exist_ok=True)
    wheel = build_wheel(root, out)
    if not wheel.name.startswith(f"transformer_book-{version}-"):
        raise ReleaseError(f"the wheel is {wheel.name}, and should be of the version {version}")
    (out / "notes.md").write_text(notes, encoding="utf-8")
    return wheel


def main(arguments: list[str] | None = None) -> int:
    """Makes it, or says what is missing."""
    parser = argparse.ArgumentParser("python -m tools.release", description=make_release.__doc__)
    parser.add_argument("tag", help="v and the version")
    parser.add_argument("out", type=Path, help="the folder to write into")
    options = parser.parse_args(arguments)
    try:
        print(make_release(options.tag, options.out))
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
