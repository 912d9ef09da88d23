"""A Chromium for tests of pages, and the file server."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tools.browser import FLAGS, ensure_chromium
from tools.widget_pages import serving

__all__ = ["browser", "serving"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium with a fresh profile."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=ensure_chromium(), args=FLAGS)
        yield chromium
        chromium.close()
