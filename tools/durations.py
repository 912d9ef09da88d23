"""How long the chapters took before, and so about how long a build still takes."""

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

RECORDED = Path(__file__).with_suffix(".json")  # a copy of a quiet build's _build/durations.json
UNKNOWN = 20.0  # seconds, before anything was ever executed


@dataclass
class Durations:
    """What was measured.

    Attributes:
        chapters: processor seconds by name.
        cells: those of each chapter's longest cell.
        pages: seconds in which Jupyter Book made the pages.
    """

    chapters: dict[str, float] = field(default_factory=dict)
    cells: dict[str, float] = field(default_factory=dict)
    pages: float = UNKNOWN

    @classmethod
    def read(cls, *paths: Path) -> "Durations":
        """From files, of which later ones count more and any may be missing."""
        found = cls()
        for path in paths:
            if path.exists():
                content = json.loads(path.read_text())
                found.chapters |= content["chapters"]
                found.cells |= content["cells"]
                found.pages = content["pages"]
        return found

    def write(self, path: Path) -> None:
        """As JSON, the longest chapter first."""
        content = {"chapters": _rounded(self.chapters), "cells": _rounded(self.cells)}
        path.write_text(json.dumps({**content, "pages": round(self.pages, 1)}, indent=1) + "\n")

    def of(self, name: str) -> float:
        """What a chapter will take: what it took, or for a new one the median of the others."""
        return self.chapters.get(name, statistics.median([*self.chapters.values()] or [UNKNOWN]))

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
        expected = sum(map(self.of, done))
        pace = sum(done.values()) / expected if expected else 1.0
        ahead = [pace * self.of(name) for name in waiting]
        begun = [max(0.0, pace * self.of(name) - ago) for name, ago in running.items()]
        # The chapters fill the workers evenly, but for a long one that is left over.
        chapters = max(sum(ahead + begun) / workers, *begun, *ahead, 0.0)
        return chapters + pace * self.pages


def _rounded(seconds: Mapping[str, float]) -> dict[str, float]:
    longest_first = sorted(seconds.items(), key=lambda item: -item[1])
    return {name: round(value, 1) for name, value in longest_first}


def in_words(seconds: float) -> str:
    """A duration as one says it: "40 seconds", "3 minutes"."""
    if seconds < 100:
        whole = round(seconds, -1) if seconds > 20 else round(seconds)
        number, unit = max(1, int(whole)), "second"
    elif seconds < 100 * 60:
        number, unit = round(seconds / 60), "minute"
    else:
        number, unit = round(seconds / 3600), "hour"
    return f"{number} {unit}{'s' if number != 1 else ''}"
