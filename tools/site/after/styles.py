"""One style sheet out of many, without the rules that nothing on the site could use.

The theme and the extensions bring ten sheets of about 90 kB compressed, of which a page uses a
quarter. Kept is each rule of which some page or script has all the classes, ids and elements, and
each variable that a kept rule, a page or a script reads.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.errors import ExtensionError

from tools.site.after.edits import edited

# Bootstrap knows many components; of those that only its script can make, the theme uses one.
BOOTSTRAP = "bootstrap.js"
MADE_BY_BOOTSTRAP = {"show", "fade", "collapsing", "tooltip", "tooltip-inner", "tooltip-arrow"}
ASSEMBLED = "bs-tooltip-"  # and a direction
GROUPS = ("media", "supports", "layer", "container")
FONTS = "fonts"
TAG, WORD = re.compile(r"<[^>]+>"), re.compile(r"[\w-]+")
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
URL = re.compile(r"url\((['\"]?)(?!data:|#)([^)'\"]+)\1\)")
VARIABLE = re.compile(r"(?<=[{;\s])(--[\w-]+)\s*:(?:[^;{}\"']|\"[^\"]*\"|'[^']*')*(?:;|(?=\}))")
READ = re.compile(r"var\(\s*(--[\w-]+)")
TRUETYPE = re.compile(r',\s*url\("[^"]+\.ttf"\)\s*format\("truetype"\)')
BLOCKING = re.compile(r"font-display:\s*block")
LINE_END = re.compile(r"\s*\n\s*")  # none is within a string


def words_of(pages: Iterable[str], scripts: dict[Path, str]) -> set[str]:
    """All that could be a class, an id, an attribute or an element, in tags and in scripts."""
    words = set(MADE_BY_BOOTSTRAP)
    for page in pages:
        for tag in set(TAG.findall(page)):
            words.update(WORD.findall(tag))
        for script in SCRIPT.findall(page):
            words.update(WORD.findall(script))
    for path, script in scripts.items():
        if path.name != BOOTSTRAP:
            words.update(WORD.findall(script))
    return words | {word.lower() for word in words}


def variables_of(texts: Iterable[str]) -> set[str]:
    """What scripts and pages read of the sheets' variables; a name may go on behind these."""
    return {name for text in texts for name in READ.findall(text)}


def needed(selector: list[Any], words: Collection[str]) -> bool:
    """Whether something on the pages could match; what stands in brackets is not looked at."""
    before = ""
    for token in selector:
        name = None
        if token.type == "ident" and before != ":":
            name = token.value if before == "." else token.lower_value
        elif token.type == "hash":
            name = token.value
        elif token.type == "[] block" and token.content:
            name = getattr(token.content[0], "value", None)
        if name and name not in words and not name.startswith(ASSEMBLED):
            return False
        before = token.value if token.type == "literal" else ""
    return True


def selectors(prelude: list[Any]) -> Iterator[list[Any]]:
    """The parts between commas."""
    part: list[Any] = []
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            yield part
            part = []
        else:
            part.append(token)
    yield part


def purged(rules: list[Any], words: Collection[str] | None) -> str:
    """The rules that something on the pages could use; without words, all of them."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            parts = [p for p in selectors(rule.prelude) if words is None or needed(p, words)]
            if parts:
                heads = ",".join(tinycss2.serialize(part).strip() for part in parts)
                body = LINE_END.sub(" ", tinycss2.serialize(rule.content).strip())
                kept.append(f"{heads}{{{body}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in GROUPS and rule.content:
            nested = tinycss2.parse_rule_list(
                rule.content, skip_comments=True, skip_whitespace=True
            )
            inside = purged(nested, words)
            if inside:
                prelude = tinycss2.serialize(rule.prelude).strip()
                kept.append(f"@{rule.at_keyword} {prelude}{{{inside}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword != "charset":
            kept.append(rule.serialize())
        elif rule.type == "error":
            raise ExtensionError(f"a style sheet cannot be read: {rule.message}")
    return "\n".join(kept)


def without_idle_variables(text: str, read_elsewhere: Collection[str]) -> str:
    """Drops custom properties that nothing reads, and then those that only these have read.

    `read_elsewhere` are the beginnings of the names that scripts and pages read.
    """
    elsewhere = tuple(read_elsewhere)
    while True:
        read = set(READ.findall(text))

        def kept(match: re.Match[str], read: set[str] = read) -> str:
            return match[0] if match[1] in read or match[1].startswith(elsewhere) else ""

        shorter = VARIABLE.sub(kept, text)
        if shorter == text:
            return text
        text = shorter


def moved(text: str, sheet: str, target: str, fonts: Collection[str]) -> str:
    """A sheet's text with its addresses as they are seen from the merged sheet's folder.

    Of the theme's fonts, ours are smaller (`fonts` has their names). Raises ExtensionError for one
    that we do not have.
    """

    def seen(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(sheet), match[2]))
        name = posixpath.basename(path)
        if name.endswith(".woff2"):
            if name not in fonts:
                raise ExtensionError(
                    f"{sheet} loads the font {name}, which is not in book/_static/fonts: "
                    "cut it with python -m tools.fonts"
                )
            path = f"{FONTS}/{name}"
        return f'url("{posixpath.relpath(path, posixpath.dirname(target))}")'

    return URL.sub(seen, text)


def merged(
    static: Path,
    sheets: Iterable[str],
    target: str,
    words: Collection[str],
    read_elsewhere: Collection[str],
    whole: Collection[str] = (),
) -> str:
    """The text of the one sheet that takes the place of all `sheets`, paths in `static`.

    Those named in `whole` keep all their rules.
    """
    fonts = {path.name for path in (static / FONTS).glob("*.woff2")}
    parts = []
    for name in sheets:
        text = moved((static / name).read_text(encoding="utf-8"), name, target, fonts)
        rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
        parts.append(purged(rules, None if name in whole else words))
    text = without_idle_variables("\n".join(parts), read_elsewhere)
    text = edited("styles.TRUETYPE", TRUETYPE, "", text, "the style sheets")
    # Nobody waits for a font.
    return edited("styles.BLOCKING", BLOCKING, "font-display:swap", text, "the style sheets")
