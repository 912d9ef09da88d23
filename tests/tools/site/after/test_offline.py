"""The service worker: what it keeps, what it leaves, and how one edition follows another."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tools.site.after.offline import NAME, edition, worker
from tools.site.pages import Site as Pages

from transformer_book.page.widget_pages import serving

ROOT = Path(__file__).resolve().parents[4]
EDITIONS = ("first", "second")
PICTURES = [f"_images/{letter * 64}.png" for letter in "abc"]
PICTURES += [f"_images/{'b' * 64}-0123abcd.png"]  # that of the second for dark pages
PNG = (ROOT / "book/_static/readme.png").read_bytes()
MODEL = "_static/models/small/0.js"
COMPUTES = "_static/widgets/live.js"  # with a model, and is nothing without one
PAGE = """<!DOCTYPE html>
<html lang="en" data-content_root="{up}"><head><meta charset="utf-8"><title>{name}</title>
<link rel="icon" href="data:,">{next}
<script defer src="{up}_static/offline.js"></script>
<script defer src="{up}_static/shown.js"></script>
</head><body><h1>{name}, {edition} edition</h1><p></p>{picture}<a href="{up}book/two.html">2</a>
</body></html>"""
NOT_FOUND = """<!DOCTYPE html>
<html data-base="/published/" lang="en" data-content_root="/published/"><head>
<meta charset="utf-8"><title>Nothing</title></head>
<body><h1>There is nothing here</h1><a href="/published/index.html">front</a></body></html>"""
STATE = """async () => {
  const registration = await navigator.serviceWorker.getRegistration();
  const { installing, waiting, active } = registration ?? {};
  return [installing, waiting, active].map((worker) => worker?.state ?? null);
}"""
KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    for (const { url } of await (await caches.open(name)).keys()) found.push(url);
  }
  return found;
}"""


def write_edition(folder: Path, name: str) -> Path:
    """A small site, all of whose files say of which edition they are."""
    (folder / "book").mkdir(parents=True, exist_ok=True)
    (folder / "_static/models/small").mkdir(parents=True, exist_ok=True)
    (folder / "_static/widgets").mkdir(exist_ok=True)
    (folder / "_images").mkdir(exist_ok=True)
    pages = {"index": PICTURES[0], "book/two": PICTURES[1], "book/three": PICTURES[2]}
    for page, picture in pages.items():
        up = "../" * page.count("/") or "./"
        following = '<link rel="next" href="book/two.html">' if page == "index" else ""
        image = f'<img alt="a > b" loading="lazy" src="{up}{picture}">'
        if page == "book/two":  # a figure with a twin for dark pages
            image = image.replace("<img", '<img class="only-light"')
            image += f'<img alt="a > b" class="only-dark" loading="lazy" src="{up}{PICTURES[3]}">'
        words = {"name": page, "edition": name, "up": up, "next": following, "picture": image}
        (folder / f"{page}.html").write_text(PAGE.format(**words))
    for picture in PICTURES:
        (folder / picture).write_bytes(PNG)
    (folder / "404.html").write_text(NOT_FOUND)
    (folder / MODEL).write_text("var model = 1;")
    (folder / COMPUTES).write_text("var live = 1;")
    says = f"document.querySelector('p').textContent = 'script of the {name} edition';"
    (folder / "_static/shown.js").write_text(says)
    (folder / "_static/offline.js").write_text((ROOT / "book/_static/offline.js").read_text())
    (folder / NAME).write_text(worker(Pages(folder)))
    # This server knows a newer file by the second; editions do not follow one another so fast.
    later = time.time() + 60 * EDITIONS.index(name)
    for path in filter(Path.is_file, folder.rglob("*")):
        os.utime(path, (later, later))
    return folder


class Site:
    """A folder that is served below a path, until the network is gone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "below"
        self.stack = ExitStack()
        address = self.stack.enter_context(serving(folder))
        self.address = address.replace("127.0.0.1", "book.localhost") + "/below/"

    def stop(self) -> None:
        self.stack.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    write_edition(tmp_path / "below", "first")
    site = Site(tmp_path)
    yield site
    site.stop()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


def until(page: Page, condition: Callable[[], bool]) -> None:
    """Waits; a worker does its work when it finds time."""
    for _ in range(200):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not come about in ten seconds")


def kept(page: Page, site: Site) -> set[str]:
    return {url.removeprefix(site.address) for url in page.evaluate(KEPT)}


def visited(context: BrowserContext, site: Site) -> Page:
    """A page after a first visit, and what its reader may turn to kept."""
    page = context.new_page()
    page.goto(f"{site.address}index.html")
    until(page, lambda: set(PICTURES[:2]) <= kept(page, site))
    return page


def test_after_one_visit_all_pages_are_there_without_a_network(
    context: BrowserContext, site: Site
) -> None:
    page = visited(context, site)
    assert set(PICTURES) & kept(page, site) == set(PICTURES[:2])  # this page's and the next one's
    assert MODEL not in kept(page, site)
    site.stop()
    context.set_offline(True)
    for name in ("book/three.html", "book/two.html?q=mask#there", "index.html", ""):
        page.goto(site.address + name)
        assert "first edition" in page.locator("h1").inner_text()
        assert page.locator("p").inner_text() == "script of the first edition"
    page.goto(f"{site.address}book/two.html")
    # It is fetched lazily, and the page's load does not wait for it.
    page.wait_for_function("document.querySelector('img').naturalWidth > 0")


def test_a_reader_of_dark_pages_keeps_their_pictures(context: BrowserContext, site: Site) -> None:
    dark = "document.documentElement.dataset.theme = 'dark'"
    context.add_init_script(f"addEventListener('DOMContentLoaded', () => {{ {dark}; }})")
    page = context.new_page()
    page.goto(f"{site.address}index.html")
    until(page, lambda: PICTURES[3] in kept(page, site))
    assert set(PICTURES) & kept(page, site) == {PICTURES[0], PICTURES[3]}


def test_what_is_not_kept_is_said_at_any_depth(context: BrowserContext, site: Site) -> None:
    page = visited(context, site)
    site.stop()
    page.goto(f"{site.address}a/deep/address.html")
    assert page.locator("h1").inner_text() == "There is nothing here"
    page.locator("a").click()
    assert page.url == f"{site.address}index.html"
    assert page.locator("h1").inner_text() == "index, first edition"


def test_models_and_notebooks_are_kept_once_they_were_asked_for(
    context: BrowserContext, site: Site
) -> None:
    (site.folder / "notebooks").mkdir()
    (site.folder / "notebooks/one.ipynb").write_text("{}")
    page = visited(context, site)
    fetched = "async (paths) => { for (const path of paths) await (await fetch(path)).text(); }"
    page.evaluate(fetched, [MODEL, "notebooks/one.ipynb"])
    assert {MODEL, "notebooks/one.ipynb"} <= kept(page, site)
    site.stop()
    page.evaluate(fetched, [MODEL, "notebooks/one.ipynb"])


def test_a_new_edition_begins_as_a_whole_when_a_page_is_turned(
    context: BrowserContext, site: Site
) -> None:
    page = visited(context, site)
    page.evaluate("async (path) => (await fetch(path)).text()", MODEL)
    write_edition(site.folder, "second")
    page.reload()
    assert "first edition" in page.locator("h1").inner_text()  # whole, as it was kept
    assert page.locator("p").inner_text() == "script of the first edition"
    until(page, lambda: page.evaluate(STATE)[1] == "installed")
    page.locator("a").click()
    page.wait_for_selector("h1:has-text('second edition')")
    assert page.locator("p").inner_text() == "script of the second edition"
    until(page, lambda: sum(url.endswith("edition.json") for url in page.evaluate(KEPT)) == 1)
    assert MODEL in kept(page, site)  # taken over: it is the same


def test_a_site_that_goes_on_meanwhile_leaves_no_mixture(
    context: BrowserContext, site: Site
) -> None:
    """The worker of one edition and the files of another, as a server may give them out."""
    first = (site.folder / NAME).read_text()
    write_edition(site.folder, "second")
    (site.folder / NAME).write_text(first)
    page = context.new_page()
    page.goto(f"{site.address}index.html")
    until(page, lambda: bool(page.evaluate("async () => (await caches.keys()).length")))
    until(page, lambda: page.evaluate(STATE) == [None, None, None])  # it was given up
    page.reload()
    assert "second edition" in page.locator("h1").inner_text()


def test_the_authors_own_server_and_the_disk_have_no_worker(browser: Browser, site: Site) -> None:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for address in (
        site.address.replace("book.localhost", "127.0.0.1"),
        site.folder.as_uri() + "/",
    ):
        page.goto(f"{address}index.html")
        page.wait_for_timeout(1500)
        if address.startswith("http"):
            assert page.evaluate("navigator.serviceWorker.getRegistrations()") == []
    assert complaints == []
    page.close()


def test_an_edition_is_known_by_what_it_consists_of(tmp_path: Path) -> None:
    one, two = (edition(Pages(write_edition(tmp_path / n, n))) for n in ("first", "second"))
    assert set(one["core"]) == {
        *("404.html", "index.html", "book/two.html", "book/three.html"),
        *("_static/offline.js", "_static/shown.js"),
    }
    assert set(one["later"]) == {MODEL, COMPUTES}
    assert one["version"] != two["version"]
    assert one["core"]["404.html"] == two["core"]["404.html"]
    assert re.fullmatch(r"sha256-[\w+/]{43}=", one["core"]["index.html"])
    assert edition(Pages(write_edition(tmp_path / "again", "first"))) == one
