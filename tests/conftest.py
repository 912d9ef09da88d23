"""Settings shared by all tests.

The import hook must be installed before anything imports the two packages: from then on every call
of a function in a module that names shapes checks the types and the tensors' shapes in its
signature. The types of the other modules are mypy's to check.
"""

import gc
import gzip
import os
import sys
from collections.abc import Generator, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# What is collected stays to the end; looking through it again and again takes a tenth of the time.
gc.set_threshold(100_000, 50, 50)

# nbformat's validator would make 38 parsers of addresses, which take each worker a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

ROOT = Path(__file__).resolve().parent.parent
CHECKED = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("transformer", "transformer_book")
    for path in ROOT.glob(f"{package}/**/*.py")
    if "from jaxtyping import" in path.read_text(encoding="utf-8")
]
install_import_hook(CHECKED, "beartype.beartype")

# Tensors make the time of one example uneven, so no deadline. In CI the examples are the same in
# every run: a red build is about the commit, not about luck.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


# A test that requests the fixture, itself or through another one, has the mark. What goes through
# a browser is tried once more before it fails, and is unsteady where that helps; nothing else is.
MARKED = {
    "browser": pytest.mark.browser,
    "built_book": pytest.mark.book,
    "built_slides": pytest.mark.slides,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """In which browser the tests with the marker `firefox` are run."""
    parser.addoption("--engine", choices=("chromium", "firefox"), default="chromium")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Marks tests by what they need, before -m chooses, and orders those that were chosen."""
    for item in items:
        for fixture, mark in MARKED.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
        if item.get_closest_marker("slow"):
            item.user_properties.append(("slow", "yes"))
    yield
    if hasattr(config, "workerinput"):
        items[:] = shared_out(items, config.workerinput["workercount"])


def pytest_collection_finish() -> None:
    """Leaves what was imported and collected out of every later search for garbage."""
    gc.collect()
    gc.freeze()


def shared_out(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The slow tests first in the share of each worker, so that no run ends with one of them alone.

    pytest-xdist cuts the list into a share for each worker, who later take from each other's ends.
    A file's slow tests stay together, because they share fixtures.
    """
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    slow = [item for item in items if item.get_closest_marker("slow")]
    for _, group in groupby(slow, key=lambda item: item.path):
        min(shares, key=len).extend(group)
    others = iter([item for item in items if not item.get_closest_marker("slow")])
    for n, share in enumerate(shares, 1):
        room = len(items) * n // workers - sum(map(len, shares[:n]))
        share.extend(islice(others, max(0, room)))
    return [item for share in shares for item in share]


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
    from tests.transformer.data.excerpt import write_excerpt

    return named_data() or write_excerpt(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="session")
def few_captions(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The captions' folder with the first thousand pairs to train on: subwords in a second."""
    folder = tmp_path_factory.mktemp("few_captions")
    for path in (corpora / "multi30k").glob("*.gz"):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as whole:
            lines = list(islice(whole, 1000))
        (folder / path.name).write_bytes(gzip.compress("".join(lines).encode(), 1))
    return folder


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config) -> Iterator["Browser"]:
    """A Chromium or Firefox with a fresh profile; one, since a process can drive only one."""
    from playwright.sync_api import sync_playwright

    from tools.browser import FLAGS, ensure_chromium, ensure_firefox

    if pytestconfig.getoption("--engine") == "firefox":
        path, still = ensure_firefox(), {"ui.prefersReducedMotion": 1}
        with pytest.MonkeyPatch.context() as patched:
            patch = Path(__file__).parent / "helpers" / "firefox.cjs"
            patched.setenv("NODE_OPTIONS", f'--require "{patch}"')
            with sync_playwright() as playwright:
                firefox = playwright.firefox.launch(
                    channel="moz-firefox", executable_path=path, firefox_user_prefs=still
                )
                yield firefox
                firefox.close()
        return
    path = ensure_chromium()  # which asks Playwright too, and two at a time it does not do
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()
