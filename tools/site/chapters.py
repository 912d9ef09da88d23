"""The one model of the book's sources: its contents, and of a chapter the blocks it consists of.

Pages are made by Sphinx. Whatever else reads a chapter (notebooks, main lines, slides, the
reference, tests) asks here. Blocks are found by the parser that Sphinx uses too, MyST's, with the
extensions that `_config.yml` names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

EXTENSIONS = {"attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"}
EXTENSIONS |= {"smartquotes", "substitution"}
FENCES = {"fence", "colon_fence"}
FORMULAS = {"math_block", "math_block_label", "amsmath"}
KINDS = {"myst_line_comment": "comment", "myst_target": "target", "heading_open": "heading"}
KINDS |= dict.fromkeys(FORMULAS, "formula")
# Directives whose content is no text.
LITERAL = {"code", "code-block", "code-cell", "figure", "image", "literalinclude", "math"}
LITERAL |= {"sourcecode"}
SECOND_READING = "second-reading"


@dataclass(frozen=True)
class Part:
    """A part of the book: its pages as documents, such as `book/why/attention`.

    Attributes:
        caption: its title; the front page is a part without one.
        numbered: whether its chapters have numbers: front page, appendix and back matter have none.
        pages: its documents in order, without suffix.
    """

    caption: str
    numbered: bool
    pages: tuple[str, ...]


def contents(root: Path) -> list[Part]:
    """The parts of the book in the order of `_toc.yml`; the first is the front page."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))

    def pages(entries: list[dict[str, Any]]) -> Iterator[str]:
        for entry in entries:
            yield entry["file"]
            yield from pages(entry.get("sections", []))

    parts = [Part("", False, (toc["root"],)), Part("", False, (*pages(toc.get("chapters", [])),))]
    for part in toc.get("parts", []):
        caption, is_numbered = part.get("caption", ""), bool(part.get("numbered"))
        parts.append(Part(caption, is_numbered, (*pages(part["chapters"]),)))
    return [part for part in parts if part.pages]


def chapters(root: Path) -> list[str]:
    """All documents of the book, in order."""
    return [page for part in contents(root) for page in part.pages]


def numbered(root: Path) -> list[str]:
    """Those that have a number, in order."""
    return [page for part in contents(root) if part.numbered for page in part.pages]


@dataclass(frozen=True)
class Block:
    """A piece of a chapter: some of its lines, and what they are.

    Attributes:
        kind: "text", "heading", "directive", "code", "formula", "comment", "target" or
            "attributes", the line in braces above what it describes.
        lines: the source, as it stands there.
        name: of a directive, or the language of code.
        title: what stands behind a directive's name, or the words of a heading.
        options: a directive's, as they are written.
        body: a directive's content, below its options, or the lines of code.
        label: what references call it.
        level: a heading's, from 1 on.
        second: whether a heading begins a second reading.
        inner: the directives and code within a list or a quotation, and the lines that they take.
    """

    kind: str
    lines: tuple[str, ...]
    name: str = ""
    title: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    body: tuple[str, ...] = ()
    label: str = ""
    level: int = 0
    second: bool = False
    inner: "tuple[tuple[range, Block], ...]" = ()

    @property
    def text(self) -> str:
        """Its source."""
        return "\n".join(self.lines)

    @property
    def tags(self) -> frozenset[str]:
        """Those of a cell of code."""
        tags = self.options.get("tags", [])
        return frozenset(yaml.safe_load(tags) if isinstance(tags, str) else tags)

    @property
    def is_cell(self) -> bool:
        """Whether it is a cell of code."""
        return self.kind == "directive" and self.name == "code-cell"

    @property
    def has_text(self) -> bool:
        """Whether it is a directive with text in it."""
        return self.kind == "directive" and self.name not in LITERAL

    @property
    def own_lines(self) -> tuple[str, ...]:
        """The lines without those of directives and code within."""
        taken = {number for lines, _ in self.inner for number in lines}
        return tuple(line for number, line in enumerate(self.lines) if number not in taken)


@cache
def parser() -> MarkdownIt:
    """MyST's, with the book's extensions."""
    return create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)


@cache  # many look at the same chapter, and parsing takes long
def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text, one after another; together they have all of its lines."""
    return tuple(_parsed(text))


def _parsed(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    position = 0
    found = [token for token in parser().parse(text) if token.map and token.nesting >= 0]
    for i, token in enumerate(found):
        if token.level or token.map is None or token.type == "front_matter":
            continue
        first, last = token.map
        yield from _between(lines[position:first])
        position = max(last, position)
        within = [t for t in found[i + 1 :] if t.level and t.map and t.map[0] < last]
        yield _block(token, lines[first:last], within)
    yield from _between(lines[position:])


def walk(text: str) -> Iterator[Block]:
    """All blocks in order: after a directive with text, the blocks in it."""
    for block in blocks(text):
        yield block
        yield from (inner for _, inner in block.inner)
        if block.has_text:
            yield from walk("\n".join(block.body))


def _between(lines: list[str]) -> Iterator[Block]:
    """What the parser takes no notice of: blank lines, attributes, addresses of links."""
    for line in lines:
        attributes = line.startswith("{") and line.rstrip().endswith("}")
        yield Block("attributes" if attributes else "text", (line,))


def _block(token: Token, lines: list[str], within: list[Token]) -> Block:
    if token.type in FENCES:
        return _fenced(token, lines)
    kind = KINDS.get(token.type, "text")
    if kind == "heading":
        second = SECOND_READING in str(token.attrs.get("class", "")).split()
        words = within[0].content if within else ""
        return Block(
            kind, tuple(lines), title=words, level=int(token.tag.removeprefix("h")), second=second
        )
    if kind in ("target", "comment", "formula"):
        label = token.content if kind == "target" else token.info
        body = tuple(token.content.split("\n"))
        return Block(kind, tuple(lines), label=label, body=body)
    start = token.map[0] if token.map else 0
    inner = []
    for other in within:
        if other.type in FENCES and other.map:
            first, last = (number - start for number in other.map)
            inner.append((range(first, last), _fenced(other, lines[first:last])))
    return Block(kind, tuple(lines), inner=tuple(inner))


def _fenced(token: Token, lines: list[str]) -> Block:
    info = token.info.strip()
    body = token.content.removesuffix("\n").split("\n") if token.content else []
    if not info.startswith("{"):
        return Block("code", tuple(lines), name=info, body=tuple(body))
    name, _, title = info.removeprefix("{").partition("}")
    options, content = _options(body)
    return Block(
        "directive",
        tuple(lines),
        name=name,
        title=title.strip(),
        options=options,
        body=tuple(content),
        label=options.get("label", "") or options.get("name", ""),
    )


def _options(body: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The options of a directive, `:key: value` or YAML between dashes, and the rest."""
    if body and body[0].strip() == "---" and "---" in body[1:]:
        end = body.index("---", 1)
        return yaml.safe_load("\n".join(body[1:end])) or {}, body[end + 1 :]
    options = {}
    while body and body[0].startswith(":") and ":" in body[0][1:]:
        key, _, value = body[0][1:].partition(":")
        if not key or " " in key:
            break
        options[key] = value.strip()
        body = body[1:]
    return options, body


class Chapter:
    """One page of the book, as its author has written it."""

    def __init__(self, path: Path) -> None:
        """Reads a file."""
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    @cached_property
    def front(self) -> dict[str, Any]:
        """The front matter."""
        head, end, _ = self.text.partition("\n---\n")
        return (yaml.safe_load(head) or {}) if end and head.startswith("---\n") else {}

    @property
    def is_notebook(self) -> bool:
        """Whether it has cells that are executed."""
        representation = self.front.get("jupytext", {}).get("text_representation", {})
        return bool(representation.get("format_name") == "myst")

    @cached_property
    def blocks(self) -> list[Block]:
        """Its blocks, without the front matter."""
        return list(blocks(self.body))

    @property
    def body(self) -> str:
        """The text below the front matter."""
        return self.text.partition("\n---\n")[2] if self.front else self.text

    @cached_property
    def title(self) -> str:
        """The words of its first heading; "" without one."""
        return next((block.title for block in self.blocks if block.kind == "heading"), "")

    @cached_property
    def label(self) -> str:
        """What references call it: the last target before its title; "" where it has none."""
        label = ""
        for block in self.blocks:
            if block.kind == "heading":
                return label
            label = block.label if block.kind == "target" else label
        return ""

    @property
    def cells(self) -> list[Block]:
        """Its cells of code."""
        return [block for block in self.blocks if block.is_cell]

    def directives(self, name: str) -> list[Block]:
        """Its directives of a name, those inside others too."""
        return [block for block in walk(self.body) if block.name == name and block.kind != "code"]


def notebooks(root: Path) -> dict[str, Path]:
    """The documents that have cells, in order, with their files."""
    paths = {name: root / f"{name}.md" for name in chapters(root)}
    return {name: path for name, path in paths.items() if Chapter(path).is_notebook}
