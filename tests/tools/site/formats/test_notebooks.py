"""The notebooks that the chapters become."""

import ast
import zipfile
from email import message_from_bytes
from pathlib import Path

import jupytext
import nbformat
import pytest

from tools.site.chapters import notebooks
from tools.site.formats.notebooks import (
    Converter,
    DirectiveError,
    WheelError,
    build_wheel,
    find_object,
    install_cell,
    to_notebook,
    write_notebooks,
)
from transformer.support.version import version

from transformer_book.exercises import EXERCISES

ROOT = Path(__file__).resolve().parents[4]
SITE = "https://example.org/site"
WHEEL = "transformer_book-0.1.0-py3-none-any.whl"
LABELS = {
    "chapter-masks": {"page": "book/masks", "anchor": "chapter-masks", "title": "Masks"},
    "later": {"page": "book/later", "anchor": "later", "title": "Later", "chapter": "9"},
    "eq-attention": {"page": "book/attention", "anchor": "equation-eq-attention", "title": "(1.2)"},
}
CHAPTER = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

(chapter-attention)=
# Attention

:::{admonition} From the paper, section 3.2.1
:class: from-the-paper
> A quoted sentence.
:::

```{code-cell} ipython3
:tags: [hide-input]
from transformer import WORD
```

$$
x = 1
$$ (eq-attention)

% covers: section-1, blog
{.second-reading}
## A detour

A {dfn}`head` reads {dfn}`<s>` and {later}`masks <later>`.

By {eq}`eq-attention`, see {ref}`chapter-masks`, {ref}`masks <chapter-masks>` and
{cite:p}`vaswani2017attention`.

```{literalinclude} ../module.py
:language: python
:pyobject: Box.open
```

```{literalinclude} ../module.py
:start-at: "return 0"
:end-before: 'class Box'
:dedent: 4
```

```{exercise} Easy
:label: ex-1

Solve it.
```

```{solution} ex-1
:class: dropdown

% Not for readers.
Solved.
```

::::{exercise} Written
:label: ex-2

:::{effort} softmax
:::
::::

:::{hints} softmax
:::

:::::{exercise} Worked out
:label: ex-3

::::{effort}
:difficulty: 2
:minutes: 15
::::
How many?
:::::

:::{dropdown} Hint
Count **them**.
:::

```{code-cell} ipython3
:tags: [judge, hide-input]
def check_it(answer): ...
```

```tex
% a comment of TeX
```

```{code-cell} ipython3
len(WORD)
```

% covers: cell

```{code-cell} ipython3
:tags: [check]
assert WORD == "first"
print("It holds.")
```
"""
SOLVED = """
An open question.

::::{solution-start} ex-3
:class: dropdown
::::
First reason.

```{code-cell} ipython3
one = 1
```

Then this.

```{code-cell} ipython3
two = 2
```

::::{solution-end}
::::

Again open.

```{code-cell} ipython3
three = 3
```
"""
MODULE = '''\
def closed():
    return 0


class Box:
    """A box."""

    @property
    def open(self):
        """Opens."""
        return 1

    def shut(self):
        return 2
'''


@pytest.fixture
def chapter(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    (tmp_path / "module.py").write_text(MODULE)
    (tmp_path / "_config.yml").write_text(
        f"repository: {{url: https://example.org/repo}}\nhtml: {{baseurl: {SITE}/}}\n"
    )
    path = tmp_path / "book" / "attention.md"
    path.write_text(CHAPTER)
    return path


@pytest.fixture
def notebook(chapter: Path) -> nbformat.NotebookNode:
    converter = Converter(chapter.parent.parent, chapter, SITE, LABELS)
    return to_notebook(chapter, converter, "install_book()")


def text_of(notebook: nbformat.NotebookNode) -> str:
    return "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


def test_notebook_is_valid_and_its_first_code_installs_the_module(notebook) -> None:
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code[0].source == "install_book()"
    # Folded in Colab, and in JupyterLab; so are the chapter's own imports.
    folded = {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert code[0].metadata == folded
    assert code[1].metadata == {**folded, "tags": ["hide-input"]}


def sources(path: Path) -> list[str]:
    """The version that a notebook installs, and from where."""
    code = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    (call,) = (
        node
        for node in ast.walk(ast.parse(code[0]))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "install_book"
    )
    return [ast.literal_eval(argument) for argument in call.args]


def test_a_notebook_installs_what_was_published_with_it_and_never_the_head(
    chapter: Path, tmp_path: Path
) -> None:
    root = chapter.parent.parent
    wheel = "transformer_book-0.1.0+g1a2b3c4d5e-py3-none-any.whl"
    (made,) = write_notebooks(root, tmp_path / "out", [chapter], wheel)
    assert sources(made) == [
        "0.1.0+g1a2b3c4d5e",
        f"{SITE}/notebooks/transformer_book-0.1.0%2Bg1a2b3c4d5e-py3-none-any.whl",
        "git+https://example.org/repo@1a2b3c4d5e",
    ]


@pytest.mark.parametrize("version", ["0.1.0", "0.1.0+g1a2b3c4d5e.dirty"])
def test_a_commit_that_nobody_else_has_is_not_asked_of_the_repository(
    chapter: Path, tmp_path: Path, version: str
) -> None:
    root, wheel = chapter.parent.parent, f"transformer_book-{version}-py3-none-any.whl"
    (made,) = write_notebooks(root, tmp_path / "out", [chapter], wheel)
    assert len(sources(made)) == 2


def test_the_first_cell_is_plain_python_with_a_title() -> None:
    code = install_cell("0.1.0", "https://example.org/a'b.whl")
    assert code.startswith("# @title ")
    compile(code, "install", "exec")
    assert code.endswith("show_widgets()\n")


def test_code_cells_are_the_chapters_own(notebook, chapter: Path) -> None:
    original = [c for c in jupytext.read(chapter).cells if c.cell_type == "code"]
    copied = [c for c in notebook.cells if c.cell_type == "code"][1:]
    assert [c.source for c in copied] == [c.source for c in original]
    assert copied[-1].metadata["tags"] == ["check"]


def test_a_self_check_is_folded_with_its_answer(chapter: Path, tmp_path: Path) -> None:
    asking = '\n```{code-cell} ipython3\n:tags: [self-check, remove-input]\nnumber("q", 3)\n```\n'
    path = chapter.with_name("asking.md")
    path.write_text(chapter.read_text() + asking)
    cell = to_notebook(path, Converter(tmp_path, path, SITE, LABELS), "").cells[-1]
    assert cell.source == 'number("q", 3)'
    assert cell.metadata["cellView"] == "form"
    assert cell.metadata["jupyter"] == {"source_hidden": True}


def test_text_has_no_myst_left(notebook) -> None:
    text = text_of(notebook)
    for mark in (
        "{admonition}",
        ":::",
        "{ref}",
        "{cite",
        "{eq}",
        "(chapter-attention)=",
        ":class:",
    ):
        assert mark not in text
    assert "> **From the paper, section 3.2.1**" in text
    assert "> > A quoted sentence." in text


def test_references_lead_to_the_site(notebook) -> None:
    text = text_of(notebook)
    assert f"[*Masks*]({SITE}/book/masks.html#chapter-masks)" in text
    assert f"[masks]({SITE}/book/masks.html#chapter-masks)" in text
    assert f"[(1.2)]({SITE}/book/attention.html#equation-eq-attention)" in text
    assert "x = 1 \\tag{1.2}" in text


def test_marks_for_the_reader_are_words(notebook) -> None:
    text = text_of(notebook)
    assert "## A detour\n\n*Second reading" in text
    assert f"A **head** reads **<s>** and [masks]({SITE}/book/later.html#later) (chapter 9)" in text


def test_a_notebook_says_what_it_covers_and_takes(chapter: Path) -> None:
    chapter.write_text(CHAPTER.replace("\n---\n", '\npaper: "3.2"\n---\n', 1))
    converter = Converter(chapter.parent.parent, chapter, SITE, LABELS)
    first = to_notebook(chapter, converter, "install_book()").cells[0].source
    assert first.endswith("Paper: section 3.2 · 1 minute to read.")


def test_a_chapter_that_moved_is_found_at_its_old_address_too(
    chapter: Path, tmp_path: Path
) -> None:
    root = chapter.parent.parent
    with (root / "_config.yml").open("a") as config:
        config.write("sphinx: {config: {moved_pages: {book/old/name: book/attention}}}\n")
    written = write_notebooks(root, tmp_path / "out", [chapter], WHEEL)
    copy = tmp_path / "out" / "old" / "name.ipynb"
    assert copy.read_bytes() == written[0].read_bytes()
    assert copy not in written


def test_quoted_code_is_the_modules_and_only_the_object_named(notebook) -> None:
    text = text_of(notebook)
    assert "From `module.py`:" in text
    assert "    @property\n    def open(self):" in text
    assert "shut" not in text
    assert "```python\nreturn 0\n```" in text and "def closed" not in text


@pytest.mark.parametrize(
    "directive",
    ["```{figure-md} drawn.png\n```", "````{note}\n\n```{figure-md} drawn.png\n```\n````"],
    ids=["alone", "in a box"],
)
def test_a_directive_that_nobody_has_explained_is_named_with_its_place(
    chapter: Path, directive: str
) -> None:
    text = CHAPTER + f"\n\n{directive}\n"
    chapter.write_text(text)
    line = text.split("\n").index("```{figure-md} drawn.png") + 1
    converter = Converter(chapter.parent.parent, chapter, SITE, LABELS)
    with pytest.raises(
        DirectiveError, match=rf"^book/attention\.md:{line}: .*\{{figure-md\}}; say how"
    ):
        to_notebook(chapter, converter, "install_book()")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "- a list\n\n  ```{note}\n  In it.\n  ```\n",
            r":\d+: .*\{note\} in a list or a quotation",
        ),
        ("A {sub-ref}`thing`.\n", r": .*the role \{sub-ref\}`thing`; say how"),
    ],
)
def test_what_would_be_quoted_as_it_stands_ends_the_conversion(
    chapter: Path, text: str, named: str
) -> None:
    chapter.write_text(f"{CHAPTER}\n\n{text}")
    converter = Converter(chapter.parent.parent, chapter, SITE, LABELS)
    with pytest.raises(DirectiveError, match=rf"^book/attention\.md{named}"):
        to_notebook(chapter, converter, "install_book()")


def test_comments_stay_behind_and_what_held_only_them_is_no_cell(notebook) -> None:
    text = text_of(notebook)
    assert "covers:" not in text and "Not for readers" not in text
    assert "```tex\n% a comment of TeX\n```" in text
    assert all(cell.source for cell in notebook.cells)
    assert [cell.cell_type for cell in notebook.cells[-2:]] == ["code", "code"]


def test_solutions_are_folded(notebook) -> None:
    assert "<details><summary>Solution</summary>\n\nSolved.\n\n</details>" in text_of(notebook)


def test_a_solution_with_cells_is_folded_cell_by_cell(chapter: Path, tmp_path: Path) -> None:
    path = chapter.with_name("solved.md")
    path.write_text(CHAPTER + SOLVED)
    made = to_notebook(path, Converter(tmp_path, path, SITE, LABELS), "").cells
    (at,) = (i for i, cell in enumerate(made) if "First reason" in cell.source)
    before, code, between, last, after, open_cell = made[at : at + 6]
    fold = "<details><summary>Solution</summary>\n\n"
    ours = "</details>\n\n**Our solution**"  # above what the hidden cell prints
    assert before.source == f"An open question.\n\n{fold}First reason.\n\n{ours}"
    assert between.source == f"{fold}Then this.\n\n{ours}"
    assert after.source == "Again open."
    for cell in (code, last):
        assert cell.metadata == {"cellView": "form", "jupyter": {"source_hidden": True}}
    assert open_cell.metadata == {}


@pytest.mark.slow
def test_no_solution_of_this_book_lies_open(tmp_path: Path) -> None:
    chapters = [p for p in sorted(ROOT.glob("book/**/*.md")) if "{solution-start}" in p.read_text()]
    assert chapters
    for path in write_notebooks(ROOT, tmp_path, chapters, WHEEL):
        if path.name == "build_it_yourself.ipynb":
            continue
        read = jupytext.read(ROOT / "book" / path.relative_to(tmp_path).with_suffix(".md"))
        made = {c.source: c for c in nbformat.read(path, 4).cells if c.cell_type == "code"}
        solving = False
        for cell in read.cells:
            if cell.cell_type == "code" and solving:
                assert made[cell.source].metadata["jupyter"] == {"source_hidden": True}, cell.source
            for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
                solving = "{solution-start}" in line or (solving and "{solution-end}" not in line)
        assert not solving


def test_an_exercise_that_is_checked_says_its_effort_and_folds_its_hints(notebook) -> None:
    text = text_of(notebook)
    assert "> *●○○ difficulty 1 of 3 · about 10 minutes*" in text
    for number, hint in enumerate(EXERCISES["softmax"].hints, 1):
        assert f"<details><summary>Hint {number}</summary>\n\n{hint}\n\n</details>" in text


def test_other_exercises_say_their_effort_and_fold_their_hints_and_checks(notebook) -> None:
    text = text_of(notebook)
    assert "> *●●○ difficulty 2 of 3 · about 15 minutes*" in text
    assert "<details><summary>Hint</summary>\n\nCount **them**.\n\n</details>" in text
    (cell,) = [cell for cell in notebook.cells if "def check_it" in cell.source]
    assert cell.metadata["jupyter"] == {"source_hidden": True}


def test_an_effort_without_its_minutes_ends_the_conversion(chapter: Path) -> None:
    chapter.write_text(CHAPTER.replace(":minutes: 15\n", ""))
    converter = Converter(chapter.parent.parent, chapter, SITE, LABELS)
    with pytest.raises(DirectiveError, match="wrong is 'minutes'"):
        to_notebook(chapter, converter, "install_book()")


def test_same_chapter_gives_the_same_file(chapter: Path, tmp_path: Path) -> None:
    root = chapter.parent.parent
    (one,) = write_notebooks(root, tmp_path / "one", [chapter], WHEEL)
    (two,) = write_notebooks(root, tmp_path / "two", [chapter], WHEEL)
    assert one.name == "attention.ipynb"
    assert one.read_bytes() == two.read_bytes()


def test_unknown_object_is_an_error_that_names_it() -> None:
    with pytest.raises(LookupError, match=r"no function or class Box\.gone"):
        find_object(MODULE, "Box.gone")


@pytest.mark.slow
def test_chapters_of_this_book_become_valid_notebooks(tmp_path: Path) -> None:
    chapters = [ROOT / f"{name}.md" for name in notebooks(ROOT)]
    for path in write_notebooks(ROOT, tmp_path, chapters, WHEEL):
        made = nbformat.read(path, as_version=4)
        nbformat.validate(made)
        for mark in (":::", "% covers:"):
            assert mark not in text_of(made), f"{path.name} has MyST left in its text"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone, in the place of an older one."""
    out = tmp_path_factory.mktemp("site") / "notebooks"
    out.mkdir()
    (out / "transformer_book-0.0.1-py3-none-any.whl").write_text("of an earlier build")
    return build_wheel(ROOT, out)


def test_the_wheel_names_the_commit_and_takes_the_place_of_the_one_before(wheel: Path) -> None:
    assert [path.name for path in wheel.parent.iterdir()] == [wheel.name]
    assert wheel.name == f"transformer_book-{version(ROOT)}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        assert message_from_bytes(archive.read(name))["Version"] == version(ROOT)


def test_the_wheel_holds_both_packages_with_results_and_models(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    packages = ("transformer", "transformer_book")
    files = [path for name in packages for path in (ROOT / name).rglob("*") if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts]
    assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    for part in ("results", "models"):
        for path in (ROOT / "book" / part).rglob("*.json"):
            assert f"transformer_book/{path.relative_to(ROOT).as_posix()}" in names


def test_the_same_commit_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    assert build_wheel(ROOT, tmp_path).read_bytes() == wheel.read_bytes()


def test_a_wheel_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 3\n")
    with pytest.raises(WheelError, match="^the module's wheel was not built: ValueError: Field"):
        build_wheel(tmp_path, tmp_path / "out")
