"""The reference of the module, from its docstrings, and the links between it and the chapters.

The directive `reference` names modules, one a line, and shows what is public in them: a package
stands for all its modules, `transformer.*` for all of this package that no other page of the
reference names. The source is read, not imported: signatures stand there as they were written, with
their shapes. What a chapter shows of a module with `literalinclude` and `:pyobject:` leads to the
reference, and the reference to the chapter.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils import new_document
from myst_parser.mocking import MockRSTParser
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralInclude
from sphinx.errors import ExtensionError
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util.docutils import SphinxDirective

from tools.site.chapters import Chapter
from tools.site.extensions.whole_book import fill_from_all_pages, name_of

PACKAGES = ("transformer", "transformer_book")
REST = {f"{package}.*": package for package in PACKAGES}
# The command lines say themselves what they can do.
WITHOUT = {
    *("transformer.__main__", "transformer.command_line.cli", "transformer.command_line.options"),
    *("transformer_book.__main__", "transformer_book.ablation.command"),
    *("transformer_book.page.command", "transformer_book.exercises.track.command"),
    *("transformer_book.export.command", "transformer_book.export.scripts.with_ctranslate2"),
    *(f"transformer_book.export.scripts.with_{name}" for name in ("hugging_face", "onnx")),
}
UNINDEXED = ":no-index-entry:"  # the index has the book's words; names are found by the search
CODE = re.compile(r"(?<![`\w])`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
LETTER = re.compile(r"(?<=: )([A-Za-z])\.$", re.MULTILINE)  # docutils would begin a list
# Where a list begins right below a line, docutils wants a line between.
BULLETS = re.compile(r"^((?!\s*- ).*\S)\n(?=\s+- )", re.MULTILINE)
MARKS = re.compile(r"\*(?=\w)|\|")  # they would mean something
DOCSTRINGS = Config(napoleon_use_ivar=True, napoleon_use_rtype=False)
RECORDS = {"dataclass", "NamedTuple", "TypedDict"}
SHOWS = "shows_of_the_module"
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Docstring(GoogleDocstring):
    """One in which names that share a description get an entry each.

    Of arguments napoleon reads them so, of attributes it does not.
    """

    def _consume_fields(
        self, parse_type: bool = True, prefer_type: bool = False, multiple: bool = False
    ) -> list[tuple[str, str, list[str]]]:
        return super()._consume_fields(parse_type, prefer_type, multiple=True)


class chapters_of(nodes.Element):
    """Where the chapters show an object, until all of them have been read."""


class reference_of(nodes.Element):
    """Where the reference has an object that a chapter shows, until all has been read."""


def path_of(root: Path, module: str) -> Path:
    """The file of a module.

    Raises ExtensionError where there is none.
    """
    path = root.joinpath(*module.split("."))
    for found in (path.with_suffix(".py"), path / "__init__.py"):
        if found.exists():
            return found
    raise ExtensionError(f"the reference names the module {module}, which does not exist")


def modules_under(root: Path, name: str) -> list[str]:
    """A module, or a package and its modules, by their dotted names."""
    path = path_of(root, name)
    if path.name != "__init__.py":
        return [name]
    files = sorted(path.parent.rglob("*.py"), key=lambda p: (p.parent, p.name != "__init__.py", p))
    parts = [file.relative_to(root).with_suffix("").parts for file in files]
    return [".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts]


def named_on(page: Path) -> list[str]:
    """The lines of a page's directive."""
    return [line for shown in Chapter(page).directives("reference") for line in shown.body]


def modules_on(root: Path, page: Path) -> list[str]:
    """The modules that a page of the reference shows, in order."""
    found: list[str] = []
    for line in named_on(page):
        if line not in REST:
            found += modules_under(root, line)
            continue
        others = [name for other in page.parent.glob("*.md") for name in named_on(other)]
        named = {m for name in others if name not in REST for m in modules_under(root, name)}
        found += [m for m in modules_under(root, REST[line]) if m not in named | WITHOUT]
    return found


def parameters(arguments: ast.arguments, skip_first: bool) -> str:
    """The parameters of a function as they were written."""
    shown = ast.parse(f"def f({ast.unparse(arguments)}): ...").body[0]
    assert isinstance(shown, ast.FunctionDef)
    if skip_first:
        (shown.args.posonlyargs or shown.args.args).pop(0)
    return ast.unparse(shown.args)


def decorators(node: Function | ast.ClassDef) -> set[str]:
    """The last words of a definition's decorators."""
    found = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return {ast.unparse(decorator).rpartition(".")[2] for decorator in found}


def class_parameters(node: ast.ClassDef) -> str:
    """What makes an object of a class: the parameters of its constructor, or its fields."""
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and child.name == "__init__":
            return parameters(child.args, skip_first=True)
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if not RECORDS & (bases | decorators(node)):
        return ""
    fields = [child for child in node.body if isinstance(child, ast.AnnAssign)]
    return ", ".join(
        f"{ast.unparse(f.target)}: {ast.unparse(f.annotation)}"
        + (f" = {ast.unparse(f.value)}" if f.value else "")
        for f in fields
        if "ClassVar" not in ast.unparse(f.annotation) and "field(" not in ast.unparse(f)
    )


def restructured(docstring: str, what: str) -> list[str]:
    """A docstring in the style of this book as lines that docutils reads."""
    parts = CODE.split(docstring)  # in turns words and code
    parts[::2] = (LETTER.sub(r"\\\1.", MARKS.sub(r"\\\g<0>", part)) for part in parts[::2])
    parts[1::2] = (f"``{' '.join(part.split())}``" for part in parts[1::2])
    text = BULLETS.sub(r"\1\n\n", "".join(parts))
    made = Docstring(text, DOCSTRINGS, what=what)  # type: ignore[arg-type]
    return "\n".join(made.lines()).split("\n")  # of what is raised, two lines may be one


def is_public(node: ast.AST) -> bool:
    """Whether a definition is there for others, and says what it does."""
    wanted = isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_")
    return wanted and ast.get_docstring(node) is not None  # type: ignore[arg-type]


def described(node: Any, name: str, owner: str = "") -> Iterator[str]:
    """The lines of one definition; `name` is its full name, `owner` that of its class."""
    if isinstance(node, ast.ClassDef):
        kind, signature = "class", f"({class_parameters(node)})"
    else:
        static = "staticmethod" in decorators(node)
        kind = "method" if owner else "function"
        signature = f"({parameters(node.args, skip_first=bool(owner) and not static)})"
        if node.returns is not None:
            signature += f" -> {ast.unparse(node.returns)}"
    words = decorators(node)
    if owner and words & {"property", "cached_property"}:
        yield f".. py:property:: {node.name}"
        if node.returns is not None:
            yield f"   :type: {ast.unparse(node.returns)}"
    else:
        yield f".. py:{kind}:: {node.name}{signature}"
        for word in ("classmethod", "staticmethod"):
            if word in words:
                yield f"   :{word}:"
    yield f"   {UNINDEXED}"
    yield ""
    yield from (f"   {line}" for line in restructured(ast.get_docstring(node) or "", kind))
    yield ""
    if not owner:
        yield from ("   .. chapters-of:: " + name, "")
    if isinstance(node, ast.ClassDef):
        members: list[Any] = [child for child in node.body if is_public(child)]
        for child in members:
            yield from (f"   {line}" for line in described(child, f"{name}.{child.name}", name))


def described_module(root: Path, module: str) -> list[str]:
    """All lines of a module: what it is for, and what is public in it."""
    tree = ast.parse(path_of(root, module).read_text(encoding="utf-8"))
    lines = [f".. py:module:: {module}", "", *restructured(ast.get_docstring(tree) or "", "module")]
    definitions: list[Any] = [node for node in tree.body if is_public(node)]
    for node in definitions:
        lines += ["", *described(node, f"{module}.{node.name}")]
    return lines


class Reference(SphinxDirective):
    """Shows the modules that its lines name."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A section for each module."""
        root = Path(self.env.app.confdir)
        page = Path(self.env.doc2path(self.env.docname))
        found: list[nodes.Node] = []
        for module in modules_on(root, page):
            path = path_of(root, module)
            self.env.note_dependency(str(path))
            title = nodes.title("", "", nodes.literal("", module.removeprefix("transformer.")))
            section = nodes.section("", title, ids=[f"reference-{make_name(module)}"], names=[])
            section += self.parsed(described_module(root, module), path)
            self.state.document.note_explicit_target(section)
            found.append(section)
        return found

    def parsed(self, lines: list[str], path: Path) -> list[nodes.Node]:
        """Lines of reStructuredText, in which docstrings are, as nodes."""
        document = new_document(str(path), self.state.document.settings)
        document.reporter = self.state.document.reporter
        MockRSTParser().parse("\n".join(lines), document)
        return list(document.children)


class ChaptersOf(SphinxDirective):
    """Leads to the chapters that show an object."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """What is known when all chapters have been read."""
        return [chapters_of("", name=self.arguments[0])]


class Quoted(LiteralInclude):
    """A `literalinclude`, of which the reference knows when it shows an object of the module."""

    def run(self) -> list[nodes.Node]:
        """What it shows, with an anchor, and below it the link to the reference."""
        found = super().run()
        root = Path(self.env.app.confdir)
        path = Path(self.env.relfn2path(self.arguments[0])[1])
        wanted = self.options.get("pyobject")
        if wanted is None or not any(path.is_relative_to(root / package) for package in PACKAGES):
            return found
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join([*(p for p in parts if p != "__init__"), wanted])
        anchor = f"code-{make_name(name)}"
        shows = self.env.metadata[self.env.docname].setdefault(SHOWS, [])
        first = found[0]
        assert isinstance(first, nodes.Element)
        if (name, anchor) not in shows:
            shows.append((name, anchor))
            first["ids"].append(anchor)
        return [*found, reference_of("", name=name)]


def make_name(text: str) -> str:
    """A dotted name as a part of an anchor."""
    return nodes.make_id(text)


def link(text: str, address: str) -> nodes.reference:
    """A link in the look of code or of words."""
    return nodes.reference("", "", nodes.inline("", text), refuri=address, internal=True)


def lead_to_chapters(
    app: Sphinx, docname: str, targets: list[chapters_of]
) -> Iterator[list[nodes.Node]]:
    """Below an object of the reference: the chapters that show it."""
    for node in targets:
        paragraph = nodes.paragraph("", "Shown in ", classes=["shown-in"])
        for page, data in sorted(app.env.metadata.items()):
            for name, anchor in data.get(SHOWS, ()):
                if name == node["name"] or name.startswith(f"{node['name']}."):
                    if len(paragraph) > 1:
                        paragraph += nodes.Text(", ")
                    address = f"{app.builder.get_relative_uri(docname, page)}#{anchor}"
                    paragraph += link(name_of(app.env, page), address)
        yield [paragraph] if len(paragraph) > 1 else []


def lead_to_reference(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Below what a chapter shows of the module: the link to the reference."""
    objects = app.env.get_domain("py").data["objects"]
    for node in list(doctree.findall(reference_of)):
        known = objects.get(node["name"])
        if known is None or app.builder.name != "html":
            node.parent.remove(node)
            continue
        address = f"{app.builder.get_relative_uri(docname, known.docname)}#{known.node_id}"
        # On a phone the name is longer than a line, which breaks behind a dot.
        name = node["name"].replace(".", ".\N{ZERO WIDTH SPACE}")
        text = f"{name} in the reference"
        node.replace_self(nodes.paragraph("", "", link(text, address), classes=["in-reference"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directives, and resolves what they leave open."""
    app.add_directive("reference", Reference)
    app.add_directive("chapters-of", ChaptersOf)
    app.add_directive("literalinclude", Quoted, override=True)
    fill_from_all_pages(app, chapters_of, lead_to_chapters)
    app.connect("doctree-resolved", lead_to_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
