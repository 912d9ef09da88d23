"""Marks of what a chapter covers, and the tables made from them, on a site that Sphinx builds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.site.extensions.coverage import topics_in

ROOT = Path(__file__).resolve().parents[4]
SETTINGS = """
extensions = ["myst_nb"]
extensions += [f"tools.site.extensions.{n}" for n in ("mathml", "reading_aids", "coverage")]
myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
nb_execution_mode = "off"
html_theme = "basic"
"""
LIST = """\
paper:
  heading: A heading
  aside: An aside
  box: A box
  formula: A formula
blog:
  words: Some words
  cell: A cell
  code: Code of the module
  box: The same box
  first: First words
"""
CHAPTER = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# A chapter

% covers: heading,
% words

% covers: first
Its first words.

% covers: box
:::{admonition} From the paper
:class: from-the-paper
> Quoted.
:::

% covers: formula
$$
x = 1
$$ (eq-x)

% A comment that marks nothing.

% covers: cell
```{code-cell} ipython3
:tags: [check, hide-input]
print(1)
```

% covers: aside
{.second-reading}
## An *aside*

More words.

% covers: words, code
```python
print(2)
```
"""
EMPTY = """
## Empty

% covers: box

## At the end

Words.

% covers: code
"""
COVERAGE = "# Coverage\n\n```{coverage} paper\n```\n\n## A blog\n\n```{coverage} blog\n```\n"
INDEX = "# Book\n\n```{toctree}\n:numbered:\nchapter\n```\n\n```{toctree}\ncoverage\n```\n"


def build(folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """Builds the site, with some of its files changed."""
    texts = {"index": INDEX, "chapter": CHAPTER, "coverage": COVERAGE, "list": LIST} | changed
    files = {folder / f"{name}.md": text for name, text in texts.items()}
    files[folder / "book/coverage.yml"] = files.pop(folder / "list.md")
    files[folder / "conf.py"] = SETTINGS
    (folder / "book").mkdir(exist_ok=True)
    for path, text in files.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", str(folder)]
    command += [str(folder / "html")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_mark_is_a_comment_of_topics() -> None:
    assert topics_in("covers: layer-norm") == ["layer-norm"]
    assert topics_in("covers: section-3.1, layer-norm,\nresidual") == [
        "section-3.1", "layer-norm", "residual",
    ]  # fmt: skip
    assert topics_in("covers: one\ncovers: two") == ["one", "two"]
    assert topics_in("It covers: much") == topics_in("covers much") == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


def rows(page: str) -> list[list[tuple[str, str, str]]]:
    """Of each table the rows: the topic, and for each place its address and all words."""
    return [
        [
            (topic, address, re.sub("<.*?>", "", place))
            for line in re.findall(r"<tr.*?</tr>", table, re.DOTALL)[1:]
            for topic, *places in [re.findall(r"<p>(.*?)</p>", line, re.DOTALL)]
            for place in places
            for address in re.findall(r'href="(.*?)"', place)
        ]
        for table in re.findall(r"<table.*?</table>", page, re.DOTALL)
    ]


@pytest.mark.slow
def test_the_tables_lead_from_every_topic_to_its_places(folder: Path) -> None:
    page = (folder / "html/coverage.html").read_text()
    assert rows(page) == [
        [
            ("A heading", "chapter.html#a-chapter", "1. A chapter"),
            ("An aside", "chapter.html#an-aside", "1. A chapter: An aside"),
            ("A box", "chapter.html#covers-box", "1. A chapter (quotation)"),
            ("A formula", "chapter.html#equation-eq-x", "1. A chapter (formula)"),
        ],
        [
            ("Some words", "chapter.html#a-chapter", "1. A chapter · An aside (code)"),
            ("Some words", "chapter.html#covers-words", "1. A chapter · An aside (code)"),
            ("A cell", "chapter.html#covers-cell", "1. A chapter (test)"),
            ("Code of the module", "chapter.html#covers-words", "1. A chapter: An aside (code)"),
            ("The same box", "chapter.html#covers-box", "1. A chapter (quotation)"),
            ("First words", "chapter.html#covers-first", "1. A chapter"),
        ],
    ]
    assert "4 of 4 covered, in 4 places." in page
    assert "An <em>aside</em></a>" in page


@pytest.mark.slow
def test_every_place_has_its_name_and_a_reader_of_the_chapter_sees_no_mark(folder: Path) -> None:
    page = (folder / "html/chapter.html").read_text()
    names = re.findall(r'id="([^"]*)"', page)
    assert len(set(names)) == len(names)
    tables = rows((folder / "html/coverage.html").read_text())
    for _, address, _ in [*tables[0], *tables[1]]:
        assert address.partition("#")[2] in names
    assert "covers:" not in page and "marks nothing" not in page
    assert 'id="covers-cell"' in page.split("<details")[0].rsplit("<div", 1)[1]


@pytest.mark.slow
def test_what_does_not_fit_together_fails_the_build(tmp_path: Path) -> None:
    done = build(
        tmp_path,
        list=LIST.replace("  aside: An aside", "  more: Something more"),
        chapter=CHAPTER + EMPTY,
        coverage=COVERAGE.replace("{coverage} blog", "{coverage} blug"),
    )
    assert done.returncode != 0
    for sentence in (
        "WARNING: nothing covers more (paper): mark the place by a line % covers: more",
        "chapter covers aside, which is no topic of book/coverage.yml",
        "what is said to cover box is nothing",
        "what is said to cover code is nothing",
        "book/coverage.yml has no work 'blug'; it has paper, blog",
        "the work blog of book/coverage.yml has 0 tables here, not one",
    ):
        assert sentence in done.stderr


@pytest.mark.slow
def test_a_topic_that_is_new_in_the_list_is_missed_at_once(folder: Path) -> None:
    done = build(folder, list=f"{LIST}  more: Something more\n")
    assert done.returncode != 0
    assert "nothing covers more (blog)" in done.stderr
    assert "1 changed" in done.stdout
