"""A track in a folder: a file for each exercise, and what has been reached.

Nothing that a reader wrote is ever overwritten. What has been reached is kept with the hash of the
file that passed: a file that was changed since is checked again.
"""

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from transformer.exercises.catalogue import EXERCISES
from transformer.exercises.checking import MEMORY, SECONDS, check, find
from transformer.exercises.exercise import Exercise
from transformer.exercises.faults import STILL_RUNS
from transformer.exercises.guard import guarded
from transformer.exercises.result import Result
from transformer.exercises.track.files import defining, file_name, files_in, skeleton_text
from transformer.exercises.track.load import LoadError, load
from transformer.exercises.track.parts import Parts
from transformer.files import FileError, read_json, write_atomically

PROGRESS = "progress.json"
BACKUPS = "backups"


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
        """Whole or not at all."""
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
    def open(cls, folder: Path) -> "Track":
        """The track in a folder, which is made where there is none; files that lack are written.

        Raises:
            TrackError: the folder is a file, or holds something else.
            FileError: it cannot be written.
        """
        if folder.exists() and not folder.is_dir():
            raise TrackError(f"{folder} is a file; name a folder")
        begun = (folder / PROGRESS).exists()
        if not begun and folder.exists() and any(p.name[0] != "." for p in folder.iterdir()):
            raise TrackError(f"{folder} holds other files; name a new folder, or an empty one")
        track = cls(folder)
        if not begun:
            track.save()  # first, so that a track that was stopped here is known for one
        track.complete()
        return track

    def complete(self) -> None:
        """Write the skeletons of the exercises that have no file.

        Raises:
            TrackError: a file was renamed.
        """
        found = files_in(self.folder)
        for name, exercise in EXERCISES.items():
            if name in found:
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
        """
        self.progress.write(self.folder / PROGRESS)

    def refresh(self) -> None:
        """Read what has been reached anew: another command may have given a hint meanwhile."""
        self.progress = Progress.read(self.folder / PROGRESS)

    def path(self, name: str) -> Path:
        """The file of an exercise."""
        return files_in(self.folder).get(name, self.folder / file_name(name))

    def passed(self, name: str) -> bool:
        """Whether the file as it is now has passed."""
        return self.progress.passed.get(name, "") == _hash(self.path(name))

    def written(self, name: str) -> bool:
        """Whether there is anything but the skeleton."""
        try:
            return self.path(name).read_bytes() != skeleton_text(find(name)).encode()
        except OSError:
            return False

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
        path, exercise = self.path(name), find(name)
        before = _hash(path)
        self.refresh()
        with guarded(SECONDS, MEMORY) as guard:
            try:
                function = load(path, exercise, guard)
            except LoadError as error:
                printed = guard.printed.text
                return self._kept(Result(name, False, str(error), printed=printed), before)
        result = check(function, name)
        # There is no kernel to restart.
        stop = STILL_RUNS.replace("restart the kernel", "stop this command")
        sentence = result.sentence.replace(STILL_RUNS, stop)
        return self._kept(replace(result, sentence=sentence), before)

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
            written = path.read_bytes() if path.exists() else skeleton
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


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "not there"
