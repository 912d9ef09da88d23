"""A track in a folder: a file for each exercise, and what has been reached.

Nothing that a reader wrote is ever overwritten. What has been reached is kept with the hash of the
file that passed: a file that was changed since is checked again.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformer.support.files import FileError, read_json, read_limited, write_atomically
from transformer.support.terminal import command_line

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.checking import MEMORY, SECONDS, find
from transformer_book.exercises.exercise import Exercise
from transformer_book.exercises.guard import guarded
from transformer_book.exercises.track.examiner import EXAMINER
from transformer_book.exercises.track.files import defining, file_name, files_in, skeleton_text
from transformer_book.exercises.track.load import LARGEST, load
from transformer_book.exercises.track.parts import Parts
from transformer_book.exercises.verdict import Result, not_written

PROGRESS = "progress.json"
BACKUPS = "backups"
COMMAND = "python -m transformer_book exercise"


class TrackError(ValueError):
    """A folder that cannot be a track, or not as it is; says why, and what to do."""


@dataclass
class Progress:
    """What has been reached.

    Attributes:
        passed: of each exercise that has passed, the hash of the file that did.
        hints: how many hints have been given.
    """

    passed: dict[str, str] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Progress":
        """From its file; what is damaged counts for nothing, since checking finds it again."""
        try:
            content = read_json(path)
        except (OSError, ValueError):
            return cls()
        content = content if isinstance(content, dict) else {}
        return cls(_named(content.get("passed"), str), _named(content.get("hints"), int))

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        content = {"passed": self.passed, "hints": self.hints}
        write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())


def _named(content: Any, kind: type) -> dict[str, Any]:
    """What there is to each exercise, if it is of this kind."""
    found = content if isinstance(content, dict) else {}
    return {name: value for name, value in found.items() if isinstance(value, kind)}


class Track:
    """The exercises in a folder.

    Args:
        folder: of the track.

    Attributes:
        progress: what has been reached.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.progress = Progress.read(folder / PROGRESS)

    @classmethod
    def open(cls, folder: Path, *, begin: bool = True) -> "Track":
        """The track in a folder.

        Args:
            folder: where it is, or is to be.
            begin: make it where there is none, and write the files that lack.

        Raises:
            TrackError: the folder is a file, or holds something else; or there is no track, and
                none is to be made there.
            FileError: it cannot be written.
        """
        if folder.exists() and not folder.is_dir():
            raise TrackError(f"{folder} is a file; name a folder")
        begun = is_track(folder)
        if not begun:
            _may_begin(folder, begin)
        track = cls(folder)
        if begin:
            _make(folder)
            if not (folder / PROGRESS).exists():
                track.save()  # first, so that a track that was stopped here is known for one
            track.complete()
        return track

    def complete(self) -> None:
        """Write the skeletons of the exercises that have no file.

        Raises:
            TrackError: a file was renamed.
        """
        files = files_in(self.folder)
        for name, exercise in EXERCISES.items():
            if name in files:
                continue
            if renamed := defining(self.folder, name):
                raise TrackError(
                    f"{file_name(name)} is not there, and {renamed.name} has a function {name}: "
                    f"rename it to {file_name(name)}, or put it into another folder"
                )
            write_atomically(self.folder / file_name(name), skeleton_text(exercise).encode())

    def save(self) -> None:
        """Keep what has been reached.

        Raises:
            FileError: it cannot be written.
            TrackError: the folder is gone.
        """
        if not self.folder.is_dir():
            raise self.gone()
        self.progress.write(self.folder / PROGRESS)

    def refresh(self) -> None:
        """Read what has been reached anew: another command may have given a hint meanwhile."""
        if (self.folder / PROGRESS).exists():
            self.progress = Progress.read(self.folder / PROGRESS)

    def gone(self) -> TrackError:
        """What is to be said where the folder was taken away, or moved, while it was in use."""
        return TrackError(
            f"{self.folder} is gone, or empty. If you have moved it, name it as it is called now: "
            f"{COMMAND} FOLDER"
        )

    def path(self, name: str) -> Path:
        """The file of an exercise."""
        return files_in(self.folder).get(name, self.folder / file_name(name))

    def passed(self, name: str) -> bool:
        """Whether the file as it is now has passed."""
        return self.progress.passed.get(name, "") == _hash(self.path(name))

    def written(self, name: str) -> bool:
        """Whether there is anything but the skeleton; what cannot be read, the check names."""
        path = self.path(name)
        try:
            return read_limited(path, LARGEST) != skeleton_text(find(name)).encode()
        except (OSError, FileError):
            return path.exists()

    @property
    def current(self) -> Exercise | None:
        """The first exercise that has not passed; None at the end."""
        return next((e for name, e in EXERCISES.items() if not self.passed(name)), None)

    @property
    def done(self) -> int:
        """How many have passed."""
        return sum(map(self.passed, EXERCISES))

    def check(self, name: str) -> Result:
        """Check an exercise's file, and keep whether it passes."""
        path = self.path(name)
        before = _hash(path)
        self.refresh()
        if not self.written(name):  # nothing is to be run
            return self._kept(not_written(name), before)
        return self._kept(EXAMINER.check(path, name), before)

    def _kept(self, result: Result, checked: str) -> Result:
        known = self.progress.passed.get(result.exercise)
        if result.passed:
            self.progress.passed[result.exercise] = checked
        else:
            self.progress.passed.pop(result.exercise, None)
        if known != self.progress.passed.get(result.exercise):
            self.save()
        return result

    def hint(self, name: str) -> str:
        """The next hint; the last one stays."""
        self.refresh()
        hints, given = find(name).hints, self.progress.hints.get(name, 0)
        number = min(max(given, 0), len(hints) - 1)
        self.progress.hints[name] = number + 1
        self.save()
        last = (
            f"\nThat was the last one; --solution --name {name} shows ours."
            if number + 1 == len(hints)
            else ""
        )
        return f"Hint {number + 1} of {len(hints)} for {name}: {hints[number]}{last}"

    def reset(self, name: str) -> Path | None:
        """Put the skeleton back; returns where what the reader wrote is now, if it was anything.

        Raises:
            FileError: it cannot be written, and then the reader's file stays as it is.
        """
        self.refresh()
        path, skeleton = self.path(name), skeleton_text(find(name)).encode()
        try:
            written = read_limited(path, LARGEST) if path.exists() else skeleton
        except OSError as error:
            raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
        backup = None
        if written != skeleton:
            backup = self._new_backup(path)
            write_atomically(backup, written)
            write_atomically(path, skeleton)
        self.progress.passed.pop(name, None)
        self.progress.hints.pop(name, None)
        self.save()
        return backup

    def _new_backup(self, path: Path) -> Path:
        number = 1
        while (backup := self.folder / BACKUPS / f"{path.stem}.{number}.py").exists():
            number += 1
        return backup

    def parts(self) -> Parts:
        """The functions of all files that pass, for a model of them."""
        parts = Parts()
        for name in EXERCISES:
            if self.passed(name):
                with guarded(SECONDS, MEMORY) as guard:
                    parts.yours[name] = load(self.path(name), find(name), guard)
        return parts


def is_track(folder: Path) -> bool:
    """Whether a track has been begun there; one without its progress is known by its files."""
    files = files_in(folder)
    return (folder / PROGRESS).exists() or len(files) > len(EXERCISES) // 2


def _may_begin(folder: Path, begin: bool) -> None:
    """Raises TrackError where no track can be, or none is to be made."""
    command = f"{COMMAND} {command_line(folder)}"
    if not begin:
        raise TrackError(f"there is no track in {folder}; this begins one: {command}")
    for outer in folder.absolute().parents:
        if (outer / PROGRESS).exists() and files_in(outer):
            raise TrackError(
                f"{folder} would be inside of another track, {outer}: name that folder, or one "
                "outside of it"
            )
    if folder.exists() and any(path.name[0] != "." for path in folder.iterdir()):
        lost = ""
        if files_in(folder):
            lost = f". If it is a track, put an empty file {PROGRESS} into it, and it is taken up"
        raise TrackError(f"{folder} holds other files; name a new folder, or an empty one{lost}")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"could not make {folder}: {error.strerror or error}") from error


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(read_limited(path, LARGEST)).hexdigest()
    except (OSError, FileError):
        return "not there"
