"""The build finds the models that its pages name, and no others."""

from pathlib import Path

from book._ext.live import models_of
from transformer.widgets.static_page import element_of


def test_models_are_found_where_widgets_name_them(tmp_path: Path) -> None:
    state = {"front_end": "attention_heads", "description": "d", "live": {"name": "toy_german"}}
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "page.html").write_text(element_of(state))
    (tmp_path / "other.html").write_text(element_of({**state, "live": {}}))
    assert models_of(tmp_path) == {"toy_german"}
