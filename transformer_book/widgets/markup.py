"""The marks that a question may hold, and nothing more: `code`, *emphasis*, $d_k$.

They become a small tree, in which all words are plain text: the browser builds elements from it,
and paper gets HTML. Whatever else looks like HTML stays the text that it is.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

Node = str | list[Any]  # words, or [kind, *children]

TAGS = {
    "code": ("<code>", "</code>"),
    "em": ("<em>", "</em>"),
    "i": ("<i>", "</i>"),
    "sub": ("<sub>", "</sub>"),
    "sup": ("<sup>", "</sup>"),
    "root": ('√<span style="display: inline-block; border-top: 1px solid">', "</span>"),
}
SYMBOLS = {
    "alpha": "α",
    "approx": " ≈ ",
    "beta": "β",
    "cdot": " · ",
    "epsilon": "ε",
    "exp": "exp ",
    "gamma": "γ",
    "infty": "∞",
    "le": " ≤ ",
    "ln": "ln ",
    "log": "log ",
    "omega": "ω",
    "pi": "π",
    "sigma": "σ",
    "sin": "sin ",
    "cos": "cos ",
    "times": " × ",
}
MARKED = re.compile(r"`([^`]+)`|\*([^*\s][^*]*)\*|\$([^$]+)\$")
TOKEN = re.compile(r"\\[A-Za-z]+|\s+|[A-Za-z]|[0-9.]+|.")


def parse(text: str) -> list[Node]:
    """The tree of a text.

    Raises:
        ValueError: a formula has a command that is not known here, or a brace too few.
    """
    nodes: list[Node] = []
    end = 0
    for match in MARKED.finditer(text):
        nodes += [text[end : match.start()]] if match.start() > end else []
        code, emphasis, formula = match.groups()
        if code is not None:
            nodes.append(["code", code])
        elif emphasis is not None:
            nodes.append(["em", *parse(emphasis)])
        else:
            nodes += list(_formula(iter(TOKEN.findall(formula)), formula))
        end = match.end()
    return nodes + ([text[end:]] if end < len(text) else [])


def as_html(nodes: list[Node]) -> str:
    """The tree as HTML."""
    parts = []
    for node in nodes:
        if isinstance(node, str):
            parts.append(escape(node))
        else:
            begin, end = TAGS[node[0]]
            parts.append(begin + as_html(node[1:]) + end)
    return "".join(parts)


def as_text(nodes: list[Node]) -> str:
    """The words of the tree."""
    return "".join(node if isinstance(node, str) else as_text(node[1:]) for node in nodes)


def _formula(tokens: Iterator[str], whole: str, closing: str = "") -> Iterator[Node]:
    """A formula's nodes, up to the closing brace: letters in italics, digits upright."""
    first = True
    for token in tokens:
        if token == closing:
            return
        if token in ("_", "^"):
            yield ["sub" if token == "_" else "sup", *_argument(tokens, whole)]
        elif token == "\\text":
            yield as_text(_argument(tokens, whole))
        elif token == "\\sqrt":
            yield ["root", *_argument(tokens, whole)]
        elif token[0] == "\\":
            if token[1:] not in SYMBOLS:
                known = ", ".join(f"\\{name}" for name in ("sqrt", "text", *SYMBOLS))
                raise ValueError(f"the formula {whole!r} has {token}; known are {known}")
            yield SYMBOLS[token[1:]]
        elif token == "{":
            yield from _formula(tokens, whole, "}")
        elif token == "-" and first:
            yield "−"  # a sign, and no operation
        elif token in ("=", "<", ">", "+", "-"):
            yield f" {'−' if token == '-' else token} "
        elif token.strip():
            yield ["i", token] if token.isalpha() else token
        first = first and not token.strip()
    if closing:
        raise ValueError(f"the formula {whole!r} has a brace that is not closed")


def _argument(tokens: Iterator[str], whole: str) -> list[Node]:
    """What stands behind a command, raised or lowered: a group in braces, or one sign."""
    token = next((token for token in tokens if token.strip()), None)
    if token is None:
        raise ValueError(f"the formula {whole!r} ends where something is to follow")
    return list(_formula(tokens if token == "{" else iter([token]), whole, "}" * (token == "{")))
