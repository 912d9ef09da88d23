"""Names are those of the paper and of the field: nobody has to learn a dialect first."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    path
    for part in ("transformer", "tools", "benchmarks", "book/_ext")
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
# Toy German's grammar speaks of adverbials of place.
GRAMMAR = ROOT / "transformer" / "data" / "toy_german"


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Each name that is given or used, with its line: functions, classes, arguments, attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name) | ast.Name(id=name) | ast.Attribute(attr=name):
                yield name, node.lineno
            case ast.arg(arg=name):
                yield name, node.lineno
            case ast.keyword(arg=str(name)):
                yield name, node.value.lineno


def dialect_in(name: str) -> set[str]:
    """The words of the list in a name, however they are joined; plurals too."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", ALLOWED.sub("", name))}
    words |= {word.removesuffix("s") for word in words}
    whole = {name.lower(), name.lower().removesuffix("s")} & WHOLE
    return (words & DIALECT.keys() - WHOLE) | whole


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_hold_no_words_of_our_own(path: Path) -> None:
    words = [
        f"line {line}: {name}; {word}: say {DIALECT[word]}"
        for name, line in identifiers(ast.parse(path.read_text(encoding="utf-8")))
        for word in dialect_in(name)
        if not (word == "place" and path.is_relative_to(GRAMMAR))
    ]
    assert words == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("_put_back_dice", {"dice"}),
        ("MOST_BEGINNINGS", {"beginning"}),
        ("GrowingCache", {"growing"}),
        ("Feed", {"feed"}),
        ("place_of", {"place"}),
        ("facts", {"facts"}),
        ("feed_forward", set()),
        ("placeholder", set()),
        ("is_held_out", set()),
        ("buffer", set()),
    ],
)
def test_words_are_found_in_names_of_every_kind(name: str, words: set[str]) -> None:
    assert dialect_in(name) == words
