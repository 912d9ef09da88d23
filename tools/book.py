"""Builds the book: `.venv/bin/python -m tools.book`. `make book` calls it.

Jupyter Book does the work. This adds what it leaves to its user:

- executions are cached by the text of a chapter; here also by the module that the chapters import;
- chapters are executed one after another, against the clock; `tools/execute.py` executes them side
  by side, says how far it is, and stops only what makes no progress;
- Sphinx forgets the warnings of a build that failed, and the next one passes: here only a build
  that succeeded is ever continued;
- one failing cell ends in a readable report instead of pages of log.
"""

import argparse
import hashlib
import json
import logging
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.durations import RECORDED, Durations, in_words

AFTERWARDS = ("html/reports", "html/slides")  # beside the book's pages, made after them
FRONT_ENDS = "transformer/widgets/front_ends"
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


@dataclass
class Outcome:
    """What one run of Jupyter Book did."""

    problems: list[str] = field(default_factory=list)
    code: int = 1


def is_book(root: Path) -> bool:
    """Whether a folder has a `_toc.yml`; where it has none, the user is told so."""
    found = (root / "_toc.yml").is_file()
    if not found:
        print(f"there is no book in {root} (no _toc.yml); name its folder", file=sys.stderr)
    return found


def chapters(root: Path) -> list[str]:
    """The documents of `_toc.yml`, in order, without suffix."""
    import yaml

    toc = yaml.safe_load((root / "_toc.yml").read_text())

    def walk(entry: object) -> Iterator[str]:
        if isinstance(entry, list):
            for item in entry:
                yield from walk(item)
        elif isinstance(entry, dict):
            yield from (entry[key] for key in ("root", "file") if key in entry)
            for key in ("parts", "chapters", "sections"):
                yield from walk(entry.get(key))

    return list(walk(toc))


def numbered(root: Path) -> list[str]:
    """Those that have a number, in order: neither the front page, nor appendix or back matter."""
    import yaml

    parts = yaml.safe_load((root / "_toc.yml").read_text())["parts"]
    return [entry["file"] for p in parts if p.get("numbered") for entry in p["chapters"]]


def files_under(*folders: Path) -> Iterator[Path]:
    """All files of some folders but byte code and what npm installs, in a fixed order."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not {"__pycache__", "node_modules"} & set(path.parts):
                yield path


def digest(root: Path, paths: Iterable[Path], *more: str) -> str:
    """Changes when a file is added, removed, renamed or edited."""
    sha = hashlib.sha256("\0".join(more).encode())
    for path in paths:
        if path.exists():
            sha.update(f"\0{path.relative_to(root)}\0".encode())
            sha.update(path.read_bytes())
    return sha.hexdigest()


def execution_key(root: Path) -> str:
    """What decides a chapter's output besides its own text."""
    paths = [
        root / "requirements.txt",
        *files_under(*(root / f for f in ("transformer", "book/results", "book/models"))),
    ]
    # What a widget's script does, it does in the reader's browser.
    paths = [path for path in paths if not path.is_relative_to(root / FRONT_ENDS)]
    scale = os.environ.get("TRANSFORMER_SCALE", "")
    return digest(root, paths, platform.python_version(), f"scale={scale}")


def site_key(root: Path) -> str:
    """What decides the look of every page."""
    names = ("_config.yml", "_toc.yml", "book/references.bib")
    folders = files_under(
        root / "book/_ext", root / "book/_static", root / "tools", root / FRONT_ENDS
    )
    return digest(root, [*(root / name for name in names), *folders])


def wheel_key(root: Path) -> str:
    """What decides the module's wheel and the notebooks' first cell: its files and the commit."""
    names = ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT.md")
    folders = files_under(*(root / f for f in ("transformer", "book/results", "book/models")))
    version: str = runpy.run_path(str(root / "transformer/version.py"))["version"](root)
    return digest(root, [*(root / name for name in names), *folders], version)


def forget(build: Path, *names: str) -> None:
    """Removes parts of an earlier build."""
    for name in names:
        shutil.rmtree(build / name, ignore_errors=True)


def kernel_environ(root: Path) -> dict[str, str]:
    """The kernels are this environment's, with none of the user's own start-up files."""
    return {
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(root / "_build" / ".ipython"),
        "PYTHONPATH": os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }


def run_jupyter_book(root: Path, log_path: Path) -> Outcome:
    """Runs Jupyter Book with every warning an error."""
    outcome = Outcome()
    ours = {"NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **kernel_environ(root)}
    environ = {**os.environ, **ours}
    jupyter_book = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
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
    print("\nThe book was NOT built.", file=sys.stderr)
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
        f"\n  or serve  python3 -m http.server -d {build / 'html'} 8000"
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


def publish_notebooks(root: Path, names: Iterable[str]) -> bool:
    """Puts the notebooks on the site, with the wheel that they install; says why it could not."""
    from tools.notebooks import DirectiveError, WheelError, build_wheel, write_notebooks

    out = root / "_build/html/notebooks"
    try:
        wheel = build_wheel(root, out)
        write_notebooks(root, out, [root / f"{name}.md" for name in names], wheel.name)
    except (DirectiveError, WheelError) as error:
        print(f"\nThe book was NOT built: {error}", file=sys.stderr)
        return False
    return True


def build_book(root: Path, **limits: float) -> Built | None:
    """Builds the book of a folder into its `_build/html`; None when that failed.

    `limits` are those of `tools.execute.Limits`.
    """
    from tools.execute import Execution, Limits

    started = time.monotonic()
    build = root / "_build"
    build.mkdir(exist_ok=True)
    documents = chapters(root)
    missing = [name for name in documents if not (root / f"{name}.md").exists()]
    if missing:
        print(f"_toc.yml names chapters that do not exist: {', '.join(missing)}", file=sys.stderr)
        return None

    sources = [root / f"{name}.md" for name in documents]
    keys = {
        "execution": execution_key(root),
        "site": site_key(root),
        "chapters": digest(root, files_under(root / "book")),
        "wheel": wheel_key(root),
    }
    notebooks = {
        name: path
        for name, path in zip(documents, sources, strict=True)
        if "format_name: myst" in path.read_text()
    }
    state_path, cache_key = build / "book.json", build / ".jupyter_cache_key"
    state = json.loads(state_path.read_text()) if state_path.exists() else {}
    old = state.get("keys", {})
    same = (build / "html" / "index.html").exists() and {**old, "wheel": keys["wheel"]} == keys
    if same:
        # Another commit, say, whose module and pages are the same: only what names it is made anew.
        if old.get("wheel") != keys["wheel"] and not publish_notebooks(root, notebooks):
            return None
        state_path.write_text(json.dumps({**state, "keys": keys}, indent=2) + "\n")
        built = Built(state["pages"], state["notebooks"], executed=0)
        show_success(build, built, time.monotonic() - started)
        return built

    state_path.unlink(missing_ok=True)
    forget(build, *AFTERWARDS)
    if not cache_key.exists() or cache_key.read_text() != keys["execution"]:
        forget(build, ".jupyter_cache")
        cache_key.write_text(keys["execution"])
    if (old.get("execution"), old.get("site")) != (keys["execution"], keys["site"]):
        forget(build, ".doctrees", "html", "jupyter_execute")

    warm_up()
    log_path, kernels = build / "book.log", build / "kernels.log"
    measured = build / "durations.json"
    durations = Durations.read(RECORDED, measured)
    execution = Execution(build / ".jupyter_cache", notebooks, durations, Limits(**limits))
    print(f"Building the book: about {in_words(execution.left())}", flush=True)
    kernels.unlink(missing_ok=True)
    executed = execution.executed
    try:
        execution.run(kernel_environ(root), kernels)
    finally:  # interrupted, too
        durations.chapters |= executed.seconds
        durations.cells |= executed.cells
        durations.write(measured)
    if executed.failures:
        # Their pages would lack what their cells put out.
        print("\nThe book was NOT built.", *executed.failures, sep="\n\n", file=sys.stderr)
        return None
    begun, anew = time.monotonic(), not (build / "html").exists()
    print(f"  the pages; about {in_words(durations.pages)} left", flush=True)
    cached = execution.cached()
    outcome = run_jupyter_book(root, log_path)
    for _, path in execution.cached() - cached:
        name = Path(path).relative_to(root)
        outcome.problems.append(
            f"{name}: Jupyter Book missed its outputs, and executed it unwatched"
        )
    if outcome.code != 0 or outcome.problems:
        show_failure(outcome, log_path)
        return None
    if not publish_notebooks(root, notebooks):
        return None
    if anew:
        durations.pages = time.monotonic() - begun
        durations.write(measured)
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
    from transformer.runtime import scale

    try:
        scale()
    except ValueError as error:  # told before anything of an earlier book is taken away
        print(f"The book was NOT built: {error}", file=sys.stderr)
        return 1
    try:
        return 0 if build_book(root, **limits) else 1
    except OSError as error:
        print(f"\nThe book was NOT built: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; what was executed stays in the cache.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
