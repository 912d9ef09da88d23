"""Finds the browsers of the tests, or installs them.

A Chromium, in this order: the one that CHROMIUM names, one on the PATH, the one that Playwright
downloaded, a download by Playwright now, the system's package now (as root, where apt-get is). A
Firefox: the one that FIREFOX names, one on the PATH, the system's package.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# The shell is the same engine without the windows of a browser: a third less to compute.
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = """\
The browser tests need Chromium, and there is none. Install one, then try again:
  sudo apt-get install chromium
or name one that you have: make test CHROMIUM=/path/to/chromium"""


FIREFOX = ("firefox-esr", "firefox")
OLDEST_FIREFOX = 153  # the oldest that was tried; 140 lacks commands by which Playwright drives it
NO_FIREFOX = f"""\
The tests in Firefox need version {OLDEST_FIREFOX} or newer. Install it (on Debian:
sudo apt-get install firefox-esr), or name one that you have: FIREFOX=/path/to/firefox"""


class NoBrowserError(Exception):
    """There is no such browser, and none could be installed; the message says what to do."""


def works(path: str) -> bool:
    """Whether a program starts; Ubuntu's `chromium-browser` may be a stub that does not."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def downloaded() -> str | None:
    """The Chromium that Playwright keeps for itself, when it is there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def candidates() -> Iterator[str]:
    """Where a Chromium may be."""
    yield from filter(None, (shutil.which(name) for name in NAMES))
    if path := downloaded():
        yield path


def find_chromium() -> str | None:
    """The path of a Chromium that starts."""
    if named := os.environ.get("CHROMIUM"):
        path = shutil.which(named)
        if path is None or not works(path):
            raise NoBrowserError(f"CHROMIUM is {named}, which does not start.")
        return path
    return next(filter(works, candidates()), None)


def install_chromium() -> None:
    """Tries Playwright's download, then the system's package."""
    print("Chromium is missing: trying Playwright's download", flush=True)
    apt = os.geteuid() == 0 and shutil.which("apt-get") is not None
    if apt:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
    playwright = [sys.executable, "-m", "playwright"]
    try:
        download = [*playwright, "install", "chromium"]
        done = subprocess.run(download, timeout=600, check=False, capture_output=True)
        downloaded_it = done.returncode == 0
    except subprocess.TimeoutExpired:
        downloaded_it = False
    if apt and downloaded_it:
        subprocess.run([*playwright, "install-deps", "chromium"], check=False)
    elif apt:
        print("Playwright could not download it: installing the system's package", flush=True)
        # What the package recommends is for a desktop: printers, notes, a graphics card.
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "fonts-liberation"]
        if subprocess.run([*install, SHELL], check=False).returncode != 0:
            subprocess.run([*install, "chromium"], check=False)


def ensure_chromium() -> str:
    """The path of a Chromium, installed now if need be."""
    if path := find_chromium():
        return path
    install_chromium()
    if path := find_chromium():
        return path
    raise NoBrowserError(MISSING)


def find_firefox() -> str | None:
    """The path of a Firefox that is new enough."""
    named = os.environ.get("FIREFOX")
    for path in filter(None, map(shutil.which, [named] if named else FIREFOX)):
        try:
            asked = [path, "--version"]
            said = subprocess.check_output(asked, text=True, timeout=60, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            continue
        version = re.search(r"Firefox (\d+)", said)
        if version and int(version[1]) >= OLDEST_FIREFOX:
            return path
    return None


def ensure_firefox() -> str:
    """The path of a Firefox, of the system's package now if need be."""
    if (path := find_firefox()) is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", FIREFOX[0]]
        subprocess.run(install, check=False)
        path = find_firefox()
    if path is None:
        raise NoBrowserError(NO_FIREFOX)
    return path


def main() -> int:
    """Prints the path."""
    try:
        print(ensure_chromium())
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
