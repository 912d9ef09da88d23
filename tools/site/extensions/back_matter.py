"""The index says where terms are introduced, and stands in the contents, in the back matter.

`_toc.yml` can name only files, and the index has none. The glossary would enter each of its terms
into the index a second time; it has its own order and its own links to the chapters.
"""

from docutils import nodes
from sphinx.addnodes import glossary, index, toctree
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

CAPTION = "Back matter"  # of the part in _toc.yml
ENTRY = ("Index", "genindex")


def list_index(app: Sphinx, doctree: nodes.document) -> None:
    """Adds the entry to the contents, where they have the part."""
    for contents in doctree.findall(toctree):
        if contents.get("caption") == CAPTION and ENTRY not in contents["entries"]:
            contents["entries"].append(ENTRY)


class LeaveOutGlossary(SphinxTransform):
    """Takes the glossary's terms out of the index."""

    default_priority = 800  # before Sphinx reads the entries

    def apply(self, **kwargs: object) -> None:
        """Removes what the directive has put there."""
        leave_out_glossary(self.document)


def leave_out_glossary(doctree: nodes.document) -> None:
    """Removes the entries of a page's glossaries from the index, but for a word's other names.

    No chapter introduces these, and who searches for *RoPE* is to find rotary positions.
    """
    for item in [
        i for g in doctree.findall(glossary) for i in g.findall(nodes.definition_list_item)
    ]:
        for entries in [e for term in item[:1] for e in term.findall(index)]:
            entries.parent.remove(entries)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to the build."""
    app.add_transform(LeaveOutGlossary)
    app.connect("doctree-read", list_index, priority=300)  # before Sphinx notes the contents
    return {"parallel_read_safe": True, "parallel_write_safe": True}
