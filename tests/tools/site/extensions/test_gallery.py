"""The page of all pictures: which it has, what it says of them, and where its links lead."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes

from tools.site.extensions.gallery import GalleryNode, bundles_of, cells_of, fill, mark, pictures_of
from tools.site.extensions.whole_book import MADE, put, renew
from tools.site.extensions.widgets import STATE, VIEW

MODELS = {"one": {"state": {"front_end": "mask_explorer", "description": "Masks that move"}}}


def picture(name: str, alt: str = "") -> nodes.container:
    """A PNG picture as MyST-NB stores it."""
    kind = nodes.container(mime_type="image/png")
    kind += nodes.image(uri=f"_build/{name}.png", alt=alt, width="50%")
    return kind


def widget(model: str) -> nodes.container:
    """The place of a widget."""
    kind = nodes.container(mime_type=VIEW)
    kind += nodes.raw("", f'<script type="{VIEW}">{{"model_id": "{model}"}}</script>')
    return kind


def cell(*kinds: nodes.container, **attributes: Any) -> nodes.container:
    """A cell that shows something, in all the forms that it has."""
    bundle = nodes.container(nb_element="mime_bundle")
    bundle += kinds
    output = nodes.container("", bundle, nb_element="cell_code_output")
    return nodes.container("", output, nb_element="cell_code", **attributes)


def chapter(title: str, *parts: nodes.Element) -> nodes.document:
    """A page, its pictures numbered as in a build."""
    document = nodes.document(None, None)
    document += nodes.section("", nodes.title("", title), *parts)
    mark(document)
    return document


@pytest.fixture
def app() -> SimpleNamespace:
    """A book of three pages and the page of its pictures."""
    printed = nodes.container("", nodes.container(mime_type="text/plain"), nb_element="mime_bundle")
    pages = {
        "book/welcome": chapter("Welcome"),
        "book/why/attention": chapter(
            "Attention",
            nodes.section("", nodes.title("", "In numbers"), cell(picture("a", "four bars"))),
            nodes.container("", printed, nb_element="cell_code"),
            nodes.section(
                "", nodes.title("", "Softmax"), cell(picture("b", "plain"), widget("one"))
            ),
            cell(picture("folded", "not shown"), hide_mode="all"),
            nodes.container("", cell(picture("answer", "the answer")), classes=["solution"]),
        ),
        "book/masks": chapter("Masks", cell(picture("c", "triangle"), hide_mode="input")),
        "book/figures": chapter("Figures", GalleryNode()),
    }
    script = {"type": STATE, "body": json.dumps({"state": MODELS})}
    env = SimpleNamespace(
        get_doctree=pages.__getitem__,
        toctree_includes={"book/welcome": list(pages)[1:]},
        titles={page: nodes.title("", document[0][0].astext()) for page, document in pages.items()},
        toc_secnumbers={"book/why/attention": {"": (2,)}},
        images={f"_build/{n}.png": ({"x"}, f"{n}0.png") for n in ("a", "b", "c")},
        nb_metadata={"book/why/attention": {"js_files": {"state": (None, script)}}},
        metadata={"book/figures": {MADE: True}, "book/masks": {}},
    )
    builder = SimpleNamespace(
        get_target_uri=lambda page: f"{page}.html",
        get_relative_uri=lambda page, to: to.removeprefix("book/") + ".html",
    )
    config = SimpleNamespace(master_doc="book/welcome")
    return SimpleNamespace(env=env, builder=builder, config=config, pages=pages)


def test_pictures_have_their_words_their_section_and_an_anchor(app: SimpleNamespace) -> None:
    found = list(pictures_of(app.env, "book/why/attention"))
    assert [(p.alt, p.section[0].astext(), p.anchor, p.widget) for p in found] == [
        ("four bars", "In numbers", "picture-1", False),
        ("Masks that move", "Softmax", "picture-2", True),
    ]


def test_anchors_are_those_of_the_cells_that_show_a_picture(app: SimpleNamespace) -> None:
    document = app.pages["book/why/attention"]
    assert [c["ids"] for c in cells_of(document) if bundles_of(c)] == [["picture-1"], ["picture-2"]]
    assert all(not c["ids"] for c in cells_of(document) if not bundles_of(c))


def test_the_page_has_every_picture_once_in_the_books_order(app: SimpleNamespace) -> None:
    document = app.pages["book/figures"]
    put(app, document, "book/figures", GalleryNode, fill)
    assert not list(document.findall(GalleryNode))
    headings = [section[0].astext() for section in list(document.findall(nodes.section))[1:]]
    assert headings == ["2. Attention", "Masks"]
    assert [i["alt"] for i in document.findall(nodes.image)] == [
        "four bars", "Masks that move", "triangle",
    ]  # fmt: skip
    assert not any("width" in i for i in document.findall(nodes.image))


def test_links_lead_to_the_place_and_to_the_file(app: SimpleNamespace) -> None:
    document = app.pages["book/figures"]
    put(app, document, "book/figures", GalleryNode, fill)
    links = [(link.astext(), link["refuri"]) for link in document.findall(nodes.reference)]
    assert links == [
        ("2. Attention", "why/attention.html"),
        ("four bars", "why/attention.html#picture-1"),
        ("In numbers", "why/attention.html#picture-1"),
        ("file of the picture", "../_images/a0.png"),
        ("Masks that move", "why/attention.html#picture-2"),
        ("Operate it in: Softmax", "why/attention.html#picture-2"),
        ("file of the picture", "../_images/b0.png"),
        ("Masks", "masks.html"),
        ("triangle", "masks.html#picture-1"),
        ("Masks", "masks.html#picture-1"),
        ("file of the picture", "../_images/c0.png"),
    ]


def test_a_figure_with_a_twin_for_dark_pages_is_one_entry_with_both(app: SimpleNamespace) -> None:
    (kind,) = (k for k in app.pages["book/masks"].findall(nodes.container) if "mime_type" in k)
    kind += nodes.image(uri="_build/night.png", alt="triangle", width="9", classes=["letters-9"])
    kind[-1]["classes"].append("only-dark")
    document = app.pages["book/figures"]
    put(app, document, "book/figures", GalleryNode, fill)
    links = list(document.findall(nodes.reference))
    both = links[-4:-2]
    assert [link["classes"] for link in both] == [[], ["only-dark"]]
    assert {link["refuri"] for link in both} == {"masks.html#picture-1"}
    shown = [image for link in both for image in link.children]
    assert [image["uri"] for image in shown] == ["_build/c.png", "_build/night.png"]
    assert [image["alt"] for image in shown] == ["triangle"] * 2
    assert not any("width" in image for image in shown)
    assert links[-1]["refuri"] == "../_images/c0.png"  # the file is the one for slides


def test_a_page_without_the_directive_is_left_alone(app: SimpleNamespace) -> None:
    document = app.pages["book/masks"]
    before = document.pformat()
    put(app, document, "book/masks", GalleryNode, fill)
    assert document.pformat() == before


@pytest.mark.parametrize(
    ("changed", "again"),
    [(set(), []), ({"book/figures"}, []), ({"book/masks"}, ["book/figures"])],
)
def test_the_page_is_made_again_when_another_changes(
    app: SimpleNamespace, changed: set[str], again: list[str]
) -> None:
    assert renew(app, app.env, set(), changed, set()) == again
    assert renew(app, app.env, changed, set(), set()) == again
