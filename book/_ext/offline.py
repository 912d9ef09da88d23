"""The book without a network: a service worker that knows all files of this edition.

Its source, `scripts/service_worker.js`, says what it keeps. Here each file gets the hash of its
content, by which the browser knows it: an edition is all of these, and has a version made of them.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SOURCE = Path(__file__).parent / "scripts/service_worker.js"
NAME = "service_worker.js"
# Beside the pages: what all of them load, and what their scripts load.
SHARED = (
    "searchindex.js",
    "_static/favicon.svg",
    "_static/styles/site.css",
    "_static/fonts/*.woff2",
    "_static/widgets/*.js",
)
LOADED = re.compile(r'<script\b[^>]*\bsrc="([^":?]+)')
LATER = ("_static/models/**/*.js",)  # when a reader asks for them


def integrity(path: Path) -> str:
    """A file's hash, as browsers compare it."""
    digest = hashlib.sha256(path.read_bytes()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def core_files(out: Path) -> Iterator[Path]:
    """The pages, and what they load."""
    for page in out.rglob("*.html"):
        if page.relative_to(out).parts[0] != "_static":
            yield page
            for script in LOADED.findall(page.read_text(encoding="utf-8")):
                if (found := page.parent / script).is_file():
                    yield found
    for pattern in SHARED:
        yield from out.glob(pattern)


def hashes(out: Path, paths: Iterator[Path]) -> dict[str, str]:
    """Each file's hash by its path on the site, in order."""
    found = {path.resolve().relative_to(out.resolve()).as_posix(): path for path in paths}
    return {name: integrity(found[name]) for name in sorted(found)}


def edition(out: Path) -> dict[str, Any]:
    """What the site in a folder consists of, and its version."""
    later = (path for pattern in LATER for path in out.glob(pattern))
    files = {"core": hashes(out, core_files(out)), "later": hashes(out, later)}
    version = hashlib.sha256(json.dumps(files).encode()).hexdigest()[:16]
    return {"version": version, **files}


def worker(out: Path) -> str:
    """The text of the worker for the site in a folder."""
    literal = json.dumps(json.dumps(edition(out), separators=(",", ":")))
    source, found = re.subn(
        r'JSON\.parse\("EDITION"\)',
        lambda _: f"JSON.parse({literal})",
        SOURCE.read_text(encoding="utf-8"),
    )
    if found != 1:
        raise ValueError(f"{SOURCE} must have one place for what the edition consists of")
    return source


def write_worker(app: Sphinx, exception: Exception | None) -> None:
    """After everything else: all files are as they will be served."""
    if exception is None and app.builder.name == "html":
        out = Path(app.outdir)
        (out / NAME).write_text(worker(out), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the step to the build."""
    app.connect("build-finished", write_worker, priority=990)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
