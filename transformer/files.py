"""Files: written whole or not at all; where those of the book are."""

import os
from contextlib import suppress
from pathlib import Path


class FileError(Exception):
    """A file that could not be written or read; the message says which, why and what to do."""


def book_folders(part: str) -> list[Path]:
    """Where a part of the book is, "results" or "models".

    Beside the package in a clone, inside the package where it is installed (pyproject.toml puts it
    there).
    """
    package = Path(__file__).parent
    return [root / "book" / part for root in (package.parent, package)]


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that, whatever happens, there is the old one or the new one.

    The content goes to a temporary file beside it, reaches the disk, and takes its place in one
    step. A full disk leaves the old file as it was and no temporary file; what a killed process
    leaves behind, the next one overwrites.

    Raises:
        FileError: the file could not be written.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        kept = "; the earlier one is untouched" if path.exists() else ""
        raise FileError(
            f"could not write {path}: {error.strerror or error}{kept}. "
            "Free some space or choose another folder, and resume"
        ) from error
