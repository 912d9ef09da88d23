"""The reference of the module: every module is in it, and signatures stand there as written."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document
from sphinx.errors import ExtensionError

from tools.site.extensions.reference import (
    PACKAGES,
    WITHOUT,
    described_module,
    lead_to_reference,
    modules_on,
    modules_under,
    path_of,
    reference_of,
    restructured,
)

ROOT = Path(__file__).resolve().parents[4]
PAGES = sorted((ROOT / "book/reference").glob("*.md"))
MODULE = '''\
"""What it is for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """What was found.

    Attributes:
        score: a sum of logarithms, `-inf` included.
    """

    score: Float[Tensor, "batch heads"]
    name: str = "none"

    @property
    def whole(self) -> bool:
        """Whether |score| is finite for *all* of them."""
        return True

    def _inner(self) -> None:
        """Nobody's business."""


def look(*words: str, k: int = 3) -> Float[Tensor, "batch query key"]:
    """Looks.

    Args:
        words: what
            to look for.
        k: K.

    Returns:
        Weights.

    Raises:
        ValueError: there is none.
    """


def _hidden() -> None:
    """Nobody's business."""
'''


MODULES = [module for package in PACKAGES for module in modules_under(ROOT, package)]


@pytest.fixture
def lines(tmp_path: Path) -> list[str]:
    (tmp_path / "transformer").mkdir()
    (tmp_path / "transformer/found.py").write_text(MODULE)
    return described_module(tmp_path, "transformer.found")


def test_every_module_is_on_one_page_of_the_reference() -> None:
    shown = [module for page in PAGES for module in modules_on(ROOT, page)]
    assert len(shown) == len(set(shown))
    assert set(shown) == set(MODULES) - WITHOUT
    assert all(path_of(ROOT, module).exists() for module in WITHOUT)


def test_every_page_of_the_reference_is_in_the_contents() -> None:
    contents = (ROOT / "_toc.yml").read_text()
    assert all(f"book/reference/{page.stem}\n" in contents for page in PAGES)


def test_signatures_keep_their_shapes(lines: list[str]) -> None:
    assert ".. py:class:: Found(score: Float[Tensor, 'batch heads'], name: str = 'none')" in lines
    assert (
        ".. py:function:: look(*words: str, k: int=3) -> Float[Tensor, 'batch query key']" in lines
    )


def test_what_is_private_stays_out(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert "Nobody" not in text and "_hidden" not in text
    assert ".. chapters-of:: transformer.found.look" in text


def test_docstrings_become_fields_in_which_no_sign_means_anything(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert ":ivar score: a sum of logarithms, ``-inf`` included." in text
    assert r"Whether \|score\| is finite for \*all* of them." in text
    assert ":raises ValueError: there is none." in text
    assert r":param k: \K." in text  # no list that begins with K


@pytest.mark.slow
def test_docutils_reads_every_docstring_without_a_complaint() -> None:
    complaints: list[str] = []
    for module in MODULES:
        tree = ast.parse(path_of(ROOT, module).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                text = "\n".join(restructured(ast.get_docstring(node) or "", "function"))
                settings = get_default_settings(Parser)
                settings.report_level, settings.warning_stream = 5, ""
                document = new_document(module, settings)
                document.reporter.attach_observer(
                    lambda message, m=module: complaints.append(f"{m}: {message.astext()}")
                )
                Parser().parse(text, document)
    assert complaints == []


def test_public_definitions_of_the_core_are_all_there() -> None:
    tree = ast.parse(path_of(ROOT, "transformer.attention").read_text())
    names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    text = "\n".join(described_module(ROOT, "transformer.attention"))
    for name in names:
        assert f":: {name}(" in text
    assert "Float[Tensor, '*batch query key']" in text


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExtensionError, match=r"names the module transformer\.gone, which does not"):
        path_of(tmp_path, "transformer.gone")


@pytest.mark.parametrize(("section", "field"), [("Args", "param"), ("Attributes", "ivar")])
def test_names_with_one_description_get_an_entry_each(section: str, field: str) -> None:
    lines = restructured(f"What.\n\n{section}:\n    one, other: both\n        of them.\n", "class")
    for name in ("one", "other"):
        place = lines.index(f":{field} {name}: both")
        assert lines[place + 1].strip() == "of them."
    assert "one, other" not in "\n".join(lines)


def test_exceptions_are_named_as_they_were() -> None:
    lines = restructured("What.\n\nRaises:\n    ValueError: of a, b and c.\n", "function")
    assert ":raises ValueError: of a, b and c." in lines


def test_the_name_of_what_a_chapter_shows_breaks_behind_its_dots() -> None:
    name = "transformer.masks.causal_mask"
    objects = {name: SimpleNamespace(docname="book/reference/model", node_id=name)}
    app = SimpleNamespace(
        env=SimpleNamespace(get_domain=lambda _: SimpleNamespace(data={"objects": objects})),
        builder=SimpleNamespace(name="html", get_relative_uri=lambda *_: "../model.html"),
    )
    page = new_document("a chapter")
    page += reference_of(name=name)
    lead_to_reference(app, page, "book/architecture/masks")
    (link,) = page.findall(nodes.reference)
    assert link["refuri"] == f"../model.html#{name}"
    assert link.astext().split("\N{ZERO WIDTH SPACE}") == [
        *("transformer.", "masks.", "causal_mask in the reference")
    ]


def test_no_signature_holds_what_sphinx_cannot_read() -> None:
    bad = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for module in MODULES
        if module not in WITHOUT
        for path in [path_of(ROOT, module)]
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(part, ast.JoinedStr) for part in ast.walk(node.args))
    ]
    assert not bad  # an f-string; the book's build would end with a warning
