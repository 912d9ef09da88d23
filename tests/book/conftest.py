"""The built book behind a local server, and a Chromium that may reach nothing else."""

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tools.browser import FLAGS, ensure_chromium

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"


def built_documents() -> list[str]:
    """The pages of the last build that succeeded, or none."""
    try:
        return json.loads((ROOT / "_build" / "book.json").read_text())["documents"]
    except (OSError, ValueError, KeyError):
        return []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a page; without a book one test that fails and says so."""
    if "document" in metafunc.fixturenames:
        metafunc.parametrize("document", built_documents() or ["no-book"], scope="module")


@pytest.fixture(scope="session", autouse=True)
def _book_is_built() -> None:
    if not built_documents():
        pytest.fail("The book is not built: run `make book` first.")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="session")
def site(_book_is_built: None) -> Iterator[str]:
    """The address of the built book."""
    handler = functools.partial(QuietHandler, directory=str(HTML))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium with a fresh profile."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=ensure_chromium(), args=FLAGS)
        yield chromium
        chromium.close()
