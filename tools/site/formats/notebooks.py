"""Writes the chapters as .ipynb files that run anywhere, Colab included.

The chapters' source is MyST, which Jupyter and Colab show as plain Markdown. So the text cells are
put into plain Markdown: boxes become quotations, solutions fold, references become links to the
site, code that a chapter quotes from the module is quoted. The code cells stay as they are, after
one more that installs the module as it was when the notebook was made: from the wheel beside it,
or, where the site has gone on since, from that commit of the repository.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import quote

import jupytext
import nbformat
import yaml

from tools.site.chapters import Block, blocks
from tools.site.durations import known
from tools.site.formats.track_notebook import FOLDED, PAGE, track_notebook
from tools.site.main_line import main_line

from transformer_book.exercises import find
from transformer_book.exercises.help import effort, effort_line

ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}`(?P<text>[^`]+)`")
# What stands in a box on the site, and in a quotation in a notebook.
BOXES = {"admonition", "exercise", "exercise-start", "note", "tip", "hint", "important", "warning"}
BOXES |= {"attention", "caution", "danger", "error", "seealso", "topic", "margin", "sidebar"}
REFERENCES = {"eq", "later", "numref", "ref"}  # roles that lead to a label
SAID_SO = "*Second reading: what follows does without.*"
EXPLAINED = re.compile(r"^(?P<title>.*?)\s*<(?P<target>[^>]+)>$")

# What a cell's tags say of its code: the site folds it, or leaves it out.
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
FOLD = "<details><summary>Solution</summary>\n\n{text}\n\n</details>"
OURS = "**Our solution**"
SOLUTION = ("solution-start", "solution-end")  # what stands between them is the solution
# Colab folds a cell with a title.
INSTALL = """\
# @title Installs the book's module where it is missing, as it was for this notebook
{code}

install_book({sources})
show_widgets()
"""


class WheelError(Exception):
    """The module's wheel could not be built; says why."""


class DirectiveError(Exception):
    """A directive or role of which nobody has said what it is in plain Markdown; says where."""


class Converter:
    """Puts the MyST of one chapter into plain Markdown."""

    def __init__(self, root: Path, chapter: Path, site: str, labels: dict[str, Any]) -> None:
        """`labels` maps a label to its page, anchor and title, `site` is the site's address."""
        self.root, self.chapter, self.site, self.labels = root, chapter, site, labels

    def markdown(self, text: str) -> str:
        """A whole cell."""
        return "\n".join(self.lines(text)).strip("\n")

    def roles(self, text: str) -> str:
        """Running text with every role replaced."""
        return ROLE.sub(lambda match: self.role(match["name"], match["text"]), text)

    @property
    def name(self) -> str:
        """The chapter's document, as `_toc.yml` names it."""
        return self.chapter.relative_to(self.root).with_suffix("").as_posix()

    def location(self, line: str) -> str:
        """The chapter and the number of the first line that reads like this one."""
        lines = self.chapter.read_text(encoding="utf-8").split("\n")
        return f"{self.chapter.relative_to(self.root)}:{lines.index(line) + 1}"

    def equation(self, formula: Block) -> str:
        """A labelled equation with the number that it has on the site."""
        label = self.labels.get(formula.label)
        tag = f"\\tag{{{label['title'].strip('()')}}}" if label else ""
        tex = "\n".join(formula.body).strip()
        return f"$$\n{tex} {tag}\n$$"

    def lines(self, text: str) -> Iterator[str]:
        """The lines of a text with every directive and role replaced."""
        before = ""  # the kind of the block before
        for block in blocks(text):
            if block.kind == "directive":
                yield from ["", *self.directive(block), ""]
            elif block.kind == "code":  # it may quote directives
                yield from block.lines
            elif block.kind == "formula" and block.label:
                yield self.equation(block)
            elif block.kind == "heading" and block.second:
                yield from [self.roles(block.text), "", SAID_SO]
            elif before == "comment" and not block.text.strip():
                pass  # of the blank lines around a comment, which readers do not see, one stays
            elif block.kind in ("heading", "formula", "text"):
                yield from self.text(block)
            before = block.kind

    def text(self, block: Block) -> Iterator[str]:
        """Running text.

        Raises DirectiveError for a directive that stands within it.
        """
        for _, inner in block.inner:
            if inner.kind == "directive":
                raise DirectiveError(
                    f"{self.location(inner.lines[0])}: notebooks cannot show the directive "
                    f"{{{inner.name}}} in a list or a quotation; let it begin its line"
                )
        yield from self.roles(block.text).split("\n")

    def directive(self, block: Block) -> Iterator[str]:
        """One directive, with its options and its content.

        Raises DirectiveError for one that is not known here.
        """
        name, title, options = block.name, self.roles(block.title), block.options
        text = block.has_text or name in ("figure", "image")
        content = self.markdown("\n".join(block.body)).split("\n") if text else [*block.body]
        if name == "literalinclude":
            yield from self.quoted_code(title, options)
        elif name == "math":
            yield from ["$$", *content, "$$"]
        elif name in ("figure", "image"):
            yield f"![{options.get('alt', '')}]({self.site}/{title.lstrip('./')})"
            yield from ["", *content]
        elif name in ("code-block", "code", "sourcecode"):
            yield from [f"```{title}", *content, "```"]
        elif name in ("bibliography", "tableofcontents"):
            yield f"See [the book]({self.page_url()})."
        elif name in ("solution", "dropdown"):
            summary = title if name == "dropdown" else "Solution"
            yield from [f"<details><summary>{summary}</summary>", "", *content, "", "</details>"]
        elif name in (*SOLUTION, "exercise-end"):
            return
        elif name == "effort":
            yield f"*{effort(find(title)) if title else self.effort_of(options)}*"
        elif name == "hints":
            for number, hint in enumerate(find(title).hints, 1):
                yield from [f"<details><summary>Hint {number}</summary>", "", self.roles(hint), ""]
                yield from ["</details>", ""]
        elif name not in BOXES:
            raise DirectiveError(
                f"{self.location(block.lines[0])}: notebooks cannot show the directive {{{name}}}; "
                "say how in tools/site/formats/notebooks.py"
            )
        else:
            heading = title if name == "admonition" else name.capitalize()
            if name in ("exercise", "exercise-start"):
                heading = f"Exercise: {title}" if title else "Exercise"
            yield f"> **{heading}**"
            yield ">"
            yield from (f"> {line}".rstrip() for line in content)

    def effort_of(self, options: Mapping[str, str]) -> str:
        """The difficulty and the minutes of an exercise that says them itself.

        Raises DirectiveError for one that does not.
        """
        try:
            return effort_line(int(options["difficulty"]), int(options["minutes"]))
        except (KeyError, ValueError) as error:
            raise DirectiveError(
                f"{self.chapter.relative_to(self.root)}: an {{effort}} without an exercise's name "
                f"needs :difficulty: (1 to 3) and :minutes:; wrong is {error}"
            ) from None

    def quoted_code(self, path: str, options: Mapping[str, str]) -> Iterator[str]:
        """The code of a `literalinclude`: whole, one object of it, or from one line to another."""
        file = (self.chapter.parent / path).resolve()
        source = file.read_text()
        if wanted := options.get("pyobject"):
            source = find_object(source, wanted)
        first, last = (options.get(name, "").strip("\"'") for name in ("start-at", "end-before"))
        begin = source.rfind("\n", 0, source.index(first)) + 1
        end = source.rfind("\n", 0, source.index(last, begin)) if last else len(source)
        source = dedent(source[begin:end]) if "dedent" in options else source[begin:end]
        yield f"From `{file.relative_to(self.root).as_posix()}`:"
        yield from ["", f"```{options.get('language', 'python')}", *source.rstrip().split("\n")]
        yield "```"

    def role(self, name: str, text: str) -> str:
        """One role in running text."""
        explained = EXPLAINED.match(text)
        target = explained["target"] if explained else text
        title = explained["title"] if explained else ""
        if name == "dfn":
            return f"**{title or text}**"
        if name.startswith("cite"):
            return f"[[{text.split(',')[0]}]]({self.site}/book/references.html)"
        if name == "doc":
            folder = self.root if target.startswith("/") else self.chapter.parent
            page = (folder / target.lstrip("/")).resolve().relative_to(self.root).as_posix()
            known = self.labels.get(f"/{page}", {}).get("title")
            title = title or known or page.rsplit("/", 1)[-1].replace("_", " ")
            return f"[{title}]({self.site}/{page}.html)"
        if name == "reading":
            if not all(label in self.labels for label in text.split()):
                return f"`{text}`"
            paths = (self.root / f"{self.labels[label]['page']}.md" for label in text.split())
            return str(sum(main_line(path).minutes for path in paths))
        if name not in REFERENCES:
            raise DirectiveError(
                f"{self.chapter.relative_to(self.root)}: notebooks cannot show the role "
                f"{{{name}}}`{text}`; say how in tools/site/formats/notebooks.py"
            )
        label = self.labels.get(target)
        if label is None:
            return title or f"`{text}`"
        url = f"{self.site}/{label['page']}.html#{label['anchor']}"
        if name == "later":
            number = label.get("chapter")
            return f"[{title}]({url})" + (f" (chapter {number})" if number else "")
        own = label["title"] or "the figure"
        if name == "ref" and label["title"]:
            own = f"*{own}*"  # a title amid a sentence
        return f"[{title or own}]({url})"

    def page_url(self) -> str:
        """The chapter's own page."""
        return f"{self.site}/{self.name}.html"


def find_object(source: str, name: str) -> str:
    """The source of a function, a class, or a method `Class.method`."""
    node: ast.AST = ast.parse(source)
    for part in name.split("."):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef) and child.name == part:
                node = child
                break
        else:
            raise LookupError(f"there is no function or class {name} in the file quoted")
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(source.split("\n")[first - 1 : node.end_lineno])


def install_cell(version: str, *sources: str) -> str:
    """The code that makes sure of a version of the module, from the first source that has it."""
    text = (Path(__file__).parent / "install_cell.py").read_text(encoding="utf-8")
    begin = ast.parse(text).body[1].lineno - 1  # after its docstring
    code = "\n".join(text.splitlines()[begin:])
    words = "".join(f"    {json.dumps(word)},\n" for word in (version, *sources))
    return INSTALL.format(code=code, sources=f"\n{words}")


def folded_solutions(text: str, converter: Converter, solving: bool) -> tuple[str, bool]:
    """A text cell in plain Markdown, in which every part of a solution is folded.

    Args:
        text: the cell's source.
        converter: puts it into plain Markdown.
        solving: whether a solution that an earlier cell began goes on here.

    Returns:
        The cell's new source, and whether a solution goes on after it.
    """
    spans: list[tuple[bool, list[str]]] = [(solving, [])]
    for block in blocks(text):
        if block.kind == "directive" and block.name in SOLUTION:
            solving = block.name == SOLUTION[0]
            spans.append((solving, []))
        else:
            spans[-1][1].extend(block.lines)
    said = [(folded, converter.markdown("\n".join(lines))) for folded, lines in spans]
    parts = [FOLD.format(text=words) if folded else words for folded, words in said if words]
    if solving:  # the code is hidden, and what it says could be taken for the verdict on a reader's
        parts.append(OURS)
    return "\n\n".join(parts), solving


def to_notebook(chapter: Path, converter: Converter, install: str) -> nbformat.NotebookNode:
    """One chapter as a notebook; its code cells are the chapter's, after the installing one."""
    notebook = jupytext.read(chapter)
    solving = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source, solving = folded_solutions(cell.source, converter, solving)
        cell.metadata.pop("mystnb", None)
        tags = set(cell.metadata.get("tags", []))
        # Whoever reads the code of a check or a solution, reads the answer.
        if cell.cell_type == "code" and (solving or tags & {"self-check", "judge", *HIDDEN}):
            cell.metadata.update(FOLDED)
    # What held nothing but comments is empty now.
    notebook.cells = [cell for cell in notebook.cells if cell.source or cell.cell_type == "code"]
    line = main_line(chapter)
    note = (
        f"This notebook is a chapter of a book: [read it with its outputs]({converter.page_url()})."
    )
    if line.paper:
        note += f" {line.chapter_line(known(converter.root).chapters.get(converter.name))}."
    notebook.cells[:0] = [
        nbformat.v4.new_markdown_cell(note, id="about"),
        nbformat.v4.new_code_cell(install, id="install", metadata=FOLDED),
    ]
    # Fixed ids: the same chapter gives the same file.
    for number, cell in enumerate(notebook.cells[2:], start=1):
        cell["id"] = f"cell-{number}"
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    return notebook


def build_wheel(root: Path, out: Path) -> Path:
    """The module's wheel, in the place of one that an earlier build has left there.

    Raises:
        WheelError: it could not be built.
    """
    out.mkdir(parents=True, exist_ok=True)
    for earlier in out.glob("transformer_book-*.whl"):
        earlier.unlink()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise WheelError(f"the module's wheel was not built: {said[-1] if said else 'no reason'}")
    (wheel,) = out.glob("transformer_book-*.whl")
    return wheel


def write_notebooks(
    root: Path, out: Path, chapters: list[Path], wheel: str, site: str = ""
) -> list[Path]:
    """Writes the chapters to a folder, `book/part/name.md` as `part/name.ipynb`.

    Args:
        root: the folder of the book.
        out: the folder of the notebooks, which is `notebooks` on the site.
        chapters: the chapters' files.
        wheel: the name of the module's wheel, which lies in the same folder.
        site: the site's address, if it is not the book's.
    """
    config = yaml.safe_load((root / "_config.yml").read_text())
    site = (site or config["html"]["baseurl"]).rstrip("/")
    labels_path = root / "_build" / "labels.json"
    labels = json.loads(labels_path.read_text()) if labels_path.exists() else {}
    version = wheel.split("-")[1]
    sources = [f"{site}/notebooks/{quote(wheel)}"]
    _, _, commit = version.partition("+g")
    if commit.isalnum():  # not 1a2b3c4d5e.dirty, which nobody else has
        sources.append(f"git+{config['repository']['url']}@{commit}")
    install = install_cell(version, *sources)
    written = []
    for chapter in chapters:
        converter = Converter(root, chapter, site, labels)
        path = out / chapter.relative_to(root / "book").with_suffix(".ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(to_notebook(chapter, converter, install), path)
        written.append(path)
    if (root / f"{PAGE}.md").exists():  # small books of tests have no track
        path = out / f"{Path(PAGE).name}.ipynb"
        nbformat.write(track_notebook(root, site, install), path)
        written.append(path)
    for old, new in config.get("sphinx", {}).get("config", {}).get("moved_pages", {}).items():
        if (source := out / f"{new.removeprefix('book/')}.ipynb") in written:
            path = out / f"{old.removeprefix('book/')}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, path)
    return written
