"""Checks the project: `.venv/bin/python -m tools.check check`, or `test`, or `prove`.

Three circles, each around the one before. `make check` is style, types and the quick tests: a few
minutes, before each commit. `make test` executes every chapter besides, opens every page once and
moves every widget once: about 15 minutes on two quiet cores, before a change is sent. `make prove`
is all there is, at night and before a release: slow tests, each page in each view, JupyterLab,
slides. Its steps can be taken by name: `make prove ONLY="slow widgets"`.

One step that fails does not hide the next. The end says what was proved, where its report is, what
took long, and, where something is red, which tests, and the command that runs just those; the
reports have it, too (`summary.txt`).
"""

import argparse
import multiprocessing
import os
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tools.browser import NoBrowserError, ensure_chromium, ensure_firefox
from tools.front_ends import install, lint
from tools.site.book import NotBuiltError, build_book
from tools.site.execute import MOST_WORKERS

ROOT = Path(__file__).resolve().parent.parent
# By the markers that pyproject.toml lists.
QUICK = "not (browser or book or slides or slow or nightly)"
SLOW = "(slow or nightly) and not (browser or book or slides)"
FIRST_LOOK = "smoke or (book and not (browser or nightly))"
SMOKE = ("tests/book", "tests/transformer_book/widgets")  # where they are: half of all to collect
REPORTS = ROOT / "_build" / "reports"
BUILT = ROOT / "_build" / "book.json"  # there is one after a build that succeeded
# All that it knows without a network, but for what is a matter of taste.
OFFLINE = ["--offline", "--persona=auditor", "--min-severity=medium", "--no-progress", "--quiet"]
ZIZMOR = [str(Path(sys.executable).with_name("zizmor")), *OFFLINE]
NO_BOOK = "not tried: the book was not built (make book)"
IN_FIREFOX = "--engine=firefox"
GIVEN = ("CI", "TRANSFORMER_TEST_DATA")  # what a test sees of its surroundings
LONG = 3.0  # seconds that a test without the marker `slow` should not take
SHOWN = 10  # of the slowest tests


@dataclass
class Case:
    """One test, as pytest has reported it: tried once, or once more."""

    name: str
    seconds: float = 0.0
    failed: bool = False
    skipped: bool = False
    slow: bool = False
    tries: int = 0


@dataclass
class Result:
    """How one step ended."""

    passed: bool
    what: str
    cases: list[Case] = field(default_factory=list)
    step: str = ""
    seconds: float = 0.0


def run(*arguments: str, **environ: str) -> int:
    """Runs a module of this environment in the project's folder."""
    command = [sys.executable, "-m", *arguments]
    return subprocess.call(command, cwd=ROOT, env={**os.environ, **environ})


def cases(report: Path) -> list[Case]:
    """The tests of a JUnit report, by the names that pytest takes."""
    found: dict[str, Case] = {}
    for one in ElementTree.parse(report).getroot().iter("testcase"):
        path, test = one.get("classname", ""), one.get("name", "")
        if not path:  # a file that cannot be imported
            path, test = test, ""
        parts = path.split(".")  # of the file's path, then of classes
        ends = (n for n in range(len(parts), 0, -1) if (ROOT / "/".join(parts[:n])).is_dir())
        folders = next(ends, 0)
        file = "/".join(parts[: folders + 1]) + ".py"
        name = "::".join(filter(None, [file, *parts[folders + 1 :], test]))
        case = found.setdefault(name, Case(name))
        kinds = {child.tag for child in one}
        case.seconds += float(one.get("time", 0))
        case.failed, case.skipped = bool(kinds & {"failure", "error"}), "skipped" in kinds
        case.slow = any(mark.get("name") == "slow" for mark in one.iter("property"))
        case.tries += 1
    return [*found.values()]


def counts(found: list[Case]) -> str:
    """How many there are of each kind: `12 passed, 1 skipped`."""
    failed, skipped = sum(c.failed for c in found), sum(c.skipped for c in found)
    parts = {"passed": len(found) - failed - skipped, "failed": failed, "skipped": skipped}
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
    # What passes at the second try says why it failed at the first.
    options = (f"--junitxml={report}", "--rerun-show-tracebacks")
    code = run("pytest", *options, *spread, *arguments, **environ)
    found = cases(report) if report.exists() else []
    what = counts(found) if report.exists() else "did not run"
    return Result(code == 0, f"{what} ({report.relative_to(ROOT)})", found)


def in_chromium(name: str, *arguments: str, of_book: bool = False) -> Result:
    """One run of pytest with a browser; `of_book`: on pages that have to be there."""
    if of_book and not BUILT.exists():
        return Result(False, NO_BOOK)
    try:
        chromium = ensure_chromium()
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return Result(False, "not tried: no Chromium")
    return pytest(name, *arguments, CHROMIUM=chromium)


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
    return Result(passed, "ruff check, ruff format, codespell, zizmor")


def types() -> Result:
    """Type checker."""
    return Result(run("mypy") == 0, "mypy")


def scripts() -> Result:
    """Type checker and linter of the widgets' front ends."""
    if not install(ROOT):
        return Result(False, "NOT checked: TypeScript and ESLint could not be installed")
    return Result(lint(ROOT), "TypeScript's checker, ESLint")


def quick() -> Result:
    """The tests that take a moment each."""
    return pytest("quick", "-m", QUICK)


def slow() -> Result:
    """The tests that take longer, and those of the night."""
    return pytest("slow", "--ignore=tests/live", "-m", SLOW)


def book() -> Result:
    """Every chapter executed, every page built."""
    try:
        return Result(True, f"{build_book(ROOT)}; no warning")
    except (NotBuiltError, OSError) as error:
        return Result(False, f"NOT built; {error}")


def look() -> Result:
    """Every page opened once in a real browser, every widget moved once, a sentence translated."""
    if BUILT.exists():
        return in_chromium("look", *SMOKE, "-m", FIRST_LOOK)
    result = in_chromium("look", *SMOKE[1:], "-m", FIRST_LOOK)
    return replace(result, passed=False, what=f"no book, so no page; of the widgets {result.what}")


def pages() -> Result:
    """Every page in every view: at a desk and on a phone, by day and by night, from the disk."""
    elsewhere = "--ignore=tests/book/test_webkit.py"  # it needs a screen
    return in_chromium("pages", "tests/book", elsewhere, "-m", "not slides", of_book=True)


def widgets() -> Result:
    """Everything about widgets and exports that needs a browser."""
    elsewhere = ("--ignore=tests/book", "--ignore=tests/live", "--ignore=tests/slides")
    return in_chromium("widgets", "tests", *elsewhere, "-m", "browser and not slides")


def lab() -> Result:
    """Every widget in a real JupyterLab, ours and the one with Colab's ipywidgets."""
    return in_chromium("lab", "tests/live")


def firefox() -> Result:
    """What a Firefox shows too: each page at a desk and on a phone, each widget, a translation."""
    if not BUILT.exists():
        return Result(False, NO_BOOK)
    try:
        ensure_firefox()
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return Result(not os.environ.get("CI"), "NOT tried: no Firefox that is new enough")
    return pytest("firefox", *SMOKE, "-m", "firefox", IN_FIREFOX)


def slides() -> Result:
    """Every deck made, every slide seen."""
    if run("tools.site.formats.slides") != 0:
        return Result(False, "NOT made")
    return in_chromium("slides", "tests", "-m", "slides")


Step = Callable[[], Result]
CHECK: tuple[Step, ...] = (style, types, scripts, quick)
TEST: tuple[Step, ...] = (*CHECK, book, look)
PROVE: tuple[Step, ...] = (*CHECK, slow, book, pages, widgets, lab, firefox, slides)
CIRCLES = {"check": CHECK, "test": TEST, "prove": PROVE}
BROWSERS = {look, pages, widgets, lab, firefox, slides}
SIDE_BY_SIDE = {style, types, scripts}  # each keeps hardly more than one core busy
LONGEST = types  # of them: what comes next begins beside it


def _loop() -> None:
    while True:
        pass


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many loops that keep a core busy each, while something else is tried."""
    loops = [multiprocessing.Process(target=_loop, daemon=True) for _ in range(processes)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()


def take(step: Step, busy: int = 0) -> Result:
    """Takes one step, timed; beside `busy` loops if it is one in a browser."""
    print(f"\n== {step.__name__}: {step.__doc__}", flush=True)
    started = time.monotonic()
    with load(busy if step in BROWSERS else 0):
        result = step()
    result.step, result.seconds = step.__name__, time.monotonic() - started
    return result


def closing(results: list[Result], seconds: float) -> Iterator[str]:
    """The last lines: seconds by step and of all, what took long, what is unsteady or red."""
    found = [case for result in results for case in result.cases]
    slowest = sorted(found, key=lambda case: -case.seconds)[:SHOWN]
    if slowest:
        yield "\nThe slowest tests:"
        yield from (f"  {case.seconds:5.1f} s  {case.name}" for case in slowest)
    long = [case for case in found if case.seconds > LONG and not case.slow]
    if long:
        yield f"\nMore than {LONG:g} s, and not marked `slow`:"
        yield from (f"  {case.seconds:5.1f} s  {case.name}" for case in long)
    unsteady = [case for case in found if case.tries > 1 and not case.failed]
    if unsteady:
        yield "\nUNSTEADY, passed at the second try; a defect, of the test or of what it tests:"
        yield from (f"  {case.name}" for case in unsteady)

    yield "\nWhat was proved:"
    for result in results:
        verdict = "ok    " if result.passed else "FAILED"
        yield f"  {verdict} {result.step:<7} {result.seconds:5.0f} s  {result.what}"
    yield f"  {'':<14} {seconds:5.0f} s"
    red: dict[str, list[str]] = {}  # by what pytest has to be told besides
    for result in results:
        names = [case.name for case in result.cases if case.failed]
        if names:
            red.setdefault(IN_FIREFOX if result.step == "firefox" else "", []).extend(names)
    without_tests = [r.step for r in results if not (r.passed or any(c.failed for c in r.cases))]
    if red:
        yield "\nRed:"
        yield from (f"  {name} {engine}".rstrip() for engine in red for name in red[engine])
    if red or without_tests:
        yield "\nJust those:"
    if red:
        given = {name: os.environ[name] for name in GIVEN if os.environ.get(name)}
        settings = [f"{name}={shlex.quote(value)}" for name, value in given.items()]
        start = " ".join([*settings, ".venv/bin/python -m pytest"])
        for engine, names in red.items():
            yield "  " + " ".join(filter(None, [start, engine, *map(shlex.quote, names)]))
    if without_tests:
        circle = "test" if "look" in without_tests else "prove"
        yield f"  .venv/bin/python -m tools.check {circle} --only '{' '.join(without_tests)}'"


def main(arguments: list[str] | None = None) -> int:
    """Takes all steps of a circle, whatever becomes of each."""
    parser = argparse.ArgumentParser("python -m tools.check", description="Checks the project.")
    parser.add_argument("circle", nargs="?", choices=CIRCLES, default="check")
    parser.add_argument("--only", default="", help="names of steps, of those that the circle has")
    parser.add_argument("--under-load", action="store_true", help="the browser's beside busy loops")
    asked = parser.parse_args(arguments)
    steps = {step.__name__: step for step in CIRCLES[asked.circle]}
    wanted = asked.only.replace(",", " ").split() or [*steps]
    if unknown := [name for name in wanted if name not in steps]:
        parser.error(f"no step is called {', '.join(unknown)}; there are {', '.join(steps)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    due = [step for name, step in steps.items() if name in wanted]
    with ThreadPoolExecutor() as pool:
        beside = {step: pool.submit(take, step) for step in due if step in SIDE_BY_SIDE}
        wait(taken for step, taken in beside.items() if step is not LONGEST)
        others = [take(step, 3 * asked.under_load) for step in due if step not in SIDE_BY_SIDE]
        results = [*(taken.result() for taken in beside.values()), *others]
    said = "\n".join(closing(results, time.monotonic() - started))
    print(said)
    (REPORTS / "summary.txt").write_text(said.lstrip() + "\n")
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
