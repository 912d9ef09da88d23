"""The book on paper: one document of all pages, whose links hold, and what fails its printing."""

from pathlib import Path

import pytest
from lxml import html

from tools.browser import ensure_chromium
from tools.site.formats.paper import Paper, css_string
from tools.site.formats.pdf import PaperError, page_numbers, print_book, say_titles_once

ROOT = Path(__file__).resolve().parents[4]
SITE = "https://example.org/site/"
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"></head><body><article>
<section id="{name}"><h1><span>{number}. </span>{title}<a class="headerlink" href="#">#</a></h1>
{body}</section></article></body></html>"""
FIRST = """<p>See <a href="two.html#there">there</a>, <a href="two.html">two</a>,
<a href="../index.html">the front</a>, <a href="https://example.com/">out</a> and
<a href="#inside">inside</a>.</p>
<section id="inside"><h2><span class="section-number">1.1. </span>Inside<a class="headerlink"
href="#inside">#</a></h2>
<div class="cell"><details class="hide fold"><summary>The test</summary><pre>assert True</pre>
</details><div class="cell_output"><pre>It holds.</pre></div></div>
<div class="cell"><details class="hide fold"><summary>Code</summary><pre>draw()</pre></details>
</div>
<div class="widget-place">slider</div><div class="widget-twin"><img alt="" loading="lazy"
src="../_images/picture.png"></div><img class="only-dark" alt="" src="../_images/night.png">
<span class="wide-picture only-dark"><img class="only-dark" alt="" src="../_images/wide.png"></span>
<p class="second-reading-note">Go on to <em><a href="#inside">what follows</a></em>.</p>
<p>How many?</p><details class="sd-sphinx-override sd-dropdown"><summary>Answer</summary>
<div><p>Seven.</p></div></details> Tail.
<div class="widget-words"><p>Which?</p><details><summary>Answer</summary>
<p>Both.</p></details></div>
<div class="exercise admonition" id="asked"><p class="admonition-title">Exercise 1.1</p>
<p>Why?</p><details class="sd-dropdown"><summary>Hint 1</summary><p>Think.</p></details></div>
<div class="solution dropdown admonition" id="solved"><p class="admonition-title">Solution to
<a href="#inside">Exercise 1.1</a></p><p>Solved.</p></div></section>"""
SECOND = '<p id="there">There.</p><pre>{}</pre><section id="inside"><h2>Again</h2></section>'
LONG = "def f(x): return " + "+".join(["x"] * 200)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of two pages, as if it were built."""
    (tmp_path / "_config.yml").write_text(
        f"title: A book\nauthor: somebody\nhtml: {{baseurl: {SITE}}}\n"
    )
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: book/one\nparts:\n- caption: A part\n  chapters:\n"
        "  - file: book/two\n"
    )
    pages = tmp_path / "_build/html/book"
    static = pages.parent / "_static/styles"
    for folder in (pages, static, pages.parent / "_images"):
        folder.mkdir(parents=True)
    (static / "site.css").write_text(
        "pre { white-space: pre-wrap; overflow-wrap: anywhere } img { max-width: 100% }"
    )
    picture = ROOT / "book/_static/readme.png"
    (pages.parent / "_images/picture.png").write_bytes(picture.read_bytes())
    for number, (name, body) in enumerate([("one", FIRST), ("two", SECOND.format(LONG))], 1):
        text = PAGE.format(name=name, number=number, title=f"Page {name}", body=body)
        (pages / f"{name}.html").write_text(text)
    return tmp_path


def document(book: Path) -> html.HtmlElement:
    return html.fromstring(Paper(book, set()).document({"one": 3, "two--inside": 4}, ""))


def test_links_between_pages_lead_within_the_document_and_others_to_the_site(book: Path) -> None:
    page = document(book)
    links = [a.get("href") for a in page.xpath('//main[@id="one"]//p[1]/a')]
    within = ["#two--there", "#two", f"{SITE}index.html", "https://example.com/", "#one--inside"]
    assert links[:5] == within
    names = [element.get("id") for element in page.xpath("//*[@id]")]
    assert len(names) == len(set(names))
    assert {link[1:] for link in links if link.startswith("#")} <= set(names)


def test_the_contents_name_every_page_and_section_with_their_numbers(book: Path) -> None:
    rows = document(book).xpath('//nav[@id="contents"]/a')
    assert [row.get("href") for row in rows] == [
        *("#one", "#one--inside", "#one--answers", "#two", "#two--inside")
    ]
    assert [row.xpath("string(span[1])") for row in rows[:2]] == ["1. Page one", "1.1. Inside"]
    assert [row.xpath("string(span[2])") for row in rows] == ["3", "", "", "", "4"]


def test_answers_and_solutions_stand_at_the_chapters_end(book: Path) -> None:
    page = document(book)
    answers = page.xpath('//section[@id="one--answers"]//section')
    numbered = [f"Answer {number}, to section 1.1" for number in (1, 2)]
    assert [a.xpath("string(h3)") for a in answers] == [*numbered, "Solution to Exercise 1.1"]
    for answer, words in zip(answers, ("Seven.", "Both.", "Solved."), strict=True):
        assert words in answer.text_content()
    for answer in answers:
        assert page.xpath(f'//p/a[@href="#{answer.get("id")}"]')
        (back,) = answer.xpath("h3/a")
        assert page.xpath(f'//*[@id="{back.get("href")[1:]}"]')
    inside = page.xpath('string(//section[@id="one--inside"])')
    assert "Go on to what follows." in inside
    assert "Tail." in inside and "Answer 2: at the end of the chapter" in inside


def test_hints_stand_open_below_their_exercise(book: Path) -> None:
    (hint,) = document(book).xpath('//div[@id="one--asked"]//details[@open]')
    assert "Hint 1" in hint.text_content() and "Think." in hint.text_content()
    assert document(book).xpath("//details[not(@open)]") == []


def test_the_picture_of_a_widget_says_where_it_moves(book: Path) -> None:
    (link,) = document(book).xpath('//div[contains(@class, "widget-twin")]//a')
    assert link.get("href") == link.text == f"{SITE}book/one.html"


def test_code_behind_folds_stays_behind_and_what_it_printed_is_there(book: Path) -> None:
    text = document(book).text_content()
    assert "It holds." in text
    assert "assert True" not in text and "draw()" not in text
    assert "slider" not in text  # the widget; its picture is there
    (image,) = document(book).xpath("//img")
    assert image.get("src").startswith("file://") and image.get("loading") is None


def test_titles_are_quoted_as_style_sheets_do() -> None:
    assert css_string('a "b" \\') == '"a \\"b\\" \\\\"'


@pytest.mark.slow
@pytest.mark.browser
def test_the_printed_book_has_all_pages_and_names_them_in_its_contents(book: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    pdf = book / "book.pdf"
    assert print_book(book, pdf, ensure_chromium()) >= 4
    reader = pypdf.PdfReader(pdf)
    numbers = page_numbers(pdf)
    assert {"one", "two", "one--inside", "two--there"} <= set(numbers)
    contents = reader.pages[1].extract_text()
    for anchor in ("one", "two"):
        assert f"Page {anchor}" in reader.pages[numbers[anchor] - 1].extract_text()
        assert str(numbers[anchor]) in contents
    assert reader.metadata.title == "A book"
    assert reader.outline[0].title == "A book"


def test_bookmarks_have_their_titles_once(tmp_path: Path) -> None:
    """Chromium says some twice: "2. 2. Masks againMasks again"."""
    pypdf = pytest.importorskip("pypdf")
    writer, pdf = pypdf.PdfWriter(), tmp_path / "book.pdf"
    writer.add_blank_page(100, 100)
    chapter = writer.add_outline_item(title="2. 2. Masks againMasks again", page_number=0)
    writer.add_outline_item(title="2.6. 2.6. Where?Where?", page_number=0, parent=chapter)
    for title in ("ContentsContents", "Two by two"):
        writer.add_outline_item(title=title, page_number=0)
    say_titles_once(writer)
    writer.write(pdf)
    first, nested, *others = pypdf.PdfReader(pdf).outline
    titles = [first.title, nested[0].title, *(each.title for each in others)]
    assert titles == ["2. Masks again", "2.6. Where?", "Contents", "Two by two"]


@pytest.mark.slow
@pytest.mark.browser
def test_what_would_disappoint_a_reader_fails_the_printing(book: Path) -> None:
    pytest.importorskip("pypdf")
    (book / "_build/html/_images/picture.png").unlink()
    (book / "_build/html/_static/styles/site.css").write_text("")
    two = book / "_build/html/book/two.html"
    two.write_text(two.read_text().replace("</pre>", '</pre><a href="#gone">gone</a>'))
    with pytest.raises(PaperError) as raised:
        print_book(book, book / "book.pdf", ensure_chromium())
    said = str(raised.value)
    assert "picture.png is empty" in said
    assert "two: <pre> is" in said and "too wide" in said
    assert "two: a link leads to #two--gone, which is not there" in said
    assert not (book / "book.pdf").exists()


def test_a_formula_in_a_heading_is_a_formula_in_the_contents(book: Path) -> None:
    page = book / "_build/html/book/two.html"
    root = '<math alttext="\\sqrt d"><msqrt><mi>d</mi></msqrt></math>'
    link = f'<h2>Why <a id="x" href="#there">{root}</a>?</h2>'
    page.write_text(page.read_text().replace("<h2>Again</h2>", link))
    (entry,) = document(book).xpath('//nav[@id="contents"]/a[@href="#two--inside"]/span[1]')
    assert "".join(entry.itertext()) == "Why d?" and entry.xpath(".//msqrt")
    assert not entry.xpath(".//a | .//@id")


def test_a_short_block_of_code_stays_on_one_sheet_and_a_long_one_need_not(book: Path) -> None:
    page = book / "_build/html/book/two.html"
    blocks = "<pre>a" + "\nx" * 9 + "</pre><pre>b" + "\nx" * 40 + "</pre>"
    page.write_text(page.read_text().replace("<h2>Again</h2>", f"<h2>Again</h2>{blocks}"))
    short, long = (document(book).xpath(f'//pre[starts-with(., "{name}")]')[0] for name in "ab")
    assert (short.get("class"), long.get("class")) == ("short", None)
