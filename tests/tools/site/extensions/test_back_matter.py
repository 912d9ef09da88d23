"""The index is a page of the book's contents, and has what chapters introduce."""

from docutils import nodes
from sphinx.addnodes import glossary, index, toctree

from tools.site.extensions.back_matter import leave_out_glossary, list_index


def contents(caption: str | None) -> toctree:
    """A part of the contents with one page."""
    return toctree("", caption=caption, entries=[(None, "book/references")])


def test_the_index_is_the_last_entry_of_the_back_matter_and_of_no_other_part() -> None:
    doctree = nodes.document(None, None)
    parts = [contents("Training"), contents(None), contents("Back matter")]
    doctree += parts
    list_index(None, doctree)
    list_index(None, doctree)
    page = (None, "book/references")
    assert [part["entries"] for part in parts] == [[page], [page], [page, ("Index", "genindex")]]


def test_the_index_has_terms_where_chapters_introduce_them_and_other_names_in_the_glossary() -> (
    None
):
    doctree = nodes.document(None, None)
    introduced, listed, other = (index(entries=[name]) for name in ("mask", "mask", "veil"))
    terms = [nodes.term("", "", listed), nodes.term("", "", other)]
    words = nodes.definition_list("", nodes.definition_list_item("", *terms, nodes.definition()))
    doctree += [nodes.paragraph("", "", introduced), glossary("", words)]
    leave_out_glossary(doctree)
    assert list(doctree.findall(index)) == [introduced, other]
