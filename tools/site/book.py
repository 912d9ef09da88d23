"""Builds the book: `.venv/bin/python -m tools.site.book`. `make book` calls it.

Jupyter Book does the work. This adds what it leaves to its user:

- executions are cached by the text of a chapter; here also by what it imports and which results it
  reads (`keys.py`);
- chapters are executed one after another, against the clock; `execute.py` executes them side by
  side, says how far it is, and stops only what makes no progress;
- Sphinx forgets the warnings of a build that failed, and the next one passes: here only a build
  that succeeded is ever continued;
- one failing cell ends in a readable report instead of pages of log.
"""

import argparse
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tools.site import is_book
from tools.site.durations import Durations, in_words, known, measured_in
from tools.site.keys import Sources, digest, execution_key, files_under, site_key, wheel_key

AFTERWARDS = ("html/reports", "html/slides")  # beside the book's pages, made after them
ANSI = re.compile(r"\x1b\[[0-9;]*m")
PROBLEM = re.compile(
    r"(WARNING|ERROR|CRITICAL|Exception occurred|Extension error|Sphinx error|^sphinx.errors.Exten)"
)
NOISE = re.compile(r"^\[IPKernelApp\]|exception traceback saved|debugger will be slow")


@dataclass
class Built:
    """A book that was built: all its pages, the notebooks among them, those executed just now."""

    pages: int
    notebooks: int
    executed: int

    def __str__(self) -> str:
        """Says it in words."""
        cached = self.notebooks - self.executed
        return (
            f"{self.pages} pages, {self.notebooks} of them notebooks; "
            f"{self.executed} executed now, {cached} from the cache"
        )


class NotBuiltError(Exception):
    """Why there is no book, in a line; what cells and pages complain of was said before."""


@dataclass
class Outcome:
    """What one run of Jupyter Book did."""

    problems: list[str] = field(default_factory=list)
    code: int = 1


def forget(build: Path, *names: str) -> None:
    """Removes parts of an earlier build."""
    for name in names:
        shutil.rmtree(build / name, ignore_errors=True)


def kernel_environ(root: Path) -> dict[str, str]:
    """The kernels are this environment's, with none of the user's own start-up files.

    Packages are compiled when they are first imported, and what a newer Python then says of their
    text is no output of a chapter.
    """
    return {
        "PYTHONWARNINGS": "ignore::SyntaxWarning",
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(root / "_build" / ".ipython"),
        "PYTHONPATH": os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


def run_jupyter_book(root: Path, log_path: Path) -> Outcome:
    """Runs Jupyter Book with every warning an error."""
    outcome = Outcome()
    ours = {"NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **kernel_environ(root)}
    environ = {**os.environ, **ours}
    # Millions of nodes that stay: to look for garbage among them took a fifth of the time.
    jupyter_book = (
        "import gc, sys; gc.set_threshold(100_000, 20, 100); "
        "from jupyter_book.cli.main import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", jupyter_book, "build", str(root), "-W", "-n", "--keep-going"]
    with log_path.open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        for raw in process.stdout:
            line = ANSI.sub("", raw).rstrip()
            log.write(line + "\n")
            if PROBLEM.search(line) and not NOISE.search(line):
                outcome.problems.append(line.replace(f"{root}/", ""))
            elif outcome.problems and outcome.problems[-1].endswith(":"):
                outcome.problems.append(f"  {line}")
        outcome.code = process.wait()
    return outcome


def show_failure(outcome: Outcome, log_path: Path) -> None:
    """The few lines that say what to mend."""
    if outcome.problems:
        print("", *dict.fromkeys(outcome.problems), sep="\n", file=sys.stderr)
    else:
        print("", *log_path.read_text().splitlines()[-15:], sep="\n  ", file=sys.stderr)
    print(f"\nThe whole log: {log_path}", file=sys.stderr)


def show_success(build: Path, built: Built, seconds: float) -> None:
    """What was built and where to open it."""
    print(
        f"\nThe book: {built} ({seconds:.0f} s)."
        f"\n  open      {(build / 'html' / 'index.html').as_uri()}"
        f"\n  or serve  python3 -m http.server -d {shlex.quote(str(build / 'html'))} 8000"
        f"\n  notebooks {build / 'html' / 'notebooks'}",
        flush=True,
    )


def warm_up() -> None:
    """Lets matplotlib look for fonts now: in a chapter it would say so on stderr."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    try:
        import matplotlib.font_manager  # noqa: F401
    except ImportError:
        return


def publish_notebooks(root: Path, names: Iterable[str]) -> None:
    """Puts the notebooks on the site, with the wheel that they install."""
    from tools.site.formats.notebooks import (
        DirectiveError,
        WheelError,
        build_wheel,
        write_notebooks,
    )

    out = root / "_build/html/notebooks"
    try:
        wheel = build_wheel(root, out)
        write_notebooks(root, out, [root / f"{name}.md" for name in names], wheel.name)
    except (DirectiveError, WheelError) as error:
        raise NotBuiltError(str(error)) from error


def build_book(root: Path, **limits: float) -> Built:
    """Builds the book of a folder into its `_build/html`.

    `limits` are those of `tools.site.execute.Limits`.

    Raises:
        NotBuiltError: it could not be built.
    """
    from tools.site.chapters import Chapter, chapters
    from tools.site.execute import Execution, Limits

    started = time.monotonic()
    build = root / "_build"
    build.mkdir(exist_ok=True)
    documents = chapters(root)
    sources = {name: root / f"{name}.md" for name in documents}
    missing = [name for name, path in sources.items() if not path.exists()]
    if missing:
        raise NotBuiltError(f"_toc.yml names chapters that do not exist: {', '.join(missing)}")

    keys = {
        "execution": execution_key(root),
        "site": site_key(root),
        "chapters": digest(root, files_under(root / "book")),
        "wheel": wheel_key(root),
    }
    found = {name: Chapter(path) for name, path in sources.items()}
    notebooks = {name: path for name, path in sources.items() if found[name].is_notebook}
    state_path = build / "book.json"
    state = json.loads(state_path.read_text()) if state_path.exists() else {}
    old = state.get("keys", {})
    same = (build / "html" / "index.html").exists() and {**old, "wheel": keys["wheel"]} == keys
    if same:
        # Another commit, say, whose module and pages are the same: only what names it is made anew.
        if old.get("wheel") != keys["wheel"]:
            publish_notebooks(root, notebooks)
        state_path.write_text(json.dumps({**state, "keys": keys}, indent=2) + "\n")
        built = Built(state["pages"], state["notebooks"], executed=0)
        show_success(build, built, time.monotonic() - started)
        return built

    state_path.unlink(missing_ok=True)
    forget(build, *AFTERWARDS)
    if (old.get("execution"), old.get("site")) != (keys["execution"], keys["site"]):
        forget(build, ".doctrees", "html", "jupyter_execute")

    warm_up()
    log_path, kernels = build / "book.log", build / "kernels.log"
    measured = measured_in(root)
    durations, ours = known(root), Durations.read(measured=measured)
    code = {name: ["\n".join(cell.body) for cell in found[name].cells] for name in notebooks}
    packages = Sources(root)
    code_keys = {name: packages.key(cells) for name, cells in code.items()}
    cache = build / ".jupyter_cache"
    execution = Execution(cache, notebooks, durations, Limits(**limits), keys=code_keys)
    usual = f"about {in_words(execution.left())}"
    if not durations.here:
        usual += " on two quiet cores; how long here is not known so far"
    print(f"Building the book: {usual}", flush=True)
    kernels.unlink(missing_ok=True)
    executed = execution.executed
    try:
        execution.run(kernel_environ(root), kernels)
    finally:  # interrupted, too
        ours.chapters |= execution.before.seconds | executed.seconds
        ours.cells |= execution.before.cells | executed.cells
        ours.write(measured)
    if executed.failures:
        # Their pages would lack what their cells put out.
        print("", "\n\n".join(executed.failures.values()), sep="\n", file=sys.stderr)
        raise NotBuiltError(f"these of its chapters failed: {', '.join(executed.failures)}")
    begun, anew = time.monotonic(), not (build / "html").exists()
    print(f"  the pages{execution.forecast()}", flush=True)
    cached = execution.cached()
    outcome = run_jupyter_book(root, log_path)
    for _, path in execution.cached() - cached:
        name = Path(path).relative_to(root)
        outcome.problems.append(
            f"{name}: Jupyter Book missed its outputs, and executed it unwatched"
        )
    if outcome.code != 0 or outcome.problems:
        show_failure(outcome, log_path)
        raise NotBuiltError("Jupyter Book had something to complain of")
    publish_notebooks(root, notebooks)
    if anew:
        ours.pages = time.monotonic() - begun
        ours.write(measured)
    built = Built(len(sources), len(notebooks), len(executed.seconds))
    state = {"keys": keys, "pages": built.pages, "notebooks": built.notebooks}
    state["documents"] = documents
    state_path.write_text(json.dumps(state, indent=2) + "\n")
    show_success(build, built, time.monotonic() - started)
    return built


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the folder with _toc.yml")
    parser.add_argument(
        "--print-key",
        action="store_true",
        help="print the key of the outputs, for which a cache of them is good, and stop",
    )
    parser.add_argument(
        "--idle",
        type=float,
        metavar="SECONDS",
        help="stop a cell whose kernel does nothing for so long",
    )
    parser.add_argument(
        "--processor",
        type=float,
        metavar="SECONDS",
        help="stop a cell that has used so much processor time, for each of its threads",
    )
    options = parser.parse_args()
    root = options.root.resolve()
    if not is_book(root):
        return 1
    if options.print_key:
        print(execution_key(root))
        return 0
    given = {"idle": options.idle, "processor": options.processor}
    limits = {name: seconds for name, seconds in given.items() if seconds is not None}
    from transformer_book.scales import scale

    try:
        scale()
    except ValueError as error:  # told before anything of an earlier book is taken away
        print(f"The book was NOT built: {error}", file=sys.stderr)
        return 1
    try:
        build_book(root, **limits)
    except (NotBuiltError, OSError) as error:
        print(f"\nThe book was NOT built: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; what was executed stays in the cache.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
