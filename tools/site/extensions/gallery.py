"""The page of all pictures: what cells have drawn, and all widgets, for whoever prepares a lecture.

While a chapter is read, each cell with a picture gets an anchor. The directive `gallery` becomes,
when its page is made, one picture after the other in the book's order: small, with its text
alternative as caption, a link to its place in the chapter, and one to its file. What a solution
draws stays there, as do pictures of cells whose output is folded.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from tools.site.extensions.whole_book import fill_from_all_pages, name_of, pages_of, section_of
from tools.site.extensions.widgets import STATE, VIEW, VIEW_SCRIPT

FOLDED = ("output", "input+output", "all")  # how MyST-NB hides what a cell has put out


class GalleryNode(nodes.General, nodes.Element):
    """Where the pictures will stand."""


@dataclass(frozen=True)
class Picture:
    """A picture of a chapter: where it stands, what it shows, and whether it is a widget's.

    It is one image, or one for light and one for dark pages.
    """

    page: str
    anchor: str
    section: list[nodes.Node]
    images: list[nodes.image]
    alt: str
    widget: bool


class Gallery(SphinxDirective):
    """All pictures of the book; takes no arguments."""

    def run(self) -> list[nodes.Node]:
        """A place that is filled once all pages have been read."""
        return [GalleryNode()]


class MarkPictures(SphinxTransform):
    """Gives each cell that shows a picture an anchor: picture-1, picture-2, ..."""

    default_priority = 880

    def apply(self, **kwargs: object) -> None:
        """Numbers the cells."""
        mark(self.document)


def mark(document: nodes.document) -> None:
    """Gives its cells their anchors."""
    shown = (cell for cell in cells_of(document) if bundles_of(cell))
    for number, cell in enumerate(shown, start=1):
        cell["ids"].append(f"picture-{number}")


def cells_of(document: nodes.document) -> Iterator[nodes.container]:
    """The code cells of a page whose output the reader sees at once, solutions left out."""
    for cell in document.findall(nodes.container):
        if cell.get("nb_element") != "cell_code" or cell.get("hide_mode") in FOLDED:
            continue
        around: nodes.Element | None = cell
        while around is not None and not is_solution(around):
            around = around.parent
        if around is None:
            yield cell


def is_solution(node: nodes.Element) -> bool:
    """Whether this is an exercise's solution."""
    return "solution" in node.tagname or "solution" in node.get("classes", ())


def bundles_of(cell: nodes.container) -> list[nodes.container]:
    """What a cell shows in a picture: all forms of it, of which MyST-NB has not yet chosen one."""
    return [
        shown
        for shown in cell.findall(nodes.container)
        if shown.get("nb_element") == "mime_bundle"
        and any(kind.get("mime_type") == "image/png" for kind in children_of(shown))
    ]


def children_of(bundle: nodes.container) -> list[nodes.Element]:
    """The forms of something shown."""
    return [child for child in bundle.children if isinstance(child, nodes.Element)]


def pictures_of(env: BuildEnvironment, page: str) -> Iterator[Picture]:
    """The pictures of a page in their order."""
    states = widget_states(env, page)
    for cell in cells_of(env.get_doctree(page)):
        for bundle in bundles_of(cell):
            kinds = {kind["mime_type"]: kind for kind in children_of(bundle)}
            images = list(kinds["image/png"].findall(nodes.image))
            widget = VIEW in kinds
            alt = images[0].get("alt", "")
            if widget and (view := VIEW_SCRIPT.search(kinds[VIEW].astext())):
                state = states.get(json.loads(view[1])["model_id"], {})
                alt = state.get("description", alt)
            yield Picture(page, cell["ids"][-1], section_of(cell), images, alt, widget)


def widget_states(env: BuildEnvironment, page: str) -> dict[str, dict[str, str]]:
    """The states of a page's widgets, by their models."""
    data = getattr(env, "nb_metadata", {}).get(page, {})
    for _, attributes in data.get("js_files", {}).values():
        if attributes.get("type") == STATE:
            models = json.loads(attributes["body"])["state"]
            return {name: model.get("state", {}) for name, model in models.items()}
    return {}


def fill(app: Sphinx, page: str, targets: list[GalleryNode]) -> list[list[nodes.Node]]:
    """The pictures of all chapters, for where the directive stands."""
    sections: list[nodes.Node] = []
    for chapter in pages_of(app.env, app.config.master_doc):
        if pictures := list(pictures_of(app.env, chapter)):
            sections.append(section(app, page, chapter, pictures))
    return [sections] * len(targets)


def section(app: Sphinx, page: str, chapter: str, pictures: list[Picture]) -> nodes.section:
    """A chapter's heading, which leads there, and its pictures."""
    builder = app.builder
    address = builder.get_relative_uri(page, chapter)
    heading = nodes.title("", "", link(address, name_of(app.env, chapter)))
    gallery = nodes.container(classes=["gallery"])
    gallery += [entry(app.env, builder, page, picture) for picture in pictures]
    label = chapter.rsplit("/", 1)[-1].replace("_", "-")
    return nodes.section("", heading, gallery, ids=[f"gallery-{label}"])


def entry(env: BuildEnvironment, builder: Builder, page: str, picture: Picture) -> nodes.container:
    """A picture, its caption, and its links."""
    name = env.images[picture.images[0]["uri"]][1]
    folder = relative_uri(builder.get_target_uri(page), "_images")
    file = f"{folder}/{name}"
    address = f"{builder.get_relative_uri(page, picture.page)}#{picture.anchor}"
    shown = []
    for image in (one.deepcopy() for one in picture.images):
        for size in ("width", "height", "scale"):
            image.attributes.pop(size, None)
        image["alt"] = picture.alt
        # A link for each, which is shown when its picture is: Sphinx has no link with two.
        mode = [name for name in image["classes"] if name.startswith("only-")]
        where = {"refuri": address, "internal": True, "classes": mode}
        shown.append(nodes.reference("", "", image, **where))
    caption = nodes.paragraph("", picture.alt, classes=["gallery-caption"])
    links = nodes.paragraph(classes=["gallery-links"])
    section_link = link(address, "Operate it in: " if picture.widget else "")
    section_link += [part.deepcopy() for part in picture.section]
    links += section_link
    links += nodes.Text(" · ")
    links += link(file, "file of the picture")
    kind = ["gallery-item", *(["gallery-widget"] if picture.widget else [])]
    return nodes.container("", *shown, caption, links, classes=kind)


def link(uri: str, words: str) -> nodes.reference:
    """A link within the site."""
    return nodes.reference("", words, refuri=uri, internal=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the directive and what fills it."""
    app.add_directive("gallery", Gallery)
    app.add_transform(MarkPictures)
    fill_from_all_pages(app, GalleryNode, fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
