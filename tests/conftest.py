"""Settings shared by all tests.

The import hook must be installed before anything imports `transformer`: from then on every call
of the module's functions checks the types and the tensor shapes in their signatures. Left out is
the grammar of toy German: it has no tensors, mypy knows its types, and millions of small calls
would take ten times as long.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
MODULES = (path.relative_to(ROOT).with_suffix("") for path in ROOT.glob("transformer/**/*.py"))
CHECKED = [".".join(path.parts) for path in MODULES if "toy_german" not in path.parts]
install_import_hook(CHECKED, "beartype.beartype")

# Tensors make the time of one example uneven, so no deadline. In CI the examples are the same in
# every run: a red build is about the commit, not about luck.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


# A test that requests the fixture, itself or through another one, has the marker.
MARKED = {"browser": pytest.mark.browser, "built_book": pytest.mark.book}


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by what they need."""
    for item in items:
        for fixture, mark in MARKED.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


REAL_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data (with multi30k/ in it): $TRANSFORMER_TEST_DATA or ../shared/data."""
    named = os.environ.get("TRANSFORMER_TEST_DATA")
    path = Path(named) if named else REAL_DATA
    if path.is_dir():
        return path
    if named:
        pytest.fail(f"TRANSFORMER_TEST_DATA is {named}, which is not a folder")
    pytest.skip(f"no real data: set TRANSFORMER_TEST_DATA, or put it into {path}")


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """A Chromium with a fresh profile; one for all tests, since a process can drive only one."""
    from playwright.sync_api import sync_playwright

    from tools.browser import FLAGS, ensure_chromium

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=ensure_chromium(), args=FLAGS)
        yield chromium
        chromium.close()
