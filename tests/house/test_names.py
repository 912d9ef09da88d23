"""Names are those of the paper and of the field: nobody has to learn a dialect first.

Misspelt words are codespell's business. These here are spelt rightly and may stand in a sentence;
only as names they are words of our own, and codespell does not know a name from a sentence.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [
    path
    for part in ("transformer", "transformer_book", "tools", "measurements")
    for path in sorted((ROOT / part).rglob("*.py"))
]

# A word of our own that has stood in names, and what others call the thing.
DIALECT = {
    "apart": "separate, in a process of its own",
    "beginning": "prefix, partial hypothesis",
    "dice": "rng_state, generator",
    "facts": "provenance, metadata, record",
    "growing": "SelfAttentionCache",
    "held": "filled",
    "place": "index, position, path",
    "room": "buffer, capacity",
    "theirs": "the name of whose it is",
    "told": "the name of what is described",
    # As whole names only: feed-forward is the paper's.
    "feed": "loader",
    "tell": "broadcast",
}
WHOLE = {"feed", "tell"}
# Words that are the field's in one sense of theirs.
ALLOWED = re.compile("is_held_out|held_out")
# Toy German's grammar speaks of adverbials of place, and Python's parser of pages is fed.
GRAMMAR = ROOT / "transformer" / "data" / "toy_german"
OF_PYTHON = {("feed", ROOT / "tools/site/after/search.py")}


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each name that is given or used, with its line: functions, classes, arguments, attributes."""
    for node in ast.walk(tree):
        for field in ("name", "id", "attr", "arg"):
            if not isinstance(node, ast.alias) and isinstance(name := getattr(node, field, 0), str):
                yield name, getattr(node, "lineno", 0)


def dialect_in(name: str) -> set[str]:
    """The words of the list in a name, however they are joined; plurals too."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", ALLOWED.sub("", name))}
    words |= {word.removesuffix("s") for word in words}
    whole = {name.lower(), name.lower().removesuffix("s")} & WHOLE
    return (words & DIALECT.keys() - WHOLE) | whole


def test_names_hold_no_words_of_our_own() -> None:
    words = [
        f"{path.relative_to(ROOT)}, line {line}: {name}; {word}: say {DIALECT[word]}"
        for path in FILES
        for name, line in identifiers(ast.parse(path.read_text(encoding="utf-8")))
        for word in dialect_in(name)
        if not (word == "place" and path.is_relative_to(GRAMMAR)) and (name, path) not in OF_PYTHON
    ]
    assert words == []


def test_words_are_found_in_names_of_every_kind() -> None:
    names = ["_put_back_dice", "MOST_BEGINNINGS", "GrowingCache", "Feed", "place_of", "facts"]
    assert [*map(dialect_in, names)] == [
        {word} for word in ("dice", "beginning", "growing", "feed", "place", "facts")
    ]
    assert not any(map(dialect_in, ["feed_forward", "placeholder", "is_held_out", "buffer"]))
