"""The built book behind a local server, and a Chromium that may reach nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.widget_pages import serving

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
def built_book() -> None:
    """There is a book; else every test of this folder fails and says so."""
    if not built_documents():
        pytest.fail("The book is not built: run `make book` first.")


@pytest.fixture(scope="session")
def site(built_book: None) -> Iterator[str]:
    """The address of the built book."""
    with serving(HTML) as address:
        yield address
