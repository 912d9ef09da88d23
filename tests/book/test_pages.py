"""Every page of the built book, in a real browser: at a desk and on a phone, by day, by night."""

import functools
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest
from lxml import html
from playwright.sync_api import Browser, Page, Response, expect

from tests.helpers.axe import AXE
from tools.site.after.policy import TAG, with_policy

from transformer_book.page.widget_pages import QuietHandler, serving

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
PHONE = {"width": 360, "height": 740}
BAD_CONSOLE = ("error", "warning")
# What the policy of a page has refused, from its first line on.
WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  window.violations.push(`${violatedDirective} ${blockedURI}`));"""
# Something that a page does not have: somebody's script, in it or from elsewhere, and a request.
INJECT = """async ([text, source]) => {
  for (const parts of [{ textContent: text }, { src: source }]) {
    document.head.append(Object.assign(document.createElement('script'), parts));
  }
  document.body.insertAdjacentHTML('beforeend', `<img src="${source}" onerror="${text}">`);
  await fetch(source).catch(() => {});
  return window.injected ?? null;
}"""
OPEN_ALL = """() => {
  for (const box of document.querySelectorAll('details')) box.open = true;
  for (const button of document.querySelectorAll('button.toggle-button-hidden')) button.click();
}"""
# Of the words of programs and signatures that look the same, one is enough for a checker; there are
# tens of thousands.
THIN_CODE = """() => {
  const seen = new Set();
  const alike = [...document.querySelectorAll('pre span, dt.sig :is(span, em)')].filter((span) => {
    const { color, backgroundColor, fontSize } = getComputedStyle(span);
    const box = span.closest('pre, dt.sig');
    const around = [getComputedStyle(box).backgroundColor, box.parentElement.className];
    const look = [color, backgroundColor, fontSize, span.className, ...around].join('|');
    return seen.has(look) || !seen.add(look);
  });
  for (const span of alike) span.replaceWith(...span.childNodes);
}"""
# Comparing the contrast of every word takes most of the time: of those with the same look, that is
# letters and what lies behind them, three are enough (one may lie where nobody can see it).
CHECK = """async () => {
  const counts = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !one.checkVisibility()) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(one);
    const look = [color, fontSize, fontWeight];
    for (let at = one; at; at = at.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(at);
      look.push(backgroundColor, backgroundImage, opacity);
    }
    const key = look.filter((part) => !['rgba(0, 0, 0, 0)', 'none', '1'].includes(part)).join('|');
    const alike = counts.get(key) ?? new Set();
    counts.set(key, alike.add(one));
    if (alike.size <= 3) one.dataset.contrast = '';
  }
  axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-contrast]' }] });
  return (await axe.run(document, { resultTypes: ['violations'] })).violations;
}"""


ALL_IMAGES = """() => Promise.all([...document.images].map((image) => image.complete ||
  new Promise((done) => {
    for (const event of ['load', 'error']) image.addEventListener(event, done);
  })))"""


@dataclass
class Opened:
    """A page and what the browser complained about while it opened it."""

    page: Page
    complaints: list[str] = field(default_factory=list)


def wake_widgets(page: Page) -> None:
    """Scrolls to each widget, since none starts before it is near, and waits for all."""
    for place in page.locator(".widget-place").all():
        place.scroll_into_view_if_needed()
    # Not `wait_for_function`: it evaluates text in the page, which the page's policy forbids.
    expect(page.locator(".widget-place:not([data-state])")).to_have_count(0, timeout=30_000)
    page.evaluate("scrollTo(0, 0)")


@pytest.fixture(scope="module")
def opened(browser: Browser, site: str, document: str, view: Any) -> Iterator[Opened]:
    """The document, opened; any request to another host is refused and noted."""
    context = browser.new_context(
        viewport={"width": view.width, "height": view.height},
        color_scheme=view.scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    result = Opened(page)
    note = result.complaints.append

    def route(route):
        if route.request.url.startswith(site):
            route.continue_()
        else:
            note(f"request to another host: {route.request.url}")
            route.abort()

    page.add_init_script(WATCH)
    if browser.browser_type.name == "firefox":  # which is not told what its reader prefers
        mode = f"localStorage.setItem('mode', '{view.scheme}')"
        page.add_init_script(f"if (location.protocol === 'http:') {mode}")  # no empty page
    page.route("**/*", route)
    page.on("console", lambda m: note(f"console: {m.text}") if m.type in BAD_CONSOLE else None)
    page.on("pageerror", lambda error: note(f"page error: {error}"))
    page.on("requestfailed", lambda r: note(f"request failed: {r.url} {r.failure}"))
    page.on("response", lambda r: note(f"{r.status}: {r.url}") if r.status >= 400 else None)
    try:
        page.goto(f"{site}/{document}.html", wait_until="networkidle")
        page.add_style_tag(content="* {transition: none !important; animation: none !important}")
        page.evaluate(OPEN_ALL)
        wake_widgets(page)
        # Here, since a second try opens the page anew only where its opening has failed.
        assert result.complaints == []
        yield result
    finally:
        context.close()


@pytest.mark.firefox
def test_page_opens_whole_and_quietly(opened: Opened) -> None:
    """No complaint, no request elsewhere, a title, no sideways scrolling, pictures that load."""
    page = opened.page
    assert opened.complaints == []
    assert page.evaluate("window.violations") == []
    failed = page.locator('.widget-place:not([data-state="live"])')
    assert failed.count() == 0, "a widget did not start"

    headings = page.locator("article h1")
    assert headings.count() == 1, "a page has exactly one h1"
    assert headings.inner_text().strip()
    assert page.get_attribute("html", "lang") == "en"
    assert (page.get_attribute('meta[name="description"]', "content") or "").strip()

    # Pictures far down load when they come near; make them come near.
    page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    page.evaluate(ALL_IMAGES)
    broken = page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
    assert broken == []
    silent = page.evaluate(
        "[...document.querySelectorAll('article img')].filter(i => !i.alt.trim()).map(i => i.src)"
    )
    assert silent == [], "these figures have no alt text"

    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1], f"the page is {wide[0]} px wide in a window of {wide[1]}"


@pytest.mark.firefox
def test_formulas_are_mathml_that_shows(opened: Opened) -> None:
    """Each formula has its TeX as text alternative and takes room on the page, but not its line."""
    formulas = opened.page.evaluate(
        """[...document.querySelectorAll('article math')].map(m => {
          const box = m.getBoundingClientRect();
          return {tex: m.getAttribute('alttext'), width: box.width, height: box.height};
        })"""
    )
    for formula in formulas:
        assert formula["tex"], "a formula without its TeX source"
        assert formula["width"] > 0 and formula["height"] > 0, formula["tex"]
    # In letters: at most 1.6 without fractions and roots, with them or for a matrix's row 3.5.
    # One as wide as its column may be broken in two, which Firefox does.
    tall = opened.page.evaluate(
        """[...document.querySelectorAll('article span.math > math, article mtr')].filter(one => {
          const { width, height } = one.getBoundingClientRect();
          const { clientWidth } = one.closest('p, li, dd, td, div');
          const floors = one.matches('mtr') || one.querySelector('mfrac, mtable, msqrt, mover');
          return width < 0.8 * clientWidth &&
            height > (floors ? 3.5 : 1.7) * parseFloat(getComputedStyle(one).fontSize);
        }).map(one => one.getAttribute('alttext') ?? one.textContent)"""
    )
    assert tall == [], "these formulas push the lines apart"
    raw = opened.page.locator("article p, article li").filter(has_text="$$")
    assert raw.count() == 0, "TeX left as text"


def test_axe_finds_nothing(opened: Opened) -> None:
    """No violation of accessibility rules, in the text or in a widget."""
    page = opened.page
    page.evaluate(THIN_CODE)
    page.evaluate(AXE)
    found = page.evaluate(CHECK)
    violations = [
        f"{violation['id']}: {node['target']} {node['html'][:120]} {node['failureSummary']}"
        for violation in found
        for node in violation["nodes"]
    ]
    assert violations == []


def test_paper_shows_the_pictures_of_widgets_and_the_words_of_questions(opened: Opened) -> None:
    """In print a widget gives way to its static twin, a question to its text."""
    page = opened.page
    page.emulate_media(media="print")
    # A browser that prints fetches all pictures, also those that nobody has come to.
    page.evaluate("document.querySelectorAll('img').forEach(img => { img.loading = 'eager'; })")
    try:
        for widget, twin in zip(
            page.locator(".widget-place").all(),
            page.locator(".widget-twin img, .widget-words").all(),
            strict=True,
        ):
            expect(widget).to_be_hidden()
            expect(twin).to_be_visible()
            assert (twin.get_attribute("alt") or twin.inner_text()).strip()
    finally:
        page.emulate_media(media="screen")


def test_a_first_visit_is_light(browser: Browser, site: str, document: str) -> None:
    """All that a page loads but its pictures, its widgets included, compressed as servers do."""
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    loaded: list[Response] = []
    page.on("response", lambda response: loaded.append(response))
    page.goto(f"{site}/{document}.html", wait_until="networkidle")
    wake_widgets(page)
    weights = {
        response.url.removeprefix(site): len(gzip.compress(response.body()))
        for response in loaded
        if response.ok and response.request.resource_type != "image"
    }
    context.close()
    assert len(weights) > 5
    assert sum(weights.values()) <= 400_000, weights


@pytest.mark.firefox
def test_widgets_live_on_a_page_opened_from_the_disk(browser: Browser, document: str) -> None:
    """Without any server, as somebody does who has downloaded the book."""
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in BAD_CONSOLE else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.add_init_script(WATCH)
    page.goto((HTML / f"{document}.html").as_uri())
    page.evaluate(OPEN_ALL)
    wake_widgets(page)
    assert page.locator('.widget-place:not([data-state="live"])').count() == 0
    for twin in page.locator(".widget-twin img").all():  # there in case the page is printed
        expect(twin).to_have_js_property("complete", value=True)
    assert page.evaluate("window.violations") == []
    assert complaints == []
    page.close()


def addresses(site: str) -> dict[str, str]:
    """Where the book can be opened: from a server, and from the disk."""
    return {"http": site, "file": HTML.as_uri()}


@pytest.mark.firefox
@pytest.mark.parametrize("scheme", [pytest.param("http", marks=pytest.mark.smoke), "file"])
@pytest.mark.parametrize("name", ["index", "search", "genindex", "py-modindex"])
def test_the_pages_beside_the_chapters_keep_to_their_policies_and_widths(
    browser: Browser, site: str, name: str, scheme: str
) -> None:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if "Security" in m.text else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.add_init_script(WATCH)
    page.goto(f"{addresses(site)[scheme]}/{name}.html", wait_until="networkidle")
    if name == "index":  # it leads to the front page
        page.wait_for_url("**/book/welcome.html", wait_until="networkidle")
    assert page.evaluate("window.violations") == []
    assert complaints == []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_what_is_smuggled_into_a_page_stays_without_effect(
    browser: Browser, site: str, scheme: str
) -> None:
    page = browser.new_page()
    page.add_init_script(WATCH)
    page.goto(f"{addresses(site)[scheme]}/book/welcome.html")
    elsewhere = "https://elsewhere.example/x.js"
    ends: list[str] = []
    page.on("requestfailed", lambda r: ends.append(str(r.failure)) if r.url == elsewhere else None)
    page.on("response", lambda r: ends.append("answered") if r.url == elsewhere else None)
    assert page.evaluate(INJECT, ["window.injected = 'yes'", elsewhere]) is None
    kinds = {"script-src-elem", "script-src-attr", "img-src", "connect-src"}
    for _ in range(100):  # that of the picture's handler comes when the picture has failed
        refused = {line.split()[0] for line in page.evaluate("window.violations")}
        if refused >= kinds:
            break
        page.wait_for_timeout(50)
    assert refused == kinds
    assert set(ends) == {"csp"}
    page.close()


def test_every_page_of_the_site_has_its_policy() -> None:
    """With a tag that comes before all scripts, and the hashes of those that stand in the page."""
    pages = list(HTML.rglob("*.html"))
    assert {"index.html", "search.html", "genindex.html"} <= {path.name for path in pages}
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert len(TAG.findall(text)) == 1, path
        assert TAG.findall(text)[0].strip() in text.partition("<script")[0], path
        assert with_policy(text) == text, path


def test_the_widgets_style_is_whole() -> None:
    """Scripts put names of classes and variables together, so none may be purged as unused."""
    site = (HTML / "_static/styles/site.css").read_text()
    own = (HTML / "_static/widgets/widgets.css").read_text()
    for pattern in (r"\.(tfw[\w-]*)", r"(--tfw-[\w-]+)\s*:"):
        names = set(re.findall(pattern, own))
        assert names
        assert names - set(re.findall(pattern, site)) == set()


def parse(page: Path) -> Any:
    return html.fromstring(page.read_bytes(), parser=html.HTMLParser(encoding="utf-8"))


@functools.cache
def anchors(page: Path) -> set[str]:
    """What a link may end in on this page."""
    return {one for e in parse(page).iter() for one in (e.get("id"), e.get("name")) if one}


def test_internal_links_lead_somewhere(document: str) -> None:
    """Every link to the book's own pages finds the file and the anchor in it."""
    page = HTML / f"{document}.html"
    links = [a.get("href") for a in parse(page).iter("a") if a.get("href")]
    assert links
    missing = []
    for link in links:
        url, anchor = urldefrag(urljoin(page.as_uri(), link))
        if not url.startswith(HTML.as_uri()):
            assert urlparse(url).scheme != "file", f"{link} leads out of the book"
            continue
        target = Path(unquote(urlparse(url).path))
        whole = not anchor or target.suffix != ".html"
        if not target.is_file() or not (whole or unquote(anchor) in anchors(target)):
            missing.append(link)
    assert missing == []


@pytest.mark.smoke
def test_first_address_leads_to_the_book(browser: Browser, site: str) -> None:
    """The bare address ends on the welcome page."""
    page = browser.new_page()
    page.goto(f"{site}/index.html")
    page.wait_for_url("**/book/welcome.html")
    assert page.locator("article h1").count() == 1
    page.close()


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_each_button_above_a_chapter_has_a_word(browser: Browser, site: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{site}/book/architecture/model.html")
    words = page.evaluate(
        """() => [...document.querySelectorAll(".header-article-items .btn")]
          .filter((button) => button.offsetParent)
          .map((button) => button.innerText.trim()
            || getComputedStyle(button, "::after").content.replaceAll('"', ""))"""
    )
    assert {"Chapters", "GitHub", "Colab", ".ipynb", "Theme"} <= set(words)
    assert "none" not in words
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_one_line_of_folds_stands_above_a_chapters_first_picture(
    browser: Browser, site: str
) -> None:
    page = browser.new_page()
    page.goto(f"{site}/book/architecture/model.html")
    first, second = (page.locator("article details.fold > summary").nth(i) for i in (0, 1))
    assert first.bounding_box()["y"] == second.bounding_box()["y"]
    second.click()  # nothing lies over it
    assert second.evaluate("one => one.parentElement.open")
    page.close()


def test_an_address_that_cannot_be_read_breaks_nothing(browser: Browser, site: str) -> None:
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{site}/book/why/attention.html#100%", wait_until="networkidle")
    assert errors == []
    page.close()


@pytest.mark.smoke
def test_search_finds_a_word_of_the_book(browser: Browser, site: str) -> None:
    """The search page works without any server behind it."""
    page = browser.new_page()
    page.goto(f"{site}/search.html?q=attention")
    page.wait_for_selector("#search-results li a")
    page.close()


@pytest.mark.firefox
@pytest.mark.parametrize("scheme", ["http", "file"])
def test_a_word_that_is_typed_into_a_page_is_found(
    browser: Browser, site: str, scheme: str
) -> None:
    page = browser.new_page()
    page.goto(f"{addresses(site)[scheme]}/book/architecture/masks.html", wait_until="networkidle")
    page.keyboard.press("Control+K")
    page.keyboard.type("attention")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")
    page.close()


class KnowsNotebooks(QuietHandler):
    """A server that says what a notebook is, as some hosts do; else it is just bytes."""

    def guess_type(self, path: Any) -> str:
        notebook = str(path).endswith(".ipynb")
        return "application/x-ipynb+json" if notebook else super().guess_type(path)


@pytest.mark.firefox
@pytest.mark.parametrize("link", [".btn-notebook-button", ".where-to-write a:not([href*='://'])"])
def test_a_notebook_is_saved_whatever_its_type(browser: Browser, link: str) -> None:
    with serving(HTML, KnowsNotebooks) as site:
        page = browser.new_page()
        page.goto(f"{site}/book/architecture/masks.html", wait_until="networkidle")
        with page.expect_download() as download:
            page.locator(link).click()
        assert download.value.suggested_filename == "masks.ipynb"
        page.close()


def test_what_is_typed_into_the_search_stands_beside_the_magnifier(
    browser: Browser, site: str
) -> None:
    page = browser.new_page()
    page.goto(f"{site}/search.html?q=warmup")
    begins, ends = page.evaluate(
        """() => {
          const field = document.querySelector('.bd-search-container form.bd-search input');
          const icon = field.parentElement.querySelector('.fa-magnifying-glass');
          const padding = parseFloat(getComputedStyle(field).paddingLeft);
          const { right } = icon.getBoundingClientRect();
          return [field.getBoundingClientRect().left + padding, right];
        }"""
    )
    assert begins >= ends + 2
    page.close()


def test_back_to_top_lies_over_no_figure_of_a_phone(browser: Browser, site: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{site}/book/why/one_sentence.html")
    for top in (3000, 2500):  # the theme shows it to whoever scrolls up again
        page.evaluate("top => scrollTo({ top, behavior: 'instant' })", top)
        page.wait_for_timeout(300)
    assert not page.locator("#pst-back-to-top").is_visible()
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_code_has_the_colour_that_is_meant_for_it(browser: Browser, site: str, theme: str) -> None:
    """Its names are no elements of their own on the site (tools/site/after/template_edits.py)."""
    page = browser.new_page()
    page.goto(f"{site}/book/why/attention.html")
    colours = page.evaluate(
        """(theme) => {
          document.documentElement.dataset.theme = theme;
          const code = document.querySelector(".cell_input .highlight pre");
          return [code, code.parentElement].map((one) => getComputedStyle(one).color);
        }""",
        theme,
    )
    page.close()
    assert len(set(colours)) == 1


def test_a_dark_page_is_printed_as_a_light_one(browser: Browser, site: str) -> None:
    page = browser.new_page(color_scheme="dark")
    page.add_init_script("localStorage.setItem('mode', 'dark')")
    page.goto(f"{site}/book/why/one_sentence.html")
    page.evaluate(
        """() => addEventListener('beforeprint', () => {
          const { color } = getComputedStyle(document.querySelector('article p'));
          const [day, night] = ['light', 'dark'].map((mode) =>
            getComputedStyle(document.querySelector(`article img.only-${mode}`)).display);
          const missing = [...document.querySelectorAll('article img:not(.only-dark)')]
            .filter((image) => !image.naturalWidth).length;
          window.printed = [document.documentElement.dataset.theme, color, day, night, missing];
        })"""
    )
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.pdf(print_background=True)
    printed, colour, day, night, missing = page.evaluate("window.printed")
    assert printed == "light"
    assert max(map(int, re.findall(r"\d+", colour))) < 0x80  # the ink is dark
    assert day != "none" and night == "none"  # a figure too
    assert missing == 0  # which the screen did not need
    assert page.evaluate(theme) == "dark"
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_of_a_figures_two_pictures_the_page_shows_and_fetches_one(
    browser: Browser, site: str, scheme: str
) -> None:
    page = browser.new_page(color_scheme=scheme)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(f"{site}/book/architecture/masks.html", wait_until="networkidle")
    for figure in page.locator("article img:is(.only-light, .only-dark):visible").all():
        figure.scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    sources = "all => all.map(({ src, alt }) => [src, alt])"
    by_day, by_night = (
        page.locator(f"article img.only-{mode}").evaluate_all(sources) for mode in ("light", "dark")
    )
    assert [alt for _, alt in by_day] == [alt for _, alt in by_night] and len(by_day) > 3
    shown, hidden = (by_day, by_night) if scheme == "light" else (by_night, by_day)
    assert {src for src, _ in shown} <= {*fetched} and not {src for src, _ in hidden} & {*fetched}
    mode = "dark" if scheme == "light" else "light"
    expect(page.locator(f"article .only-{mode}:visible")).to_have_count(0)
    page.close()


def test_on_paper_the_text_begins_on_the_first_page(browser: Browser, site: str) -> None:
    """The list of sections, which leads nowhere on paper, does not stand before it."""
    page = browser.new_page(viewport={"width": 700, "height": 1000})
    page.goto(f"{site}/book/why/attention.html")
    page.emulate_media(media="print")
    assert page.locator("h1:visible").inner_text().startswith("4. Attention")
    first = "document.querySelector('article .chapter-head').getBoundingClientRect().top"
    assert page.evaluate(first) < 250
    page.close()


def test_on_paper_hints_are_open_and_answers_stand_at_the_end(browser: Browser, site: str) -> None:
    page = browser.new_page()
    page.goto(f"{site}/book/why/attention.html")
    as_read = page.evaluate("document.querySelector('article').innerText")
    solutions = page.locator("article .solution").count()
    page.emulate_media(media="print")
    end = page.locator("article > section > .answers")
    expect(end.locator(".solution:visible")).to_have_count(solutions)
    assert solutions > 3
    text = page.evaluate("document.querySelector('article').innerText")
    hints = page.locator("article details:not(.fold)", has_text="Hint").all()
    assert len(hints) > 10
    for hint in hints:
        expect(hint.locator(":scope > :not(summary)").last).to_be_visible()
    questions, answers = text.split("\nAnswers and solutions\n")
    for number, named in enumerate(re.findall(r"^Answer (\d+): at the end\.$", questions, re.M), 1):
        assert named == str(number)
        assert re.search(rf"^Answer {number}, to section 4\.\d", answers, re.M)
    assert "A choice changes in jumps" in answers.partition("Answer 3")[0]
    assert "Attention retrieves by content" in answers and "by content" not in questions
    page.emulate_media(media="screen")
    expect(end).to_have_count(0)
    assert page.evaluate("document.querySelector('article').innerText") == as_read
    page.close()


def test_no_sheet_stays_empty_and_no_short_code_is_torn_apart(
    browser: Browser, site: str, tmp_path: Path
) -> None:
    pypdf = pytest.importorskip("pypdf")
    page = browser.new_page()
    page.goto(f"{site}/book/translation/decoding.html")
    page.evaluate(
        """() => addEventListener('beforeprint', () => {
          window.codes = [...document.querySelectorAll('article pre')]
            .filter((pre) => pre.checkVisibility() && pre.textContent.split('\\n').length <= 15)
            .map((pre) => pre.textContent);
        })"""
    )
    page.pdf(path=tmp_path / "chapter.pdf", format="A4")
    sheets = [
        ("".join(sheet.extract_text().split()), len(sheet.images))
        for sheet in pypdf.PdfReader(tmp_path / "chapter.pdf").pages
    ]
    codes = ["".join(code.split()) for code in page.evaluate("window.codes")]
    assert len(codes) > 20
    torn = [code for code in codes if not any(code in words for words, _ in sheets)]
    assert torn == []
    assert [words for words, pictures in sheets[:-1] if len(words) < 500 and not pictures] == []
    assert "".join(words for words, _ in sheets).count("movesonthepage:") == 2
    page.emulate_media(media="print")
    unbroken = page.locator("article :has(pre:not(.short))").evaluate_all(
        """boxes => boxes.map((box) => [box.className, getComputedStyle(box)])
          .filter(([, { breakInside, display }]) => breakInside === 'avoid' || display === 'flex')
          .map(([name]) => name)"""
    )
    assert unbroken == []  # a long one goes on where the sheet ends
    page.close()
