"""The pages behind the chapters, as they were built: pictures, glossary, index."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, expect

from tests.book.conftest import HTML, built_documents

FIGURES = HTML / "book/figures.html"
ANCHOR = re.compile(r'\bid="(picture-\d+)"')


def article(path: Path) -> str:
    """A page's own part of its HTML."""
    text = path.read_text(encoding="utf-8")
    return text[text.index("<article") : text.index("</article>")]


def test_every_picture_and_widget_of_the_chapters_is_on_the_page_of_pictures() -> None:
    page = article(FIGURES)
    expected = {
        (document, anchor)
        for document in built_documents()
        for anchor in ANCHOR.findall(article(HTML / f"{document}.html"))
    }
    linked = {
        ((FIGURES.parent / name).resolve().relative_to(HTML).as_posix(), anchor)
        for name, anchor in re.findall(r'href="([^"]+)\.html#(picture-\d+)"', page)
    }
    assert linked == expected
    assert len(expected) > 60
    assert page.count("gallery-widget") >= 11


def test_its_pictures_wait_have_words_and_lead_to_their_files() -> None:
    images = re.findall(r"<img [^>]*>", article(FIGURES))
    assert all('loading="lazy"' in image for image in images)
    assert all(re.search(r'alt="[^"]{10,}', image) for image in images)
    by_day = [image for image in images if "only-dark" not in image]
    shown = {re.search(r'src="([^"]+)"', image)[1] for image in by_day}  # type: ignore[index]
    links = set(re.findall(r'href="(\.\./_images/[^"]+)"', article(FIGURES)))
    assert shown == links
    assert all((FIGURES.parent / name).exists() for name in links)


def test_the_index_has_the_books_words_and_is_in_its_contents() -> None:
    index = article(HTML / "genindex.html")
    for word in ("bottleneck", "multi-head attention", "beam search", "label smoothing"):
        entry = re.search(rf"<a [^>]*>(?:<strong>)?{word}<", index)
        assert entry, f"the index lacks {word}"
    assert len(re.findall(r'href="book/(?!glossary)[^"]+#term-', index)) > 80
    for document in ("book/welcome", "book/why/attention"):
        text = (HTML / f"{document}.html").read_text(encoding="utf-8")
        assert re.search(r'href="[./]*genindex\.html"[^>]*>\s*Index\b', text)


def test_the_glossary_leads_to_the_chapters() -> None:
    page = article(HTML / "book/glossary.html")
    assert page.count("<dt") > 90
    links = re.findall(r'<dd>.*?href="([^"#]+)#chapter-[\w-]+"', page, re.DOTALL)
    assert len(links) == page.count("</dd>")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("RoPE", ["Glossary rotary positions", "27.3. Positions that turn"]),
        ("GPT", ["Glossary decoder-only", "27.5. One stack", "Padding"]),
        ("Xavier", ["Glossary", "7.6. The first loss"]),
        ("warmup", ["Glossary warm-up", "10.5. Trained, with", "14.4. How fast to go"]),
        ("hallucination", ["Glossary hallucination", "28. Your own translator"]),
        ("BLEU", ["Glossary BLEU", "20.1. BLEU by hand"]),
        ("beam", ["19.2. Beam search", "Glossary beam search", "1.6.", "20.4.", "25.4."]),
        ("label smoothing", ["Glossary label smoothing", "14. Training 14.3."]),
        ("teacher forcing", ["Glossary", "11.5. Training in parallel", "Reference"]),
        ("positional encoding", ["Glossary positional encoding", "8.1. Without positions"]),
        ("padding", ["Glossary padding", "12.1. A batch"]),
        ("causal mask", ["Glossary causal mask", "12.2. Three masks"]),
        ("look-ahead mask", ["Glossary causal mask", "12.2. Three masks"]),
        ("KV cache", ["Glossary cache", "27.4. Fewer keys"]),
        ("quadratic", ["5.2. Table 1"]),
        ("O(n^2 d)", ["5.2. Table 1"]),
        ("key", ["4.1. Queries, keys and values", "Glossary key"]),
        ("dropout", ["9.4. Dropout", "Glossary dropout"]),
        ("Adam", ["14.2. One step by hand"]),
        ("d_k", ["Glossary d_k", "4.4. Why divide by the root of d_k"]),
        ("sqrt", ["4.4. Why divide by the root of d_k", "7.2. Why the factor √d_model?"]),
        ("why divide by sqrt", ["4.4. Why divide by the root of d_k"]),
        ("attention", ["4. Attention"]),
        ("noam_rate", ["transformer.training.schedule.noam_rate"]),
    ],
)
def test_a_search_leads_to_sections_of_prose(
    browser: Browser, query: str, first: list[str]
) -> None:
    page = browser.new_page()
    page.goto((HTML / "search.html").as_uri() + f"?q={query}")
    expect(page.locator("#search-results .search-summary")).to_contain_text("found in")
    results = page.locator("#search-results ul.search > li")
    for number, title in enumerate(first):
        expect(results.nth(number).locator("a").first).to_contain_text(title)
    found = results.evaluate_all("all => all.map((one) => one.querySelector('a').href)")
    pages = [link.partition("#")[0] for link in found]
    assert len(pages) == len(set(pages))
    assert not any("lacking_property" in link for link in found)  # RoPE is no part of that name
    for name, _, anchor in (link.partition("#") for link in found):
        text = (HTML / name.partition("/html/")[2]).read_text(encoding="utf-8")
        assert not anchor or f'id="{unquote(anchor)}"' in text
    page.close()


@pytest.mark.browser
@pytest.mark.firefox
@pytest.mark.parametrize("scheme", ["http", "file"])
@pytest.mark.parametrize("query", ["warmup", "sqrt", "causal mask"])
def test_what_was_found_is_quoted_in_prose_with_its_words(
    browser: Browser, site: str, scheme: str, query: str
) -> None:
    page = browser.new_page()
    complaints: list[str] = []  # of the policy, too
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.goto(f"{site if scheme == 'http' else HTML.as_uri()}/search.html?q={query}")
    quotes = page.locator("#search-results ul.search > li > p.context")
    expect(quotes).not_to_have_count(0)
    assert quotes.count() == page.locator("#search-results ul.search > li").count()
    texts = quotes.all_inner_texts()
    assert all(20 < len(text) < 200 for text in texts), texts
    assert sum(quotes.nth(i).locator("strong").count() > 0 for i in range(len(texts))) > 4
    code = re.compile(r"\bimport |\bdef |self\.\w+ =|\breturn ")
    assert not [text for text in texts if code.search(text)]
    assert complaints == []
    page.close()


@pytest.mark.browser
def test_a_list_of_results_fits_a_phone_and_goes_on(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((HTML / "search.html").as_uri() + "?q=attention")
    results = page.locator("#search-results ul.search > li")
    expect(results).to_have_count(10)
    assert max(box["height"] for box in (one.bounding_box() for one in results.all())) < 400
    page.get_by_role("button", name="more pages").press("Enter")
    expect(results.nth(10).locator("a").first).to_be_focused()
    assert results.count() > 30
    for query in ("attention", "warmup", "sqrt", "noam_rate"):  # formulas and names are long
        page.goto((HTML / "search.html").as_uri() + f"?q={query}")
        expect(results).not_to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("query", "meant"),
    [("transformr", "transformer"), ("labell smothing", "label smoothing"), ("qqqqqq", None)],
)
def test_a_slip_of_the_pen_is_answered_with_what_was_meant(
    browser: Browser, query: str, meant: str | None
) -> None:
    page = browser.new_page()
    page.goto((HTML / "search.html").as_uri() + f"?q={query}")
    expect(page.locator("#search-results .search-summary")).to_contain_text("did not match")
    offer = page.locator("#search-results p", has_text="Did you mean")
    if meant is None:
        assert not offer.count()
    else:
        expect(offer).to_have_text(f"Did you mean {meant}?")
        first = page.locator("#search-results ul.search li").first
        expect(first).to_contain_text(meant.split()[-1], ignore_case=True)
        box, above = first.bounding_box(), offer.bounding_box()
        assert box and above and above["y"] < box["y"]
        offer.get_by_role("link").click()
        expect(page.locator("#search-results .search-summary")).to_contain_text("found in")
        expect(page.locator("#search-results ul.search li a").first).to_be_visible()
    page.close()


@pytest.mark.browser
def test_a_result_shows_the_section_with_the_words(browser: Browser) -> None:
    page = browser.new_page()
    page.goto((HTML / "search.html").as_uri() + "?q=why divide by sqrt")
    page.locator("#search-results ul.search li a").first.click()
    heading = page.get_by_role("heading", name="Why divide by")
    expect(heading).to_be_in_viewport()
    page.close()


@pytest.mark.browser
def test_a_browser_that_keeps_nothing_searches_and_turns_dark(browser: Browser) -> None:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.add_init_script(
        """for (const storage of ['localStorage', 'sessionStorage']) {
          Object.defineProperty(window, storage, {
            configurable: true, get() { throw new DOMException('refused', 'SecurityError'); },
          });
        }"""
    )
    page.goto((HTML / "book/why/attention.html").as_uri(), wait_until="load")
    page.keyboard.press("Control+K")
    page.keyboard.type("RoPE")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=RoPE")
    expect(page.locator("#search-results ul.search li a").first).to_contain_text("Glossary")
    page.locator(".theme-switch-button").first.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("#search-results ul.search li a").first.click()
    expect(page).to_have_url(re.compile("glossary"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")  # it is still this tab
    assert complaints == []
    page.close()


@pytest.mark.browser
def test_without_scripts_code_is_legible_at_night(browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False, color_scheme="dark")
    page.goto((HTML / "book/translation/decoding.html").as_uri())
    ground = "box => getComputedStyle(box).backgroundColor"
    found = page.locator(".cell_input pre").first.evaluate(ground)
    assert min(map(int, re.findall(r"\d+", found))) > 0xE0
    page.close()
