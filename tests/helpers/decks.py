"""A deck in a browser, from the disk, slide by slide: what each shows and what is wrong with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.helpers.axe import AXE

HALL = {"width": 1280, "height": 720}
WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  window.violations.push(`${violatedDirective} ${blockedURI}`));"""
COUNT = "Reveal.getTotalSlides()"
TURN = "(number) => Reveal.slide(number, 0, 99)"
LOOK = """() => {
  const slide = Reveal.getCurrentSlide();
  const over = [slide, ...slide.querySelectorAll('.slide-body, .slide-stage')]
    .filter((box) => box.scrollHeight > box.clientHeight || box.scrollWidth > box.clientWidth)
    .map((box) => `${box.className || 'slide'}: ${box.scrollWidth} x ${box.scrollHeight} in ` +
      `${box.clientWidth} x ${box.clientHeight}`);
  const words = [...slide.querySelectorAll('h1, h2, .slide-words *, .slide-then *')]
    .filter((part) => [...part.childNodes].some((c) => c.nodeType === 3 && c.data.trim()))
    .filter((part) => !part.closest('math, code, sub, sup'))
    .map((part) => parseFloat(getComputedStyle(part).fontSize));
  const code = [...slide.querySelectorAll('.slide-shown :is(pre, .chart td)')].map((part) =>
    parseFloat(getComputedStyle(part).fontSize) * (part.currentCSSZoom ?? 1));
  const letters = [...slide.querySelectorAll('.tfw *')]
    .filter((part) => [...part.childNodes].some((c) => c.nodeType === 3 && c.data.trim()))
    .filter((part) => part.checkVisibility() && !part.closest('summary, sub, sup'))
    .map((part) => parseFloat(getComputedStyle(part).fontSize) * (part.ownerSVGElement
      ? Math.abs(part.getScreenCTM().d) : part.currentCSSZoom ?? 1));
  return {
    title: slide.querySelector('h1, h2').textContent,
    notes: slide.querySelector('aside.notes')?.textContent ?? '',
    seconds: Number(slide.dataset.timing),
    widgets: slide.querySelectorAll('.widget-place').length,
    dead: slide.querySelectorAll('.widget-place:not([data-state="live"])').length,
    broken: [...slide.querySelectorAll('img')].filter((i) => !i.naturalWidth).length,
    silent: [...slide.querySelectorAll('img')].filter((i) => !i.alt.trim()).length,
    smallest: Math.min(...words),
    code: code.length ? Math.min(...code) : null,
    lettering: letters.length ? letters.sort((a, b) => a - b)[letters.length >> 2] : null,
    lost: [...slide.querySelectorAll('.tfw-scroll .tfw-beam-selected')].filter((node) =>
      node.getBoundingClientRect().right >
        node.closest('.tfw-scroll').getBoundingClientRect().right + 1).length,
    torn: [...slide.querySelectorAll('.in-columns .tfw :has(> svg)')].filter((box) =>
      getComputedStyle(box).position === 'relative' && box.getClientRects().length > 1).length,
    parts: slide.querySelectorAll('.slide-part').length,
    picture: slide.querySelector('.slide-shown img')?.getBoundingClientRect().height ?? 0,
    over,
  };
}"""


@dataclass
class OpenDeck:
    """A deck, and what the browser complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def slides(self) -> Iterator[dict[str, Any]]:
        """Turns to each slide and says what is there."""
        for number in range(self.page.evaluate(COUNT)):
            yield self.slide(number)

    def slide(self, number: int) -> dict[str, Any]:
        """Turns to a slide, waits for what it shows, and says what is there."""
        self.page.evaluate(TURN, number)
        current = self.page.locator(".slides > section.present")
        expect(current.locator(".widget-place:not([data-state])")).to_have_count(0, timeout=30_000)
        self.page.evaluate(
            "Promise.all([...Reveal.getCurrentSlide().querySelectorAll('img')]"
            ".map((image) => image.decode().catch(() => {})))"
        )
        self.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return self.page.evaluate(LOOK)

    def violations(self) -> list[str]:
        """What axe finds on the slide that is shown."""
        return violations_of(self.page)


def violations_of(page: Page) -> list[str]:
    """What axe finds in a window; it may not load what a file lies beside."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    return [
        f"{violation['id']}: {node['target']} {node['html'][:120]} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


@contextmanager
def open_deck(browser: Browser, path: Path, scheme: str = "light") -> Iterator[OpenDeck]:
    """Opens a deck from the disk; nothing else may be asked for."""
    context = browser.new_context(viewport=HALL, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    opened = OpenDeck(page)
    note = opened.complaints.append
    page.add_init_script(WATCH)
    page.on("console", lambda m: note(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: note(str(error)))
    page.on("requestfailed", lambda r: note(f"request failed: {r.url}"))
    own = ("file:", "data:", "blob:", "about:")
    page.on("request", lambda r: None if r.url.startswith(own) else note(f"asks for {r.url}"))
    page.goto(path.as_uri())
    page.wait_for_selector(".reveal.ready")
    yield opened
    context.close()
