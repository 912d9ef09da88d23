"""How long the chapters took that were built here."""

import statistics
from pathlib import Path

import pytest

from tools.site.chapters import numbered
from tools.site.durations import RECORDED, Durations, measured_in

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 90  # of one quiet core


@pytest.mark.nightly  # what is measured beside other work decides nothing
def test_no_chapter_keeps_its_readers_waiting() -> None:
    """A machine may be slower than the one of the record, for which the limit holds."""
    recorded, here = (Durations.read(path).chapters for path in (RECORDED, measured_in(ROOT)))
    pace = statistics.median(here[name] / recorded[name] for name in here.keys() & recorded.keys())
    assert {*numbered(ROOT)} <= here.keys()
    limit = SECONDS * max(1.0, pace)
    assert {name: here[name] for name in numbered(ROOT) if here[name] > limit} == {}
