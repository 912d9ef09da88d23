"""A deck of a small book: what its marks put on slides, and how they behave in a browser."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from tests.helpers.decks import LOOK, OpenDeck, open_deck, violations_of
from tests.helpers.small_chapters import FRONT
from tools.site.book import AFTERWARDS, forget, kernel_environ
from tools.site.durations import Durations
from tools.site.execute import Execution
from tools.site.extensions.slide_marks import read_mark
from tools.site.formats import slides
from tools.site.formats.decks import broken, gaps, without_comments, without_docstrings
from tools.site.formats.slides import publish

ROOT = Path(__file__).resolve().parents[4]
MORE = """document.querySelector('.present .tfw').insertAdjacentHTML('beforeend',
  '<div style="height: 250px">more</div>')"""
DRAWN = "[...document.querySelectorAll('.present canvas')].map((one) => one.toDataURL()).join()"
ENLARGED = ".slide-stage:is(.magnified, .alone, .with-one-part)"
JUPYTER_BOOK = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
CHAPTER = f"""{FRONT}
# A chapter

% slide: Who looks at *whom*?
% point: A point with $d_k$
% point: Another one
% then: The answer
% minutes: 2.5
% say: Said
%   in two lines.

A paragraph of the chapter, with a {{ref}}`link <second>`.

Not on a slide.

% slide: A formula
% minutes: 1
% say: Look.

$$
x = \\sqrt{{d_k}}
$$ (eq-x)

% show: code

```{{code-cell}} ipython3
:tags: [hide-input]
print("what is " + "printed")
```

% slide: A cell
% show: output later
% point: How much is it?
% minutes: 1
% say: Look again.

```{{code-cell}} ipython3
print(6 * 7)
```

% slide: A table
% show: next later
% minutes: 1
% spare: yes
% say: Fill it in.

| what | then | now |
| --- | --- | --- |
| norm | layer | RMS |

% slide: The module's code
% minutes: 1
% say: Five lines.

::::{{dropdown}} In the module
```{{literalinclude}} code.py
:language: python
```
::::

% slide: Move it
% minutes: 3
% ask: What will happen?
% answer: This.
% expect: That nothing will.

```{{code-cell}} ipython3
from transformer_book.widgets import MaskExplorer
MaskExplorer()
```

% slide: Drawn
% show: bars later
% point: Which is larger?
% minutes: 2
% say: Look at the bars.

```{{code-cell}} ipython3
print("one  0.25\\ntwo  0.5")
```

% show: output later

```{{code-cell}} ipython3
print("So two is larger.")
```

:::{{admonition}} To keep
:class: to-keep
- A first line, of $d_k$.
- A second one.
:::
"""
SECOND = f"{FRONT}\n(second)=\n# Another chapter\n\nIt has no slides.\n"
CODE = 'def double(x):\n    """Twice.\n\n    Said at length.\n    """\n\n    return 2 * x\n'
TOC = """\
format: jb-book
root: book/welcome
parts:
  - caption: A part
    numbered: true
    chapters:
      - file: book/chapter
      - file: book/second
"""


def make(root: Path) -> subprocess.CompletedProcess[str]:
    """Makes the slides of a book as `make slides` does."""
    return subprocess.run(
        [sys.executable, "-m", "tools.site.formats.slides", "--root", str(root)],
        cwd=ROOT,
        env=os.environ | kernel_environ(ROOT),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of two chapters, executed, and its slides."""
    root = tmp_path_factory.mktemp("small")
    settings = (ROOT / "_config.yml").read_text()
    settings = re.sub(r"    moved_(?:pages|anchors):\n(?:      .*\n)+", "", settings)
    (root / "_config.yml").write_text(settings)
    (root / "_toc.yml").write_text(TOC)
    for name in ("tools/site", "book/_static", "book/_slides", "transformer", "transformer_book"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "book/references.bib", root / "book")
    (root / "book/welcome.md").write_text("# Welcome\n\nA book.\n")
    (root / "book/chapter.md").write_text(CHAPTER)
    (root / "book/second.md").write_text(SECOND)
    (root / "book/code.py").write_text(CODE)
    chapters = {name: root / f"book/{name}.md" for name in ("chapter", "second")}
    build = root / "_build"
    build.mkdir()
    execution = Execution(build / ".jupyter_cache", chapters, Durations())
    assert not execution.run(kernel_environ(ROOT), build / "kernels.log").failures
    done = make(root)
    assert done.returncode == 0, done.stderr
    assert "The slides: 1 decks of 11.5 minutes" in done.stdout
    return root


@pytest.fixture(scope="module")
def deck(small: Path) -> str:
    return (small / "_build/slides/book/chapter.html").read_text()


def slide_of(deck: str, title: str) -> str:
    """The slide with a title, from its heading to its end."""
    return re.split(rf"<h2>{title}</h2>", deck)[1].partition("</section>")[0]


def test_a_folder_without_a_book_is_named(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["slides", "--root", str(tmp_path)])
    assert slides.main() == 1 and not list(tmp_path.iterdir())
    assert f"there is no book in {tmp_path}" in capsys.readouterr().err


def test_a_mark_has_a_title_points_notes_and_minutes() -> None:
    mark = read_mark("slide: A title\npoint: One,\n  on two lines\nminutes: 1.5\nsay: Words.")
    assert mark is not None
    assert (mark.title, mark.show, mark.minutes) == ("A title", "next", 1.5)
    assert mark.lines == [("point", "One, on two lines"), ("say", "Words.")]
    more = read_mark("show: output")
    assert more is not None
    assert (more.title, more.show, more.later) == ("", "output", False)
    later = read_mark("show: next later")
    assert later is not None
    assert (later.show, later.later) == ("next", True)


@pytest.mark.parametrize("text", ["covers: layer-norm", "A remark: this.", "say: to whom?"])
def test_other_comments_are_no_marks(text: str) -> None:
    assert read_mark(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("slide: A\nsay: B", "needs its time"),
        ("slide: A\nminutes: some\nsay: B", "needs its time"),
        ("slide: A\nminutes: 2", "needs its notes"),
        ("slide: A\nminutes: 2\nsay:", "says nothing"),
        ("slide: A\nminutes: 2\nsay: B\nshow: all", "none of next, code, output, nothing"),
        ("slide: A\nminutes: 2\nsay: B\nshow: nothing later", "must be something"),
        ("slide: A\nminutes: 2\nspare: no\nsay: B", "is not `% spare: yes`"),
        ("slide: A\nminutes: 2\nsay: B\nslide: C", "leave a blank line between slides"),
        ("show: next\nsay: B", "stand in the mark that begins a slide"),
    ],
)
def test_a_mark_that_cannot_be_followed_says_why(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_mark(text)


def test_code_loses_its_docstrings_and_nothing_else() -> None:
    assert without_docstrings(CODE) == "def double(x):\n    return 2 * x\n"
    method = "".join(f"    {line}" if line.strip() else line for line in CODE.splitlines(True))
    assert without_docstrings(method) == "def double(x):\n    return 2 * x\n"
    assert without_docstrings("not python at all") == "not python at all"


def test_quoted_code_loses_the_comments_that_take_a_line_or_make_one_long() -> None:
    code = 'x = "# no comment"  # short\nif x:\n    # Why.\n    y = 1'
    assert without_comments(code) == code.replace("    # Why.\n", "")
    assert without_comments(f"{code}  # {'so ' * 30}") == without_comments(code)
    assert without_comments("x = (") == "x = ("


SAID = (
    "Two vocabularies cut the same name in two ways, and a model has to learn which spell the same."
)
ROW = "self-attention (restricted)     n^0.72 [0.68, 0.81]   d^0.69 [0.65, 0.70]"
SHARES = "  ".join(f"+{place}: 100%" for place in range(12))
COMMAND = (
    "python -m measurements samples --model book/models/some --data some --device cpu "
    + 5 * " --out some"
)


@pytest.mark.parametrize("line", [SAID, SHARES, COMMAND])
def test_a_printed_line_that_is_too_long_for_a_hall_is_broken_between_words(line: str) -> None:
    assert max(map(len, broken(line).split("\n"))) <= 64 < len(line)
    assert broken(line).split() == line.split()


@pytest.mark.parametrize("line", ["", ROW, "Right.", "34 of 500 rows"])
def test_a_row_of_a_table_is_left_as_it_was_printed(line: str) -> None:
    assert broken(line) == line


@pytest.mark.slow
def test_a_slide_shows_what_stands_below_its_mark_and_nothing_else(deck: str) -> None:
    first = slide_of(deck, "Who looks at <em>whom</em>.")
    assert "A paragraph of the chapter, with a" in first
    assert "<a " not in first  # nobody follows a link in a lecture
    assert first.count("<li>") == 2 and 'class="fragment"' in first
    assert 'alttext="d_k"' in first
    assert "Not on a slide" not in deck
    formula = slide_of(deck, "A formula")
    assert 'alttext="x = \\sqrt{d_k}"' in formula
    assert "print" in formula and "what is printed" not in formula
    cell = slide_of(deck, "A cell")
    assert "42" in cell and "6" not in re.sub(r"<[^>]*>", "", cell)
    assert "What is shown comes with the next key." in cell and "next key" not in first
    assert "The last column comes with the next key." in slide_of(deck, "A table")
    code = slide_of(deck, "The module's code".replace("'", "."))
    assert "double" in code and "at length" not in code
    assert "<details" not in code and "In the module" not in code  # nobody unfolds it
    widget = slide_of(deck, "Move it")
    assert 'class="widget-place"' in widget
    assert "import" not in re.sub(r"<script.*?</script>", "", widget)
    drawn = slide_of(deck, "Drawn")
    assert drawn.count('class="bars"') == 2 and "--share: 0.500" in drawn
    assert '<p class="fragment">So two is larger.</p>' in drawn  # a sentence is one, and no code


@pytest.mark.slow
def test_a_deck_closes_with_what_to_keep(deck: str) -> None:
    *_, last = re.split(r"<section", deck)
    assert "<h2>To keep</h2>" in last and last.count("<li>") == 2 and 'alttext="d_k"' in last
    assert 'data-timing="60"' in last and "Ask the room:" in last


@pytest.mark.slow
def test_notes_have_what_is_said_asked_and_expected(deck: str) -> None:
    first = re.findall(r'<aside class="notes">(.*?)</aside>', deck, re.DOTALL)
    words = [" ".join(re.sub(r"<[^>]*>", "", note).split()) for note in first]
    assert words[0].startswith("8 slides, 11.5 minutes: from minute 1: Who looks at whom?")
    # The title has its first minute, and what to keep the last slide's last one.
    assert words[1] == "1.5 minutes. Said in two lines."
    asked = "3 minutes. Ask the room: What will happen? Answer: This. Expect: That nothing will."
    assert words[6] == asked
    timing = [60, 90, 60, 60, 60, 60, 180, 60, 60]
    assert re.findall(r'data-timing="(\d+)"', deck) == [*map(str, timing)]


@pytest.mark.slow
def test_the_index_leads_to_the_decks_and_names_the_chapters_without(small: Path) -> None:
    slides = small / "_build/slides"
    index = (slides / "index.html").read_text()
    assert '<a href="book/chapter.html">1. A chapter</a></td>\n<td>8</td>' in index
    assert '<td><a href="book/chapter.html?core">7 slides</a></td>' in index
    assert "2. Another chapter</td>" in index and "no slides yet" in index
    assert [path.name for path in (slides / "book").iterdir()] == ["chapter.html"]


def test_published_decks_replace_earlier_ones_and_the_next_book_begins_without(
    tmp_path: Path,
) -> None:
    made, site = tmp_path / "_build/slides", tmp_path / "_build/html"
    (made / "book").mkdir(parents=True)
    (made / "book/chapter.html").write_text("a deck")
    (site / "slides/book").mkdir(parents=True)
    (site / "slides/book/gone.html").write_text("an old deck")
    publish(tmp_path)
    assert [path.name for path in (site / "slides/book").iterdir()] == ["chapter.html"]
    assert (made / "book/chapter.html").exists()
    (site / "index.html").write_text("the book")
    forget(tmp_path / "_build", *AFTERWARDS)
    assert [path.name for path in site.iterdir()] == ["index.html"]


def changed(small: Path, old: str, new: str) -> subprocess.CompletedProcess[str]:
    """What is said of slides of another text; what they were before stays."""
    kept, path = small / "_build/slides", small / "book/chapter.md"
    shutil.copytree(kept, small / "kept")
    try:
        assert old in CHAPTER
        path.write_text(CHAPTER.replace(old, new))
        return make(small)
    finally:
        path.write_text(CHAPTER)
        shutil.rmtree(kept)
        (small / "kept").rename(kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("% answer: This.\n", "", "shows a widget and lacks % answer:"),
        ("% minutes: 3\n", "", "a slide needs its time"),
        ("% point: How much is it?\n", "", "begins as a heading alone"),
        (" later\n% point: How much is it?\n", "\n", "shows only printed lines"),
        ("% show: code\n\n", "", "shows one thing and asks nothing"),
        ("% minutes: 2.5", "% minutes: 1", "has no minute to spare"),
        ("% show: code\n\n", "% show: nothing\n\n% show: code\n\n## More\n\n", "shows nothing"),
    ],
)
def test_a_fault_in_a_mark_stops_the_slides(small: Path, old: str, new: str, problem: str) -> None:
    done = changed(small, old, new)
    assert done.returncode == 1
    assert "The slides were NOT made" in done.stderr and problem in done.stderr


@pytest.mark.slow
def test_a_chapter_that_was_not_executed_is_named(small: Path) -> None:
    done = changed(small, "6 * 7", "7 * 7")
    assert done.returncode == 1
    assert "No outputs yet of book/chapter: run `make book` first" in done.stderr


@pytest.mark.slow
def test_the_site_knows_nothing_of_slides(small: Path) -> None:
    """Its page is the same as that of the chapter without marks."""
    pages = []
    try:
        for text in (CHAPTER, re.sub(r"^%.*\n", "", CHAPTER, flags=re.MULTILINE)):
            (small / "book/chapter.md").write_text(text)
            shutil.rmtree(small / "_build/.doctrees", ignore_errors=True)
            done = subprocess.run(
                [sys.executable, "-c", JUPYTER_BOOK, "build", str(small), "-W", "-n"],
                cwd=ROOT,
                env=os.environ | kernel_environ(ROOT),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            pages.append((small / "_build/html/book/chapter.html").read_text())
    finally:
        (small / "book/chapter.md").write_text(CHAPTER)
    assert pages[0] == pages[1]
    assert "Who looks at" not in pages[0]


@pytest.fixture
def opened(browser: Browser, small: Path) -> Iterator[OpenDeck]:
    with open_deck(browser, small / "_build/slides/book/chapter.html") as deck:
        yield deck


@pytest.mark.slow
def test_what_is_shown_later_comes_with_the_next_key_and_not_before(opened: OpenDeck) -> None:
    page = opened.page
    page.evaluate("Reveal.slide(3)")
    answer = page.locator("section.present pre")
    expect(answer).to_have_text("42\n")
    expect(answer).to_be_hidden()
    question = page.locator("section.present .slide-words li")
    size = "item => parseFloat(getComputedStyle(item).fontSize)"
    box = question.bounding_box()
    assert box and 250 < box["y"] + box["height"] / 2 < 470 and question.evaluate(size) > 40
    page.keyboard.press("m")  # there is nothing yet to be magnified
    page.keyboard.press("ArrowRight")
    expect(answer).to_be_visible()
    box = question.bounding_box()
    assert box and box["y"] < 150 and question.evaluate(size) == 30
    assert page.evaluate("Reveal.getIndices().h") == 3
    page.keyboard.press("ArrowLeft")
    expect(answer).to_be_hidden()
    assert question.evaluate(size) > 40


@pytest.mark.slow
def test_what_comes_has_its_size_at_once(opened: OpenDeck) -> None:
    """A sentence that came before shrinks when bars come; they are fitted to the room it leaves."""
    size = "said => getComputedStyle(said).fontSize"
    opened.page.evaluate("Reveal.slide(7, 0, -1)")
    for expected in ("36px", "30px"):
        opened.page.keyboard.press("ArrowRight")
        said = opened.page.locator("section.present .slide-words > .fragment")
        assert said.evaluate(size) == expected


@pytest.mark.slow
def test_the_last_column_of_a_table_comes_with_the_next_key(opened: OpenDeck) -> None:
    opened.page.evaluate("Reveal.slide(4)")
    known, asked = opened.page.locator("section.present td:nth-child(n + 2)").all()
    expect(known).to_be_visible()
    expect(asked).to_be_hidden()
    opened.page.keyboard.press("ArrowRight")
    expect(asked).to_be_visible()


@pytest.mark.slow
def test_what_is_folded_is_so_however_one_comes_to_a_slide(opened: OpenDeck) -> None:
    fold = opened.page.locator("section.present details.tfw-more")
    for _ in range(2):
        opened.slide(6)
        expect(fold).not_to_have_attribute("open", "")
        opened.page.reload()
        opened.page.wait_for_selector(".reveal.ready")


@pytest.mark.slow
def test_a_deck_opens_from_the_disk_whole_and_quietly(opened: OpenDeck) -> None:
    for slide in opened.slides():
        assert slide["over"] == [] and slide["dead"] == 0 and slide["broken"] == 0
        assert slide["smallest"] >= 28 and (slide["code"] or 28) >= 20
        assert opened.violations() == []
    assert opened.page.evaluate("window.violations") == []
    assert opened.complaints == []


@pytest.mark.slow
def test_keys_stay_in_a_widget_until_one_leads_out(opened: OpenDeck) -> None:
    assert opened.slide(6)["widgets"] == 1
    page = opened.page
    slider = page.locator(".present input[type=range]").filter(visible=True).last
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before
    assert page.evaluate("Reveal.getIndices().h") == 6
    page.keyboard.press("PageUp")  # as a clicker sends it
    assert page.evaluate("Reveal.getIndices().h") == 5
    page.keyboard.press("ArrowRight")
    assert page.evaluate("Reveal.getIndices().h") == 6


@pytest.mark.slow
def test_a_key_magnifies_what_is_shown_part_by_part(opened: OpenDeck) -> None:
    page = opened.page
    page.evaluate(
        "document.querySelectorAll('.slides > section')[5].querySelector('.slide-shown')"
        ".insertAdjacentHTML('beforeend', '<div style=\"width: 2000px; height: 900px\">far</div>')"
    )
    opened.slide(5)
    width = "document.querySelector('.present .slide-shown').getBoundingClientRect().width"
    inside = """(() => {
      const [stage, shown] = ['.slide-stage', '.slide-shown'].map((name) =>
        document.querySelector(`.present ${name}`).getBoundingClientRect());
      return [stage.left - shown.left, stage.top - shown.top].map((gap) => Math.round(gap));
    })()"""
    whole, corners = page.evaluate(width), []
    for _ in range(4):
        page.keyboard.press("m")
        assert page.evaluate(width) == pytest.approx(2 * whole)
        corners.append(tuple(page.evaluate(inside)))
    assert len(set(corners)) == 4  # what lies left of and above the part that is seen
    page.keyboard.press("m")
    assert page.evaluate(width) == pytest.approx(whole)
    page.keyboard.press("m")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(width) == pytest.approx(whole)


def test_a_picture_is_cut_where_nothing_is_drawn(tmp_path: Path) -> None:
    rows = np.full((100, 40), 255, dtype=np.uint8)
    rows[:30, 5] = rows[50:57, 5] = rows[60:, 5] = 0  # between the last two three rows alone
    Image.fromarray(rows).save(tmp_path / "picture.png")
    assert [*gaps(tmp_path / "picture.png")] == [0.4]
    assert [*gaps(tmp_path / "picture.png", axis=1)] == [23 / 40]


def test_of_the_places_to_cut_a_picture_the_widest_comes_first(tmp_path: Path) -> None:
    rows = np.full((100, 40), 255, dtype=np.uint8)
    rows[:20, 5] = rows[30:60, 5] = rows[80:, 5] = 0
    Image.fromarray(rows).save(tmp_path / "picture.png")
    assert [*gaps(tmp_path / "picture.png")] == [0.7, 0.25]


PICTURE = """([width, height, columns]) => {
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' width='${width}' height='${height}'/>`;
  const shown = document.querySelectorAll('.slides > section')[5].querySelector('.slide-shown');
  shown.innerHTML = `<img alt="A" data-columns="${columns}">`;
  shown.firstChild.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return shown.firstChild.decode();
}"""
SEEN = """(() => {
  const slide = document.querySelector('.slides').getBoundingClientRect();
  const shown = document.querySelector('.present .slide-shown');
  const [part, all] = [shown, shown.querySelector('img')].map((box) => box.getBoundingClientRect());
  return { inside: part.left >= slide.left && part.right <= slide.right &&
      part.top >= slide.top && part.bottom <= slide.bottom && all.height <= part.height + 1,
    width: all.width, ends: [part.left, part.right].map((end) => (end - all.left) / all.width) };
})()"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "columns", "steps"),
    [
        ((900, 500), "0.500", [(0, 1)]),  # gains by the room of the title
        ((1000, 300), "0.700 0.450", [(0, 0.45), (0.45, 1)]),
        ((1000, 300), "0.800", [(0, 1)]),
    ],
)
def test_a_picture_is_magnified_whole_or_cut_between_what_stands_side_by_side(
    opened: OpenDeck, size: tuple[int, int], columns: str, steps: list[tuple[float, float]]
) -> None:
    page = opened.page
    page.evaluate(PICTURE, [*size, columns])
    opened.slide(5)
    whole = page.evaluate(SEEN)
    for start, end in steps:
        page.keyboard.press("m")
        seen = page.evaluate(SEEN)
        assert seen["inside"] and seen["width"] > 1.05 * whole["width"]
        assert seen["ends"] == pytest.approx([start, end], abs=0.01)
    page.keyboard.press("m")
    assert page.evaluate(SEEN) == whole


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 6])
def test_escape_ends_magnifying_and_then_shows_all_slides(opened: OpenDeck, number: int) -> None:
    page = opened.page
    page.evaluate(PICTURE, [900, 500, ""])
    opened.slide(6)
    page.evaluate(MORE)
    opened.slide(0)
    whole = opened.slide(number)
    for handle in (None, ".present .tfw input")[: number - 4]:
        if handle:
            page.locator(handle).first.focus()
        page.keyboard.press("m")
        expect(page.locator(f".present {ENLARGED}")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator(f".present {ENLARGED}")).to_have_count(0)
        assert page.evaluate("Reveal.isOverview()") is False
        assert opened.slide(number) == whole
    page.keyboard.press("Escape")
    assert page.evaluate("Reveal.isOverview()") is True


@pytest.mark.slow
def test_a_key_shows_a_widgets_picture_with_the_slider_that_was_moved(opened: OpenDeck) -> None:
    opened.slide(6)
    page = opened.page
    page.evaluate(MORE)  # else the mask has all the room that it needs
    opened.slide(0)
    whole = opened.slide(6)
    handles = page.locator(".present :is(.tfw-control, .tfw-steps)").filter(visible=True)
    sliders = page.locator(".present input[type=range]").filter(visible=True)
    every = handles.count()
    sliders.last.focus()
    moved = sliders.last.get_attribute("id")
    assert every > 2 and moved
    parts = 0
    while True:
        page.keyboard.press("m")  # which the slider does not keep
        if handles.count() == every:
            break
        parts += 1
        part = page.evaluate(LOOK)
        assert part["over"] == [] and part["lettering"] > 1.1 * whole["lettering"]
        assert [box.get_attribute("id") for box in sliders.all()] == [moved]
        assert opened.violations() == []
        seen = page.evaluate(DRAWN)
        before = sliders.first.input_value()
        page.keyboard.press("ArrowRight")
        assert sliders.first.input_value() != before
        page.wait_for_function(f"(seen) => {DRAWN} !== seen", arg=seen)
        page.keyboard.press("ArrowLeft")
    assert parts == 1  # the mask
    assert opened.slide(6)["lettering"] == pytest.approx(whole["lettering"])
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert handles.count() == 1
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert handles.count() == every  # whoever leaves a slide finds it whole again
    choice = page.locator(".present .tfw-pick").filter(visible=True).first
    choice.get_by_role("radio").first.focus()
    page.keyboard.press("m")
    expect(choice).to_be_visible()
    assert handles.count() == 2  # with what was used before it


@pytest.mark.slow
def test_a_slide_that_grows_is_fitted_again(opened: OpenDeck) -> None:
    opened.slide(6)
    page = opened.page
    page.evaluate(MORE)
    page.wait_for_timeout(200)
    stage = "document.querySelector('.present .slide-stage')"
    assert page.evaluate(f"{stage}.scrollHeight <= {stage}.clientHeight")


@pytest.mark.slow
def test_the_speakers_view_opens_with_the_notes(opened: OpenDeck) -> None:
    opened.slide(1)
    with opened.page.expect_popup() as popup:
        opened.page.keyboard.press("s")
    view = popup.value
    expect(view.locator(".speaker-controls-notes .value")).to_contain_text("Said in two lines")
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    expect(view.locator(".speaker-controls-notes .value")).to_contain_text("Look.")
    expect(view.locator("iframe[title]")).to_have_count(2)
    assert violations_of(view) == []
    assert opened.page.evaluate("window.violations") == []
    assert opened.complaints == []


@pytest.mark.slow
def test_the_speakers_view_is_on_time_at_the_title_and_says_where_the_end_is(
    opened: OpenDeck,
) -> None:
    with opened.page.expect_popup() as popup:
        opened.page.keyboard.press("s")
    view = popup.value
    expect(view.locator(".pacing")).to_have_class("pacing on-track")
    label = view.locator("#upcoming-slide .label")
    following = view.frame_locator("#upcoming-slide iframe")
    # A preview that is ready late, as on a slow machine, is told once more what to show.
    again = "frame => { frame.src = frame.src.replace('?', '?again&'); }"
    view.locator("#upcoming-slide iframe").evaluate(again)
    expect(following.locator(".present h2")).to_contain_text("Who looks at")
    top = view.locator("#upcoming-slide iframe").bounding_box()
    for above in (label, view.locator("#speaker-layout")):
        box = above.bounding_box()
        assert box and top and box["y"] + box["height"] <= top["y"]
    opened.page.evaluate("Reveal.slide(7, 0, -1)")
    expect(following.locator(".present h2")).to_have_text("Drawn")
    expect(label).to_have_text("Upcoming")
    opened.page.evaluate("Reveal.slide(8)")
    expect(label).to_have_text("The end")
    expect(view.locator("#upcoming-slide iframe")).to_be_hidden()
    assert opened.complaints == []


@pytest.mark.slow
def test_what_a_shortened_lecture_leaves_out_gives_the_speaker_no_time(opened: OpenDeck) -> None:
    page = opened.page
    address = page.url.partition("#")[0]
    page.goto(f"{address}?without=2,4-5#/3")
    expect(page.locator(".present h2")).to_have_text("Move it")
    page.evaluate("Reveal.slide(0)")
    expect(page.locator(".slide-plan")).to_contain_text("8.5 minutes")
    notes = page.locator(".opening .notes")
    expect(notes.locator("> p")).to_have_text("5 slides, 8.5 minutes:")
    begins = ["1: Who looks", "2.5: A cell", "3.5: Move it", "6.5: Drawn", "7.5: To keep"]
    expect(notes.locator("li")).to_contain_text([f"from minute {each}" for each in begins])
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    pace = popup.value.locator(".pacing")
    expect(pace).to_have_class("pacing on-track")
    expect(popup.value.locator(".pacing-title")).to_have_text("Until this slide should end")
    page.evaluate("Reveal.slide(2)")  # after a minute, one and a half, and one
    expect(pace).to_have_text(re.compile(r"^00:03:\d\d$"), use_inner_text=True)
    assert opened.complaints == []


@pytest.mark.slow
def test_the_core_of_a_deck_is_what_is_not_spare(opened: OpenDeck) -> None:
    page = opened.page
    address = page.url.partition("#")[0]
    for asked, count, minutes in [("?core", 7, 10.5), ("?core&without=2", 6, 9.5)]:
        page.goto(f"{address}{asked}")
        told = page.locator(".opening .notes")
        expect(told.locator("> p")).to_have_text(f"{count} slides, {minutes} minutes:")
        expect(told.locator("li").filter(has_text="A table")).to_have_count(0)
        expect(page.locator(".slides h2").filter(has_text="A table")).to_have_count(0)
    assert opened.complaints == []


@pytest.mark.slow
def test_help_shows_all_keys_at_once(opened: OpenDeck) -> None:
    opened.page.keyboard.press("Shift+?")
    keys = opened.page.locator(".r-overlay-help tr")
    expect(keys.filter(has_text="Magnify")).to_be_in_viewport(ratio=1)
    expect(keys.last).to_be_in_viewport(ratio=1)


def _press_until(holds: str, key: str, view: Page, deck: Page) -> None:
    """Press again where nothing came of it, as a lecturer does.

    reveal.js sends the state of the deck to the view's small copies and takes theirs back; on a
    busy machine an old state comes back late and undoes what the key has done.
    """
    for _ in range(2):
        view.keyboard.press(key)
        with suppress(PlaywrightTimeoutError):
            deck.wait_for_function(f"() => {holds}", timeout=5_000)
            return
    view.keyboard.press(key)
    deck.wait_for_function(f"() => {holds}", timeout=5_000)


@pytest.mark.slow
def test_keys_in_the_speakers_view_turn_the_slides(opened: OpenDeck) -> None:
    """The keys that lecturers press, and those that clickers send."""
    opened.slide(1)
    with opened.page.expect_popup() as popup:
        opened.page.keyboard.press("s")
    view = popup.value
    expect(view.locator(".speaker-controls-notes .value")).to_contain_text("Said in two lines")
    view.on("pageerror", lambda error: opened.complaints.append(str(error)))
    view.locator("h4").first.click()
    turns = [("ArrowRight", "ArrowLeft"), ("Space", "ArrowLeft"), ("PageDown", "PageUp")]
    place = "JSON.stringify(Reveal.getIndices())"
    for on, back in [*turns, ("n", "p")]:
        before = opened.page.evaluate(place)
        view.keyboard.press(on)
        opened.page.wait_for_function(f"before => {place} !== before", arg=before, timeout=5_000)
        view.keyboard.press(back)
        opened.page.wait_for_function(f"before => {place} === before", arg=before, timeout=5_000)
    # The pace comes from the minutes of the slides.
    expect(view.locator(".pacing-title")).to_be_visible()
    for key in ("b", "."):
        for black in ("true", "false"):
            _press_until(f"Reveal.isPaused() === {black}", key, view, opened.page)
    assert opened.complaints == []


@pytest.mark.slow
def test_a_deck_is_dark_for_who_prefers_that(browser: Browser, small: Path) -> None:
    with open_deck(browser, small / "_build/slides/book/chapter.html", "dark") as opened:
        colour = "getComputedStyle(document.body).backgroundColor"
        assert opened.page.evaluate(colour) == "rgb(20, 24, 30)"
        for slide in opened.slides():
            assert slide["over"] == []
            assert opened.violations() == []
