"""What the built site has beside its chapters, and that what it has published stays."""

import re
from urllib.parse import urlparse
from xml.etree import ElementTree

import pytest
import yaml
from playwright.sync_api import Browser, expect

from tests.book.conftest import HTML, ROOT, built_documents
from tools.site.after.offline import edition
from tools.site.formats.anchors import lost, recorded
from tools.site.pages import Site

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
SETTINGS = CONFIG["sphinx"]["config"]
BASE = CONFIG["html"]["baseurl"].rstrip("/") + "/"


def page(name: str) -> str:
    return (HTML / f"{name}.html").read_text(encoding="utf-8")


def test_no_anchor_that_was_published_is_lost() -> None:
    """Else name it in _config.yml under moved_anchors, with where its text is now."""
    assert len(recorded(ROOT)) > 400
    assert lost(ROOT, SETTINGS["moved_pages"], SETTINGS["moved_anchors"]) == []


def test_the_sitemap_names_the_pages_of_the_book() -> None:
    root = ElementTree.parse(HTML / "sitemap.xml").getroot()
    found = {element.text for element in root.iter() if element.tag.endswith("}loc")}
    assert found == {f"{BASE}{document}.html" for document in built_documents()}
    assert f"Sitemap: {BASE}sitemap.xml" in (HTML / "robots.txt").read_text()


def test_every_page_shows_the_picture_and_leads_to_the_feed() -> None:
    assert (HTML / "_static/social.png").stat().st_size < 300_000
    for document in built_documents():
        text = page(document)
        assert f'property="og:image" content="{BASE}_static/social.png"' in text
        assert 'name="twitter:card" content="summary_large_image"' in text
        (feed,) = re.findall(r'type="application/atom\+xml"[^>]* href="([^"]+)"', text)
        assert (HTML / document).parent.joinpath(feed).resolve() == HTML / "changes.xml"


def test_the_entries_of_the_feed_lead_to_the_page_of_changes() -> None:
    root = ElementTree.parse(HTML / "changes.xml").getroot()
    links = [
        link.get("href", "")
        for entry in root
        if entry.tag.endswith("}entry")
        for link in entry
        if link.tag.endswith("}link")
    ]
    assert links
    for link in links:
        path, _, anchor = link.removeprefix(BASE).partition("#")
        assert f'id="{anchor}"' in (HTML / path).read_text(encoding="utf-8")


def test_what_lecturers_print_is_there_and_no_visit_keeps_it() -> None:
    folder = HTML / "lecturers"
    names = {"handout.pdf", "exam.html", "solutions.html", "goals.html"}
    assert {path.name for path in folder.iterdir()} == names
    assert len(re.findall(rb"/Type /Page\b", (folder / "handout.pdf").read_bytes())) == 1
    links = re.findall(r'href="\.\./lecturers/([\w.]+)"', page("book/lecturers"))
    assert {*links} == names
    core = edition(Site(HTML))["core"]
    assert "book/lecturers.html" in core and not [name for name in core if name[:4] == "lect"]


@pytest.mark.parametrize("name", ["exam", "solutions", "goals"])
def test_a_lecturers_sheet_fits_the_phone_and_the_paper(
    browser: Browser, site: str, name: str
) -> None:
    sheet = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    sheet.goto(f"{site}/lecturers/{name}.html")
    assert sheet.evaluate("document.documentElement.scrollWidth") == 390
    expect(sheet.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    back = sheet.get_by_role("link", name="For lecturers")
    sheet.emulate_media(media="print")
    expect(back).to_be_hidden()
    sheet.emulate_media(media="screen")
    back.click()
    expect(sheet.locator("article h1")).to_contain_text("For lecturers")
    sheet.close()


def test_the_page_for_wrong_addresses_names_files_that_are_there() -> None:
    root = urlparse(BASE).path
    text = (HTML / "404.html").read_text(encoding="utf-8")
    found = re.findall(r'\b(?:href|src)="([^"#]+)', text)
    own = [link.partition("?")[0] for link in found if not re.match(r"[a-z]+:", link)]
    assert len(own) > 40
    for link in own:
        assert link.startswith(root), link
        assert (HTML / link.removeprefix(root)).exists(), link


def test_the_chapters_and_the_reference_lead_to_each_other() -> None:
    attention = page("book/why/attention")
    links = re.findall(r'class="in-reference">.*?href="([^"]+)"', attention)
    wanted = "transformer.attention.scaled_dot_product_attention"
    (path, anchor), *_ = [link.split("#") for link in links if link.endswith(f"#{wanted}")]
    reference = HTML.joinpath("book/why", path).resolve().read_text(encoding="utf-8")
    assert f'id="{anchor}"' in reference
    back = re.findall(r'href="\.\./why/attention\.html#(code-[\w-]+)"', reference)
    assert back and all(f'id="{name}"' in attention for name in back)


def test_notebook_buttons_stand_above_every_chapter() -> None:
    for path in sorted((HTML / "book").rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        if "btn-colab-button" not in text:
            continue
        name = path.relative_to(HTML / "book").with_suffix("")
        assert f"/notebooks/{name}.ipynb" in text
        if name.name != "build_it_yourself":  # its notebook is made from the catalogue
            assert f"/lab/tree/{name}.md?factory=" in text
        assert (HTML / f"notebooks/{name}.ipynb").exists()
        assert (ROOT / f"book/{name}.md").exists()


@pytest.fixture
def reader(browser: Browser, site: str):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def test_what_was_read_is_remembered_here_and_can_be_forgotten(reader, site: str) -> None:
    sent: list[str] = []
    reader.on("request", lambda r: sent.append(r.method) if r.method != "GET" else None)
    reader.goto(f"{site}/book/why/one_sentence.html")
    assert reader.evaluate("localStorage.getItem('book-reading')") is None
    reader.locator("article h2").nth(2).scroll_into_view_if_needed()
    title = reader.locator("article h2").nth(2).evaluate("h => h.firstChild.textContent.trim()")
    reader.evaluate("document.querySelectorAll('article h2')[2].scrollIntoView()")
    reader.wait_for_timeout(200)
    reader.evaluate(
        """() => {
          Object.defineProperty(document, 'hidden', { value: true, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }"""
    )
    reader.goto(f"{site}/book/welcome.html")
    assert title in reader.locator(".reading-stop").inner_text()

    reader.goto(f"{site}/book/why/attention.html")
    reader.locator(".prev-next-footer").scroll_into_view_if_needed()
    expect(reader.locator(".bd-docs-nav .read-mark")).to_have_count(1)
    reader.goto(f"{site}/book/reading.html")
    ticked = reader.locator(".reading-list input:checked")
    expect(ticked).to_have_count(1)
    assert "Attention" in ticked.locator("xpath=..").inner_text()
    assert reader.locator("#reading-progress [role=status]").inner_text().startswith("1 of ")

    reader.locator(".reading-list input").first.focus()  # by the keyboard
    reader.keyboard.press("Space")
    expect(reader.locator(".bd-docs-nav .read-mark")).to_have_count(2)
    reader.get_by_role("button", name="Forget all this").press("Enter")
    expect(reader.locator(".bd-docs-nav .read-mark")).to_have_count(0)
    assert reader.evaluate("localStorage.getItem('book-reading')") is None
    assert sent == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_headings_own_link_is_reached_by_keyboard_and_shows_then(
    browser: Browser, site: str, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme)
    opened = context.new_page()
    opened.goto(f"{site}/book/architecture/post_or_pre.html")
    link = opened.locator("article h2 a.headerlink").first
    expect(link).to_have_css("opacity", "0")
    expect(link).to_have_accessible_name("Link to this heading")
    link.evaluate("(link) => link.parentElement.before(document.createElement('button'))")
    opened.locator("article h2").first.locator("xpath=preceding-sibling::button").focus()
    opened.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(link).to_have_css("opacity", "1")
    opened.keyboard.press("Enter")
    opened.wait_for_function("location.hash")  # a busy machine takes a moment to go there
    assert urlparse(opened.url).fragment == link.get_attribute("href").removeprefix("#")
    context.close()
