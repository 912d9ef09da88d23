"""Each widget on a page gets its place and its description, or the build stops and says why."""

import json
import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.errors import ExtensionError

from book._ext import widgets

MODELS = {
    "one": {"state": {"front_end": "mask_explorer", "description": 'A "mask"', "_view": 1}},
    "two": {"state": {"front_end": "beam_explorer", "description": "A tree", "layout": "x"}},
    "slider": {"state": {"description": "not one of ours"}},
}
VIEW = '<script type="{}">{{"model_id": "{}"}}</script>'
TWIN = '<div class="widget-twin docutils container">\n<img alt="x" src="{}.png" />\n</div>'


def page(*names, view=VIEW, twin=TWIN, kind=widgets.STATE):
    """What Sphinx hands over for a page with these widgets, a picture beside each of ours."""
    ours = [name for name in names if "front_end" in MODELS[name]["state"]]
    doctree = nodes.document(None, None)
    for _ in ours:
        doctree += nodes.container(classes=["widget-twin"])
    body = "".join(
        view.format(widgets.VIEW, name) + (twin.format(name) if name in ours else "")
        for name in names
    )
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
        page("one", "two", **changes)
