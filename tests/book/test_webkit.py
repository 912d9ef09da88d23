"""The built book in WebKitGTK, the engine of Safari: `xvfb-run pytest tests/book/test_webkit.py`.

Playwright drives only a WebKit of its own, so this one is asked by the words of the WebDriver
standard. Its window cannot be as narrow as a phone: a page stands in a frame there.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.book.conftest import DESK, HTML, PHONE, built_documents

from transformer_book.page.widget_pages import QuietHandler, serving

pytestmark = pytest.mark.nightly
DRIVER = "WebKitWebDriver"
# From a page's first line on; its policy lets it load a script of the site. That a figure's size is
# drawn a frame late is no error, though WebKit says it as one.
PROBE = """window.complaints = [];
const say = (kind, text) =>
  `${text}`.startsWith("ResizeObserver loop") || complaints.push(`${kind}: ${text}`);
addEventListener("error", ({ message, target }) =>
  target.rel === "next" || say("error", message ?? (target.src || target.href)), true);
addEventListener("unhandledrejection", ({ reason }) => say("rejection", reason));
document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  say("policy", `${violatedDirective} ${blockedURI}`));
for (const kind of ["error", "warn"]) console[kind] = (...words) => say(kind, words.join(" "));"""
# Scrolls down as a reader does, since a widget starts when it comes near, and waits for all.
LOOK = """const done = arguments[arguments.length - 1];
(async () => {
  const wait = (ms) => new Promise((later) => setTimeout(later, ms));
  const places = [...document.querySelectorAll(".widget-place")];
  const root = document.scrollingElement;
  await document.fonts.ready;
  for (let y = 0; y < root.scrollHeight; y += innerHeight / 2) {
    scrollTo({ top: y, behavior: "instant" });
    await wait(30);
  }
  for (const place of places) {
    place.scrollIntoView({ behavior: "instant" });
    for (let i = 0; i < 100 && !place.dataset.state; i += 1) await wait(100);
  }
  const found = [...window.complaints];
  const dead = places.filter(({ dataset }) => dataset.state !== "live");
  found.push(...dead.map(({ dataset }) => `widget ${dataset.frontEnd} is ${dataset.state}`));
  if (root.scrollWidth > root.clientWidth + 1) found.push(`${root.scrollWidth} pixels wide`);
  for (const image of document.images) {
    if (image.complete && !image.naturalWidth && image.checkVisibility()) found.push(image.src);
  }
  return found;
})().then(done, (error) => done([String(error)]));"""
# Where a link has led, when for two seconds nothing has moved any more.
WHERE = """const done = arguments[arguments.length - 1];
const top = () => document.querySelector(location.hash).getBoundingClientRect().top;
let last = top(), same = 0;
const look = () => {
  same = top() === last ? same + 1 : 0;
  last = top();
  if (same < 20) setTimeout(look, 100);
  else done(last);
};
look();"""


class Probed(QuietHandler):
    """Serves the book; its pages with the probe, and any page in a frame."""

    def do_GET(self) -> None:
        """As the name says: `/_frame?page,width,height`."""
        path, _, query = self.path.partition("?")
        file = Path(self.translate_path(path))
        if path == "/_probe.js":
            self.answer(PROBE, "text/javascript")
        elif path == "/_frame":
            page, width, height = query.split(",")
            size = f"border: 0; width: {width}px; height: {height}px"
            self.answer(f'<!doctype html><iframe src="/{page}" style="{size}"></iframe>')
        elif file.suffix == ".html" and file.is_file():
            head, policy, rest = file.read_text(encoding="utf-8").partition(
                "Content-Security-Policy"
            )
            tag, end, rest = rest.partition("/>")
            script = '<script src="/_probe.js"></script>'
            self.answer("".join([head, policy, tag, end, script, rest]))
        else:
            super().do_GET()

    def answer(self, text: str, kind: str = "text/html; charset=utf-8") -> None:
        """Sends a text."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())


class WebKit:
    """A window of WebKitGTK's own little browser."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/session"
        browser = next(Path("/usr/lib").glob("*/webkit*gtk-*/MiniBrowser"))
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self.address += "/" + self.ask("POST", "", {"capabilities": wanted})["sessionId"]
        self.ask("POST", "/timeouts", {"script": 120_000})
        self.ask("POST", "/window/rect", {"x": 0, "y": 0, "width": DESK[0], "height": DESK[1]})

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """What the driver answers."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        with urllib.request.urlopen(request, timeout=180) as answer:
            return json.load(answer)["value"]

    def run(self, script: str) -> Any:
        """What a script gives to the function that is its last argument."""
        return self.ask("POST", "/execute/async", {"script": script, "args": []})


@pytest.fixture(scope="module")
def probed() -> Iterator[str]:
    """The address of the book with the probe."""
    with serving(HTML, Probed) as address:
        yield address


@pytest.fixture(scope="module")
def webkit() -> Iterator[WebKit]:
    """WebKitGTK, where it is installed and has a screen."""
    if not shutil.which(DRIVER) or "DISPLAY" not in os.environ:
        missing = "needs xvfb-run, and WebKitGTK: apt-get install webkit2gtk-driver xvfb"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    environ = {**os.environ, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}  # root has none
    driver = subprocess.Popen([DRIVER, f"--port={port}"], env=environ)
    try:
        while driver.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                continue
        opened = WebKit(port)
        yield opened
        opened.ask("DELETE", "")
    finally:
        driver.terminate()
        driver.wait()


@pytest.mark.parametrize("narrow", [False, True], ids=["desk", "phone"])
@pytest.mark.parametrize("page", [*built_documents(), "search", "genindex", "py-modindex"])
def test_a_page_opens_quietly_with_all_its_widgets(
    webkit: WebKit, probed: str, page: str, narrow: bool
) -> None:
    """No error, no refusal, no widget that does not come to life, no sideways scrolling."""
    webkit.ask("POST", "/frame", {"id": None})
    address = f"_frame?{page}.html,{PHONE[0]},{PHONE[1]}" if narrow else f"{page}.html"
    webkit.ask("POST", "/url", {"url": f"{probed}/{address}"})
    if narrow:
        webkit.ask("POST", "/frame", {"id": 0})
    assert webkit.run(LOOK) == []


@pytest.mark.parametrize(
    "page",
    ["architecture/masks", "architecture/positions", "training/training", "translation/decoding",
     "translation/heads", "why/attention"],
)  # fmt: skip
def test_links_to_sections_lead_there(webkit: WebKit, probed: str, page: str) -> None:
    """Though the widgets above them grow, and Safari does not hold what is in view."""
    text = (HTML / f"book/{page}.html").read_text(encoding="utf-8")
    sections = re.findall(r'<section id="([^"]+)">', text)
    assert len(sections) > 5
    tops = {}
    for section in sections:
        webkit.ask("POST", "/url", {"url": "about:blank"})  # else it stays on the page
        webkit.ask("POST", "/url", {"url": f"{probed}/book/{page}.html#{section}"})
        tops[section] = webkit.run(WHERE)
    assert {section: top for section, top in tops.items() if not 40 <= top <= 90} == {}
