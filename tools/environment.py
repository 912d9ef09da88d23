"""Sets up `.venv` with the exact versions of requirements.txt: `python3 -m tools.environment`.

A name, as in `python3 -m tools.environment build`, asks for what stands under that heading of
requirements.txt, and for what building the book needs; without one everything is installed. What
`.venv` has already stays there: `make test` after `make book` installs only the rest.

Runs under whatever Python the machine has, with nothing but the standard library. An interpreter
that is too old must still read this file, to say so: no syntax newer than Python 3.7.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

OLDEST = (3, 11)
FREE_GIB = 4
ROOT = Path(__file__).resolve().parent.parent
STAMP = "installed"  # and the group's name
BASE, EVERYTHING = "build", "test"
HEADING = re.compile(r"# \[([a-z ]+)\]$")
PINS = ("requirements.txt", "requirements-cuda.txt")
# No file without its hash, and no source: what building it needs would come without one.
CHECKED = ("--require-hashes", "--only-binary=:all:")
# Compiling every module takes as long as all else, and room. Python does so itself when one is
# first imported, and most never are; where it may not keep what it has compiled, pip does it.
LAZILY = () if sys.dont_write_bytecode else ("--no-compile",)
TORCH_INDEX = "TORCH_INDEX_URL"
TOO_OLD = """\
This Python is {}.{}, and the book needs Python 3.11 or newer.
  Debian 12, Ubuntu 24.04 and later have one: apt-get install python3 python3-venv
  If another one is installed, name it: make book PYTHON=/path/to/python3.12"""
NO_VENV = """\
{} cannot make a virtual environment.
  Install Python's venv module, then try again: sudo apt-get install {}"""
NO_PACKAGES = """\
pip could not install the packages; the end of what it said stands above, all of it in
  {}
  No connection: check the network (behind a proxy set HTTPS_PROXY, for a mirror PIP_INDEX_URL).
  No matching distribution: try another Python, as in make book PYTHON=python3.12
  No space: {:.1f} GiB are free, and setting up needs {}."""
UNKNOWN_FILE = """\
pip refused a file: its hash is not the one that stands beside its version in {pins}, or
none stands there. What pip said stands above, all of it in
  {log}
  A version that you have changed: .venv/bin/python -m tools.pins writes its hashes.
  Anything else: the index, the mirror or the cache that it came from holds another file than
  the one that was pinned. Do not install it; find out why."""


class SetupError(Exception):
    """Something is missing on this machine; the message says what to do."""


def groups(pins: str) -> dict[str, str]:
    """The lines of requirements.txt that each group installs, by its name.

    A heading names the groups that need what stands below it. All need what stands under [build] or
    above the first heading, and the group `test` has everything.
    """
    sections: list[tuple[set[str], str]] = []
    names = {BASE}
    for line in pins.splitlines(True):
        heading = HEADING.match(line)
        if heading:
            names = set(heading.group(1).split())
        sections.append((names, line))
    found = {BASE, EVERYTHING}.union(*(names for names, _ in sections))
    return {
        group: "".join(x for names, x in sections if names & {BASE, group} or group == EVERYTHING)
        for group in sorted(found)
    }


def wanted(root: Path) -> dict[str, list[str]]:
    """What a complete `.venv` is made by and from, by group: this Python for this folder; pins."""
    more = "".join((root / name).read_text() for name in (PINS[1], "pyproject.toml"))
    lines = groups((root / PINS[0]).read_text())
    texts = {group: (f"{sys.version} {root}", pins + more) for group, pins in lines.items()}
    return {
        group: [hashlib.sha256(text.encode()).hexdigest() for text in both]
        for group, both in texts.items()
    }


def installed(root: Path) -> dict[str, list[str]]:
    """What the groups in the `.venv` of this folder were made by and from; only complete ones."""
    # The Python is a link, which may lead nowhere by now.
    if not (root / ".venv/bin/python").exists():
        return {}
    stamps = (root / ".venv").glob(f"{STAMP}-*")
    return {stamp.name[len(STAMP) + 1 :]: stamp.read_text().split() for stamp in stamps}


def create(venv: Path) -> None:
    """Makes an empty virtual environment, whatever was there before."""
    command = [sys.executable, "-m", "venv", "--clear", str(venv)]
    # Debian and Ubuntu keep the pip of new environments in a package of its own.
    package = f"python3.{sys.version_info[1]}-venv"
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
        if os.geteuid() == 0 and shutil.which("apt-get"):
            print("Python's venv module is incomplete: installing", package, flush=True)
            subprocess.call(["apt-get", "update", "-qq"])
            subprocess.call(["apt-get", "install", "-y", "-qq", package])
        if subprocess.call(command) != 0:
            shutil.rmtree(venv, ignore_errors=True)
            raise SetupError(NO_VENV.format(sys.executable, package))


def run_pip(root: Path, *arguments: str, needed: bool = True) -> bool:
    """Runs the `pip install` of `.venv`, keeps its log, shows the large files as they come.

    Returns whether there was something to install: what is not needed may be found nowhere.
    """
    unwanted = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PYTHONHOME", "PYTHONPATH")
    environ = {name: value for name, value in os.environ.items() if name not in unwanted}
    command = [str(root / ".venv/bin/python"), "-m", "pip", "install"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar=off", *arguments]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    log, lines = root / ".venv" / "install.log", []
    with log.open("a") as file, subprocess.Popen(command, cwd=root, env=environ, **pipes) as pip:
        for line in pip.stdout or ():
            lines.append(line)
            file.write(line)
            words = line.split()
            if line.endswith("MB)\n"):
                print(" ", words[1].partition("-")[0], *words[-2:], flush=True)
            elif line.startswith("Installing"):
                print("  installing", flush=True)
    if not needed and any("No matching distribution" in line for line in lines):
        return False
    if pip.returncode != 0:
        print("", *lines[-12:], sep="", file=sys.stderr)
        if any("hashes" in line.lower() and "ERROR" in line for line in lines):
            raise SetupError(UNKNOWN_FILE.format(pins=" or ".join(PINS), log=log))
        free = shutil.disk_usage(root).free / 2**30
        raise SetupError(NO_PACKAGES.format(log, free, FREE_GIB))
    return True


def install_pins(root: Path, group: str = EVERYTHING) -> None:
    """Installs the pinned versions of a group, torch first and alone.

    So the index that TORCH_INDEX_URL names serves torch and nothing else. The libraries that only
    PyPI's torch needs come with it, so that with the others pip finds whether anything is missing.
    """
    torch, index = root / ".venv" / "torch.txt", os.environ.get(TORCH_INDEX)
    pins = groups((root / PINS[0]).read_text())[group]
    (root / ".venv" / f"{group}.txt").write_text(pins)
    joined = pins.replace("\\\n", "").splitlines(True)
    torch.write_text("".join(line for line in joined if line.startswith("torch==")))
    wanted_torch = (*CHECKED, *LAZILY, "--no-deps", "-r", ".venv/torch.txt")
    # A build in a folder that pip's settings name (find-links) comes before any index: where files
    # must have a hash, pip would take it last, since no page has stated its hash beforehand.
    if not run_pip(root, "--no-index", *wanted_torch, needed=False):
        run_pip(root, *(["--index-url", index] if index else []), *wanted_torch)
    if asks_for_cuda(root):
        run_pip(root, *CHECKED, *LAZILY, "--no-deps", "-r", PINS[1])
    run_pip(root, *CHECKED, *LAZILY, "-r", f".venv/{group}.txt")


def warm_up(root: Path) -> None:
    """Lets Python compile what every chapter imports: two kernels at once would both do so.

    matplotlib looks for fonts here too. Whatever goes wrong, the build says more clearly.
    """
    modules = "ipykernel.kernelapp, ipywidgets, matplotlib.pyplot, seaborn, torch"
    command = [str(root / ".venv/bin/python"), "-W", "ignore", "-c", f"import {modules}"]
    subprocess.call(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def asks_for_cuda(root: Path) -> bool:
    """Whether the torch of `.venv` needs NVIDIA's libraries; the builds for CPUs do not."""
    found = root.glob(".venv/lib/python*/site-packages/torch-*.dist-info/METADATA")
    return any("\nRequires-Dist: nvidia-" in path.read_text(encoding="utf-8") for path in found)


def install(root: Path, group: str = EVERYTHING) -> None:
    """Brings a group of `.venv` up to date; only a complete one leaves a stamp.

    Raises:
        SetupError: it cannot be installed, or there is no such group; says what to do.
    """
    venv, want, have = root / ".venv", wanted(root), installed(root)
    if group not in want:
        raise SetupError(f"There is no group {group!r} in {PINS[0]}; it has: {', '.join(want)}.")
    if have.get(group) == want[group]:
        return
    free = shutil.disk_usage(root).free / 2**30
    if not have and free < FREE_GIB:
        raise SetupError(f"Setting up needs {FREE_GIB} GiB; {free:.1f} are free where {root} is.")
    started = time.monotonic()
    what = "everything" if group == EVERYTHING else f"what [{group}] in {PINS[0]} needs"
    print(f"Setting up .venv with {what} (some minutes, once)", flush=True)
    # What was made from the same pins stays as it is, whatever becomes of this installation.
    for name, made in have.items():
        if made != want.get(name):
            (venv / f"{STAMP}-{name}").unlink()
    if not any(made[:1] == want[group][:1] for made in have.values()):
        create(venv)
    install_pins(root, group)
    run_pip(root, "--no-deps", "--no-build-isolation", "-e", ".")
    warm_up(root)
    for name in want if group == EVERYTHING else {group, BASE}:
        (venv / f"{STAMP}-{name}").write_text("\n".join(want[name]))
    print(f"Set up .venv in {time.monotonic() - started:.0f} s", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Brings `.venv` up to date; a second call does nothing."""
    if sys.version_info < OLDEST:
        print(TOO_OLD.format(*sys.version_info), file=sys.stderr)
        return 1
    named = sys.argv[1:] if arguments is None else arguments
    try:
        for group in named or [EVERYTHING]:
            install(ROOT, group)
    except (SetupError, OSError) as error:
        print(f"\nSetting up failed. {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next call starts the installation again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
