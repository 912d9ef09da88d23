"""Each widget on a page gets its place and its description, or the build stops and says why."""

import json
import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.errors import ExtensionError

from tools.site.extensions import widgets

MODELS = {
    "one": {"state": {"front_end": "mask_explorer", "description": 'A "mask"', "_view": 1}},
    "two": {"state": {"front_end": "beam_explorer", "description": "A tree", "layout": "x"}},
    "slider": {"state": {"description": "not one of ours"}},
    "asked": {"state": {"front_end": "self_check", "description": "Why?", "key": "0a1b2c3d"}},
}
VIEW = '<script type="{}">{{"model_id": "{}"}}</script>'
WORDS = '<div class="widget-words docutils container">\n<p>Why?</p>\n</div>'
TWIN = '<div class="widget-twin docutils container">\n<img alt="x" src="{}.png" />\n</div>'


def page(*names, view=VIEW, twin=TWIN, words=WORDS, kind=widgets.STATE):
    """What Sphinx hands over for a page with these widgets, a picture or words beside ours."""
    beside = dict.fromkeys(names, "")
    doctree = nodes.document(None, None)
    for name in names:
        if front_end := MODELS[name]["state"].get("front_end"):
            asked = front_end == "self_check"
            beside[name] = words if asked else twin.format(name)
            doctree += nodes.container(classes=["widget-words" if asked else "widget-twin"])
    body = "".join(view.format(widgets.VIEW, name) + beside[name] for name in names)
    attributes = {"type": kind, "body": json.dumps({"state": MODELS})}
    context = {
        "body": f"<p>Text</p>{body}",
        "script_files": [SimpleNamespace(attributes=attributes), "theme.js"],
        "pathto": lambda name, resource: f"../{name}",
    }
    widgets.insert_widgets(None, "chapter", "", context, doctree)
    return context


def test_each_widget_has_its_place_with_its_state_and_its_picture_its_description():
    context = page("one", "slider", "two")
    places = re.findall(
        r'<div class="widget-place"[^>]*><script[^>]*>(.*?)</script>', context["body"]
    )
    assert [json.loads(place)["state"] for place in places] == [
        {"front_end": "mask_explorer", "description": 'A "mask"'},
        {"front_end": "beam_explorer", "description": "A tree"},
    ]
    assert '<img src="one.png" alt="A &quot;mask&quot;" />' in context["body"]
    assert '<img src="two.png" alt="A tree" />' in context["body"]
    assert context["body"].count("widget-needs-kernel") == 1
    assert widgets.VIEW not in context["body"]
    assert context["script_files"] == ["theme.js"]
    assert context["metatags"].count("../_static/widgets.js") == 1


def test_a_question_has_its_words_beside_it_and_no_picture_is_taken_for_them():
    body = page("asked", "one")["body"]
    assert 'data-front-end="self_check" data-key="0a1b2c3d"' in body
    assert 'data-front-end="mask_explorer" role' in body
    assert WORDS in body
    assert '<img src="one.png" alt="A &quot;mask&quot;" />' in body


def bundle_with(kind):
    """A widget's output as MyST-NB has it before it chooses a form."""
    document = nodes.document(None, None)
    output = nodes.container(nb_element="mime_bundle")
    for mime_type in (widgets.VIEW, kind):
        form = nodes.container(mime_type=mime_type)
        form += nodes.Text(mime_type)
        output += form
    document += output
    return document


@pytest.mark.parametrize("kind", widgets.TWINS)
def test_the_form_for_paper_is_kept_beside_the_live_one(kind):
    document = bundle_with(kind)
    step = widgets.KeepTwin.__new__(widgets.KeepTwin)
    step.document = document
    step.run()
    live, kept = document.children
    assert live.astext() == widgets.VIEW
    assert kept["classes"] == [widgets.TWINS[kind]]
    assert kept.astext() == kind


def test_a_table_beside_no_widget_stays_where_it_is():
    document = bundle_with("text/html")
    document[0][0]["mime_type"] = "text/plain"
    step = widgets.KeepTwin.__new__(widgets.KeepTwin)
    step.document = document
    step.run()
    assert len(document.children) == 1


def test_a_page_without_widgets_is_left_alone():
    context = {"body": "<p>Text</p>", "script_files": ["theme.js"]}
    widgets.insert_widgets(None, "chapter", "", context, nodes.document(None, None))
    assert context == {"body": "<p>Text</p>", "script_files": ["theme.js"]}


@pytest.mark.parametrize(
    ("pattern", "changes"),
    [
        ("TWIN", {"twin": '<figure class="widget-twin"><img src="{}.png"></figure>'}),
        ("VIEW_SCRIPT", {"view": '<script id="view" type="{}">{{"model_id": "{}"}}</script>'}),
        ("VIEW_SCRIPT", {"view": '<script type="other">{{"model_id": "{1}"}}</script>'}),
        ("STATE", {"kind": "application/other+json"}),
    ],
)
def test_markup_that_has_changed_stops_the_build_with_the_patterns_name(pattern, changes):
    with pytest.raises(ExtensionError, match=rf"widgets\.{pattern} fits .* in chapter"):
        page("one", "two", "asked", **changes)
