"""One script out of a front end and the modules that it imports.

Jupyter hands a widget's script to the browser as a text without an address, from which no other
file can be imported, and a browser loads no module for a page that was opened from the disk. So
each module becomes a function that is called at once, which keeps its names to itself: an export
is a part of what it returns, an import is taken from what another one has returned. Of the modules
that widgets share, a reader loads only what their widget uses.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_IMPORT = re.compile(r'^import \{(?P<names>[^{}]*)\} from "(?P<path>\.[^"]*)";$', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?=(?:async )?(?:function\*?|const|class) (?P<name>[\w$]+))", re.MULTILINE
)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
# A comment with its lines to itself; neither browser nor reader has need of it here.
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
# One behind code: neither does a text end after it, nor is anything put into one.
_ASIDE = re.compile(r"[ \t]+// [^\"'`$\n]*$", re.MULTILINE)
# A statement begins at the margin; its other lines are indented, or close a bracket.
_STATEMENT = re.compile(r"^(?=[^\s})\]])", re.MULTILINE)
_DECLARED = re.compile(r"(?:(?:async )?function\*?|class) ([\w$]+)|(?:const|let) ([^=]+)=")
_WORD = re.compile(r"[\w$]+")
# Types within a line, indentation, ends of lines: `eslint.config.js` keeps texts on one line.
_TYPE = re.compile(r"/\*\* @type \{[^\n]*?\} \*/ ?")
_INDENTATION = re.compile(r"^\s+", re.MULTILINE)
# A line's end that ends nothing but the line, with no comment in it
_BROKEN = re.compile(r"^(?!.*//)(.*[{(,;\[}])\n", re.MULTILINE)
# Of code with no text in it: spaces around a sign between names, numbers and brackets, and beside
# a bracket or comma
_CODE = re.compile(r"^[^\"'`/$\n]+$", re.MULTILINE)
_SPACED = re.compile(
    r"(?<=[\w)\]}]) (=>|[=!<>]==?|&&|\|\||\?\?|[-+*]=|[-+*=<>?:%]) (?=[\w(\[{])"
    r"|(?<=[){,;]) +| +(?=})"
)
_OTHER = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)


@dataclass
class _Module:
    """A module's parts.

    Attributes:
        imports: the module, the name there and the name here.
        statements: all else.
        exports: the names that others may import.
    """

    imports: list[tuple[Path, str, str]]
    statements: list[str]
    exports: list[str]


def bundle(front_end: Path) -> str:
    """An ES module that stands alone; all that it shares with its surroundings is its export.

    Raises:
        ValueError: a module imports what is not there, or itself by a detour, or has an import or
            an export of a kind that is not bundled.
    """
    return f"export default {as_expression(front_end)};\n"


def as_expression(front_end: Path) -> str:
    """What a front end exports, as an expression: for a plain script. Errors as in `bundle`."""
    front_end = front_end.resolve()
    root = front_end.parent.parent
    modules: dict[Path, _Module] = {}  # each behind those that it imports

    def name(path: Path) -> str:
        return Path(os.path.relpath(path, root)).as_posix()

    def add(path: Path, way: tuple[Path, ...]) -> None:
        if path in way:
            circle = " -> ".join(name(one) for one in (*way[way.index(path) :], path))
            raise ValueError(f"modules import each other in a circle: {circle}")
        if path in modules:
            return
        if not path.is_file():
            raise ValueError(f"{name(way[-1])} imports {name(path)}, which is not there")
        text = path.read_text(encoding="utf-8")
        for unneeded in (_COMMENT, _TYPE, _ASIDE):
            text = unneeded.sub("", text)
        if path == front_end:
            text, found = _DEFAULT.subn("return ", text)
            if found != 1:
                raise ValueError(f"{name(path)} has {found} default exports; give it one")
        exports = [match["name"] for match in _EXPORT.finditer(text)]
        text = _EXPORT.sub("", text)
        if other := _OTHER.search(_IMPORT.sub("", text)):
            raise ValueError(
                f"{name(path)} has {other[0]!r}, which is not bundled; write "
                'import { a, b as c } from "./file.js"; and export a function, const or class'
            )
        imports = []
        for match in _IMPORT.finditer(text):
            source = (path.parent / match["path"]).resolve()
            add(source, (*way, path))
            for part in match["names"].split(","):
                if not (pair := part.split()):
                    continue
                if pair[0] not in modules[source].exports:
                    raise ValueError(
                        f"{name(path)} imports {pair[0]} from {name(source)}, which exports "
                        f"{', '.join(modules[source].exports) or 'nothing'}"
                    )
                imports.append((source, pair[0], pair[-1]))  # `a as b`
        statements = _STATEMENT.split(_IMPORT.sub("", text))
        modules[path] = _Module(imports, [s for s in statements if s.strip()], exports)

    add(front_end, ())
    wanted: dict[Path, dict[str, None]] = {path: {} for path in modules}  # names, in order
    numbers = {path: number for number, path in enumerate(modules)}
    written: list[str] = []
    for path, module in reversed(modules.items()):  # each before those that it imports
        statements = _needed(module.statements, wanted[path])
        if not statements:
            continue
        body = _INDENTATION.sub("", "".join(statements))
        body = _CODE.sub(lambda line: _SPACED.sub(r"\1", line[0]), body)
        words = set(_WORD.findall(body))
        taken: dict[Path, list[str]] = {}
        for source, their_names, ours in module.imports:
            if ours in words:
                wanted[source][their_names] = None
                taken.setdefault(source, []).append(
                    their_names if their_names == ours else f"{their_names}:{ours}"
                )
        bound = "".join(
            f"const {{{','.join(names)}}}=$modules[{numbers[source]}];\n"
            for source, names in taken.items()
        )
        is_entry = path == front_end
        returned = "" if is_entry else f"return {{{','.join(wanted[path])}}};\n"
        kept = "return " if is_entry else f"$modules[{numbers[path]}]="
        written.append(f"{kept}(() => {{\n{bound}{body}{returned}}})();\n")
    whole = "".join(["(() => {\nconst $modules=[];\n", *reversed(written), "})()"])
    return _BROKEN.sub(r"\1", whole)


def _needed(statements: list[str], wanted: Collection[str]) -> list[str]:
    """Those that do something, or declare what is wanted, or what one of these mentions."""
    names = set(wanted)
    kept: set[int] = set()

    def more() -> list[int]:
        return [i for i, text in enumerate(statements) if i not in kept and needed(text)]

    def needed(text: str) -> bool:
        declared = _DECLARED.match(text)
        return not declared or not names.isdisjoint(_WORD.findall(declared[1] or declared[2]))

    while found := more():
        kept.update(found)
        names.update(word for i in found for word in _WORD.findall(statements[i]))
    return [statements[i] for i in sorted(kept)]
