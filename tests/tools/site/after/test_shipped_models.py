"""The build finds the models that its pages name, and no others."""

from pathlib import Path

from tools.site.after.shipped_models import models_of
from tools.site.pages import Site

from transformer_book.widgets.static_page import element_of


def test_models_are_found_where_widgets_name_them(tmp_path: Path) -> None:
    live = {"bytes": 5, "name": "toy_german", "parts": 1}  # sorted, as a notebook keeps it
    state = {"front_end": "attention_heads", "description": "d", "live": live}
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "page.html").write_text(element_of(state))
    first = dict(reversed(live.items())) | {"name": "everyday"}
    (tmp_path / "page.html").write_text(element_of({**state, "live": first}))
    (tmp_path / "other.html").write_text(element_of({**state, "live": {}}))
    assert models_of(Site(tmp_path)) == {"toy_german", "everyday"}
