"""Sets up `.venv` with the exact versions of requirements.txt: `python3 -m tools.environment`.

Runs under whatever Python the machine has, with nothing but the standard library. An interpreter
that is too old must still read this file, to say so: no syntax newer than Python 3.7.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

OLDEST = (3, 11)
FREE_GIB = 4
ROOT = Path(__file__).resolve().parent.parent
STAMP = "installed.json"


class SetupError(Exception):
    """Something is missing on this machine; the message says what to do."""


def version_of(python: str) -> tuple[int, ...] | None:
    """The (major, minor) of an interpreter, or None when it does not run."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        out = subprocess.check_output([python, "-c", code], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return tuple(int(part) for part in out.split())


def newer_python() -> str | None:
    """The path of another interpreter on this machine that is new enough."""
    for minor in range(OLDEST[1], OLDEST[1] + 8):
        path = shutil.which(f"python3.{minor}")
        if path and version_of(path) == (3, minor):
            return path
    return None


def too_old_message(found: tuple[int, ...]) -> str:
    """What to do when there is no Python that is new enough."""
    return (
        f"This Python is {found[0]}.{found[1]}, and the book needs Python 3.{OLDEST[1]} or newer.\n"
        "  Debian 12, Ubuntu 24.04 and later have one: apt-get install python3 python3-venv\n"
        "  If another one is installed, name it: make book PYTHON=/path/to/python3.12"
    )


def wanted(root: Path) -> dict[str, str]:
    """What a complete `.venv` was made from: when it differs, it is made current."""
    pins = hashlib.sha256()
    for name in ("requirements.txt", "pyproject.toml"):
        pins.update((root / name).read_bytes())
    return {"python": sys.version, "root": str(root), "pins": pins.hexdigest()}


def installed(root: Path) -> dict[str, str]:
    """What the `.venv` of this folder was made from; empty when it is not complete."""
    try:
        stamp = json.loads((root / ".venv" / STAMP).read_text())
    except (OSError, ValueError):
        return {}
    runs = version_of(str(root / ".venv" / "bin" / "python")) is not None
    return stamp if runs and isinstance(stamp, dict) else {}


def create(venv: Path) -> None:
    """Makes an empty virtual environment, whatever was there before."""
    command = [sys.executable, "-m", "venv", "--clear", str(venv)]
    first = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if first.returncode == 0:
        return
    shutil.rmtree(venv, ignore_errors=True)
    if "No space left" in first.stdout:
        raise SetupError(explain(first.stdout))
    # Debian and Ubuntu keep the pip of new environments in a package of its own.
    package = f"python3.{sys.version_info[1]}-venv"
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Python's venv module is incomplete: installing the package {package}", flush=True)
        subprocess.call(["apt-get", "update", "-qq"])
        subprocess.call(["apt-get", "install", "-y", "-qq", package])
        if subprocess.call(command) == 0:
            return
        shutil.rmtree(venv, ignore_errors=True)
    raise SetupError(
        f"{sys.executable} cannot make a virtual environment.\n"
        f"  Install Python's venv module, then try again: sudo apt-get install {package}"
    )


def explain(log: str) -> str:
    """Says in a sentence why pip failed."""
    if "No space left on device" in log:
        return f"The disk is full. Free {FREE_GIB} GiB, then try again."
    network = (
        "Temporary failure in name resolution",
        "Name or service not known",
        "Failed to establish a new connection",
        "Network is unreachable",
        "Max retries exceeded",
        "ProxyError",
        "timed out",
    )
    if any(sign in log for sign in network):
        return (
            "The package registry cannot be reached. Check the network (behind a proxy: set\n"
            "  HTTPS_PROXY; for a mirror of your own: set PIP_INDEX_URL), then try again."
        )
    for line in log.splitlines():
        if "No matching distribution found" in line:
            return (
                f"{line.replace('ERROR: ', '')}\n"
                f"  The registry has no such file for Python 3.{sys.version_info[1]} on this kind\n"
                "  of machine. Try another Python: make book PYTHON=python3.12"
            )
    return "\n  ".join(["pip failed. The end of its log:", *log.splitlines()[-12:]])


def run_pip(root: Path, arguments: list[str]) -> None:
    """Runs the `pip install` of `.venv`, keeps its log, shows what it is at."""
    unwanted = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PYTHONHOME", "PYTHONPATH")
    environ = {name: value for name, value in os.environ.items() if name not in unwanted}
    command = [str(root / ".venv/bin/python"), "-m", "pip", "install"]
    command += ["--disable-pip-version-check", "--no-input", *arguments]
    log_path = root / ".venv" / "install.log"
    lines = []
    with log_path.open("a") as log:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            log.write(line)
            words = line.split()
            # The large ones, so that nobody thinks that nothing happens.
            if words[:1] == ["Downloading"] and line.rstrip().endswith("MB)"):
                print("  " + " ".join([words[1].rsplit("/", 1)[-1], *words[2:4]]), flush=True)
            elif line.startswith("Installing collected packages"):
                print("  installing", flush=True)
        code = process.wait()
    if code != 0:
        raise SetupError(f"{explain(''.join(lines))}\n  The whole log: {log_path}")


def install(root: Path) -> None:
    """Makes `.venv` current; only a complete installation leaves a stamp."""
    venv, want, have = root / ".venv", wanted(root), installed(root)
    free = shutil.disk_usage(root).free / 2**30
    if not have and free < FREE_GIB:
        raise SetupError(f"Setting up needs {FREE_GIB} GiB; {free:.1f} are free where {root} is.")
    started = time.monotonic()
    print(f"Setting up .venv with Python 3.{sys.version_info[1]} (some minutes, once)", flush=True)
    if have:
        (venv / STAMP).unlink()
    if (have.get("python"), have.get("root")) != (want["python"], want["root"]):
        create(venv)
    run_pip(root, ["-r", "requirements.txt"])
    run_pip(root, ["--no-deps", "--no-build-isolation", "-e", "."])
    part = venv / f"{STAMP}.part"
    part.write_text(json.dumps(want))
    part.replace(venv / STAMP)
    print(f"Set up .venv in {time.monotonic() - started:.0f} s", flush=True)


def main() -> int:
    """Makes `.venv` current; a second call does nothing."""
    if sys.version_info < OLDEST:
        other = newer_python()
        if other is None:
            print(too_old_message(sys.version_info[:2]), file=sys.stderr)
            return 1
        print(f"python3 is Python 3.{sys.version_info[1]}: going on with {other}", flush=True)
        return subprocess.call([other, "-m", "tools.environment"])
    try:
        if installed(ROOT) != wanted(ROOT):
            install(ROOT)
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"\nSetting up failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next call starts the installation again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
