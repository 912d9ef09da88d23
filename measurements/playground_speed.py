"""How long a reader waits until the model in the page has learned, by the clock.

Each run has a page of its own, opened for the first time, and a press on its button. Times by the
clock want a machine that does nothing else.
"""

import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from measurements.needs import chromium
from measurements.parts import Parts

from transformer_book.page.widget_pages import WidgetSite, widget_site
from transformer_book.widgets import TrainingPlayground
from transformer_book.widgets.training_playground import TASKS

SEEDS = tuple(range(1, 11))
SLOW_DOWN = (1, 4, 6)  # by Chromium's own brake; 4 stands for a phone
ENGINES = ("simd", "plain")  # with WebAssembly, and without
STEPS = 2000  # more than any of the recorded runs needed
PARTS = Path("runs", "playground_speed.json")
NO_WEBASSEMBLY = "delete globalThis.WebAssembly;"
# Presses Train; when it has answered and is drawn, how far frames were apart, when it had learned.
PRESS = """(place) => new Promise((done) => {
  const { model } = place;
  const button = place.querySelector(".tfw-play-train");
  const began = performance.now();
  const frames = [];
  const frame = (now) => {
    if (button.textContent === "Pause") frames.push(now);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  let drawn = null;
  model.on("change:training", () => {
    if (model.get("training")) return;
    done({ seconds: (performance.now() - began) / 1000, steps: model.get("trained"), press: drawn,
      apart: frames.slice(1).map((now, i) => now - frames[i]) });
  });
  button.click();
  requestAnimationFrame(() => setTimeout(() => { drawn = performance.now() - began; }));
})"""


def cases() -> Iterator[dict[str, Any]]:
    """Every task as fast as it goes, and to copy with the picture at a step a frame too."""
    for slow_down in SLOW_DOWN:
        for engine in ENGINES:
            for task in TASKS:
                yield {"task": task, "fast": True, "engine": engine, "slow_down": slow_down}
            yield {"task": "copy", "fast": False, "engine": engine, "slow_down": slow_down}


def press(
    browser: Browser, site: WidgetSite, case: Mapping[str, Any], seed: int, steps: int = STEPS
) -> dict[str, Any]:
    """One run, from the press to its end."""
    widget = TrainingPlayground(case["task"], seed=seed, fast=case["fast"], steps=steps)
    opened = site.open(browser, widget)
    page = opened.page
    page.emulate_media(reduced_motion="no-preference")
    if case["engine"] == "plain":
        page.add_init_script(NO_WEBASSEMBLY)
    page.reload()
    page.wait_for_selector(".widget-place[data-state=live]")
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": case["slow_down"]})
    found: dict[str, Any] = opened.widget.evaluate(PRESS)
    page.context.close()
    if opened.complaints:
        raise RuntimeError(f"the page complained: {'; '.join(opened.complaints)}")
    return {**found, "learned": found["steps"] < steps}


def measured(
    browser: Browser, site: WidgetSite, case: Mapping[str, Any], seeds: Sequence[int], steps: int
) -> dict[str, Any]:
    """A case's runs in a few numbers."""
    found = [press(browser, site, case, seed, steps) for seed in seeds]
    gaps = sorted(gap for one in found for gap in one["apart"])

    def extent(name: str, decimals: int) -> dict[str, float]:
        values = [one[name] for one in found]
        return {
            "median": round(statistics.median(values), decimals),
            "worst": round(max(values), decimals),
        }

    return {
        **case,
        "runs": len(found),
        "learned": sum(one["learned"] for one in found),
        "seconds": extent("seconds", 2),
        "first_press_ms": extent("press", 0),
        "frames_apart_ms": {
            "95 %": round(gaps[int(0.95 * (len(gaps) - 1))], 1),
            "worst": round(gaps[-1], 1),
        },
    }


def run(quick: bool = False, parts: Path | None = PARTS) -> dict[str, Any]:
    """All cases, ten seeds each.

    Args:
        quick: 20 steps of one seed.
        parts: where finished cases are kept; a run that was interrupted goes on from there.
    """
    seeds, steps = (SEEDS[:1], 20) if quick else (SEEDS, STEPS)
    part = Parts(None if quick else parts, {"seeds": seeds})
    with (
        tempfile.TemporaryDirectory() as folder,
        widget_site(Path(folder)) as site,
        chromium() as browser,
    ):
        results = [
            part(
                " ".join(map(str, case.values())),
                partial(measured, browser, site, case, seeds, steps),
            )
            for case in cases()
        ]
        version = browser.version
    return {"seed": SEEDS[0], "chromium": version, "seeds": list(seeds), "results": results}


def table(result: dict[str, Any]) -> str:
    """The results for the eye."""
    lines = [
        "Seconds by the clock from the press to a model that has learned; milliseconds until the "
        "press is answered, and between two frames",
        f"{'task':<9} {'pace':<13} {'engine':<6} {'slowed':>6} {'learned':>9} {'median':>7} "
        f"{'worst':>6} {'press':>6} {'95 %':>6} {'worst':>6}",
    ]
    for r in result["results"]:
        pace = "all it can" if r["fast"] else "step a frame"
        frames = r["frames_apart_ms"]
        lines.append(
            f"{r['task']:<9} {pace:<13} {r['engine']:<6} {r['slow_down']:>6} "
            f"{r['learned']:>3} of {r['runs']:>2} {r['seconds']['median']:>7.2f} "
            f"{r['seconds']['worst']:>6.2f} {r['first_press_ms']['worst']:>6.0f} "
            f"{frames['95 %']:>6.1f} {frames['worst']:>6.1f}"
        )
    lines.append(f"  Chromium {result['chromium']}")
    return "\n".join(lines)
