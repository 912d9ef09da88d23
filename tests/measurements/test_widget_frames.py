"""The measurement of the widgets runs, moves every control, and says what it lacks."""

import subprocess
import sys

import pytest

from measurements import widget_frames

from transformer_book import widgets


@pytest.fixture(scope="module")
def result(browser, site):
    return widget_frames.measure_all(site, browser, n_steps=1)


def test_each_widget_is_moved_and_draws(result):
    measured = [(r["widget"], r["content"], r["control"]) for r in result["results"]]
    assert {name for name, _, _ in measured} <= set(widgets.__all__)
    assert len(set(measured)) == len(measured)
    for r in result["results"]:
        assert r["steps"] == 1
        assert r["frames_per_step"] >= 1
        assert r["median_ms"] == r["quickest_ms"] > 0
        # Another sentence's heads come a layer in each frame.
        assert r["control"] != "example" or r["frames_per_step"] >= 6


def test_the_table_names_what_is_over_the_limit(result):
    assert len(widget_frames.table(result).splitlines()) == 3 + len(result["results"]) + 1
    for milliseconds, over in ((15.9, 0), (16.1, len(result["results"]))):
        for r in result["results"]:
            r["median_ms"] = milliseconds
        assert widget_frames.table(result).count("over the limit") == over


def test_a_control_that_draws_nothing_has_no_time(browser, site):
    case = widget_frames.Case("3 curves", widgets.ScheduleExplorer, "no_trait", (1, 2))
    with pytest.raises(RuntimeError, match="ScheduleExplorer draws nothing when no_trait changes"):
        widget_frames.measure(case, site, browser, n_steps=2)


@pytest.mark.slow
def test_without_a_browser_a_sentence_says_so_and_nothing_is_recorded(monkeypatch, tmp_path):
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "chromium"))
    out = tmp_path / "out.json"
    code = "import sys; from measurements.__main__ import main; sys.exit(main(sys.argv[1:]))"
    # In a process of its own: one drives a single browser, and the tests have theirs.
    done = subprocess.run(
        [sys.executable, "-c", code, "widget_frames", "--quick", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("widget_frames is left out. There is no Chromium that starts.")
    assert not out.exists()
