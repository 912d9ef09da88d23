"""axe, which finds what keeps people out of a page; each test runs it on what it has opened."""

from pathlib import Path

import axe_playwright_python

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
