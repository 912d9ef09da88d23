"""What pages share that are made from all others: pictures, coverage, reference, maps."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

MADE = "made_from_all_pages"
Fill = Callable[[Sphinx, str, list[Any]], Iterable[list[nodes.Node]]]


def fill_from_all_pages(app: Sphinx, kind: type[nodes.Element], fill: Fill) -> None:
    """Lets nodes of a kind be places that are filled once all pages have been read.

    `fill` gets a page and its places in their order, and gives what comes into each of them.
    """
    app.add_node(kind)
    app.connect("doctree-read", partial(register, kind=kind))
    app.connect("env-get-outdated", renew)
    app.connect("doctree-resolved", partial(put, kind=kind, fill=fill))


def register(app: Sphinx, doctree: nodes.document, kind: type[nodes.Element]) -> None:
    """Notes that the page that is being read is made from all others."""
    if any(True for _ in doctree.findall(kind)):
        app.env.metadata[app.env.docname][MADE] = True


def renew(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Such a page is made again whenever any other is."""
    made = [page for page, data in env.metadata.items() if MADE in data]
    return made if (added | changed | removed) - {*made} else []


def put(
    app: Sphinx, doctree: nodes.document, page: str, kind: type[nodes.Element], fill: Fill
) -> None:
    """Fills the places of a page."""
    if targets := list(doctree.findall(kind)):
        for target, made in zip(targets, fill(app, page, targets), strict=True):
            target.replace_self(made)


def pages_of(env: BuildEnvironment, page: str) -> Iterator[str]:
    """The pages of the book in the order of its contents, from this one on."""
    yield page
    for child in env.toctree_includes.get(page, ()):
        yield from pages_of(env, child)


def name_of(env: BuildEnvironment, page: str) -> str:
    """A page's title, with its number where it has one: "2.1. Attention"."""
    numbers = env.toc_secnumbers.get(page, {}).get("", ())
    title = env.titles[page].astext()
    return f"{'.'.join(map(str, numbers))}. {title}" if numbers else title


def section_of(node: nodes.Element) -> list[nodes.Node]:
    """The words and formulas of the heading under which something stands."""
    around: nodes.Element | None = node
    while around is not None and not isinstance(around, nodes.section):
        around = around.parent
    heading = None if around is None else around.next_node(nodes.title)
    return [] if heading is None else list(heading.children)
