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


def named_data() -> Path | None:
    """The folder of the real corpora, with multi30k/ and iwslt16/ in it: $TRANSFORMER_TEST_DATA."""
    named = os.environ.get("TRANSFORMER_TEST_DATA")
    if named and not Path(named).is_dir():
        pytest.fail(f"TRANSFORMER_TEST_DATA is {named}, which is not a folder")
    return Path(named) if named else None


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The real corpora, for tests of what only they have: their sizes, their language."""
    return named_data() or pytest.skip("needs the real corpora: set TRANSFORMER_TEST_DATA")


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real corpora, or where there are none, our own sentences in their formats."""
    from tests.data.excerpt import write_excerpt

    return named_data() or write_excerpt(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """A Chromium with a fresh profile; one for all tests, since a process can drive only one."""
    from playwright.sync_api import sync_playwright

    from tools.browser import FLAGS, ensure_chromium

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=ensure_chromium(), args=FLAGS)
        yield chromium
        chromium.close()
