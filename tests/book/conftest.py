"""The built book behind a local server, and a Chromium that may reach nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from transformer_book.page.widget_pages import serving

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"


class View(NamedTuple):
    """A window, and the reader's choice of light or dark."""

    width: int
    height: int
    scheme: str


DESK, PHONE = (1280, 900), (360, 740)


def views_of(number: int) -> list[View]:
    """The two views in which a page is seen.

    Each page is seen at a desk and on a phone, by day and by night; what all pages share (the bars,
    the search) is seen in all four combinations, since the next page has the other two.
    """
    schemes = ("light", "dark") if number % 2 == 0 else ("dark", "light")
    return [View(*size, scheme) for size, scheme in zip((DESK, PHONE), schemes, strict=True)]


def built_documents() -> list[str]:
    """The pages of the last build that succeeded, or none."""
    try:
        return json.loads((ROOT / "_build" / "book.json").read_text())["documents"]
    except (OSError, ValueError, KeyError):
        return []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a page, or one a view of it; without a book one test that fails and says so."""
    documents = built_documents() or ["no-book"]
    if "view" in metafunc.fixturenames:
        views = []
        for n, document in enumerate(documents):
            for i, view in enumerate(views_of(n)):
                # `make test` sees a page once: at a desk, the one after the next on a phone.
                marks = [pytest.mark.smoke] if i == n // 2 % 2 else []
                name = f"{document}-{view.width}px-{view.scheme}"
                views.append(pytest.param(document, view, marks=marks, id=name))
        metafunc.parametrize(("document", "view"), views, scope="module")
    elif "document" in metafunc.fixturenames:
        metafunc.parametrize("document", documents, scope="module")


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
