"""One script out of a front end and the modules that it imports.

Jupyter hands a widget's script to the browser as a text without an address, from which no other
file can be imported, and a browser loads no module for a page that was opened from the disk. So
each module becomes a function that is called at once, which keeps its names to itself: an export
is a part of what it returns, an import is taken from what another one has returned.
"""

import os
import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{(?P<names>[^{}]*)\} from "(?P<path>\.[^"]*)";$', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?=(?:async )?(?:function\*?|const|class) (?P<name>[\w$]+))", re.MULTILINE
)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
# A comment with its lines to itself; neither browser nor reader has need of it here.
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
# Types that stand within a line, and the indentation: `eslint.config.js` keeps texts on one line.
_TYPE = re.compile(r"/\*\* @type \{[^\n]*?\} \*/ ?")
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)


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
    written: dict[Path, str] = {}
    exports: dict[Path, list[str]] = {}

    def name(path: Path) -> str:
        return Path(os.path.relpath(path, root)).as_posix()

    def add(path: Path, way: tuple[Path, ...]) -> None:
        if path in way:
            circle = " -> ".join(name(one) for one in (*way[way.index(path) :], path))
            raise ValueError(f"modules import each other in a circle: {circle}")
        if path in written:
            return
        if not path.is_file():
            raise ValueError(f"{name(way[-1])} imports {name(path)}, which is not there")
        text = path.read_text(encoding="utf-8")
        for unneeded in (_COMMENT, _TYPE, _INDENTATION):
            text = unneeded.sub("", text)
        if path == front_end:
            text, found = _DEFAULT.subn("return ", text)
            if found != 1:
                raise ValueError(f"{name(path)} has {found} default exports; give it one")
        exports[path] = [match["name"] for match in _EXPORT.finditer(text)]
        text = _EXPORT.sub("", text)
        if other := _OTHER.search(_IMPORT.sub("", text)):
            raise ValueError(
                f"{name(path)} has {other[0]!r}, which is not bundled; write "
                'import { a, b as c } from "./file.js"; and export a function, const or class'
            )

        def bind(match: re.Match[str]) -> str:
            source = (path.parent / match["path"]).resolve()
            add(source, (*way, path))
            pairs = [part.split() for part in match["names"].split(",") if part.strip()]
            for wanted, *_ in pairs:
                if wanted not in exports[source]:
                    raise ValueError(
                        f"{name(path)} imports {wanted} from {name(source)}, which exports "
                        f"{', '.join(exports[source]) or 'nothing'}"
                    )
            names = ", ".join(": ".join(pair[::2]) for pair in pairs)  # `a as b` is {a: b}
            return f'const {{ {names} }} = $modules["{name(source)}"];'

        body = _IMPORT.sub(bind, text)  # before this one stands all that it imports
        returned = f"return {{ {', '.join(exports[path])} }};\n" if path != front_end else ""
        written[path] = f"(() => {{\n{body}{returned}}})();\n"

    add(front_end, ())
    entry = written.pop(front_end)
    parts = [f'$modules["{name(path)}"] = {body}' for path, body in written.items()]
    return "".join(["(() => {\nconst $modules = {};\n", *parts, f"return {entry}", "})()"])
