"""The index is a page of the book's contents, and has what chapters introduce."""

from docutils import nodes
from sphinx.addnodes import glossary, index, toctree

from book._ext.back_matter import leave_out_glossary, list_index


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


def test_terms_are_in_the_index_where_chapters_introduce_them_and_not_for_the_glossary() -> None:
    doctree = nodes.document(None, None)
    introduced, listed = index(entries=["mask"]), index(entries=["mask"])
    words = nodes.definition_list("", nodes.definition_list_item("", nodes.term("", "", listed)))
    doctree += [nodes.paragraph("", "", introduced), glossary("", words)]
    leave_out_glossary(doctree)
    assert list(doctree.findall(index)) == [introduced]
