"""What a chapter consists of, and the contents of the book."""

from pathlib import Path

import pytest
import yaml

from tools.site.chapters import (
    EXTENSIONS,
    Chapter,
    Part,
    blocks,
    chapters,
    contents,
    notebooks,
    numbered,
    walk,
)

ROOT = Path(__file__).resolve().parents[3]
TEXT = """\
---
paper: "3.5"
jupytext: {text_representation: {extension: .md, format_name: myst}}
---
(chapter-one)=
# One

% covers: a
% and: more

Words with {ref}`two`
and `code`.

```{code-cell} ipython3
:tags: [check, hide-cell]
assert True
```

(later)=
{.second-reading}
## Two

::::{admonition} A box
:class: tip
:::{dropdown} Answer
Yes.
:::
::::

$$
x = 1
$$ (eq-x)

```python
# ```{not} one
```

- a list with

  ```{code-block} python
  code
  ```
"""


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    path = tmp_path / "one.md"
    path.write_text(TEXT)
    return Chapter(path)


@pytest.mark.parametrize("name", chapters(ROOT))
def test_the_blocks_of_a_page_have_all_of_its_lines(name: str) -> None:
    page = Chapter(ROOT / f"{name}.md")
    assert "\n".join(line for block in page.blocks for line in block.lines) == page.body


def test_the_parser_has_the_books_extensions() -> None:
    settings = yaml.safe_load((ROOT / "_config.yml").read_text())
    assert set(settings["parse"]["myst_enable_extensions"]) == EXTENSIONS


def test_a_chapter_says_what_it_is(chapter: Chapter) -> None:
    assert chapter.is_notebook and chapter.front["paper"] == "3.5"
    assert (chapter.title, chapter.label) == ("One", "chapter-one")
    (cell,) = chapter.cells
    assert cell.tags == {"check", "hide-cell"} and cell.body == ("assert True",)


def test_each_block_is_told_for_what_it_is(chapter: Chapter) -> None:
    kinds = [block.kind for block in chapter.blocks if block.text.strip()]
    assert kinds == [
        *("target", "heading", "comment", "text", "directive", "target", "attributes", "heading"),
        *("directive", "formula", "code", "text"),
    ]
    comment, formula = (
        next(b for b in chapter.blocks if b.kind == k) for k in ("comment", "formula")
    )
    assert [line.strip() for line in comment.body] == ["covers: a", "and: more"]
    assert formula.label == "eq-x"
    assert [block.second for block in chapter.blocks if block.kind == "heading"] == [False, True]


def test_what_is_in_a_box_and_in_a_list_is_found(chapter: Chapter) -> None:
    (answer,) = chapter.directives("dropdown")
    assert (answer.title, answer.body) == ("Answer", ("Yes.",))
    assert "Yes." in [block.text for block in walk(chapter.body)]
    (quoted,) = chapter.directives("code-block")
    assert quoted.title == "python"
    assert chapter.directives("not") == []
    (last,) = [block for block in chapter.blocks if block.inner]
    assert [line for line in last.own_lines if line.strip()] == ["- a list with"]


def test_an_attribute_above_a_target_is_the_targets_as_it_is_on_the_page() -> None:
    (heading,) = (b for b in blocks("{.second-reading}\n(a)=\n## A\n") if b.kind == "heading")
    assert not heading.second


def test_the_contents_have_parts_in_order(tmp_path: Path) -> None:
    (tmp_path / "_toc.yml").write_text(
        "root: front\nparts:\n"
        "- {caption: A, numbered: true, chapters: [{file: a, sections: [{file: b}]}, {file: c}]}\n"
        "- {caption: B, chapters: [{file: d}]}\n"
    )
    assert contents(tmp_path) == [
        Part("", False, ("front",)),
        Part("A", True, ("a", "b", "c")),
        Part("B", False, ("d",)),
    ]
    assert chapters(tmp_path) == ["front", "a", "b", "c", "d"]
    assert numbered(tmp_path) == ["a", "b", "c"]


def test_only_pages_with_cells_are_notebooks() -> None:
    found = notebooks(ROOT)
    assert set(numbered(ROOT)) < set(found) < set(chapters(ROOT))
    assert "book/glossary" not in found
