"""What a measurement needs beside the module, and is left out without: libraries, a browser."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from playwright.sync_api import Browser, Error, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-sync"]
NO_BROWSER = """\
There is no Chromium that starts. `python -m tools.browser` finds or installs one and prints its
path; name that: CHROMIUM=/path/to/chromium"""


class LeftOutError(Exception):
    """A measurement lacks what it needs here; the message says what."""


def peer_versions(*names: str) -> dict[str, str]:
    """Of the libraries that we are compared with.

    Raises:
        LeftOutError: one of them is not installed.
    """
    try:
        return {name: version(name) for name in names}
    except PackageNotFoundError as error:
        raise LeftOutError(f"There is no {error.name} here; pip install {error.name}.") from error


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser that the environment variable CHROMIUM names, or the one that Playwright has.

    Raises:
        LeftOutError: neither starts.
    """
    path = os.environ.get("CHROMIUM") or None
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:
            raise LeftOutError(NO_BROWSER) from error
        yield browser
        browser.close()
