"""How long the chapters took before, and so about how long a build still takes.

They took it on another machine, perhaps, or on a quiet day. So nothing is said of how long they
take here before one has ended here, now or in an earlier build: a short one begins first.
"""

import json
import os
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# A copy of a quiet build's, for the first forecast; it need not have all chapters.
RECORDED = Path(__file__).with_suffix(".json")
UNKNOWN = 20.0  # seconds, before anything was ever executed
# Processor seconds of a chapter that says how fast a machine is: of a shorter one most is the start
# of its kernel, which depends on the disk.
TELLING = 8.0


def measured_in(root: Path) -> Path:
    """Where a book's builds at this scale leave what its chapters took."""
    scale = os.environ.get("TRANSFORMER_SCALE", "")
    return root / "_build" / (f"durations-{scale}.json" if scale else "durations.json")


def known(root: Path) -> "Durations":
    """What is known of a book's chapters before they are executed, or afterwards."""
    return Durations.read(RECORDED, measured_in(root))


@dataclass
class Durations:
    """What was measured.

    Attributes:
        chapters: processor seconds by name.
        cells: those of each chapter's longest cell.
        pages: seconds in which Jupyter Book made the pages.
        here: some of it was measured on this machine, by an earlier build.
    """

    chapters: dict[str, float] = field(default_factory=dict)
    cells: dict[str, float] = field(default_factory=dict)
    pages: float = UNKNOWN
    here: bool = False

    @classmethod
    def read(cls, recorded: Path | None = None, measured: Path | None = None) -> "Durations":
        """From a record of any machine and one of this machine, which counts more.

        Either may be missing. Where this machine's has only some of the chapters, they say how much
        longer than recorded the others take on it.
        """
        found = cls()
        for path in (recorded, measured):
            if path is not None and path.exists():
                content = json.loads(path.read_text())
                new, old = content["chapters"], found.chapters
                both = new.keys() & old.keys()
                expected = sum(old[name] for name in both)
                pace = sum(new[name] for name in both) / expected if expected else 1.0
                found.chapters = {name: pace * value for name, value in old.items()} | new
                found.cells |= content["cells"]
                found.pages = content.get("pages", pace * found.pages)
                found.here = path is measured and bool(new)
        return found

    def write(self, path: Path) -> None:
        """As JSON, the longest chapter first."""
        content: dict[str, Any] = {
            "chapters": _rounded(self.chapters),
            "cells": _rounded(self.cells),
        }
        if self.pages != UNKNOWN:
            content["pages"] = round(self.pages, 1)
        path.write_text(json.dumps(content, indent=1) + "\n")

    def of(self, name: str) -> float:
        """What a chapter will take: what it took, or for a new one the median of the others."""
        return self.chapters.get(name, statistics.median([*self.chapters.values()] or [UNKNOWN]))

    def order(self, names: Iterable[str]) -> list[str]:
        """In which order chapters begin: the longest first, since begun last, they would run alone.

        Before them comes one that soon says how fast this machine is, if that is not known.
        """
        order = sorted(names, key=self.of, reverse=True)
        telling = [name for name in order if self.of(name) >= TELLING]
        if telling and not self.here:
            order.remove(telling[-1])
            order.insert(0, telling[-1])
        return order

    def left(
        self,
        waiting: Iterable[str],
        running: Mapping[str, float],
        done: Mapping[str, float],
        workers: int,
    ) -> float:
        """The seconds until the book is built.

        Args:
            waiting: the chapters that have not begun.
            running: for how many seconds those have run that have not ended.
            done: how many seconds those took that have; they say how fast this machine is.
            workers: how many run side by side.
        """
        pace = self._pace(running, done)
        ahead = [pace * self.of(name) for name in waiting]
        begun = [max(0.0, pace * self.of(name) - ago) for name, ago in running.items()]
        # The chapters fill the workers evenly, but for a long one that is left over.
        chapters = max(sum(ahead + begun) / workers, *begun, *ahead, 0.0)
        return chapters + pace * self.pages

    def _pace(self, running: Mapping[str, float], done: Mapping[str, float]) -> float:
        """How many times as long as before the chapters take.

        One that runs for longer than those that have ended let expect is evidence before it ends.
        """
        took, expected = sum(done.values()), sum(map(self.of, done))
        pace = took / expected if expected else 1.0
        late = {name: ago for name, ago in running.items() if ago > pace * self.of(name)}
        expected += sum(map(self.of, late))
        return (took + sum(late.values())) / expected if expected else 1.0


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    longest_first = sorted(seconds.items(), key=lambda item: -item[1])
    return {name: round(value, 1) for name, value in longest_first}


def in_words(seconds: float) -> str:
    """A duration as one says it, no more exact than another machine would confirm."""
    if seconds < 55:
        return f"{max(5, 5 * round(seconds / 5))} seconds"
    if seconds < 100 * 60:
        minutes = round(seconds / 60)
        return "a minute" if minutes == 1 else f"{minutes} minutes"
    hours = round(seconds / 3600)
    return "an hour" if hours == 1 else f"{hours} hours"
