"""What is made of Lighthouse's reports; Lighthouse itself looks at the pages every night."""

import gzip
import itertools
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.lighthouse import (
    FLOORS,
    TRIES,
    CompressingHandler,
    faults_of,
    main,
    median_scores,
    slowdown_of,
)

from transformer_book.page.widget_pages import serving


def report(**scores: float) -> dict[str, Any]:
    """A report with one audit in each category, of the same score."""
    all_scores = dict.fromkeys(FLOORS, 1.0) | {k.replace("_", "-"): v for k, v in scores.items()}
    return {
        "categories": {
            name: {"score": score, "auditRefs": [{"id": name, "weight": 1}]}
            for name, score in all_scores.items()
        },
        "audits": {
            name: {"score": score, "title": f"About {name}"} for name, score in all_scores.items()
        },
    }


def looks(*speeds: float) -> tuple[Callable[[], dict[str, Any]], list[int]]:
    """A page whose speed is estimated anew at each look, and a list that counts them."""
    reports, counted = itertools.cycle(report(performance=speed) for speed in speeds), [0]

    def look() -> dict[str, Any]:
        counted[0] += 1
        return next(reports)

    return look, counted


def test_a_page_without_faults_is_looked_at_once() -> None:
    look, counted = looks(0.97)
    scores, faults = median_scores(look)
    assert (scores["performance"], faults, counted) == (97, [], [1])


def test_a_slow_moment_of_the_machine_is_tried_again_and_a_slow_page_stays_slow() -> None:
    look, counted = looks(0.6, 0.98, 0.97)
    assert median_scores(look)[0]["performance"] == 98 and counted == [2]
    look, counted = looks(0.6, 0.7, 0.65)
    scores, faults = median_scores(look)
    assert scores["performance"] == 65 and counted == [TRIES]
    assert faults == ["performance: About performance"]


def test_what_is_not_a_matter_of_time_is_not_tried_again() -> None:
    scores, faults = median_scores(lambda: report(accessibility=0.9, best_practices=0.93))
    assert (scores["accessibility"], scores["best-practices"]) == (90, 93)
    assert faults == ["accessibility: About accessibility", "best-practices: About best-practices"]
    assert faults_of(report(seo=0.92)) == ["seo: About seo"]


def test_a_slower_machine_is_slowed_less_to_be_like_the_same_phone() -> None:
    assert slowdown_of([1533, 1533, 9]) == 4  # Lighthouse's own, for a fast desktop
    assert [slowdown_of([index]) for index in (100, 1050, 3000)] == [1, 2.5, 6]


def test_pages_are_sent_compressed_and_pictures_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>one</h1>" * 100)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with serving(tmp_path, CompressingHandler) as address:
        for path, content in (("/", b"<h1>one</h1>" * 100), ("/picture.png", b"\x89PNG")):
            request = urllib.request.Request(address + path, headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request) as answer:
                body, packed = answer.read(), answer.headers["Content-Encoding"] == "gzip"
            assert packed == (path == "/")
            assert (gzip.decompress(body) if packed else body) == content


def test_pages_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["lighthouse", "book/gone", "--root", str(tmp_path)])
    assert main() == 1 and "make book" in capsys.readouterr().err
    (tmp_path / "_build/html").mkdir(parents=True)
    (tmp_path / "_build/book.json").write_text("{}")
    assert main() == 1 and "no page book/gone" in capsys.readouterr().err
