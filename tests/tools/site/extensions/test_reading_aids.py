"""What helps a reader to find the way through a chapter, on a site that Sphinx builds."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from tools.site.durations import Durations
from tools.site.extensions.reading_aids import chapter_line
from tools.site.main_line import main_line, sections_of

ROOT = Path(__file__).resolve().parents[4]
SETTINGS = f"""
from tools.site.after import moved, steps

extensions = ["myst_nb", "sphinx_design"]
extensions += ["tools.site.extensions.reading_aids", "tools.site.after.moved"]
myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
nb_execution_mode = "off"
html_theme = "basic"
html_baseurl = "https://owner.example/book/"
html_static_path = ["{ROOT}/book/_static"]
moved_pages = {{"old/first": "why/first"}}


def after(app, exception):
    if exception is None:
        steps.run(app, (moved.write_pages, moved.write_anchors))


def setup(app):
    app.connect("build-finished", after)
"""
FRONT = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
paper: "3.2, Table 1"
---

"""
FIRST = f"""\
{FRONT}(chapter-first)=
# The first chapter

% covers: nothing that is counted
A {{dfn}}`bottleneck` has {{dfn}}`heads <head>` and {{dfn}}`<s>`; {{later}}`masks <chapter-second>`
come later.

```{{code-cell}} ipython3
print(1)
```

```{{code-cell}} ipython3
:tags: [hide-input]
print(2)
```

```{{code-cell}} ipython3
:tags: [check, hide-input]
assert True
```

```{{code-cell}} ipython3
:tags: [judge, hide-input]
def check_it(answer): ...
```

```{{code-cell}} ipython3
:tags: [hide-cell]
assert True
```

{{.second-reading}}
## A detour with $x$

These words are not counted, nor is the cell.

```{{code-cell}} ipython3
print(3)
```

### Deeper still

{{.second-reading}}
## Another detour

Here neither.

## The main *line*

Four words with $\\sqrt{{d_k}}$.

:::{{dropdown}} Answers
Folded, not counted.
:::

## Exercises

Not counted either.

## What comes next

{{.second-reading}}
### The end
"""
PAGES = {
    "index": "# Book\n\n```{toctree}\n:numbered:\nwhy/first\nsecond\n```\n",
    "why/first": FIRST,
    "second": "(chapter-second)=\n# The second\n\nShort.\n",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    (folder / "why").mkdir()
    (folder / "conf.py").write_text(SETTINGS)
    (folder / "_build").mkdir()
    Durations({"why/first": 21.7}).write(folder / "_build/durations.json")
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def build(source: Path, html: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "-T", *options, str(source), str(html)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def html(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("html")
    done = build(source, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def page(html: Path) -> str:
    return (html / "why/first.html").read_text()


def test_the_main_line_is_counted_without_detours_exercises_and_what_is_folded(
    source: Path,
) -> None:
    found = main_line(source / "why/first.md")
    assert found.paper == "section 3.2, Table 1"
    assert found.cells == 1
    counted = "The first chapter A bottleneck has heads and s masks come later The main line "
    counted += "Four words with formula What comes next"
    assert re.findall(r"\w+", found.prose) == counted.split()


@pytest.mark.parametrize(
    ("paper", "words"),
    [("3.2, 3.2.1", "sections 3.2, 3.2.1"), ("4, Table 1", "section 4, Table 1"), ("none", "")],
)
def test_the_papers_sections_are_put_into_words(paper: str, words: str) -> None:
    assert sections_of(paper) == words


@pytest.mark.slow
def test_the_head_of_a_chapter_says_what_it_covers_and_what_it_takes(page: str) -> None:
    (line,) = re.findall(r'<p class="chapter-head">(.*?)</p>', page)
    assert line == "Paper: section 3.2, Table 1 · 1 minute to read · 20 seconds to run"


def test_the_head_of_a_chapter_with_slides_leads_to_its_deck_on_the_published_site() -> None:
    def links(metadata: dict[str, object], base: str) -> list[str]:
        document = new_document("chapter")
        document += nodes.title("", "A chapter")
        env = SimpleNamespace(
            docname="book/why/first",
            metadata={"book/why/first": {"kernelspec": {}, "paper": "none", **metadata}},
            doc2path=lambda _: ROOT / "book/why/attention.md",
        )
        config = SimpleNamespace(html_baseurl=base)
        chapter_line(SimpleNamespace(env=env, config=config, confdir=ROOT / "nowhere"), document)
        return [link["refuri"] for link in document.findall(nodes.reference)]

    deck = "https://owner.example/book/slides/book/why/first.html"
    assert links({"slides": {"slides": 3}}, "https://owner.example/book/") == [deck]
    assert links({}, "https://owner.example/book/") == []
    assert links({"slides": {"slides": 3}}, "") == []  # in a deck itself


@pytest.mark.slow
def test_a_second_reading_says_so_and_leads_to_the_main_line(page: str) -> None:
    notes = re.findall(r'<p class="second-reading-note">(.*?)</p>', page, re.DOTALL)
    assert len(notes) == 3
    assert all("Second reading." in note for note in notes)
    leads = [re.findall(r'href="#([\w-]+)"', note) for note in notes]
    assert leads == [["the-main-line"], ["the-main-line"], []]
    assert "The main <em>line</em></a>" in notes[0]
    assert page.count('class="second-reading"') == 3


@pytest.mark.slow
def test_what_is_folded_is_named_in_words(page: str) -> None:
    names = re.findall(r"<summary>(.*?)</summary>", page)
    judged = "How your answer is judged (gives it away)"
    assert names == ["Code", "The test", judged, "Code, and what it prints"]


@pytest.mark.slow
def test_a_term_is_defined_where_it_is_introduced_and_found_in_the_index(
    page: str, html: Path
) -> None:
    assert re.search(r'<dfn id="term-bottleneck">bottleneck</dfn>', page)
    assert re.search(r'<dfn id="term-head">heads</dfn>', page)
    index = (html / "genindex.html").read_text()
    for term in ("bottleneck", "head", "&lt;s&gt;"):
        assert re.search(
            rf'<a href="why/first.html#term-[\w-]+"><strong>{term}</strong></a>', index
        )


@pytest.mark.slow
def test_a_term_of_a_later_chapter_is_a_link_that_names_it(page: str) -> None:
    (term,) = re.findall(r'<span class="later".*?</span></span>', page, re.DOTALL)
    assert 'title="built in chapter 2"' in term
    assert 'href="../second.html#chapter-second"' in term
    assert re.sub("<.*?>", "", term) == "masks → 2"


@pytest.mark.slow
def test_an_old_address_leads_to_the_new_one(html: Path) -> None:
    page = (html / "old/first.html").read_text()
    assert 'content="1; url=../why/first.html"' in page
    assert 'href="https://owner.example/book/why/first.html"' in page
    assert "The first chapter</a>" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moved", "says"),
    [("why/first=second", "is there still"), ("gone=nowhere", "there is no page nowhere")],
)
def test_an_old_address_that_leads_nowhere_is_an_error(
    source: Path, tmp_path: Path, moved: str, says: str
) -> None:
    copy = tmp_path / "source"
    copy.mkdir()
    old, _, new = moved.partition("=")
    (copy / "conf.py").write_text(SETTINGS + f"moved_pages = {{{old!r}: {new!r}}}\n")
    (copy / "why").mkdir()
    for name, text in PAGES.items():
        (copy / f"{name}.md").write_text(text)
    done = build(copy, tmp_path / "html")
    assert done.returncode != 0
    assert says in done.stderr
