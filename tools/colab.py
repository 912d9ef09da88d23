"""Runs the notebooks as Colab does: `.venv/bin/python -m tools.colab`.

Makes an environment with the versions that Colab has (tools/colab.txt), serves the module's wheel
as the site does, and runs every notebook through its own first cell, from an empty folder, at the
smallest scale. Before each of them the environment is Colab's again. Nobody may be asked to
restart, no package of Colab's may change, and nothing may be left behind.

    --python PYTHON   with another Python than this one
    --only NAME ...   these chapters alone
    --folder FOLDER   keeps the environment there, and takes it again the next time
    --record FILE     records what the installation took, and each notebook
    --renew           instead: takes today's versions from Colab's own list
"""

import argparse
import asyncio
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from packaging.requirements import Requirement

from tools.environment import TORCH_INDEX
from tools.site.chapters import notebooks
from tools.site.formats.notebooks import build_wheel, write_notebooks
from transformer.support.provenance import provenance, require_commit

from transformer_book.cores import cores
from transformer_book.page.widget_pages import serving
from transformer_book.results import write_result

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tools/colab.txt"
NEWEST = "https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt"
LINE = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;#]+)")
WHEEL = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+) @ \S+/[A-Za-z0-9_.]+-(?P<version>[0-9][^-%]*)\S*\.whl"
)
HEADER = """\
# What Colab's machines have, {date}, from github.com/googlecolab/backend-info: pip-freeze.txt.
# To renew it: python -m tools.colab --renew"""
# What a torch for GPUs needs, which Colab has beside Python; and jupyter_server before Python 3.12.
BESIDE = re.compile("nvidia-|cuda-|triton|overrides")
# What a chapter may say on stderr: torch about a fault of Python 3.13.0 that 3.13.1 mended.
KNOWN = re.compile(r"Guards may run slower on Python 3\.13\.0|warnings\.warn\(")
NOTED = ("torch", "numpy", "ipywidgets", "anywidget", "ipython", "ipykernel", "matplotlib")

# In the place of Colab's own module, which its kernel has imported before the first cell runs.
STUB = """\
shown = False


def enable_custom_widget_manager():
    global shown
    shown = True
"""
STARTUP = "import google.colab.output\nimport ipywidgets, matplotlib, numpy\n"
LAST_CELL = "assert google.colab.output.shown, 'Colab was not told to show widgets'"


class ColabError(Exception):
    """A notebook does not run as it should in Colab; the message says which, and what happened."""


@dataclass
class Install:
    """What the first cell did in an environment that has nothing of the book's."""

    seconds: float = 0.0
    bytes: int = 0
    packages: dict[str, str] = field(default_factory=dict)


def normal(name: str) -> str:
    """The name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def versions_in(text: str) -> dict[str, str]:
    """What a list in the manner of `pip freeze` names, by normal name."""
    found = {}
    for line in text.splitlines():
        if match := LINE.fullmatch(line.strip()) or WHEEL.match(line):
            found[normal(match["name"])] = match["version"]
    return found


def renewed(freeze: str, date: str) -> str:
    """Our list, from Colab's own."""
    lines = [f"{name}=={version}" for name, version in sorted(versions_in(freeze).items())]
    return "\n".join([HEADER.format(date=date), *lines]) + "\n"


def requirements() -> dict[str, Requirement]:
    """What the module and its chapters need, by normal name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["book"]]
    return {normal(needed.name): needed for needed in map(Requirement, lines)}


class Environment:
    """A virtual environment with Colab's versions, in which notebooks run."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder, self.python = folder, folder / "venv/bin/python"
        made = folder / "venv/made.json"  # from which list, and what it became
        known = json.loads(made.read_text()) if made.exists() else {}
        if known.get("list") != LIST.read_text():
            self._install(python)
            known = {"list": LIST.read_text(), "before": self.freeze()}
            made.write_text(json.dumps(known))
        self.before: dict[str, str] = known["before"]
        self.restore()
        self._imitate_colab()

    def _install(self, python: str) -> None:
        colab = versions_in(LIST.read_text())
        subprocess.run([python, "-m", "venv", "--clear", str(self.folder / "venv")], check=True)
        constraints = self.folder / "constraints.txt"
        known = [f"{name}=={v}\n" for name, v in colab.items() if not BESIDE.match(name)]
        constraints.write_text("".join(known))
        # All that we use, and what comes with a notebook there; Colab's pip first.
        wanted = {*requirements(), "ipykernel", "tensorboard"}
        self.pip("install", f"pip=={colab['pip']}")
        if index := os.environ.get(TORCH_INDEX):  # which serves torch and nothing else
            self.pip("install", "--no-deps", "--index-url", index, f"torch=={colab['torch']}")
        self.pip("install", "--no-compile", "-c", str(constraints), *sorted(wanted))
        # Then what Colab lacks of it is taken away.
        extra = [name for name in self.freeze() if name not in colab and not BESIDE.match(name)]
        if extra:
            self.pip("uninstall", "--yes", *extra)

    def pip(self, *arguments: str) -> str:
        """What pip says; an error of its own says why it could not."""
        command = [str(self.python), "-m", "pip", *arguments]
        command += ["--quiet"] * (arguments[0] == "install")
        done = subprocess.run(command, env=self.environ(), capture_output=True, text=True)
        if done.returncode != 0:
            said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            raise ColabError("\n".join([f"pip {arguments[0]} failed:", *said[-20:]]))
        return done.stdout

    def freeze(self) -> dict[str, str]:
        """All packages with their versions."""
        listed = json.loads(self.pip("list", "--format=json"))
        return {normal(one["name"]): one["version"] for one in listed}

    def environ(self, **more: str) -> dict[str, str]:
        """The variables of a process in it: nothing of the clone's, nothing of the user's."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
        kept.pop("PYTHONPATH", None)
        ours = {
            "IPYTHONDIR": str(self.folder / "ipython"),
            "PYTHONPATH": str(self.folder / "stub"),
            "PYTHONNOUSERSITE": "1",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
            "TRANSFORMER_SCALE": "smoke",
        }
        return kept | ours | more

    def restore(self) -> None:
        """Takes away what a notebook has installed; the rest must be as it was."""
        after = self.freeze()
        changed = [
            f"{name} {version} became {after.get(name, 'missing')}"
            for name, version in self.before.items()
            if after.get(name) != version
        ]
        if changed:
            raise ColabError(f"packages of Colab's were changed: {', '.join(changed)}")
        if added := sorted(after.keys() - self.before.keys()):
            self.pip("uninstall", "--yes", *added)

    def would_install(self, source: str) -> Install:
        """What installing it brings: packages and bytes."""
        report = self.folder / "report.json"
        self.pip("install", "--dry-run", f"--report={report}", source)
        install = Install()
        for one in json.loads(report.read_text())["install"]:
            about = one["metadata"]
            install.packages[normal(about["name"])] = about["version"]
            request = urllib.request.Request(one["download_info"]["url"], method="HEAD")
            with urllib.request.urlopen(request, timeout=60) as reply:
                install.bytes += int(reply.headers["Content-Length"])
        return install

    def run(self, path: Path, **environ: str) -> tuple[float, float]:
        """Runs a notebook in an empty folder; returns the seconds of its first cell and of all.

        Raises:
            ColabError: it failed, complained on stderr, spoke of a restart, or left files behind.
        """
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell(LAST_CELL))
        with tempfile.TemporaryDirectory(dir=self.folder) as inside:
            here, temporary = Path(inside, "content"), Path(inside, "tmp")
            here.mkdir()
            temporary.mkdir()
            environ |= {"TMPDIR": str(temporary), "HOME": str(self.folder / "home")}
            environ |= {"TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor")}
            client = NotebookClient(notebook, timeout=None, kernel_name="colab")
            began = time.monotonic()
            with (self.folder / "kernels.log").open("a") as log:
                try:
                    process: dict[str, Any] = {"env": self.environ(**environ), "stderr": log}
                    asyncio.run(client.async_execute(cwd=str(here), **process))
                except CellExecutionError as error:
                    raise ColabError(f"{path.stem}: {error}") from error
            seconds = time.monotonic() - began
            for problem in problems(notebook):
                raise ColabError(f"{path.stem}: {problem}")
            for folder in (here, temporary):
                if left := sorted(one.name for one in folder.iterdir()):
                    raise ColabError(f"{path.stem} leaves in {folder.name}/: {', '.join(left)}")
        first = next(cell for cell in notebook.cells if cell.cell_type == "code")
        return seconds_of(first), seconds

    def _imitate_colab(self) -> None:
        kernel = self.folder / "kernels/colab/kernel.json"
        argv = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": "Colab", "language": "python"}
        stub = self.folder / "stub/google/colab"
        startup = self.folder / "ipython/profile_default/startup/00-colab.py"
        for path, text in (
            (kernel, json.dumps(spec)),
            (stub / "__init__.py", ""),
            (stub / "output.py", STUB),
            (startup, STARTUP),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.folder / "home").mkdir(exist_ok=True)
        os.environ["JUPYTER_PATH"] = str(self.folder)  # where our side looks for kernels


def problems(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """What a reader would have to worry about in the outputs."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text = str(output.get("text", ""))
            unknown = [line for line in text.splitlines() if not KNOWN.search(line)]
            if output.get("name") == "stderr" and unknown:
                yield "it says on stderr: " + "\n".join(unknown)
            if re.search(r"restart (the|your) (kernel|runtime|session)", text, re.IGNORECASE):
                yield f"it asks for a restart: {text}"


def seconds_of(cell: nbformat.NotebookNode) -> float:
    """How long a cell took, by its kernel's own clock."""
    times = cell.metadata.execution
    began, ended = (
        datetime.datetime.fromisoformat(times[name])
        for name in ("iopub.execute_input", "shell.execute_reply")
    )
    return (ended - began).total_seconds()


@contextmanager
def site(folder: Path) -> Iterator[tuple[list[Path], str]]:
    """The notebooks and, as pip takes it, their module, served as `make book` publishes them."""
    documents = [*notebooks(ROOT).values()]
    with serving(folder) as address:
        wheel = build_wheel(ROOT, folder / "notebooks")
        paths = write_notebooks(ROOT, folder / "notebooks", documents, wheel.name, address)
        name = wheel.name.replace("+", "%2B")
        yield paths, f"transformer-book[book] @ {address}/notebooks/{name}"


def record_of(
    environment: Environment, install: Install, seconds: Mapping[str, float], only: list[str] | None
) -> Any:
    """What was measured, with where it comes from."""
    origin = provenance(torch.device("cpu"))
    require_commit(origin["commit"], "the record", "then record")
    python = [str(environment.python), "-c", "import platform; print(platform.python_version())"]
    return {
        **origin,
        "command": " ".join(["python -m tools.colab", *(["--only", *only] if only else [])]),
        "cores": cores(),
        "python": subprocess.check_output(python, text=True).strip(),
        "versions": {name: environment.before[name] for name in NOTED},
        "install": vars(install),
        "notebooks": {name: round(value, 1) for name, value in seconds.items()},
    }


def run_all(options: argparse.Namespace, folder: Path) -> None:
    """Every notebook, one after another."""
    print(f"Installing what Colab has, in {folder}", flush=True)
    environment = Environment(folder, options.python)
    seconds: dict[str, float] = {}
    failures: list[str] = []
    (folder / "site").mkdir(exist_ok=True)
    with site(folder / "site") as (paths, source):
        install = environment.would_install(source)
        if kept := sorted(install.packages.keys() & environment.before.keys()):
            raise ColabError(f"the first cell would replace {', '.join(kept)}")
        print(f"The first cell installs {len(install.packages)} packages, {install.bytes:,} bytes")
        for path in paths:
            if options.only and path.stem not in options.only:
                continue
            # The first one downloads everything, as on a new machine.
            cache = {} if seconds else {"PIP_NO_CACHE_DIR": "1"}
            try:
                first, seconds[path.stem] = environment.run(path, **cache)
            except ColabError as error:
                failures.append(str(error))
                print(f"  {path.stem}: FAILED", flush=True)
                continue
            finally:
                environment.restore()
            install.seconds = install.seconds or round(first, 1)
            took = f"{seconds[path.stem]:.0f} s, of which {first:.1f} s its first cell"
            print(f"  {path.stem}: {took}", flush=True)
    if failures:
        raise ColabError("\n\n".join(failures))
    if options.record:
        write_result(options.record, record_of(environment, install, seconds, options.only))
    print(f"{len(seconds)} notebooks ran; nothing of Colab's has changed, nothing is left behind.")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m tools.colab", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--python", default=sys.executable, help="the Python to imitate Colab's")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these chapters alone")
    parser.add_argument("--folder", type=Path, help="keep the environment there")
    parser.add_argument("--record", type=Path, metavar="FILE", help="record what was measured")
    parser.add_argument("--renew", action="store_true", help="only renew tools/colab.txt")
    options = parser.parse_args()
    names = [path.stem for path in notebooks(ROOT).values()]
    if unknown := set(options.only or ()) - set(names):
        parser.error(f"no chapter {min(unknown)!r}; choose from {', '.join(names)}")
    try:
        if options.renew:
            with urllib.request.urlopen(NEWEST, timeout=60) as reply:
                date = f"{datetime.date.today():%-d %B %Y}"
                LIST.write_text(renewed(reply.read().decode(), date))
            return 0
        with tempfile.TemporaryDirectory(prefix="colab-") as folder:
            run_all(options, options.folder.resolve() if options.folder else Path(folder))
    except (ColabError, OSError, ValueError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
