"""The book without a network: a service worker that knows all files of this edition.

Its source, `scripts/service_worker.js`, says what it keeps. Here each file gets the hash of its
content, by which the browser knows it: an edition is all of these, and has a version made of them.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from tools.site.pages import Site, integrity

SOURCE = Path(__file__).parent / "scripts/service_worker.js"
NAME = "service_worker.js"
# Beside the pages: what all of them load, and what their scripts load.
SHARED = (
    "_static/favicon.svg",
    "_static/styles/site.css",
    "_static/fonts/*.woff2",
    "_static/widgets/*.js",
)
LOADED = re.compile(r'<script\b[^>]*\bsrc="([^":?]+)')
NOT_KEPT = ("_static/", "lecturers/")
# When a reader asks for them.
LATER = ("_static/models/**/*.js", "_static/widgets/live.js", "search/*/**/*.js")


def core_files(site: Site) -> Iterator[Path]:
    """The pages, and what they load."""
    for name, page in site.pages.items():
        if not name.startswith(NOT_KEPT):
            yield page.path
            for script in LOADED.findall(page.text):
                if (found := page.path.parent / script).is_file():
                    yield found
    for pattern in SHARED:
        yield from site.out.glob(pattern)


def hashes(site: Site, paths: Iterator[Path]) -> dict[str, str]:
    """Each file's hash by its path on the site, in order."""
    out = site.out.resolve()
    found = {path.resolve().relative_to(out).as_posix(): path for path in paths}
    texts = {name: site.pages[name].text.encode() for name in found.keys() & site.pages.keys()}
    return {name: integrity(texts.get(name) or found[name].read_bytes()) for name in sorted(found)}


def edition(site: Site) -> dict[str, Any]:
    """What the site consists of, and its version."""
    later = hashes(site, (path for pattern in LATER for path in site.out.glob(pattern)))
    core = hashes(site, core_files(site))
    files = {"core": {name: core[name] for name in core if name not in later}, "later": later}
    version = hashlib.sha256(json.dumps(files).encode()).hexdigest()[:16]
    return {"version": version, **files}


def worker(site: Site) -> str:
    """The text of the worker for a site."""
    literal = json.dumps(json.dumps(edition(site), separators=(",", ":")))
    source, found = re.subn(
        r'JSON\.parse\("EDITION"\)',
        lambda _: f"JSON.parse({literal})",
        SOURCE.read_text(encoding="utf-8"),
    )
    if found != 1:
        raise ValueError(f"{SOURCE} must have one place for what the edition consists of")
    return source


def write_worker(app: Sphinx, site: Site) -> None:
    """Writes the worker beside the pages."""
    (site.out / NAME).write_text(worker(site), encoding="utf-8")
