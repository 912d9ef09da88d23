"""Trees as sequences of tokens, so that a model can write them (section 6.3).

The form is Vinyals et al.'s (2015): an opening bracket with its label, a closing bracket that
repeats it, and for each word one and the same stand-in, since the words are known already:

    he sees the cat .    (S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar, Union

Leaf = TypeVar("Leaf")

WORD = "XX"
TOP = "TOP"
"""The label around what is no single constituent; like EVALB, nobody counts it."""


class Tree(NamedTuple, Generic[Leaf]):
    """A constituent: its label, and the words and smaller constituents that it is made of."""

    label: str
    parts: tuple[Union[Leaf, "Tree[Leaf]"], ...]


class Reading(NamedTuple):
    """A tree that was read from tokens, and whether they spell one for just these words."""

    tree: Tree[str]
    well_formed: bool


class Span(NamedTuple):
    """A constituent as parsers are judged by it: words `start` to `end`, the latter excluded."""

    label: str
    start: int
    end: int


def leaves(tree: Tree[Leaf]) -> Iterator[Leaf]:
    """The words of a tree, from left to right."""
    for part in tree.parts:
        if isinstance(part, Tree):
            yield from leaves(part)
        else:
            yield part


def bracket_tokens(labels: Iterable[str]) -> list[str]:
    """All tokens in which trees with these labels are written."""
    return [WORD, *(token for label in labels for token in (f"({label}", f"){label}"))]


def linearised(tree: Tree[Leaf]) -> list[str]:
    """The tree as tokens."""
    inner = (linearised(part) if isinstance(part, Tree) else [WORD] for part in tree.parts)
    return [f"({tree.label}", *(token for tokens in inner for token in tokens), f"){tree.label}"]


def read_tree(tokens: Iterable[str], words: Sequence[str]) -> Reading:
    """The tree that tokens spell over these words, mended where they spell none.

    A model may write anything. What it wrote is taken from left to right, and nothing is guessed:
    a closing bracket closes the innermost constituent, whatever its label, and is passed over
    where none is open; what is open at the end is closed there; a constituent without a word is
    dropped; words too many are passed over, and words too few stand outside of all constituents.
    """
    well_formed, taken = True, 0
    stack: list[tuple[str, list[str | Tree[str]]]] = [(TOP, [])]

    def close() -> bool:
        label, parts = stack.pop()
        if parts:
            stack[-1][1].append(Tree(label, tuple(parts)))
        return bool(parts)

    for token in tokens:
        if token == WORD and taken < len(words):
            stack[-1][1].append(words[taken])
            taken += 1
        elif token[0] == "(" and len(token) > 1:
            stack.append((token[1:], []))
        elif token[0] == ")" and len(token) > 1 and len(stack) > 1:
            matches = stack[-1][0] == token[1:]
            well_formed = close() and matches and well_formed
        else:
            well_formed = False
    well_formed = well_formed and len(stack) == 1 and taken == len(words)
    while len(stack) > 1:
        close()
    children = [*stack[0][1], *words[taken:]]
    if len(children) == 1 and isinstance(children[0], Tree):
        return Reading(children[0], well_formed)
    return Reading(Tree(TOP, tuple(children)), False)


def spans(tree: Tree[str], without: frozenset[str] = frozenset()) -> list[Span]:
    """The constituents, each before those inside it; `TOP` is none.

    Args:
        without: words that are not counted, such as marks; nor is what is made of them only.
    """
    spans_so_far: list[Span] = []

    def walk(part: str | Tree[str], start: int) -> int:
        if not isinstance(part, Tree):
            return start + (part not in without)
        position, end = len(spans_so_far), start
        for inner in part.parts:
            end = walk(inner, end)
        if part.label != TOP and end > start:
            spans_so_far.insert(position, Span(part.label, start, end))
        return end

    walk(tree, 0)
    return spans_so_far
