"""Checks the project: `.venv/bin/python -m tools.check`, for all of it with `--all`.

`make check` is style, types and the quick tests: a few minutes, before each commit. `make test` is
everything, with every chapter executed and every page in a browser. One step that fails does not
hide the next; the end says what was proved and where its report is.
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.browser import NoBrowserError, ensure_chromium
from tools.front_ends import install, lint
from tools.site.book import build_book
from tools.site.execute import MOST_WORKERS

ROOT = Path(__file__).resolve().parent.parent
# By the markers that pyproject.toml lists.
IN_BROWSER = "(browser or book) and not slides"
ALL_ELSE = "not (browser or book or nightly)"
QUICK = "not (browser or book or slow or nightly)"
REPORTS = ROOT / "_build" / "reports"
# All that it knows without a network, but for what is a matter of taste.
OFFLINE = ["--offline", "--persona=auditor", "--min-severity=medium", "--no-progress", "--quiet"]
ZIZMOR = [str(Path(sys.executable).with_name("zizmor")), *OFFLINE]


@dataclass
class Result:
    """How one step ended."""

    step: str
    passed: bool
    what: str
    seconds: float = 0.0


def run(*arguments: str, **environ: str) -> int:
    """Runs a module of this environment in the project's folder."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.call(command, cwd=ROOT, env={**os.environ, **environ})


def counts(report: Path) -> str:
    """What a JUnit report counted: `12 passed, 1 skipped`."""
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        for key in totals:
            totals[key] += int(suite.get(key, 0))
    failed = totals["failures"] + totals["errors"]
    parts = {"passed": totals["tests"] - failed - totals["skipped"], "failed": failed}
    parts["skipped"] = totals["skipped"]
    return ", ".join(f"{n} {word}" for word, n in parts.items() if n or word == "passed")


def pytest(name: str, *arguments: str, **environ: str) -> Result:
    """One run of pytest, spread over the cores, and counted."""
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    workers = min(os.cpu_count() or 1, MOST_WORKERS)
    spread = ("-n", str(workers), "--dist=worksteal") if workers > 1 else ()
    # Each worker has a core; with more threads than cores they would wait for each other.
    threads = os.environ.get("OMP_NUM_THREADS", "1" if spread else "")
    environ |= {"OMP_NUM_THREADS": threads} if threads else {}
    code = run("pytest", f"--junitxml={report}", *spread, *arguments, **environ)
    what = counts(report) if report.exists() else "did not run"
    return Result("", code == 0, f"{what} ({report.relative_to(ROOT)})")


def style() -> Result:
    """Linters, formatter, spelling."""
    checked = run("ruff", "check", ".") == 0
    formatted = run("ruff", "format", "--check", ".") == 0
    spelled = run("codespell_lib") == 0
    listing = ["git", "ls-files", "*.md"]
    prose = subprocess.check_output(listing, cwd=ROOT, text=True).splitlines()
    british = run("codespell_lib", "--config", "tools/spelling/prose.cfg", *prose) == 0
    workflows = subprocess.call([*ZIZMOR, ".github"], cwd=ROOT) == 0
    passed = checked and formatted and spelled and british and workflows
    return Result("", passed, "ruff check, ruff format, codespell, zizmor")


def types() -> Result:
    """Type checker."""
    return Result("", run("mypy") == 0, "mypy")


def scripts() -> Result:
    """Type checker and linter of the widgets' front ends."""
    if not install(ROOT):
        return Result("", False, "NOT checked: TypeScript and ESLint could not be installed")
    return Result("", lint(ROOT), "TypeScript's checker, ESLint")


def quick() -> Result:
    """The tests that take a moment each."""
    return pytest("quick", "-m", QUICK)


def tests() -> Result:
    """Unit and property tests."""
    return pytest("tests", "-m", ALL_ELSE)


def book() -> Result:
    """Every chapter executed, every page built."""
    try:
        built = build_book(ROOT)
    except OSError as error:
        print(error, file=sys.stderr)
        built = None
    return Result("", built is not None, f"{built}; no warning" if built else "NOT built")


def pages() -> Result:
    """Every page and every widget in a real browser, and widgets in a real JupyterLab."""
    if not (ROOT / "_build" / "book.json").exists():
        return Result("", False, "not tried: the book was not built")
    try:
        chromium = ensure_chromium()
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return Result("", False, "not tried: no Chromium")
    return pytest("pages", "-m", IN_BROWSER, CHROMIUM=chromium)


CHECK: tuple[Callable[[], Result], ...] = (style, types, scripts, quick)
TEST: tuple[Callable[[], Result], ...] = (style, types, scripts, tests, book, pages)


def main(arguments: list[str] | None = None) -> int:
    """Takes all steps, whatever becomes of each."""
    parser = argparse.ArgumentParser("python -m tools.check", description="Checks the project.")
    parser.add_argument("--all", action="store_true", help="with slow tests, chapters and pages")
    steps = TEST if parser.parse_args(arguments).all else CHECK
    REPORTS.mkdir(parents=True, exist_ok=True)
    results = []
    for step in steps:
        print(f"\n== {step.__name__}: {step.__doc__}", flush=True)
        started = time.monotonic()
        result = step()
        result.step, result.seconds = step.__name__, time.monotonic() - started
        results.append(result)

    print("\nWhat was proved:")
    for result in results:
        verdict = "ok    " if result.passed else "FAILED"
        print(f"  {verdict} {result.step:<7} {result.seconds:5.0f} s  {result.what}")
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
